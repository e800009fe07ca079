//! `rhae bench python`: the engine and the vector environments of the Python package, compared with
//! the official engine.
//!
//! The Python module `rhae.bench` measures both engines; this command runs it and prints its
//! results.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::output;

/// Measure the Python package: its drop-in engine compared with the official `arcengine`, in CPU
/// time, and native vector environments compared with the same game in Python.
///
/// The time spent in a game's own code is measured with `sys.monitoring`, which needs Python 3.12
/// or newer.
#[derive(Args)]
pub(crate) struct PythonArgs {
    /// Python interpreter with `rhae`, `arcengine` and `gymnasium` installed
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Folder of game files
    #[arg(long, value_name = "DIR", default_value = "python/tests/games")]
    games: PathBuf,
    /// Python version of the environment `bx20`, to compare native vector environments with
    #[arg(long, value_name = "FILE", default_value = "python/bench/bx20.py")]
    pair: PathBuf,
    /// CPU seconds of the official engine per game
    #[arg(long, default_value_t = 2)]
    seconds: u32,
    /// Print the results as JSON
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
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it printed no error");
        bail!("`{python} -m rhae.bench` failed: {}", output::plain(last));
    }
    if args.json {
        let results: Value =
            serde_json::from_slice(&output.stdout).context("`rhae.bench` did not print JSON")?;
        output::print_json(&results)?;
    } else {
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            output::print(&output::plain(line))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
