//! `rhae arc show`: a task in the terminal or as a picture.

use std::fs;
use std::io::{IsTerminal as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rhae_eval::{AttemptResult, Ledger, PlannedSet, assemble, load_config, load_lines};
use rhae_report::{SceneAttempt, TASK_COLORS, scene_picture, scene_svg, task_scene, wrong_cells};
use rhae_tasks::{Grid, Task, TaskId, TaskSet};
use serde::Serialize;
use serde_json::{Value, json};

use super::data::DataArgs;
use crate::output;
use crate::terminal::color::Depth;

/// Show a task: its pairs and tests as blocks of colour, as digits where the output is no terminal, or as a PNG or SVG picture.
///
/// With the folder of a run the attempts stand beside the solutions, with wrong cells marked.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc show 0934a4d8 --data data/arc --set arc-agi-2-evaluation
  rhae arc show 0934a4d8 --data data/arc --set arc-agi-2-evaluation --png task.png
  rhae arc show 0934a4d8 --run runs/mine --svg task.svg")]
pub(super) struct ShowArgs {
    /// The task's id, with or without `arc-`
    task: String,
    /// The tasks: a task file, a file with many tasks, or a folder of either; with --run, where they are now
    #[arg(long, value_name = "[NAME=]PATH", required_unless_present = "run")]
    data: Vec<String>,
    /// Which set, where the data have several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Show the attempts of a run: its folder
    #[arg(long, value_name = "FOLDER")]
    run: Option<PathBuf>,
    /// Write a PNG picture instead
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Write an SVG picture instead
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// How many pixels wide a cell of the picture is
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=64))]
    zoom: u32,
    /// Leave the solutions of the tests out
    #[arg(long)]
    no_solutions: bool,
    /// Whether to draw in colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
    /// Print the task as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Serialize)]
struct Shown {
    task: TaskId,
    set: String,
    revision: String,
    training_cells: usize,
    #[serde(flatten)]
    content: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<Value>,
}

