//! `rhae bench`: speed and strength, measured as ratios within one run.

mod agents;
mod engine;
mod python;
mod server;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Measure the engine's speed, the server's, the built-in agents' strength, or the Python package beside the official engine.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench engine
  rhae bench engine --json
  rhae bench agents --seeds 10
  rhae bench server --peer
  rhae bench python --python .venv/bin/python --json")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Engine(engine::EngineArgs),
    Agents(agents::AgentsArgs),
    Server(server::ServerArgs),
    Python(python::PythonArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    match &args.what {
        What::Engine(args) => engine::run(args),
        What::Agents(args) => agents::run(args),
        What::Server(args) => server::run(args),
        What::Python(args) => python::run(args),
    }
}

/// The middle value; of two middle ones their mean.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
    }
}
