//! `rhae bench validate`: the cost of validating the built-in environments.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::ValidateBench;

use crate::output;
use crate::validate::progress_bar;

/// Measure the cost of `rhae validate --all` for an increasing number of random steps.
#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// Steps per regime of random play in the last row; the rows before have 1/5 and 1/25 of them
    #[arg(long, default_value_t = 250_000, value_parser = clap::value_parser!(u64).range(2_500..=1_000_000_000))]
    steps: u64,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    let bar = progress_bar(args.json);
    let bench = ValidateBench::measure(args.steps, |check, done, total| {
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(check.to_owned());
    });
    bar.finish_and_clear();
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(&bench.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
