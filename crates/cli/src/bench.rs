//! `rhae bench`: speed and strength, measured as ratios within one run.

mod agents;
mod engine;
mod python;
mod server;
mod validate;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use rustix::time::{ClockId, clock_gettime};

/// Measure the engine's speed, the server's, that of checks, the built-in agents' strength, or the Python package beside the official engine.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench engine
  rhae bench engine --json
  rhae bench agents --seeds 10
  rhae bench server --peer
  rhae bench validate
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
    Validate(validate::ValidateArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    match &args.what {
        What::Engine(args) => engine::run(args),
        What::Agents(args) => agents::run(args),
        What::Server(args) => server::run(args),
        What::Python(args) => python::run(args),
        What::Validate(args) => validate::run(args),
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

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}
