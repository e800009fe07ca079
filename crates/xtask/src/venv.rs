//! Virtual environments with Python packages, below `target/python`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{requirements, root};

/// The official toolkit, which installs the official engine as a dependency.
const OFFICIAL: (&str, &str, &str) = (
    "target/python/arc-agi-0.9.9",
    "arc-agi==0.9.9",
    "import arc_agi",
);
/// For each environment: its folder (tests refer to it by name), its package, and a Python
/// statement that succeeds if the package is installed.
const PACKAGES: [(&str, &str, &str); 3] = [
    OFFICIAL,
    (
        "target/python/schemathesis-4.32.5",
        "schemathesis==4.32.5",
        "import schemathesis",
    ),
    ("target/python/ray-2.60.0", "ray==2.60.0", "import ray"),
];
/// The minimum Python version that the packages require.
const MIN_VERSION: &str = "(3, 12)";
/// The Python version that uv downloads if none is installed.
const DOWNLOADED: &str = "3.13";
const UV: &str = "uv==0.13.7";

/// Creates the missing environments. Returns one line for each that could not be created.
pub(crate) fn provide() -> Vec<String> {
    let provided =
        PACKAGES.map(|(folder, package, check)| create(&root().join(folder), &[package], check));
    provided.into_iter().filter_map(Result::err).collect()
}

/// Returns the environment with the official engine and creates it if it is missing.
pub(crate) fn official() -> Result<PathBuf, String> {
    let (folder, package, check) = OFFICIAL;
    let folder = root().join(folder);
    create(&folder, &[package], check)?;
    Ok(folder)
}

/// Creates a virtual environment with these packages, unless it exists and `check` succeeds in it.
pub(crate) fn create(folder: &Path, packages: &[&str], check: &str) -> Result<(), String> {
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
    let base = installed().or_else(download);
    let base = base.ok_or_else(|| {
        missing(
            "no Python 3.12 or newer was found, and uv could not download one; install Python 3.12",
        )
    })?;
    println!("installing {names}");
    if !succeeds(
        Command::new(base)
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    ) {
        return Err(missing(
            "could not create a virtual environment; install Python's module `venv`",
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

/// Returns a Python of at least [`MIN_VERSION`] from the path or from pyenv.
fn installed() -> Option<PathBuf> {
    let on_path = ["python3.14", "python3.13", "python3.12", "python3"].map(PathBuf::from);
    let pyenv = std::env::home_dir().map(|home| home.join(".pyenv/versions"));
    let pyenv = pyenv
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let pyenv = pyenv.map(|version| version.path().join("bin/python"));
    on_path
        .into_iter()
        .chain(pyenv)
        .find(|python| is_new_enough(python))
}

/// Downloads a Python into `target/python` with uv, which verifies the download. uv itself is
/// installed with an older Python, which is sufficient for it.
fn download() -> Option<PathBuf> {
    let folder = root().join("target/python/uv");
    let uv = folder.join("bin/uv");
    if !succeeds(Command::new(&uv).arg("--version")) {
        println!("no Python 3.12 or newer was found; installing {UV} to download one");
        requirements::install(&["python3-venv"]);
        let created = succeeds(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        );
        if !(created
            && succeeds(
                Command::new(folder.join("bin/python"))
                    .args(["-m", "pip", "install", "--quiet", UV]),
            ))
        {
            return None;
        }
    }
    let downloads = root().join("target/python/fetched");
    let uv = |arguments: &[&str]| {
        let mut command = Command::new(&uv);
        command
            .args(arguments)
            .env("UV_PYTHON_INSTALL_DIR", &downloads)
            .env("UV_NO_CACHE", "1")
            .stdin(Stdio::null());
        command
    };
    if !succeeds(&mut uv(&[
        "python", "install", "--quiet", "--no-bin", DOWNLOADED,
    ])) {
        return None;
    }
    let found = uv(&["python", "find", "--managed-python", DOWNLOADED])
        .output()
        .ok()?;
    let python = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
    is_new_enough(&python).then_some(python)
}

fn is_new_enough(python: &Path) -> bool {
    let check = format!("import sys, venv, ensurepip; sys.exit(sys.version_info < {MIN_VERSION})");
    succeeds(
        Command::new(python)
            .args(["-c", &check])
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
