//! `rhae arc validate`: checks task data, or a submission against its data.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_tasks::{Grid, TaskSet, Warning, score};
use serde::Serialize;

use super::data::{DataArgs, RuleArgs, SelectArgs, load_submission};
use super::score::warnings;
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

#[derive(Serialize)]
struct SetSummary {
    set: String,
    revision: String,
    tasks: usize,
    training_pairs: usize,
    test_inputs: usize,
    /// Number of tests with a known solution.
    solutions: usize,
}

#[derive(Serialize)]
struct DataReport {
    sets: Vec<SetSummary>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SubmissionReport {
    set: String,
    revision: String,
    valid: bool,
    /// Number of tests without a readable answer.
    failed_test_inputs: usize,
    warnings: Vec<Warning>,
}

pub(super) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    match &args.submission {
        None => check_data(args),
        Some(path) => check_submission(args, path),
    }
}

fn check_data(args: &ValidateArgs) -> Result<ExitCode> {
    let loaded = args.data.load()?;
    let summary = |set: &TaskSet| {
        let (training_pairs, test_inputs) = set.counts();
        let solutions = set
            .tasks
            .values()
            .flat_map(|task| &task.test)
            .filter(|test| test.output.is_some())
            .count();
        SetSummary {
            set: set.name.clone(),
            revision: set.revision(),
            tasks: set.tasks.len(),
            training_pairs,
            test_inputs,
            solutions,
        }
    };
    let report = DataReport {
        sets: loaded.sets.iter().map(summary).collect(),
        notes: loaded.notes,
    };
    if args.json {
        output::print_json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = report
        .sets
        .iter()
        .map(|set| set.set.chars().count())
        .max()
        .unwrap_or(0)
        .max(3);
    output::print(&format!(
        "{:<width$}  tasks  pairs  tests  solutions  revision",
        "set"
    ))?;
    for set in &report.sets {
        let (name, tasks, pairs, tests) = (
            output::plain(&set.set),
            set.tasks,
            set.training_pairs,
            set.test_inputs,
        );
        output::print(&format!(
            "{name:<width$}  {tasks:>5}  {pairs:>5}  {tests:>5}  {:>9}  {}",
            set.solutions, set.revision
        ))?;
    }
    for note in &report.notes {
        output::print(&output::plain(&format!("note: {note}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check_submission(args: &ValidateArgs, path: &std::path::Path) -> Result<ExitCode> {
    let mut set = args.data.one_set()?;
    let revision = set.revision();
    // Whether an answer is readable does not depend on the solution, but scoring requires one.
    // Tests without a known solution therefore get a placeholder.
    let placeholder = Grid::new(&[vec![0]])?;
    for test in set.tasks.values_mut().flat_map(|task| &mut task.test) {
        test.output.get_or_insert_with(|| placeholder.clone());
    }
    let mut score = score(
        &set,
        &args.select.selection(&set)?,
        &load_submission(path)?,
        args.rules.rules(),
    )?;
    let tests = score
        .results
        .iter()
        .flat_map(|result| result.tests.iter().map(move |test| (&result.task, test)));
    let failed: Vec<Warning> = tests
        .filter(|(_, test)| test.outcome.is_failure())
        .map(|(task, test)| Warning {
            kind: "no-grid",
            task: Some(task.clone()),
            message: format!(
                "test {} has no grid: {}",
                test.test + 1,
                test.outcome.name()
            ),
        })
        .collect();
    let failed_test_inputs = failed.len();
    score.warnings.extend(failed);
    // Two identical attempts waste one of them, but the submission is still valid.
    let valid = score
        .warnings
        .iter()
        .all(|warning| warning.kind == "identical-attempts");
    if args.json {
        let set = score.set;
        output::print_json(&SubmissionReport {
            set,
            revision,
            valid,
            failed_test_inputs,
            warnings: score.warnings,
        })?;
        return Ok(if valid {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    output::print(&format!(
        "checked {} tasks and {} tests of {}",
        score.tasks,
        score.test_inputs,
        output::plain(&score.set)
    ))?;
    output::print(output::plain(&warnings(&score)).trim_start())?;
    ensure!(valid, "`{}` is not a valid submission", path.display());
    Ok(ExitCode::SUCCESS)
}
