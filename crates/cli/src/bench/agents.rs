//! `rhae bench agents`: strength and speed of the built-in agents, and of external ones, over several
//! seeds.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::AgentsBench;
use rhae_harness::Budget;

use crate::output;

/// Compare the built-in agents over several seeds: levels, scores, speed, and paired differences.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench agents --seeds 5 --budget 2000
  rhae bench agents --seeds 5 --agent-cmd \"rhae-neural goose\" --json")]
pub(crate) struct AgentsArgs {
    /// Number of seeds, starting at 0
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
    /// Action limit, as for `rhae run`
    #[arg(long, default_value = "5x")]
    budget: Budget,
    /// Shell command of an external agent to compare as well, as for `rhae run`; may be repeated
    #[arg(long, value_name = "COMMAND")]
    agent_cmd: Vec<String>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AgentsArgs) -> Result<ExitCode> {
    let bench = AgentsBench::measure(args.seeds, args.budget, &args.agent_cmd)?;
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(&bench.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
