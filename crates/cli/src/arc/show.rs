//! `rhae arc show`: shows a task in the terminal or as a picture.

use std::fs;
use std::io::{IsTerminal as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rhae_datasets::load_data;
use rhae_eval::{AttemptResult, TaskReport, load_attempts};
use rhae_protocol::EvalConfig;
use rhae_report::{SceneAttempt, scene_picture, scene_svg, task_scene};
use rhae_runs::load_config;
use rhae_tasks::{TaskId, TaskSet};
use rhae_tui::{ColorDepth, ShownAttempt, attempts_text, task_text};

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
            grid: result
                .grid
                .as_ref()
                .map_err(|failure| failure.reason.name()),
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
        output::print_json(&TaskReport::new(&id, &set, &task, &attempts))?;
    } else if args.png.is_none() && args.svg.is_none() {
        let depth = depth(args.color);
        output::print(&task_text(&id, &task, depth, output::width()))?;
        if !attempts.is_empty() {
            let shown: Vec<ShownAttempt<'_>> = attempts.iter().map(shown_attempt).collect();
            output::print(&format!(
                "\n{}",
                attempts_text(&task, &shown, depth).trim_end()
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the set of a run that contains the task, and the run's attempts at it.
fn load_run(args: &ShowArgs, folder: &Path, id: &TaskId) -> Result<(TaskSet, Vec<AttemptResult>)> {
    let data = if args.data.is_empty() {
        load_config::<EvalConfig>(folder)?.data
    } else {
        args.data.clone()
    };
    Ok(load_attempts(
        folder,
        &load_data(&data)?.sets,
        &args.set,
        id,
    )?)
}

fn shown_attempt(result: &AttemptResult) -> ShownAttempt<'_> {
    ShownAttempt {
        test: result.test,
        attempt: result.attempt,
        grid: result
            .grid
            .as_ref()
            .map_err(|failure| (failure.reason.name(), failure.message.as_str())),
        how: result.how.as_deref(),
    }
}

/// Returns the colour depth of the terminal, or `None` to print digits without colours.
pub(super) fn depth(color: Color) -> Option<ColorDepth> {
    let auto =
        color == Color::Auto && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    (color == Color::Always || auto).then(|| ColorDepth::detect(|name| std::env::var(name).ok()))
}
