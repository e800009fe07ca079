//! `rhae arc convert`: writes a submission in another format.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

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

#[derive(Serialize)]
struct ConvertReport {
    tasks: usize,
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let (submission, rules) = (load_submission(&args.submission)?, args.rules.rules());
    let files = match args.to {
        Format::Kaggle => vec![(
            args.out.clone(),
            submission.to_kaggle(&set, rules).to_string(),
        )],
        Format::Official => {
            fs::create_dir_all(&args.out)
                .with_context(|| format!("cannot create `{}`", args.out.display()))?;
            let file = |(id, value): (rhae_tasks::TaskId, serde_json::Value)| {
                (args.out.join(format!("{id}.json")), value.to_string())
            };
            submission
                .to_official(&set, rules)?
                .into_iter()
                .map(file)
                .collect()
        }
    };
    for (path, text) in &files {
        fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let report = ConvertReport {
        tasks: set.tasks.len(),
        files: files.into_iter().map(|(path, _)| path).collect(),
    };
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&output::plain(&format!(
            "wrote {} tasks to `{}`",
            report.tasks,
            args.out.display()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
