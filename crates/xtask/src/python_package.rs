//! Builds the Python package, installs it together with the official one, and runs its tests.
//!
//! **Invariant:** the tests use a wheel like the one that a user installs, built from the current
//! sources. Only the long tests build it with link-time optimisation, as a user does. The wheel is
//! rebuilt only if the sources have changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::test::{Context, program, succeed};
use crate::{root, venv};

/// Packages installed in the test environment. When this list changes, change [`FOLDER`] too.
const PACKAGES: [&str; 12] = [
    "arc-agi==0.9.9",
    "gymnasium==1.4.0",
    "hypothesis==6.170.15",
    "maturin==1.16.0",
    "mlflow-skinny==3.17.2",
    "pandas==3.1.1",
    "pillow==13.0.0",
    "polars==2.1.0",
    "pytest==9.2.0",
    "pytest-xdist==3.8.0",
    "tensorboardX==2.6.5",
    "wandb==0.31.0",
];
const FOLDER: &str = "target/python/package-4";
/// The sources of the wheel.
const SOURCES: [&str; 4] = ["python", "crates", "Cargo.toml", "Cargo.lock"];

/// Builds the wheel, installs it, and runs `python/tests`.
pub(crate) fn run(context: &Context) -> Result<()> {
    let python = root().join(FOLDER).join("bin/python");
    let check = "import arc_agi, gymnasium, hypothesis, maturin, mlflow, pandas, PIL, polars, pytest, \
                 tensorboardX, wandb, xdist";
    if let Err(why) = venv::create(&root().join(FOLDER), &PACKAGES, check) {
        return context.skip_suite("python", &why);
    }
    install(context, &python)?;
    let program = program()?;
    let mut tests = Command::new(&python);
    tests
        .args([
            "-P",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--numprocesses",
            "auto",
            "--dist",
            "worksteal",
            "tests",
        ])
        .current_dir(root().join("python"));
    context.set_env(&mut tests);
    tests.env("RHAE_PROGRAM", program);
    // `-P` keeps the current folder out of the import path, so that the tests import the installed
    // package. The package in the source tree has no extension module.
    let output = tests
        .stdout(Stdio::piped())
        .output()
        .context("cannot run pytest")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        println!(
            "{}",
            text.lines()
                .rev()
                .find(|line| !line.trim().is_empty())
                .unwrap_or("pytest printed nothing")
        );
        return Ok(());
    }
    print!("{text}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    bail!("pytest ended with {}", output.status)
}

/// Installs the package, unless the sources are unchanged since the last installation.
fn install(context: &Context, python: &Path) -> Result<()> {
    let stamp = root().join(FOLDER).join("sources");
    let profile = if context.full { "wheel" } else { "release" };
    let now = format!("{profile}\n{}", fingerprint()?);
    if fs::read_to_string(&stamp).is_ok_and(|before| before == now) {
        return Ok(());
    }
    println!("building the Python package");
    let mut pip = Command::new(python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--force-reinstall",
        "./python",
    ]);
    // The extension needs fewer features of its dependencies than the workspace. A separate target
    // folder prevents this build from invalidating the other builds.
    pip.current_dir(root())
        .env("MATURIN_PEP517_ARGS", format!("--profile {profile}"))
        .env("CARGO_TARGET_DIR", root().join("target/wheel"));
    let folder = python.parent().context("a program is in a folder")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo = Path::new(env!("CARGO")).parent().map(Path::to_owned);
    let folders = [Some(folder.to_owned()), cargo]
        .into_iter()
        .flatten()
        .chain(std::env::split_paths(&path));
    pip.env("PATH", std::env::join_paths(folders)?);
    succeed(&mut pip)?;
    Ok(fs::write(stamp, now)?)
}

/// Returns a text that changes with the sources of the wheel: the git hashes of all source files.
fn fingerprint() -> Result<String> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
        ])
        .args(SOURCES)
        .current_dir(root())
        .output()
        .context("cannot run git")?;
    ensure!(listed.status.success(), "git cannot list the sources");
    let names = String::from_utf8(listed.stdout)?;
    let names = names
        .lines()
        .filter(|name| !name.starts_with("python/tests"));
    let present: Vec<PathBuf> = names
        .map(|name| root().join(name))
        .filter(|path| path.is_file())
        .collect();
    let hashed = Command::new("git")
        .arg("hash-object")
        .args(&present)
        .current_dir(root())
        .output()?;
    ensure!(hashed.status.success(), "git cannot hash the sources");
    Ok(String::from_utf8(hashed.stdout)?)
}
