//! Builds the Python package, installs it together with the official one, and runs its tests.
//!
//! **Invariant:** the tests use an installed wheel of the current sources. The short tests pack it
//! around the extension module of the workspace's build, so that no crate is compiled twice. The long
//! tests build it with maturin and link-time optimisation, as a user does. The wheel is rebuilt only if
//! the sources have changed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::cargo;
use crate::test::{Context, program, succeed, target};
use crate::{root, venv};

/// Packages installed in the test environment. When this list changes, change [`FOLDER`] too.
const PACKAGES: [&str; 14] = [
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
    "ray==2.60.0",
    "tensorboardX==2.6.5",
    "wandb==0.31.0",
    "wheel==0.48.0",
];
const FOLDER: &str = "target/python/package-6";
/// The folder in which the short tests pack the wheel.
const PACKED: &str = "target/python/packed";
/// The sources of the wheel.
const SOURCES: [&str; 4] = ["python", "crates", "Cargo.toml", "Cargo.lock"];

/// Builds the wheel, installs it, and runs `python/tests`.
pub(crate) fn run(context: &Context) -> Result<()> {
    let python = root().join(FOLDER).join("bin/python");
    let check = "import arc_agi, gymnasium, hypothesis, maturin, mlflow, pandas, PIL, polars, pytest, \
                 ray, tensorboardX, wandb, wheel, xdist";
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
    run_pytest(&mut tests)
}

/// Runs pytest, and prints its last line if it succeeds or everything if it fails.
pub(crate) fn run_pytest(tests: &mut Command) -> Result<()> {
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
    if context.full {
        build_and_install(python)?;
    } else {
        pack_and_install(python)?;
    }
    Ok(fs::write(stamp, now)?)
}

/// Builds the wheel with maturin, as a user does, and installs it.
pub(crate) fn build_and_install(python: &Path) -> Result<()> {
    let mut pip = install_command(python);
    pip.args(["--no-build-isolation", "./python"]);
    // The extension needs fewer features of its dependencies than the workspace. A separate target
    // folder prevents this build from invalidating the other builds.
    pip.current_dir(root())
        .env("MATURIN_PEP517_ARGS", "--profile wheel")
        .env("CARGO_TARGET_DIR", root().join("target/wheel"))
        .env("PATH", search_path(python)?);
    succeed(&mut pip)
}

/// Packs a wheel around the extension module of the workspace's build and installs it. maturin writes
/// its metadata.
fn pack_and_install(python: &Path) -> Result<()> {
    let folder = root().join(PACKED);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let content = folder.join("content");
    for file in package_files()? {
        let to = content.join(&file);
        fs::create_dir_all(
            to.parent()
                .context("every file is in the package's folder")?,
        )?;
        let from = root().join("python").join(&file);
        fs::copy(&from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    fs::copy(extension()?, content.join("rhae/_native.abi3.so"))?;
    succeed(
        Command::new(python)
            .args(["-m", "maturin", "pep517", "write-dist-info"])
            .arg("--metadata-directory")
            .arg(&content)
            .arg("--interpreter")
            .arg(python)
            .current_dir(root().join("python"))
            .env("PATH", search_path(python)?)
            .stdout(Stdio::null()),
    )?;
    succeed(
        Command::new(python)
            .args(["-m", "wheel", "pack", "--dest-dir"])
            .args([&folder, &content])
            .stdout(Stdio::null()),
    )?;
    let wheel = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .context("`wheel pack` wrote no wheel")?;
    succeed(install_command(python).arg(wheel))
}

/// Returns the Python files of the package, relative to `python`.
fn package_files() -> Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .arg("rhae")
        .current_dir(root().join("python"))
        .output()
        .context("cannot run git")?;
    ensure!(listed.status.success(), "git cannot list the package");
    let names = String::from_utf8(listed.stdout)?;
    let exists = |name: &&str| root().join("python").join(name).is_file();
    Ok(names.lines().filter(exists).map(str::to_owned).collect())
}

/// Builds the extension module and returns its path. The arguments make cargo select the same
/// features as for tests, as in [`program`].
fn extension() -> Result<PathBuf> {
    let build = ["build", "--release", "--quiet", "--workspace", "--lib"];
    succeed(
        cargo()
            .args(build)
            .args(["--example", "solve_set"])
            .current_dir(root()),
    )?;
    Ok(target().join("release/librhae_py.so"))
}

/// Returns the command that installs a package without its dependencies, which are present.
fn install_command(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps"])
        .arg("--force-reinstall");
    pip
}

/// Returns the search path of programs, with the folders of maturin and cargo first.
fn search_path(python: &Path) -> Result<OsString> {
    let folder = python.parent().context("a program is in a folder")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo = Path::new(env!("CARGO")).parent().map(Path::to_owned);
    let folders = [Some(folder.to_owned()), cargo]
        .into_iter()
        .flatten()
        .chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(folders)?)
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
