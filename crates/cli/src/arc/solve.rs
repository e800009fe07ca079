//! `rhae arc solve`: solves a task by program search and explains the answers.

use std::path::Path;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_solve::{Budget, Candidate, Solution, solve_test};
use rhae_tasks::{Grid, Task, TaskId};
use rhae_tui::ColorDepth;
use serde::Serialize;

use super::data::DataArgs;
use super::show::{Color, depth, format_grid};
use crate::output;

/// Solve a task by program search, without a model or network; prints two answers for each test and
/// the program behind each.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc solve task.json --explain
  rhae arc solve 0934a4d8 --data data/arc --set arc-agi-1-evaluation --json")]
pub(super) struct SolveArgs {
    /// Task file, or the id of a task in the data
    #[arg(value_name = "FILE|ID")]
    task: String,
    /// Task data in which to find the id: a file or a folder; NAME=PATH names the set. Can be
    /// repeated
    #[arg(long, value_name = "[NAME=]PATH")]
    data: Vec<String>,
    /// Set to use, if the data contain several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Explain each answer by the layers of its program
    #[arg(long)]
    explain: bool,
    /// Search budget for each test, in millions of examined cells; the same budget always gives the
    /// same answers
    #[arg(long, value_name = "N", default_value_t = Budget::default().work / 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    work: u64,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
    /// Print the answers as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct SolveReport<'a> {
    task: &'a TaskId,
    work_per_test: u64,
    tests: Vec<TestReport<'a>>,
}

#[derive(Serialize)]
struct TestReport<'a> {
    work: u64,
    attempts: Vec<AttemptReport<'a>>,
}

#[derive(Serialize)]
struct AttemptReport<'a> {
    answer: &'a Grid,
    method: &'static str,
    program: &'a str,
    pairs_fitted: usize,
    pairs: usize,
    confidence: f64,
    /// Whether the answer equals the solution; `None` if the solution is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<bool>,
    layers: Vec<LayerReport<'a>>,
}

#[derive(Serialize)]
struct LayerReport<'a> {
    program: &'a str,
    used: &'a str,
    cells_decided: usize,
    painted: &'a Grid,
}

pub(super) fn run(args: &SolveArgs) -> Result<ExitCode> {
    let (id, task) = find_task(args)?;
    let budget = Budget {
        work: args.work * 1_000_000,
        ..Budget::default()
    };
    let solutions = solve(&task, &budget);
    if args.json {
        let tests = task
            .test
            .iter()
            .zip(&solutions)
            .map(|(test, solution)| TestReport {
                work: solution.work,
                attempts: solution
                    .attempts(2)
                    .iter()
                    .map(|answer| attempt_report(answer, test.output.as_ref()))
                    .collect(),
            });
        output::print_json(&SolveReport {
            task: &id,
            work_per_test: budget.work,
            tests: tests.collect(),
        })?;
    } else {
        output::print(&text(
            &id,
            &task,
            &solutions,
            args.explain,
            depth(args.color),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the only task of the given file or, if the argument is an id, the task of the data with
/// that id.
fn find_task(args: &SolveArgs) -> Result<(TaskId, Task)> {
    if Path::new(&args.task).is_file() {
        ensure!(
            args.data.is_empty(),
            "`{}` is a file; `--data` can be used only with the id of a task",
            args.task
        );
        let set = DataArgs::new(vec![args.task.clone()], args.set.clone()).one_set()?;
        ensure!(
            set.tasks.len() == 1,
            "`{}` contains {} tasks; choose one with `rhae arc solve ID --data {}`",
            args.task,
            set.tasks.len(),
            args.task
        );
        return set
            .tasks
            .into_iter()
            .next()
            .context("the file contains no task");
    }
    let id = TaskId::from_problem_id(&args.task)
        .with_context(|| format!("`{}` is neither a file nor the id of a task", args.task))?;
    ensure!(
        !args.data.is_empty(),
        "`{}` is not a file; to solve a task by its id, name the data with `--data`",
        args.task
    );
    let set = DataArgs::new(args.data.clone(), args.set.clone()).one_set()?;
    let task = set.task(&id)?.clone();
    Ok((id, task))
}

/// Solves all tests of a task, each in its own thread, in batches of as many tests as there are
/// cores.
fn solve(task: &Task, budget: &Budget) -> Vec<Solution> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let tests: Vec<usize> = (0..task.test.len()).collect();
    let mut solutions = Vec::new();
    for batch in tests.chunks(cores) {
        thread::scope(|scope| {
            let running: Vec<_> = batch
                .iter()
                .map(|&test| scope.spawn(move || solve_test(task, test, budget, &|| false)))
                .collect();
            solutions.extend(
                running
                    .into_iter()
                    .map(|thread| thread.join().expect("the solver does not panic")),
            );
        });
    }
    solutions
}

fn attempt_report<'a>(answer: &'a Candidate, truth: Option<&Grid>) -> AttemptReport<'a> {
    let layers = answer.layers.iter().map(|layer| LayerReport {
        program: &layer.program,
        used: &layer.used,
        cells_decided: layer.decided,
        painted: &layer.painted,
    });
    AttemptReport {
        answer: &answer.grid,
        method: answer.method.name(),
        program: &answer.program,
        pairs_fitted: answer.fits,
        pairs: answer.pairs,
        confidence: answer.confidence(),
        right: truth.map(|truth| *truth == answer.grid),
        layers: layers.collect(),
    }
}

fn text(
    id: &TaskId,
    task: &Task,
    solutions: &[Solution],
    explain: bool,
    depth: Option<ColorDepth>,
) -> String {
    let mut text = format!("{id}\n");
    for (number, (test, solution)) in task.test.iter().zip(solutions).enumerate() {
        text += &format!(
            "\ntest {}, {} million cells examined\n{}",
            number + 1,
            solution.work / 1_000_000,
            format_grid(&test.input, depth)
        );
        for (number, answer) in solution.attempts(2).iter().enumerate() {
            let right = match &test.output {
                Some(truth) if *truth == answer.grid => ", right",
                Some(_) => ", wrong",
                None => "",
            };
            text += &format!(
                "\nattempt {}: {}, fits {} of {} pairs, confidence {:.2}{right}\n  {}\n{}",
                number + 1,
                answer.method.name(),
                answer.fits,
                answer.pairs,
                answer.confidence(),
                answer.program,
                format_grid(&answer.grid, depth)
            );
            if explain {
                text += &layers(answer, depth);
            }
        }
    }
    text
}

/// Formats the layers of an answer in order of precedence: each cell is painted by the first layer
/// that decides it.
fn layers(answer: &Candidate, depth: Option<ColorDepth>) -> String {
    let mut text = String::new();
    for (number, layer) in answer.layers.iter().enumerate() {
        text += &format!(
            "\n  layer {} of {}: {} of `{}`, decides {} cells of the training outputs\n{}",
            number + 1,
            answer.layers.len(),
            layer.used,
            layer.program,
            layer.decided,
            format_grid(&layer.painted, depth)
        );
    }
    text
}
