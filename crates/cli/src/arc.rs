//! `rhae arc`: commands for the static tasks of ARC-AGI-1 and ARC-AGI-2.
//!
//! Loading, scoring, sampling and solving live in the crates `tasks`, `eval` and `solve`. The
//! modules here parse flags, read files and print results.

mod compare;
mod contamination;
mod convert;
pub(crate) mod data;
mod eval;
mod fetch;
mod parse;
pub(crate) mod protocol;
mod sample;
mod score;
mod show;
mod solve;
mod validate;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

#[cfg(feature = "server")]
pub(crate) use eval::distributed::task_executor;

/// Work with the static tasks of ARC-AGI-1 and ARC-AGI-2.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc fetch data/arc
  rhae arc validate --data data/arc
  rhae arc score submission.json --data data/arc --set arc-agi-2-evaluation
  rhae arc solve task.json --explain
  rhae arc eval --solver search --data data/arc --set arc-agi-1-evaluation
  echo 'The output is [[1,2],[3,4]]' | rhae arc parse")]
pub(crate) struct ArcArgs {
    #[command(subcommand)]
    command: ArcCommand,
}

#[derive(Subcommand)]
enum ArcCommand {
    Score(score::ScoreArgs),
    Validate(validate::ValidateArgs),
    Compare(compare::CompareArgs),
    Parse(parse::ParseArgs),
    Sample(sample::SampleArgs),
    Show(show::ShowArgs),
    Convert(convert::ConvertArgs),
    Solve(solve::SolveArgs),
    Eval(Box<eval::EvalArgs>),
    Fetch(fetch::FetchArgs),
    Contamination(contamination::ContaminationArgs),
}

pub(crate) fn run(args: &ArcArgs) -> Result<ExitCode> {
    match &args.command {
        ArcCommand::Score(args) => score::run(args),
        ArcCommand::Validate(args) => validate::run(args),
        ArcCommand::Compare(args) => compare::run(args),
        ArcCommand::Parse(args) => parse::run(args),
        ArcCommand::Sample(args) => sample::run(args),
        ArcCommand::Show(args) => show::run(args),
        ArcCommand::Convert(args) => convert::run(args),
        ArcCommand::Solve(args) => solve::run(args),
        ArcCommand::Eval(args) => eval::run(args),
        ArcCommand::Fetch(args) => fetch::run(args),
        ArcCommand::Contamination(args) => contamination::run(args),
    }
}
