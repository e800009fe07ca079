//! `rhae arc parse`: the grid in a text, or why there is none.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_tasks::{Grid, LONGEST_ANSWER, Parser, parse_whole};
use serde::Serialize;

use crate::output;

/// Find the grid in an answer on standard input; the exit code is 1 if there is none.
#[derive(Args)]
#[command(after_help = "Example:
  echo 'It is [[1,2],[3,4]] (see example [0])' | rhae arc parse")]
pub(super) struct ParseArgs {
    /// How the answer is read: lenient, official, nejumi or plan
    #[arg(long, default_value = Parser::Lenient.name())]
    parser: Parser,
    /// How many tests the answer is for: a list of so many grids is looked for
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    tests: u32,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    Grids {
        parser: &'static str,
        grids: Vec<Grid>,
        how: &'static str,
        /// Bytes of the text, first and past the last.
        span: [usize; 2],
    },
    Nothing {
        parser: &'static str,
        reason: &'static str,
        message: String,
    },
}

pub(super) fn run(args: &ParseArgs) -> Result<ExitCode> {
    let mut bytes = Vec::new();
    let most = LONGEST_ANSWER as u64 + 1;
    std::io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    let text = String::from_utf8_lossy(&bytes);
    let parser = args.parser.name();
    match parse_whole(args.parser, &text, args.tests as usize) {
        Ok(answer) => {
            let span = [answer.span.start, answer.span.end];
            if args.json {
                output::print_json(&Found::Grids {
                    parser,
                    grids: answer.grids,
                    how: answer.how.name(),
                    span,
                })?;
            } else {
                for grid in &answer.grids {
                    output::print(&grid.to_string())?;
                }
                output::print(&format!(
                    "found: {}, bytes {} to {}",
                    answer.how, span[0], span[1]
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(reason) => {
            if args.json {
                output::print_json(&Found::Nothing {
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
