//! `cargo xtask test`: every test, with what it needs.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::{needs, package, python, root, skeleton, web};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Run the long forms: full searches, long random play.
    #[arg(long)]
    full: bool,
    /// Run one suite only, by its name.
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
}

/// A suite: its name and how to run it.
type Suite = (&'static str, fn(&Context) -> Result<()>);

const SUITES: [Suite; 4] = [
    ("workspace", workspace),
    ("a new game's skeleton", skeleton::run),
    ("python", package::run),
    ("web", web::run),
];

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
        self.surround(&mut command);
        command
    }

    /// Sets what tests read from their surroundings.
    pub(crate) fn surround(&self, command: &mut Command) {
        if self.full {
            command.env("RHAE_FULL", "1");
        }
        if self.skip_missing {
            command.env("RHAE_SKIP_MISSING", "1");
        }
    }

    /// Whether what cannot run for want of a program is passed over.
    pub(crate) fn skips_missing(&self) -> bool {
        self.skip_missing
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
    let wanted = |name: &str| args.suite.as_deref().is_none_or(|only| only == name);
    if !SUITES.iter().any(|(name, _)| wanted(name)) {
        bail!(
            "there is no such suite; there are: {}",
            SUITES.map(|(name, _)| name).join(", ")
        );
    }
    let mut missing = needs::provide();
    missing.extend(python::provide());
    let in_ci = std::env::var_os("CI").is_some();
    if in_ci && !missing.is_empty() {
        bail!("in CI nothing is skipped, but:\n  {}", missing.join("\n  "));
    }
    let context = Context {
        full: args.full,
        skip_missing: !missing.is_empty(),
    };
    let mut failed = Vec::new();
    let mut times = Vec::new();
    for (name, suite) in SUITES.into_iter().filter(|(name, _)| wanted(name)) {
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
        count => println!(
            "all suites passed, but {count} programs are missing and their tests were skipped (see above)"
        ),
    }
    Ok(())
}

fn workspace(context: &Context) -> Result<()> {
    succeed(&mut context.test(&["--workspace"]))
}

/// Builds the program and says where it is.
///
/// Naming the workspace and an example lets cargo choose the features that tests are compiled with, those of their own
/// dependencies included: the program that the tests have built is taken, and nothing is compiled twice.
pub(crate) fn program() -> Result<PathBuf> {
    let build = [
        "build",
        "--release",
        "--quiet",
        "--workspace",
        "--bin",
        "rhae",
        "--example",
        "solve_set",
    ];
    succeed(Command::new(env!("CARGO")).args(build).current_dir(root()))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release").join("rhae"))
}

/// Runs a command that must succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        bail!("{command:?} ended with {status}")
    }
}
