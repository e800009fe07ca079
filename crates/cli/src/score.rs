//! `rhae score`: any result under a named method.

mod humans;
mod levels;
mod recorded;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Score level counts, a run, recordings, or turn a table of human plays into baselines.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae score levels --baselines 10,20,30 --actions 10,40,-
  rhae score run runs/mine --method paper-2026-03
  rhae score recording play.jsonl
  rhae score humans table.csv")]
pub(crate) struct ScoreArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Levels(levels::LevelsArgs),
    Run(recorded::RunArgs),
    Recording(recorded::RecordingArgs),
    Humans(humans::HumansArgs),
}

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode> {
    match &args.what {
        What::Levels(args) => levels::run(args)?,
        What::Run(args) => recorded::run(args)?,
        What::Recording(args) => recorded::recordings(args)?,
        What::Humans(args) => humans::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}
