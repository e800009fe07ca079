//! `cargo xtask test`: installs what the tests need and runs every suite.
//!
//! A test that cannot run on this machine is skipped, and the last lines name it with the reason. In
//! CI a skipped test is an error (see [`crate::skip_report`]).

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use clap::Args;
use rhae_testkit::{FULL, SKIP_MISSING, SKIP_REPORT, SkipKind};

use crate::cargo::cargo;
use crate::skip_report::SkipReport;
use crate::{
    learning, neural, python_package, requirements, root, skeleton, solve_shuffled, venv, web,
};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Also run the long tests: full searches, long random play, training and the package `neural`.
    #[arg(long)]
    full: bool,
    /// Run only the suite with this name.
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
}

/// A suite's name and the function that runs it.
type Suite = (&'static str, fn(&Context) -> Result<()>);

const SUITES: [Suite; 8] = [
    ("workspace", workspace),
    ("doctests", doctests),
    ("shuffled tasks", solve_shuffled::suite),
    ("a new game's skeleton", skeleton::run),
    ("python", python_package::run),
    ("learning", learning::run),
    ("web", web::run),
    ("neural", neural::run),
];

/// Options that apply to every suite.
pub(crate) struct Context {
    pub(crate) full: bool,
    /// Whether tests are skipped if something is missing.
    may_skip: bool,
    report: SkipReport,
}

impl Context {
    /// Returns a cargo command that runs in the repository with the environment variables that
    /// tests read.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo();
        command.current_dir(root());
        self.set_env(&mut command);
        command
    }

    /// Sets the environment variables that tests read.
    pub(crate) fn set_env(&self, command: &mut Command) {
        if self.full {
            command.env(FULL, "1");
        }
        if self.may_skip {
            command.env(SKIP_MISSING, "1");
        }
        command.env(SKIP_REPORT, self.report.path());
    }

    /// Reports that a whole suite is skipped because something is missing.
    ///
    /// # Errors
    ///
    /// Returns the reason as an error if no test may be skipped.
    pub(crate) fn skip_suite(&self, suite: &str, reason: &str) -> Result<()> {
        ensure!(self.may_skip, "{reason}");
        self.report
            .add(SkipKind::Missing, &format!("suite {suite}"), reason)
    }

    /// Reports that a suite is skipped because the public data are absent, which is allowed.
    pub(crate) fn skip_without_data(&self, suite: &str, reason: &str) -> Result<()> {
        self.report
            .add(SkipKind::NoData, &format!("suite {suite}"), reason)
    }

    /// Reports that a whole suite runs only with `--full`.
    pub(crate) fn leave_to_full(&self, suite: &str, reason: &str) -> Result<()> {
        self.report
            .add(SkipKind::Short, &format!("suite {suite}"), reason)
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
        may_skip: !in_ci,
        report: SkipReport::create()?,
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
        println!("missing: {line}");
    }
    let skipped = context.report.read()?;
    for line in skipped.lines() {
        println!("{line}");
    }
    let summary = skipped.summary();
    if !failed.is_empty() {
        bail!("failed: {}; {summary}", failed.join(", "));
    }
    ensure!(
        !in_ci || skipped.is_allowed_in_ci(),
        "CI skips no test, but {summary}"
    );
    println!("all suites passed; {summary}");
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
    succeed(cargo().args(build).current_dir(root()))?;
    Ok(target().join("release").join("rhae"))
}

/// Returns cargo's target folder.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
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
