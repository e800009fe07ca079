//! `rhae study simulate`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_report::simulation_text;
use rhae_study_sim::{SimulationOptions, simulate as run_simulation};

use crate::output;

/// Rehearse a study: simulated people play it through the REST API of a server.
///
/// Server processes with a simulated clock and a database of their own are started on loopback addresses,
/// and killed at random moments (`kill -9`). The people follow the numbers of the ARC-AGI-3 paper and play
/// the built-in environments under generated ids. The command fails if an action was lost or executed twice, an environment got more people
/// than its target, or the books do not balance.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study simulate
  rhae study simulate --people 486 --environments 414 --seed 1 --json
  rhae study simulate --people 1000 --servers 2 --db postgres://user:password@host/database
  rhae study simulate --db rehearsal.db && rhae study report simulated --db rehearsal.db")]
pub(super) struct SimulateArgs {
    /// Number of people
    #[arg(long, value_name = "N", default_value_t = 40)]
    people: u32,
    /// Number of environments
    #[arg(long, value_name = "M", default_value_t = 30)]
    environments: u32,
    /// Seed of the people; equal seeds give equal studies
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Number of servers; several need a PostgreSQL database
    #[arg(long, value_name = "N", default_value_t = 1)]
    servers: u32,
    /// How often a server is killed at a random moment and started again
    #[arg(long, value_name = "N", default_value_t = 3)]
    kills: u32,
    /// Keep the study in a new database file, or use a PostgreSQL database [default: a temporary file]
    #[arg(long, value_name = "FILE|URL", hide_env_values = true)]
    db: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn simulate(args: SimulateArgs) -> Result<ExitCode> {
    let result = run_simulation(&SimulationOptions {
        program: std::env::current_exe().context("cannot find the program of the servers")?,
        people: args.people,
        environments: args.environments,
        seed: args.seed,
        database: args.db,
        servers: args.servers,
        kills: args.kills,
    })?;
    if args.json {
        output::print_json(&result)?;
    } else {
        output::print(&simulation_text(&result))?;
    }
    Ok(if result.is_sound() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
