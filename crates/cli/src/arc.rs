//! `rhae arc`: the static tasks of ARC-AGI-1 and ARC-AGI-2.

mod compare;
mod convert;
mod data;
mod eval;
mod fetch;
mod parse;
mod protocol;
mod sample;
mod score;
mod show;
mod solve;
mod validate;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Work with the static tasks of ARC-AGI-1 and ARC-AGI-2.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc fetch data/arc
  rhae arc validate --data data/arc
  rhae arc score submission.json --data data/arc --set arc-agi-2-evaluation
  rhae arc solve task.json --explain
  rhae arc eval --solver search --data data/arc --set arc-agi-1-evaluation
  echo 'so [[1,2],[3,4]]' | rhae arc parse")]
pub(crate) struct ArcArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
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
}

pub(crate) fn run(args: &ArcArgs) -> Result<ExitCode> {
    match &args.what {
        What::Score(args) => score::run(args),
        What::Validate(args) => validate::run(args),
        What::Compare(args) => compare::run(args),
        What::Parse(args) => parse::run(args),
        What::Sample(args) => sample::run(args),
        What::Show(args) => show::run(args),
        What::Convert(args) => convert::run(args),
        What::Solve(args) => solve::run(args),
        What::Eval(args) => eval::run(args),
        What::Fetch(args) => fetch::run(args),
    }
}
