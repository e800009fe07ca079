//! `rhae arc show`: shows a task in the terminal or as a picture.

use std::fs;
use std::io::{IsTerminal as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rhae_eval::{AttemptResult, Ledger, PlannedSet, assemble};
use rhae_protocol::EvalConfig;
use rhae_report::{SceneAttempt, TASK_COLORS, scene_picture, scene_svg, task_scene, wrong_cells};
use rhae_runs::{load_config, load_lines};
use rhae_tasks::{Grid, Task, TaskId, TaskSet};
use rhae_tui::ColorDepth;
use serde::Serialize;
use serde_json::{Value, json};

use super::data::DataArgs;
use crate::output;

/// Show the pairs and tests of a task in colour, as digits, or as a PNG or SVG picture.
///
/// Grids are drawn in colour on a terminal and as digits otherwise. With `--run`, the attempts of a
/// run are shown too, with wrong cells marked.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc show 0934a4d8 --data data/arc --set arc-agi-2-evaluation
  rhae arc show 0934a4d8 --data data/arc --set arc-agi-2-evaluation --png task.png
  rhae arc show 0934a4d8 --run runs/mine --svg task.svg")]
pub(super) struct ShowArgs {
    /// Id of the task, with or without the prefix `arc-`
    task: String,
    /// Task data: a task file, a file with many tasks, or a folder of either; with --run, only
    /// needed if the data have moved since the run
    #[arg(long, value_name = "[NAME=]PATH", required_unless_present = "run")]
    data: Vec<String>,
    /// Set to use, if the data contain several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
    /// Show the attempts of the run in this folder
    #[arg(long, value_name = "FOLDER")]
    run: Option<PathBuf>,
    /// Write a PNG picture instead of printing the task
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Write an SVG picture instead of printing the task
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Width of a cell in the picture, in pixels
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=64))]
    zoom: u32,
    /// Hide the solutions of the tests
    #[arg(long)]
    no_solutions: bool,
    /// When to use colours
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
struct TaskReport {
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
    let id = TaskId::from_problem_id(&args.task)?;
    let (set, attempts) = match &args.run {
        Some(folder) => load_run(args, folder, &id)?,
        None => (
            DataArgs::new(args.data.clone(), args.set.clone()).one_set()?,
            Vec::new(),
        ),
    };
    let mut task = set.task(&id)?.clone();
    if args.no_solutions {
        task.test.iter_mut().for_each(|test| test.output = None);
    }
    let scene_attempts: Vec<SceneAttempt<'_>> = attempts
        .iter()
        .map(|result| SceneAttempt {
            test: result.test,
            attempt: result.attempt,
            grid: result.grid.as_ref().map_err(|(kind, _)| *kind),
        })
        .collect();
    let scene = task_scene(&task, &scene_attempts);
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
        let attempts = attempts.iter().map(attempt_json).collect();
        output::print_json(&TaskReport {
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

/// Returns the set of a run that contains the task, and the run's attempts at it.
fn load_run(args: &ShowArgs, folder: &Path, id: &TaskId) -> Result<(TaskSet, Vec<AttemptResult>)> {
    let config: EvalConfig = load_config(folder)?;
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
    let planned = PlannedSet::from_record(record, &loaded.sets)?;
    let parser = config
        .parser
        .parse()
        .context("the configuration of the run names an unknown parser")?;
    let ledger = Ledger::from_lines(&load_lines(folder)?);
    let results = assemble(&config, std::slice::from_ref(&planned), &ledger, parser)?;
    Ok((
        planned.set,
        results
            .attempt_results
            .into_iter()
            .filter(|result| result.task == *id)
            .collect(),
    ))
}

fn attempt_json(result: &AttemptResult) -> Value {
    let mut value = json!({
        "test": result.test,
        "attempt": result.attempt,
        "right": result.right,
        "how": result.how,
        "seconds": result.ms as f64 / 1000.0,
    });
    match &result.grid {
        Ok(grid) => value["answer"] = grid.to_json(),
        Err((kind, reason)) => value["failed"] = json!({"reason": kind, "message": reason}),
    }
    if let Some(text) = &result.text {
        value["text"] = json!(text);
    }
    value
}

/// Formats the attempts. Without colours, a wrong cell has a `!` after its digit; with colours, it
/// contains `><`.
fn attempts_text(task: &Task, attempts: &[AttemptResult], depth: Option<ColorDepth>) -> String {
    let mut text = String::new();
    for result in attempts {
        let expected = task
            .test
            .get(result.test)
            .and_then(|test| test.output.as_ref());
        let head = format!("test {}, attempt {}", result.test + 1, result.attempt);
        match &result.grid {
            Ok(grid) => {
                let verdict = match expected {
                    Some(expected) if expected == grid => ", right".to_owned(),
                    Some(expected) if !expected.same_size(grid) => {
                        format!(
                            ", wrong size: {} x {}, expected {} x {}",
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
                    text += marked_line(row, depth, |x| wrong.contains(&(x, y))).trim_end();
                    text.push('\n');
                }
            }
            Err((kind, reason)) => {
                text += &format!("{head}: no grid ({kind}): {}\n", output::plain(reason));
            }
        }
        if let Some(how) = &result.how {
            text += &format!("  {}\n", output::plain(how).replace('\n', " "));
        }
        text.push('\n');
    }
    text
}

fn marked_line(row: &[u8], depth: Option<ColorDepth>, wrong: impl Fn(usize) -> bool) -> String {
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

/// Returns the colour depth of the terminal, or `None` to print digits without colours.
pub(super) fn depth(color: Color) -> Option<ColorDepth> {
    let auto =
        color == Color::Auto && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    (color == Color::Always || auto).then(|| ColorDepth::detect(|name| std::env::var(name).ok()))
}

fn text(id: &TaskId, task: &Task, depth: Option<ColorDepth>, width: usize) -> String {
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
    for (number, (kind, input, output)) in numbers.zip(train.chain(tests)) {
        let sizes = output.map_or_else(
            || format!("{} -> ?", size(input)),
            |output| format!("{} -> {}", size(input), size(output)),
        );
        text += &format!("\n{kind} {number}, {sizes}\n");
        match output {
            Some(output) if 2 * (input.width() + output.width()) + 4 <= width => {
                text += &side_by_side(input, output, depth);
            }
            Some(output) => {
                text += &format!(
                    "{}\n{}",
                    format_grid(input, depth),
                    format_grid(output, depth)
                );
            }
            None => text += &format_grid(input, depth),
        }
    }
    text
}

pub(super) fn format_grid(grid: &Grid, depth: Option<ColorDepth>) -> String {
    grid.rows()
        .map(|row| line(row, depth).trim_end().to_owned() + "\n")
        .collect()
}

fn side_by_side(left: &Grid, right: &Grid, depth: Option<ColorDepth>) -> String {
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

/// Formats a row with two columns per cell, so that cells look square.
fn line(row: &[u8], depth: Option<ColorDepth>) -> String {
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
