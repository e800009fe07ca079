//! `rhae bench python`: the engine and the vector environments of the Python package, compared with
//! the official engine.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::{PythonBench, PythonOptions};

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
    let options = PythonOptions {
        python: args.python.clone(),
        games: args.games.clone(),
        pair: args.pair.clone(),
        seconds: args.seconds,
    };
    if args.json {
        output::print_json(&PythonBench::measure(&options)?)?;
    } else {
        output::print(&PythonBench::table(&options)?)?;
    }
    Ok(ExitCode::SUCCESS)
}
