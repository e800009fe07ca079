//! `rhae arc validate`: is this data, and is this submission, as it should be?

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_tasks::{Grid, TaskSet, Warning, score};
use serde::Serialize;

use super::data::{DataArgs, RuleArgs, SelectArgs, submission};
use super::score::warnings;
use crate::output;

/// Check data, or a submission against them: the exit code is 0 only if nothing is wrong.
///
/// Solutions are not needed. A submission must have every task, every test and every attempt that counts, each a grid.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc validate --data data/arc
  rhae arc validate submission.json --data data/arc --set arc-agi-2-evaluation --json")]
pub(super) struct ValidateArgs {
    /// A submission, file or folder
    submission: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct SetFacts {
    set: String,
    revision: String,
    tasks: usize,
    training_pairs: usize,
    test_inputs: usize,
    /// Tests whose solution is known.
    solutions: usize,
}

#[derive(Serialize)]
struct DataReport {
    sets: Vec<SetFacts>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SubmissionReport {
    set: String,
    revision: String,
    valid: bool,
    /// Tests without a readable answer.
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
    let facts = |set: &TaskSet| {
        let (training_pairs, test_inputs) = set.counts();
        let solutions = set
            .tasks
            .values()
            .flat_map(|task| &task.test)
            .filter(|test| test.output.is_some())
            .count();
        SetFacts {
            set: set.name.clone(),
            revision: set.revision(),
            tasks: set.tasks.len(),
            training_pairs,
            test_inputs,
            solutions,
        }
    };
    let report = DataReport {
        sets: loaded.sets.iter().map(facts).collect(),
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
        "{:<width$}  tasks  pairs  tests  solved  revision",
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
            "{name:<width$}  {tasks:>5}  {pairs:>5}  {tests:>5}  {:>6}  {}",
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
    // Whether an answer can be read does not depend on the solution, so any will do where there is none.
    let stand_in = Grid::new(&[vec![0]])?;
    for test in set.tasks.values_mut().flat_map(|task| &mut task.test) {
        test.output.get_or_insert_with(|| stand_in.clone());
    }
    let mut judged = score(
        &set,
        &args.select.selection(&set)?,
        &submission(path)?,
        args.rules.rules(),
    )?;
    let tests = judged
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
    judged.warnings.extend(failed);
    // Two equal attempts are a waste, but allowed.
    let valid = judged
        .warnings
        .iter()
        .all(|warning| warning.kind == "identical-attempts");
    if args.json {
        let set = judged.set;
        output::print_json(&SubmissionReport {
            set,
            revision,
            valid,
            failed_test_inputs,
            warnings: judged.warnings,
        })?;
        return Ok(if valid {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    output::print(&format!(
        "{} tasks and {} tests of {} checked",
        judged.tasks,
        judged.test_inputs,
        output::plain(&judged.set)
    ))?;
    output::print(output::plain(&warnings(&judged)).trim_start())?;
    ensure!(valid, "`{}` is not a valid submission", path.display());
    Ok(ExitCode::SUCCESS)
}
