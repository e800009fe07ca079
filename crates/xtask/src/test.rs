//! `cargo xtask test`: every test, with what it needs.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::{needs, python, root, skeleton};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Run the long forms: full searches, long random play.
    #[arg(long)]
    full: bool,
}

/// A suite: its name and how to run it.
type Suite = (&'static str, fn(&Context) -> Result<()>);

const SUITES: [Suite; 2] = [("workspace", workspace), ("a new game's skeleton", skeleton::run)];

/// How suites are run.
pub(crate) struct Context {
    full: bool,
    skip_missing: bool,
}

impl Context {
    /// A cargo command in the repository, with what tests read from their surroundings.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(root());
        if self.full {
            command.env("RHAE_FULL", "1");
        }
        if self.skip_missing {
            command.env("RHAE_SKIP_MISSING", "1");
        }
        command
    }

    /// The arguments that run tests of these packages, with nextest where it is installed.
    pub(crate) fn test(&self, packages: &[&str]) -> Command {
        let mut command = self.cargo();
        if needs::on_path("cargo-nextest") {
            command.args(["nextest", "run", "--release", "--no-fail-fast"]);
        } else {
            command.args(["test", "--release", "--no-fail-fast"]);
        }
        command.args(packages);
        command
    }
}

pub(crate) fn run(args: &TestArgs) -> Result<()> {
    let mut missing = needs::provide();
    missing.extend(python::provide().err());
    let in_ci = std::env::var_os("CI").is_some();
    if in_ci && !missing.is_empty() {
        bail!("in CI nothing is skipped, but:\n  {}", missing.join("\n  "));
    }
    let context = Context { full: args.full, skip_missing: !missing.is_empty() };
    let mut failed = Vec::new();
    let mut times = Vec::new();
    for (name, suite) in SUITES {
        println!("── {name}");
        let begun = Instant::now();
        if let Err(error) = suite(&context) {
            println!("{name}: {error:#}");
            failed.push(name);
        }
        times.push(format!("{name}: {:.0} s", begun.elapsed().as_secs_f64()));
    }
    println!("── {}", times.join(", "));
    for line in &missing {
        println!("skipped: {line}");
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    match missing.len() {
        0 => println!("all suites passed, nothing was skipped"),
        count => println!("all suites passed, but {count} programs are missing and their tests were skipped (see above)"),
    }
    Ok(())
}

fn workspace(context: &Context) -> Result<()> {
    succeed(&mut context.test(&["--workspace"]))
}

/// Runs a command that must succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { bail!("{command:?} ended with {status}") }
}
