//! Python packages, in virtual environments of the repository's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{needs, root};

/// The official toolkit, with its engine.
const OFFICIAL: (&str, &str, &str) = (
    "target/python/arc-agi-0.9.9",
    "arc-agi==0.9.9",
    "import arc_agi",
);
/// What is installed: the folder's name, which tests know too, the package, and how to see that it is there.
const PACKAGES: [(&str, &str, &str); 2] = [
    OFFICIAL,
    (
        "target/python/schemathesis-4.32.5",
        "schemathesis==4.32.5",
        "import schemathesis",
    ),
];
/// The oldest Python that the packages run on.
const OLDEST: &str = "(3, 12)";
/// What uv is asked for where there is none.
const FETCHED: &str = "3.13";
const UV: &str = "uv==0.13.7";

/// Makes the environments that are not there, and gives a line about each that cannot be made.
pub(crate) fn provide() -> Vec<String> {
    let provided =
        PACKAGES.map(|(folder, package, check)| venv(&root().join(folder), &[package], check));
    provided.into_iter().filter_map(Result::err).collect()
}

/// The environment with the official engine, made if it is not there.
pub(crate) fn official() -> Result<PathBuf, String> {
    let (folder, package, check) = OFFICIAL;
    let folder = root().join(folder);
    venv(&folder, &[package], check)?;
    Ok(folder)
}

/// Makes a virtual environment with these packages unless it is there and the check succeeds in it.
pub(crate) fn venv(folder: &Path, packages: &[&str], check: &str) -> Result<(), String> {
    let python = folder.join("bin/python");
    if succeeds(
        Command::new(&python)
            .args(["-c", check])
            .stderr(Stdio::null()),
    ) {
        return Ok(());
    }
    let names = packages.join(", ");
    let missing = |why: &str| format!("Python packages are missing ({names}): {why}");
    let base = present().or_else(fetch);
    let base = base.ok_or_else(|| {
        missing("there is no Python 3.12 or newer, and uv could not fetch one; install one")
    })?;
    println!("installing {names}");
    if !succeeds(
        Command::new(base)
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    ) {
        return Err(missing(
            "a virtual environment could not be made; install the module venv",
        ));
    }
    if !succeeds(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet"])
            .args(packages),
    ) {
        return Err(missing("pip could not install them"));
    }
    Ok(())
}

/// A Python that is new enough: on the path, or one that pyenv keeps.
fn present() -> Option<PathBuf> {
    let on_path = ["python3.14", "python3.13", "python3.12", "python3"].map(PathBuf::from);
    let kept = std::env::home_dir().map(|home| home.join(".pyenv/versions"));
    let kept = kept
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let kept = kept.map(|version| version.path().join("bin/python"));
    on_path
        .into_iter()
        .chain(kept)
        .find(|python| is_new_enough(python))
}

/// Lets uv fetch a Python into the repository's own folder, and checks what it downloads. It runs on older Pythons too.
fn fetch() -> Option<PathBuf> {
    let folder = root().join("target/python/uv");
    let uv = folder.join("bin/uv");
    if !succeeds(Command::new(&uv).arg("--version")) {
        println!("there is no Python 3.12 or newer; installing {UV}, which fetches one");
        needs::install(&["python3-venv"]);
        let made = succeeds(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        );
        if !(made
            && succeeds(
                Command::new(folder.join("bin/python"))
                    .args(["-m", "pip", "install", "--quiet", UV]),
            ))
        {
            return None;
        }
    }
    let kept = root().join("target/python/fetched");
    let uv = |arguments: &[&str]| {
        let mut command = Command::new(&uv);
        command
            .args(arguments)
            .env("UV_PYTHON_INSTALL_DIR", &kept)
            .env("UV_NO_CACHE", "1")
            .stdin(Stdio::null());
        command
    };
    if !succeeds(&mut uv(&[
        "python", "install", "--quiet", "--no-bin", FETCHED,
    ])) {
        return None;
    }
    let found = uv(&["python", "find", "--managed-python", FETCHED])
        .output()
        .ok()?;
    let python = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
    is_new_enough(&python).then_some(python)
}

fn is_new_enough(python: &Path) -> bool {
    let question = format!("import sys, venv, ensurepip; sys.exit(sys.version_info < {OLDEST})");
    succeeds(
        Command::new(python)
            .args(["-c", &question])
            .stderr(Stdio::null()),
    )
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
