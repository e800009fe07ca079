//! `rhae arc compare`: compares two submissions task by task.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_tasks::{Comparison, Measure, compare, score};
use serde::Serialize;

use super::data::{DataArgs, RuleArgs, SelectArgs, load_submission};
use super::score::warnings;
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

#[derive(Serialize)]
struct Report {
    set: String,
    revision: String,
    tasks_compared: usize,
    first: Measure,
    second: Measure,
    #[serde(flatten)]
    comparison: Comparison,
}

pub(super) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let selection = args.select.selection(&set)?;
    let first = score(
        &set,
        &selection,
        &load_submission(&args.first)?,
        args.rules.rules(),
    )?;
    let second = score(
        &set,
        &selection,
        &load_submission(&args.second)?,
        args.rules.rules(),
    )?;
    let comparison = compare(&first, &second)?;
    if args.json {
        output::print_json(&Report {
            set: first.set,
            revision: first.revision,
            tasks_compared: first.tasks,
            first: first.mean_task_score,
            second: second.mean_task_score,
            comparison,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let percent = |measure: Measure| format!("{:.2} %", 100.0 * measure.value);
    let mut text = format!(
        "{}, revision {}, {} tasks\n\nmean task score   first {}, second {}, difference {:+.2} points\n\
         tasks solved      by both {}, only by the first {}, only by the second {}, by neither {}\n\
         McNemar's test    p = {:.4} ({} tasks solved by only one submission)\n",
        first.set,
        &first.revision[..12],
        first.tasks,
        percent(first.mean_task_score),
        percent(second.mean_task_score),
        100.0 * comparison.difference,
        comparison.both,
        comparison.only_first,
        comparison.only_second,
        comparison.neither,
        comparison.mcnemar.p,
        comparison.mcnemar.discordant,
    );
    if !comparison.tasks.is_empty() {
        text.push_str("\ntask              first %  second %\n");
        for task in &comparison.tasks {
            text += &format!(
                "{:<16}  {:>7.2}  {:>8.2}\n",
                task.task.as_str(),
                100.0 * task.first,
                100.0 * task.second
            );
        }
    }
    for (name, score) in [("first", &first), ("second", &second)] {
        let warnings = warnings(score);
        if !warnings.is_empty() {
            text += &format!("\nWarnings of the {name} submission:{warnings}");
        }
    }
    output::print(&output::plain(&text))?;
    Ok(ExitCode::SUCCESS)
}
