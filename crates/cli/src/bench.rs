//! `rhae bench`: benchmarks of speed and of agent strength. Where a reference implementation
//! exists, speed is reported as a ratio to that reference, measured in the same run.

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

/// Measure the speed of the engine, the server, validation or the Python package, or the strength
/// of the built-in agents.
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
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    Engine(engine::EngineArgs),
    Agents(agents::AgentsArgs),
    Server(server::ServerArgs),
    Python(python::PythonArgs),
    Validate(validate::ValidateArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    match &args.command {
        BenchCommand::Engine(args) => engine::run(args),
        BenchCommand::Agents(args) => agents::run(args),
        BenchCommand::Server(args) => server::run(args),
        BenchCommand::Python(args) => python::run(args),
        BenchCommand::Validate(args) => validate::run(args),
    }
}

/// Returns the median, or NaN if there are no values.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
    }
}

/// Returns the CPU time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}