pub(super) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let id = TaskId::from_problem(&args.task)?;
    let (set, attempts) = match &args.run {
        Some(folder) => of_run(args, folder, &id)?,
        None => (
            DataArgs::new(args.data.clone(), args.set.clone()).one_set()?,
            Vec::new(),
        ),
    };
    let mut task = set.task(&id)?.clone();
    if args.no_solutions {
        task.test.iter_mut().for_each(|test| test.output = None);
    }
    let shown: Vec<SceneAttempt<'_>> = attempts
        .iter()
        .map(|one| SceneAttempt {
            test: one.test,
            attempt: one.attempt,
            grid: one.grid.as_ref().map_err(|(kind, _)| *kind),
        })
        .collect();
    let scene = task_scene(&task, &shown);
    let write = |path: &Path, content: &[u8]| {
        fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))
    };
    if let Some(path) = &args.png {
        write(path, &scene_picture(&scene, args.zoom as usize)?)?;
    }
    if let Some(path) = &args.svg {
        write(path, scene_svg(&scene, args.zoom as usize).as_bytes())?;
    }
    if args.json {
        let (revision, training_cells) = (set.revision(), task.training_cells());
        let attempts = attempts.iter().map(attempt).collect();
        output::print_json(&Shown {
            task: id,
            set: set.name,
            revision,
            training_cells,
            content: task.to_json(),
            attempts,
        })?;
    } else if args.png.is_none() && args.svg.is_none() {
        let depth = depth(args.color);
        output::print(&text(&id, &task, depth, output::width()))?;
        if !attempts.is_empty() {
            output::print(&format!(
                "\n{}",
                attempts_text(&task, &attempts, depth).trim_end()
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The set of a run that has the task, and the run's attempts at it.
fn of_run(args: &ShowArgs, folder: &Path, id: &TaskId) -> Result<(TaskSet, Vec<AttemptResult>)> {
    let config = load_config(folder)?;
    let data = if args.data.is_empty() {
        config.data.clone()
    } else {
        args.data.clone()
    };
    let loaded = DataArgs::new(data, Vec::new()).load()?;
    let wanted = |name: &str| args.set.is_empty() || args.set.iter().any(|set| set == name);
    let record = config
        .sets
        .iter()
        .find(|set| set.tests.contains_key(id.as_str()) && wanted(&set.name));
    let record =
        record.with_context(|| format!("the run in `{}` has no task `{id}`", folder.display()))?;
    let planned = PlannedSet::of_record(record, &loaded.sets)?;
    let parser = config
        .parser
        .parse()
        .context("the run's configuration names a parser")?;
    let ledger = Ledger::of_lines(&load_lines(folder)?);
    let results = assemble(&config, std::slice::from_ref(&planned), &ledger, parser)?;
    Ok((
        planned.set,
        results
            .tries
            .into_iter()
            .filter(|one| one.task == *id)
            .collect(),
    ))
}

fn attempt(one: &AttemptResult) -> Value {
    let mut value = json!({"test": one.test, "attempt": one.attempt, "right": one.right, "how": one.how, "seconds": one.ms as f64 / 1000.0});
    match &one.grid {
        Ok(grid) => value["answer"] = grid.to_json(),
        Err((kind, reason)) => value["failed"] = json!({"reason": kind, "message": reason}),
    }
    if let Some(text) = &one.text {
        value["text"] = json!(text);
    }
    value
}

/// The attempts one after the other; a wrong cell has a mark beside its digit, or within its colour.
fn attempts_text(task: &Task, attempts: &[AttemptResult], depth: Option<Depth>) -> String {
    let mut text = String::new();
    for one in attempts {
        let expected = task
            .test
            .get(one.test)
            .and_then(|test| test.output.as_ref());
        let head = format!("test {}, attempt {}", one.test + 1, one.attempt);
        match &one.grid {
            Ok(grid) => {
                let verdict = match expected {
                    Some(expected) if expected == grid => ", right".to_owned(),
                    Some(expected) if !expected.same_size(grid) => {
                        format!(
                            ", wrong size: {} x {} and not {} x {}",
                            grid.height(),
                            grid.width(),
                            expected.height(),
                            expected.width()
                        )
                    }
                    Some(expected) => match wrong_cells(grid, expected).len() {
                        1 => ", 1 wrong cell".to_owned(),
                        many => format!(", {many} wrong cells"),
                    },
                    None => String::new(),
                };
                let wrong = expected.map_or_else(Vec::new, |expected| wrong_cells(grid, expected));
                text += &format!("{head}{verdict}\n");
                for (y, row) in grid.rows().enumerate() {
                    text += marked(row, depth, |x| wrong.contains(&(x, y))).trim_end();
                    text.push('\n');
                }
            }
            Err((kind, reason)) => {
                text += &format!("{head}: no grid ({kind}): {}\n", output::plain(reason))
            }
        }
        if let Some(how) = &one.how {
            text += &format!("  {}\n", output::plain(how).replace('\n', " "));
        }
        text.push('\n');
    }
    text
}

fn marked(row: &[u8], depth: Option<Depth>, wrong: impl Fn(usize) -> bool) -> String {
    let cell = |(x, cell): (usize, &u8)| match depth {
        None => format!("{cell}{}", if wrong(x) { '!' } else { ' ' }),
        Some(depth) => {
            let mark = if wrong(x) { "><" } else { "  " };
            format!(
                "\x1b[{}m{mark}",
                depth.parameters(TASK_COLORS[usize::from(*cell)], true)
            )
        }
    };
    let end = if depth.is_some() { "\x1b[0m" } else { "" };
    row.iter().enumerate().map(cell).collect::<String>() + end
}

/// How colours are drawn, if at all.
pub(super) fn depth(color: Color) -> Option<Depth> {
    let auto =
        color == Color::Auto && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    (color == Color::Always || auto).then(|| Depth::detect(|name| std::env::var(name).ok()))
}

fn text(id: &TaskId, task: &Task, depth: Option<Depth>, width: usize) -> String {
    let size = |grid: &Grid| format!("{} x {}", grid.height(), grid.width());
    let mut text = format!(
        "{id}: {} training pairs, {} tests\n",
        task.train.len(),
        task.test.len()
    );
    let train = task
        .train
        .iter()
        .map(|pair| ("pair", &pair.input, Some(&pair.output)));
    let tests = task
        .test
        .iter()
        .map(|test| ("test", &test.input, test.output.as_ref()));
    let numbers = (1..=task.train.len()).chain(1..);
    for (number, (what, input, output)) in numbers.zip(train.chain(tests)) {
        let sizes = output.map_or_else(
            || format!("{} -> ?", size(input)),
            |output| format!("{} -> {}", size(input), size(output)),
        );
        text += &format!("\n{what} {number}, {sizes}\n");
        match output {
            Some(output) if 2 * (input.width() + output.width()) + 4 <= width => {
                text += &beside(input, output, depth)
            }
            Some(output) => text += &format!("{}\n{}", alone(input, depth), alone(output, depth)),
            None => text += &alone(input, depth),
        }
    }
    text
}

pub(super) fn alone(grid: &Grid, depth: Option<Depth>) -> String {
    grid.rows()
        .map(|row| line(row, depth).trim_end().to_owned() + "\n")
        .collect()
}

fn beside(left: &Grid, right: &Grid, depth: Option<Depth>) -> String {
    let mut text = String::new();
    let (mut rows, mut others) = (left.rows(), right.rows());
    for _ in 0..left.height().max(right.height()) {
        let row = rows
            .next()
            .map_or_else(|| " ".repeat(2 * left.width()), |row| line(row, depth));
        let other = others
            .next()
            .map_or_else(String::new, |row| line(row, depth));
        text += (row + "    " + &other).trim_end();
        text.push('\n');
    }
    text
}

/// A row, two columns to a cell, so that cells are about square.
fn line(row: &[u8], depth: Option<Depth>) -> String {
    match depth {
        None => row.iter().map(|cell| format!("{cell} ")).collect(),
        Some(depth) => {
            let cell = |cell: &u8| {
                format!(
                    "\x1b[{}m  ",
                    depth.parameters(TASK_COLORS[usize::from(*cell)], true)
                )
            };
            row.iter().map(cell).collect::<String>() + "\x1b[0m"
        }
    }
}
