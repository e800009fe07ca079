//! `rhae study simulation-server`: a server process of a simulation.

use std::io::{stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_study_sim::SimulatedServer;

/// Serve a simulated study on a loopback address, at the times of the standard input.
///
/// Each line of the standard input is a time in milliseconds since the Unix epoch. The server stops
/// at its end.
#[derive(Args)]
pub(super) struct SimulationServerArgs {
    /// New database file, or one of a simulation, or a PostgreSQL database
    #[arg(long, value_name = "FILE|URL")]
    db: PathBuf,
    /// Port on the loopback address; 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Time at the start
    #[arg(long, value_name = "MS")]
    now_ms: u64,
    /// Seed of the ids of participants
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Number of environments under generated ids [default: all built-in ones under their own ids]
    #[arg(long, value_name = "N")]
    aliases: Option<u32>,
}

pub(super) fn serve(args: SimulationServerArgs) -> Result<ExitCode> {
    let server = SimulatedServer {
        db: args.db,
        port: args.port,
        now_ms: args.now_ms,
        seed: args.seed,
        aliases: args.aliases,
    };
    server.run(stdin().lock(), stdout())?;
    Ok(ExitCode::SUCCESS)
}
