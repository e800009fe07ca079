//! `rhae arc convert`: a submission in another form.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::data::{DataArgs, RuleArgs, submission};
use crate::output;

/// Write a submission as Kaggle's `submission.json` or as the official harness's folder.
///
/// Every task and test of the set is written. What cannot be read is `[[0,0],[0,0]]` for Kaggle and `null` for the official harness.
#[derive(Args)]
#[command(after_help = "Example:
  rhae arc convert runs/mine --to kaggle --out submission.json --data data/arc --set arc-agi-2-evaluation")]
pub(super) struct ConvertArgs {
    /// The submission, file or folder
    submission: PathBuf,
    /// The form to write
    #[arg(long, value_enum)]
    to: Form,
    /// The file, or for the official form the folder
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Kaggle,
    Official,
}

#[derive(Serialize)]
struct Written {
    tasks: usize,
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let (submission, rules) = (submission(&args.submission)?, args.rules.rules());
    let files = match args.to {
        Form::Kaggle => vec![(
            args.out.clone(),
            submission.to_kaggle(&set, rules).to_string(),
        )],
        Form::Official => {
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
    let written = Written {
        tasks: set.tasks.len(),
        files: files.into_iter().map(|(path, _)| path).collect(),
    };
    if args.json {
        output::print_json(&written)?;
    } else {
        output::print(&output::plain(&format!(
            "{} tasks written to `{}`",
            written.tasks,
            args.out.display()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
