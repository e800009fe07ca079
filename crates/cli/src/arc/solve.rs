//! `rhae arc solve`: solves a task by program search and explains the answers.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_eval::{SolveReport, solve_task};
use rhae_solve::Budget;
use rhae_tasks::{Task, TaskId};
use rhae_tui::solutions_text;

use super::data::DataArgs;
use super::show::{Color, depth};
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

pub(super) fn run(args: &SolveArgs) -> Result<ExitCode> {
    let (id, task) = find_task(args)?;
    let budget = Budget {
        work: args.work * 1_000_000,
        ..Budget::default()
    };
    let solutions = solve_task(&task, &budget);
    if args.json {
        output::print_json(&SolveReport::new(&id, &task, &budget, &solutions))?;
    } else {
        output::print(&solutions_text(
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
