//! `rhae arc solve`: answers to a task by program search, and how they were found.

use std::path::Path;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_solve::{Budget, Candidate, Solution, solve_test};
use rhae_tasks::{Grid, Task, TaskId};
use serde::Serialize;

use super::data::DataArgs;
use super::show::{Color, alone, depth};
use crate::output;
use crate::terminal::color::Depth;

/// Solve a task by searching for programs: no model, no network. Two answers for each test, with the program that gave each.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc solve task.json --explain
  rhae arc solve 0934a4d8 --data data/arc --set arc-agi-1-evaluation --json")]
pub(super) struct SolveArgs {
    /// A task file, or the id of a task of the data
    #[arg(value_name = "FILE|ID")]
    task: String,
    /// The tasks that the id is looked up in: a file or a folder; NAME=PATH gives a set a name. May be repeated
    #[arg(long, value_name = "[NAME=]PATH")]
    data: Vec<String>,
    /// Which set, where the data have several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Show how the answers were found: the layers one after the other
    #[arg(long)]
    explain: bool,
    /// How much to search for each test, in millions of cells looked at; the same budget always gives the same answers
    #[arg(long, value_name = "N", default_value_t = Budget::default().work / 1_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    work: u64,
    /// Whether to draw in colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Solved<'a> {
    task: &'a TaskId,
    work_per_test: u64,
    tests: Vec<SolvedTest<'a>>,
}

#[derive(Serialize)]
struct SolvedTest<'a> {
    work: u64,
    attempts: Vec<Attempt<'a>>,
}

#[derive(Serialize)]
struct Attempt<'a> {
    answer: &'a Grid,
    method: &'static str,
    program: &'a str,
    pairs_fitted: usize,
    pairs: usize,
    confidence: f64,
    /// Whether it equals the solution, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<bool>,
    layers: Vec<ShownLayer<'a>>,
}

#[derive(Serialize)]
struct ShownLayer<'a> {
    program: &'a str,
    used: &'a str,
    cells_decided: usize,
    painted: &'a Grid,
}

pub(super) fn run(args: &SolveArgs) -> Result<ExitCode> {
    let (id, task) = find(args)?;
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
            .map(|(test, solution)| SolvedTest {
                work: solution.work,
                attempts: solution
                    .attempts(2)
                    .iter()
                    .map(|answer| attempt(answer, test.output.as_ref()))
                    .collect(),
            });
        output::print_json(&Solved {
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

/// The task: from a file, or by its id.
fn find(args: &SolveArgs) -> Result<(TaskId, Task)> {
    if Path::new(&args.task).is_file() {
        ensure!(
            args.data.is_empty(),
            "`{}` is a file, so `--data` is not needed",
            args.task
        );
        let set = DataArgs::new(vec![args.task.clone()], args.set.clone()).one_set()?;
        ensure!(
            set.tasks.len() == 1,
            "`{}` has {} tasks; choose one: `rhae arc solve ID --data {}`",
            args.task,
            set.tasks.len(),
            args.task
        );
        return set.tasks.into_iter().next().context("the file has no task");
    }
    let id = TaskId::from_problem(&args.task)
        .with_context(|| format!("`{}` is no file and no id of a task", args.task))?;
    ensure!(
        !args.data.is_empty(),
        "`{}` is no file; to look up a task by its id, say where with `--data`",
        args.task
    );
    let set = DataArgs::new(args.data.clone(), args.set.clone()).one_set()?;
    let task = set.task(&id)?.clone();
    Ok((id, task))
}

/// All tests at once, each in a thread of its own as far as there are cores.
fn solve(task: &Task, budget: &Budget) -> Vec<Solution> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let tests: Vec<usize> = (0..task.test.len()).collect();
    let mut solutions = Vec::new();
    for some in tests.chunks(cores) {
        thread::scope(|scope| {
            let running: Vec<_> = some
                .iter()
                .map(|&test| scope.spawn(move || solve_test(task, test, budget, &|| false)))
                .collect();
            solutions.extend(
                running
                    .into_iter()
                    .map(|one| one.join().expect("the solver does not panic")),
            );
        });
    }
    solutions
}

fn attempt<'a>(answer: &'a Candidate, truth: Option<&Grid>) -> Attempt<'a> {
    let layers = answer.layers.iter().map(|layer| ShownLayer {
        program: &layer.program,
        used: &layer.used,
        cells_decided: layer.decided,
        painted: &layer.painted,
    });
    Attempt {
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
    depth: Option<Depth>,
) -> String {
    let mut text = format!("{id}\n");
    for (number, (test, solution)) in task.test.iter().zip(solutions).enumerate() {
        text += &format!(
            "\ntest {}, {} million cells looked at\n{}",
            number + 1,
            solution.work / 1_000_000,
            alone(&test.input, depth)
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
                alone(&answer.grid, depth)
            );
            if explain {
                text += &layers(answer, depth);
            }
        }
    }
    text
}

/// The layers from the first, which has the last word about a cell.
fn layers(answer: &Candidate, depth: Option<Depth>) -> String {
    let mut text = String::new();
    for (number, layer) in answer.layers.iter().enumerate() {
        text += &format!(
            "\n  layer {} of {}: {} of `{}`, decides {} cells of the training outputs\n{}",
            number + 1,
            answer.layers.len(),
            layer.used,
            layer.program,
            layer.decided,
            alone(&layer.painted, depth)
        );
    }
    text
}
