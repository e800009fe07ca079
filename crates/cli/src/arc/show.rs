//! `rhae arc show`: a task in the terminal or as a picture.

use std::fs;
use std::io::{IsTerminal as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rhae_report::{TASK_COLORS, task_picture};
use rhae_tasks::{Grid, Task, TaskId};
use serde::Serialize;
use serde_json::Value;

use super::data::DataArgs;
use crate::output;
use crate::terminal::color::Depth;

/// Show a task: its pairs and tests as blocks of colour, as digits where the output is no terminal, or as a PNG picture.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc show 0934a4d8 --data data/arc --set arc-agi-2-evaluation
  rhae arc show 0934a4d8 --data data/arc --set arc-agi-2-evaluation --png task.png")]
pub(super) struct ShowArgs {
    /// The task's id, with or without `arc-`
    task: String,
    #[command(flatten)]
    data: DataArgs,
    /// Write a PNG picture instead
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
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
}

pub(super) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let id = TaskId::from_problem(&args.task)?;
    let set = args.data.one_set()?;
    let mut task = set.task(&id)?.clone();
    if args.no_solutions {
        task.test.iter_mut().for_each(|test| test.output = None);
    }
    if let Some(path) = &args.png {
        let picture = task_picture(&task, args.zoom as usize)?;
        fs::write(path, picture).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if args.json {
        let (revision, training_cells) = (set.revision(), task.training_cells());
        output::print_json(&Shown { task: id, set: set.name, revision, training_cells, content: task.to_json() })?;
    } else if args.png.is_none() {
        output::print(&text(&id, &task, depth(args.color), output::width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How colours are drawn, if at all.
pub(super) fn depth(color: Color) -> Option<Depth> {
    let auto = color == Color::Auto && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    (color == Color::Always || auto).then(|| Depth::detect(|name| std::env::var(name).ok()))
}

fn text(id: &TaskId, task: &Task, depth: Option<Depth>, width: usize) -> String {
    let size = |grid: &Grid| format!("{} x {}", grid.height(), grid.width());
    let mut text = format!("{id}: {} training pairs, {} tests\n", task.train.len(), task.test.len());
    let train = task.train.iter().map(|pair| ("pair", &pair.input, Some(&pair.output)));
    let tests = task.test.iter().map(|test| ("test", &test.input, test.output.as_ref()));
    let numbers = (1..=task.train.len()).chain(1..);
    for (number, (what, input, output)) in numbers.zip(train.chain(tests)) {
        let sizes = output.map_or_else(|| format!("{} -> ?", size(input)), |output| format!("{} -> {}", size(input), size(output)));
        text += &format!("\n{what} {number}, {sizes}\n");
        match output {
            Some(output) if 2 * (input.width() + output.width()) + 4 <= width => text += &beside(input, output, depth),
            Some(output) => text += &format!("{}\n{}", alone(input, depth), alone(output, depth)),
            None => text += &alone(input, depth),
        }
    }
    text
}

pub(super) fn alone(grid: &Grid, depth: Option<Depth>) -> String {
    grid.rows().map(|row| line(row, depth).trim_end().to_owned() + "\n").collect()
}

fn beside(left: &Grid, right: &Grid, depth: Option<Depth>) -> String {
    let mut text = String::new();
    let (mut rows, mut others) = (left.rows(), right.rows());
    for _ in 0..left.height().max(right.height()) {
        let row = rows.next().map_or_else(|| " ".repeat(2 * left.width()), |row| line(row, depth));
        let other = others.next().map_or_else(String::new, |row| line(row, depth));
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
            let cell = |cell: &u8| format!("\x1b[{}m  ", depth.parameters(TASK_COLORS[usize::from(*cell)], true));
            row.iter().map(cell).collect::<String>() + "\x1b[0m"
        }
    }
}
