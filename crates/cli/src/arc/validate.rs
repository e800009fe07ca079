//! `rhae arc validate`: checks task data, or a submission against its data.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_report::{data_table, score_warnings};
use rhae_tasks::{DataReport, check_submission};

use super::data::{DataArgs, RuleArgs, SelectArgs, load_submission};
use crate::output;

/// Check task data, or check a submission against its data; the exit code is 0 if there is no
/// error.
///
/// Solutions are not required. A submission must contain every task, every test and every attempt
/// that counts, and each attempt must be a grid.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc validate --data data/arc
  rhae arc validate submission.json --data data/arc --set arc-agi-2-evaluation --json")]
pub(super) struct ValidateArgs {
    /// Submission to check, a file or a folder; without it, only the data are checked
    submission: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    if let Some(path) = &args.submission {
        return check(args, path);
    }
    let report = DataReport::new(&args.data.load()?);
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&data_table(&report))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(args: &ValidateArgs, path: &Path) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let selection = args.select.selection(&set)?;
    let submission = load_submission(path)?;
    let report = check_submission(&set, &selection, &submission, args.rules.rules())?;
    if args.json {
        output::print_json(&report)?;
        return Ok(if report.valid {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    output::print(&format!(
        "checked {} tasks and {} tests of {}",
        report.tasks,
        report.test_inputs,
        output::plain(&report.set)
    ))?;
    output::print(output::plain(&score_warnings(&report.warnings)).trim_start())?;
    ensure!(
        report.valid,
        "`{}` is not a valid submission",
        path.display()
    );
    Ok(ExitCode::SUCCESS)
}
