//! Checks and tests the package `neural`, which is outside the workspace.
//!
//! Compiling burn takes minutes, so the suite is part of `cargo xtask test --full` only. Other runs
//! list it as left out.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::test::{Context, program, succeed};
use crate::{licences, root, tidy};

/// Checks format, lints and licences of the package, and runs its tests and examples.
pub(crate) fn run(context: &Context) -> Result<()> {
    if !context.full {
        return context.leave_to_full("neural", "compiling and training networks takes minutes");
    }
    succeed(cargo(context).args(["fmt", "--check"]))?;
    // Without `--locked`: a dependency that was added to a crate of the workspace is added to the
    // package's lock file.
    let clippy = ["clippy", "--release", "--all-targets"];
    succeed(cargo(context).args(clippy).args(["--", "-D", "warnings"]))?;
    check_licences()?;
    let program = program()?;
    let mut tests = context.test(&[]);
    place(&mut tests).env("RHAE_PROGRAM", program);
    succeed(&mut tests)?;
    succeed(cargo(context).args(["test", "--release", "--doc", "--quiet"]))
}

fn cargo(context: &Context) -> Command {
    let mut command = context.cargo();
    place(&mut command);
    command
}

/// Lets a command work on the package. Its own target folder prevents builds from invalidating those
/// of the workspace, whose dependencies have other features.
fn place(command: &mut Command) -> &mut Command {
    let folder = root().join("neural");
    command
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(folder)
}

fn check_licences() -> Result<()> {
    let metadata = tidy::metadata(&root().join("neural"))?;
    let mut violations = Vec::new();
    licences::check_packages(tidy::packages(&metadata)?, &mut violations)?;
    ensure!(
        violations.is_empty(),
        "licences of `neural`:\n  {}",
        violations.join("\n  ")
    );
    Ok(())
}
