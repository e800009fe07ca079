//! `rhae bench`: benchmarks of speed and of agent strength. Where a reference implementation
//! exists, speed is reported as a ratio to that reference, measured in the same run.

mod agents;
mod engine;
mod hosted;
mod python;
mod server;
mod validate;
mod vector;
#[cfg(feature = "server")]
mod work;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Measure the speed of the engine, the server, validation, distributed runs, searches of hosted games
/// or the Python package, or the strength of the built-in agents.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench engine
  rhae bench engine --json
  rhae bench agents --seeds 10
  rhae bench server --peer
  rhae bench validate
  rhae bench work
  rhae bench hosted --games-dir fixtures/games-explore --python .venv/bin/python
  rhae bench python --python .venv/bin/python --json
  rhae bench vector --python .venv/bin/python")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    Engine(engine::EngineArgs),
    Hosted(hosted::HostedArgs),
    Agents(agents::AgentsArgs),
    Server(server::ServerArgs),
    Python(python::PythonArgs),
    Validate(validate::ValidateArgs),
    #[cfg(feature = "server")]
    Work(work::WorkArgs),
    Vector(vector::VectorArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<ExitCode> {
    match &args.command {
        BenchCommand::Engine(args) => engine::run(args),
        BenchCommand::Hosted(args) => hosted::run(args),
        BenchCommand::Agents(args) => agents::run(args),
        BenchCommand::Server(args) => server::run(args),
        BenchCommand::Python(args) => python::run(args),
        BenchCommand::Validate(args) => validate::run(args),
        #[cfg(feature = "server")]
        BenchCommand::Work(args) => work::run(args),
        BenchCommand::Vector(args) => vector::run(args),
    }
}
