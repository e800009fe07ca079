//! `rhae arc convert`: writes a submission in another format.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use rhae_datasets::{SubmissionFormat, write_submission};

use super::data::{DataArgs, RuleArgs, load_submission};
use crate::output;

/// Convert a submission to Kaggle's `submission.json` or to the folder format of the official
/// harness.
///
/// Every task and test of the set is written. An unreadable answer becomes `[[0,0],[0,0]]` for
/// Kaggle and `null` for the official harness.
#[derive(Args)]
#[command(after_help = "Example:
  rhae arc convert runs/mine --to kaggle --out submission.json --data data/arc --set arc-agi-2-evaluation")]
pub(super) struct ConvertArgs {
    /// Submission to convert, a file or a folder
    submission: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    to: Format,
    /// Output file, or output folder for the official format
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Print the list of written files as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Kaggle,
    Official,
}

pub(super) fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let submission = load_submission(&args.submission)?;
    let format = match args.to {
        Format::Kaggle => SubmissionFormat::Kaggle,
        Format::Official => SubmissionFormat::Official,
    };
    let written = write_submission(&submission, &set, args.rules.rules(), format, &args.out)?;
    if args.json {
        output::print_json(&written)?;
    } else {
        output::print(&output::plain(&format!(
            "wrote {} tasks to `{}`",
            written.tasks,
            args.out.display()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
