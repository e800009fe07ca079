//! `rhae arc compare`: compares two submissions task by task.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_report::{comparison_table, score_warnings};
use rhae_tasks::{ComparisonReport, score};

use super::data::{DataArgs, RuleArgs, SelectArgs, load_submission};
use crate::output;

/// Compare two submissions task by task, with McNemar's exact test.
#[derive(Args)]
#[command(after_help = "Example:
  rhae arc compare old.json new.json --data data/arc --set arc-agi-1-evaluation")]
pub(super) struct CompareArgs {
    /// First submission, a file or a folder
    first: PathBuf,
    /// Second submission, a file or a folder
    second: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let selection = args.select.selection(&set)?;
    let scored = |path: &Path| {
        let submission = load_submission(path)?;
        anyhow::Ok(score(&set, &selection, &submission, args.rules.rules())?)
    };
    let (first, second) = (scored(&args.first)?, scored(&args.second)?);
    let report = ComparisonReport::new(&first, &second)?;
    if args.json {
        output::print_json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = comparison_table(&report);
    for (name, score) in [("first", &first), ("second", &second)] {
        let warnings = score_warnings(&score.warnings);
        if !warnings.is_empty() {
            text += &format!("\nWarnings of the {name} submission:{warnings}");
        }
    }
    output::print(&output::plain(&text))?;
    Ok(ExitCode::SUCCESS)
}
