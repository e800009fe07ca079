//! `rhae bench python`: the Python package's engine and its vector beside the official engine.
//!
//! The measuring is done by the package's own module `rhae.bench`, in the Python that has both engines; this asks it and shows
//! what it says.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::output;

/// Measure games on the Python package's drop-in engine against the official `arcengine`, in CPU time, and the native vector
/// against the same game as a Python file.
///
/// The share of a game's own code is measured through `sys.monitoring`, so that Python must be 3.12 or newer.
#[derive(Args)]
pub(crate) struct PythonArgs {
    /// A Python in which `rhae`, `arcengine` and `gymnasium` are installed
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// A folder of game files
    #[arg(long, value_name = "DIR", default_value = "python/tests/games")]
    games: PathBuf,
    /// The Python file of the environment `bx20`, beside which the native vector is measured
    #[arg(long, value_name = "FILE", default_value = "python/bench/bx20.py")]
    pair: PathBuf,
    /// CPU seconds of the official engine for each game
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &PythonArgs) -> Result<ExitCode> {
    let mut command = Command::new(&args.python);
    command
        .args(["-P", "-m", "rhae.bench", "--games"])
        .arg(&args.games)
        .args(["--seconds", &args.seconds.to_string()]);
    command.arg("--pair").arg(&args.pair);
    if !args.json {
        command.arg("--table");
    }
    let python = args.python.display();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{python}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it said nothing");
        bail!("`{python} -m rhae.bench` failed: {}", output::plain(last));
    }
    if args.json {
        let figures: Value =
            serde_json::from_slice(&output.stdout).context("`rhae.bench` did not print JSON")?;
        output::print_json(&figures)?;
    } else {
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            output::print(&output::plain(line))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
