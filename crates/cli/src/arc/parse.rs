//! `rhae arc parse`: finds the grid in an answer, or reports why the answer contains no grid.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_tasks::{Grid, MAX_ANSWER_BYTES, Parser, parse_whole_task};
use serde::Serialize;

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

#[derive(Serialize)]
#[serde(untagged)]
enum ParseReport {
    Grids {
        parser: &'static str,
        grids: Vec<Grid>,
        how: &'static str,
        /// Byte range in the text; the end is exclusive.
        span: [usize; 2],
    },
    NoGrid {
        parser: &'static str,
        reason: &'static str,
        message: String,
    },
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
    let parser = args.parser.name();
    match parse_whole_task(args.parser, &text, args.tests as usize) {
        Ok(answer) => {
            let span = [answer.span.start, answer.span.end];
            if args.json {
                output::print_json(&ParseReport::Grids {
                    parser,
                    grids: answer.grids,
                    how: answer.source.name(),
                    span,
                })?;
            } else {
                for grid in &answer.grids {
                    output::print(&grid.to_string())?;
                }
                output::print(&format!(
                    "found: {}, bytes {} to {}",
                    answer.source, span[0], span[1]
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(reason) => {
            if args.json {
                output::print_json(&ParseReport::NoGrid {
                    parser,
                    reason: reason.kind(),
                    message: reason.to_string(),
                })?;
            } else {
                eprintln!(
                    "no grid ({}): {}",
                    reason.kind(),
                    output::plain(&reason.to_string())
                );
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
