//! Verifies that the skeleton written by `rhae games new` builds and passes the test suite.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::root;
use crate::test::{Context, program, succeed};

/// The id of the skeleton. No registered game has it.
const ID: &str = "zz99";

/// Creates the skeleton of a game in a copy of the repository and runs the tests of that copy.
pub(crate) fn run(context: &Context) -> Result<()> {
    let copy = root().join("target/skeleton");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_sources(&copy)?;
    succeed(
        Command::new(program()?)
            .args(["games", "new", ID])
            .current_dir(&copy),
    )?;
    let mut tests = context.test(&["--package", "rhae-games"]);
    // The copy uses the target folder of the repository, so that dependencies are not compiled
    // again.
    tests
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", root().join("target"));
    succeed(&mut tests)?;
    fs::remove_dir_all(&copy)?;
    Ok(())
}

/// Copies every file that git tracks, and every untracked file that git does not ignore.
fn copy_sources(to: &Path) -> Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    let listed = listed.context("cannot run git")?;
    ensure!(listed.status.success(), "git cannot list the sources");
    for name in String::from_utf8(listed.stdout)?.lines() {
        let (from, to) = (root().join(name), to.join(name));
        if from.is_file() {
            fs::create_dir_all(to.parent().context("every file has a folder")?)?;
            fs::copy(&from, &to).with_context(|| format!("cannot copy {name}"))?;
        }
    }
    Ok(())
}
