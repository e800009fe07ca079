//! `rhae bench engine`: actions and frames per second of every environment, compared with the rate
//! of copying a frame.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::EngineBench;

use crate::output;

/// Measure actions and frames per second, compared with the rate of copying a frame in the L1
/// cache.
#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Number of slices per environment, of 5,000 actions each
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    slices: u32,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &EngineArgs) -> Result<ExitCode> {
    let bench = EngineBench::measure(args.slices);
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(&bench.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
