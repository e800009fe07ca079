//! `rhae bench hosted`: the speed of a search of a hosted game, compared with a bare loop in Python.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::{HostedBench, HostedOptions};

use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Measure how fast the states of a hosted game are searched, compared with a loop in Python that
/// copies, acts and hashes in a single process.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench hosted --games-dir fixtures/games-explore --python .venv/bin/python
  rhae bench hosted ls20 --games-dir environment_files --nodes 5000 --jobs 4")]
pub(crate) struct HostedArgs {
    /// Environment id of the game, whose first level is searched
    #[arg(default_value = "en60")]
    id: String,
    /// Number of processes that search
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Maximum number of states
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..1 << 31))]
    nodes: u32,
    /// Number of rounds; each measures the loop and then the search
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &HostedArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let python = args.hosted.python.clone();
    let bench = HostedBench::measure(
        &*games,
        &HostedOptions {
            game: args.id.clone(),
            python: python.unwrap_or_else(|| PathBuf::from("python3")),
            jobs: usize::from(args.jobs),
            nodes: args.nodes as usize,
            rounds: args.rounds,
        },
    )?;
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(&bench.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
