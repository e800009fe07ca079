//! `rhae bench agents`: strength and speed of the built-in agents over several seeds.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::AgentsBench;
use rhae_harness::Budget;

use crate::output;

/// Compare the built-in agents over several seeds: levels, scores, speed, and paired differences.
#[derive(Args)]
pub(crate) struct AgentsArgs {
    /// Number of seeds, starting at 0
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Action limit, as for `rhae run`
    #[arg(long, default_value = "5x")]
    budget: Budget,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode> {
    let bench = AgentsBench::measure(args.seeds, args.budget)?;
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(&bench.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
