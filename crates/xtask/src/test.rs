//! `cargo xtask test`: installs what the tests need and runs every suite.
//!
//! A test that cannot run because a program is missing is skipped, and the missing program is
//! listed at the end. In CI a missing program is an error.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::{python_package, requirements, root, skeleton, venv, web};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Also run the long tests: full searches and long random play.
    #[arg(long)]
    full: bool,
    /// Run only the suite with this name.
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
}

/// A suite's name and the function that runs it.
type Suite = (&'static str, fn(&Context) -> Result<()>);

const SUITES: [Suite; 5] = [
    ("workspace", workspace),
    ("doctests", doctests),
    ("a new game's skeleton", skeleton::run),
    ("python", python_package::run),
    ("web", web::run),
];

/// Options that apply to every suite.
pub(crate) struct Context {
    full: bool,
    skip_missing: bool,
}

impl Context {
    /// Returns a cargo command that runs in the repository with the environment variables that
    /// tests read.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(root());
        self.set_env(&mut command);
        command
    }

    /// Sets the environment variables that tests read.
    pub(crate) fn set_env(&self, command: &mut Command) {
        if self.full {
            command.env("RHAE_FULL", "1");
        }
        if self.skip_missing {
            command.env("RHAE_SKIP_MISSING", "1");
        }
    }

    /// Returns whether tests whose programs are missing are skipped.
    pub(crate) fn skips_missing(&self) -> bool {
        self.skip_missing
    }

    /// Returns the command that tests these packages. It uses nextest if that is installed.
    pub(crate) fn test(&self, packages: &[&str]) -> Command {
        let mut command = self.cargo();
        if requirements::on_path("cargo-nextest") {
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
            "unknown suite; expected one of: {}",
            SUITES.map(|(name, _)| name).join(", ")
        );
    }
    let mut missing = requirements::provide();
    missing.extend(venv::provide());
    let in_ci = std::env::var_os("CI").is_some();
    if in_ci && !missing.is_empty() {
        bail!(
            "CI skips no test, but requirements are missing:\n  {}",
            missing.join("\n  ")
        );
    }
    let context = Context {
        full: args.full,
        skip_missing: !missing.is_empty(),
    };
    let mut failed = Vec::new();
    let mut times = Vec::new();
    for (name, suite) in SUITES.into_iter().filter(|(name, _)| wanted(name)) {
        println!("── {name}");
        let started = Instant::now();
        if let Err(error) = suite(&context) {
            println!("{name}: {error:#}");
            failed.push(name);
        }
        times.push(format!("{name}: {:.0} s", started.elapsed().as_secs_f64()));
    }
    println!("── {}", times.join(", "));
    for line in &missing {
        println!("skipped: {line}");
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    match missing.len() {
        0 => println!("all suites passed, no test was skipped"),
        count => println!(
            "all suites passed, but {count} programs are missing and their tests were skipped (see above)"
        ),
    }
    Ok(())
}

fn workspace(context: &Context) -> Result<()> {
    succeed(&mut context.test(&["--workspace"]))
}

/// Runs the examples in the API documentation.
fn doctests(context: &Context) -> Result<()> {
    let arguments = ["test", "--release", "--doc", "--workspace", "--quiet"];
    succeed(context.cargo().args(arguments))
}

/// Builds the `rhae` binary and returns its path.
///
/// Naming the workspace and an example makes cargo select the same features as for tests, including
/// those of dev-dependencies. Cargo therefore reuses the binary that the tests built.
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

/// Runs a command and returns an error unless it succeeds.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        bail!("{command:?} ended with {status}")
    }
}
