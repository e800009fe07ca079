//! `rhae score`: scores results under a named method.

mod humans;
mod levels;
mod recorded;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Score action counts, a run or recordings, or compute baselines from a table of human plays.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae score levels --baselines 10,20,30 --actions 10,40,-
  rhae score run runs/mine --method paper-2026-03
  rhae score recording play.jsonl
  rhae score humans table.csv")]
pub(crate) struct ScoreArgs {
    #[command(subcommand)]
    command: ScoreCommand,
}

#[derive(Subcommand)]
enum ScoreCommand {
    Levels(levels::LevelsArgs),
    Run(recorded::RunArgs),
    Recording(recorded::RecordingArgs),
    Humans(humans::HumansArgs),
}

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode> {
    match &args.command {
        ScoreCommand::Levels(args) => levels::run(args)?,
        ScoreCommand::Run(args) => recorded::run(args)?,
        ScoreCommand::Recording(args) => recorded::recordings(args)?,
        ScoreCommand::Humans(args) => humans::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}
