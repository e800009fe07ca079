//! `rhae arc parse`: finds the grid in an answer, or reports why the answer contains no grid.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_tasks::{AnswerReport, MAX_ANSWER_BYTES, Parser};

use crate::output;

/// Find the grid in an answer read from standard input; the exit code is 1 if there is no grid.
#[derive(Args)]
#[command(after_help = "Example:
  echo 'It is [[1,2],[3,4]] (see example [0])' | rhae arc parse")]
pub(super) struct ParseArgs {
    /// Parser that finds the grid: lenient, official, nejumi or plan
    #[arg(long, default_value = Parser::Lenient.name())]
    parser: Parser,
    /// Number of tests that the answer covers; with more than one, a list of that many grids is
    /// expected
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    tests: u32,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ParseArgs) -> Result<ExitCode> {
    let mut bytes = Vec::new();
    let max_bytes = MAX_ANSWER_BYTES as u64 + 1;
    std::io::stdin()
        .lock()
        .take(max_bytes)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    let text = String::from_utf8_lossy(&bytes);
    let report = AnswerReport::new(args.parser, &text, args.tests as usize);
    if args.json {
        output::print_json(&report)?;
    }
    match report {
        AnswerReport::Grids {
            grids,
            span: [start, end],
            description,
            ..
        } => {
            if !args.json {
                for grid in &grids {
                    output::print(&grid.to_string())?;
                }
                output::print(&format!("found: {description}, bytes {start} to {end}"))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        AnswerReport::NoGrid {
            reason, message, ..
        } => {
            if !args.json {
                eprintln!("no grid ({reason}): {}", output::plain(&message));
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
