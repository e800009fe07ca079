//! `rhae validate`: is an environment fit to measure anything?

mod evidence;
mod report;
mod subjects;
mod watch;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_engine::GameInfo;
use rhae_pyhost::Games;
use rhae_session::Catalog;
use rhae_validate::{GraphLimits, Options};

pub(crate) use evidence::recording;
pub(crate) use subjects::{hosted_subject, native_subject};
pub(crate) use watch::bar as progress_bar;

use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;
use crate::outside::{OutsideArgs, find_each};

/// Check environments against every rule: structure, laws, luck, robustness, solvability, design (docs/validate.md).
#[derive(Args)]
#[command(after_help = "Examples:
  rhae validate kq19
  rhae validate --all --html report.html
  rhae validate --all --steps 50000
  rhae validate --games-dir my_games --steps 5000 --evidence evidence
  rhae validate ny40 --strict --json")]
pub(crate) struct ValidateArgs {
    /// Environments; four characters name the newest version. With --games-dir and no names: all of the folders
    ids: Vec<String>,
    /// All built-in environments
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Seed of everything that is drawn at random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seed of the environments
    #[arg(long, default_value_t = 0)]
    env_seed: u64,
    /// Steps of each regime of random play; the first is never longer than 50,000 [default: 1,000,000; 20,000 for games from outside]
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    steps: Option<u64>,
    /// Any win by luck fails, as the paper reads it
    #[arg(long)]
    strict: bool,
    /// How many checks run at once [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// States of a level's graph [default: 1,000,000; 2,000 for games from outside]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    nodes: Option<u32>,
    /// Tell states of games from outside apart by their whole Python state, not by frame and what they report as hidden
    #[arg(long)]
    deep: bool,
    /// A folder of recordings that must replay; may be repeated. Those in a game's own folder are always looked at
    #[arg(long, value_name = "DIR")]
    recordings: Vec<PathBuf>,
    /// Write a page with pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write what shows each finding as recordings into this folder
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outside: OutsideArgs,
}

impl ValidateArgs {
    fn options(&self, hosted: bool) -> Options {
        let nodes = self
            .nodes
            .map_or(if hosted { 2_000 } else { 1_000_000 }, |nodes| {
                nodes as usize
            });
        let limits = GraphLimits {
            nodes,
            ..GraphLimits::default()
        };
        let limits = if hosted {
            GraphLimits {
                checks: 200,
                ..limits
            }
        } else {
            limits
        };
        Options {
            seed: self.seed,
            env_seed: self.env_seed,
            steps: self
                .steps
                .unwrap_or(if hosted { 20_000 } else { 1_000_000 }),
            strict: self.strict,
            limits,
        }
    }

    /// The environments that are meant.
    fn chosen(&self, games: &Games) -> Result<Vec<GameInfo>> {
        let listed = games.list();
        let chosen: Vec<GameInfo> = if self.all {
            listed
                .into_iter()
                .filter(|info| !is_hosted(games, info) || !self.outside.games_dir.is_empty())
                .collect()
        } else if self.ids.is_empty() {
            ensure!(
                !self.outside.games_dir.is_empty(),
                "name environments, or --all, or a folder with --games-dir"
            );
            listed
                .into_iter()
                .filter(|info| is_hosted(games, info))
                .collect()
        } else {
            find_each(games, &self.ids)?
        };
        ensure!(
            !chosen.is_empty(),
            "there is no game below {}: a game is a folder with a `metadata.json` (docs/hosting.md)",
            self.outside
                .games_dir
                .iter()
                .map(|folder| format!("`{}`", folder.display()))
                .collect::<Vec<_>>()
                .join(", ")
        );
        Ok(chosen)
    }
}

/// Whether it comes from a folder.
pub(crate) fn is_hosted(games: &Games, info: &GameInfo) -> bool {
    games.folders().any(|folder| folder.metadata.id == info.id)
}

pub(crate) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    let games = args.outside.games()?;
    let chosen = args.chosen(&games)?;
    if chosen.iter().any(|info| is_hosted(&games, info)) {
        games.ready()?;
    }
    args.html
        .as_deref()
        .map_or(Ok(()), output::ensure_writable)?;
    if let Some(folder) = &args.evidence {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make `{}`", folder.display()))?;
    }
    let jobs = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let stored = subjects::recordings(&games, &args.recordings)?;
    let interrupt = interrupt_flag()?;
    let subject = |info: &GameInfo| subjects::subject(args, &games, info, &stored, &interrupt);
    let subjects = chosen.iter().map(subject).collect::<Result<Vec<_>>>()?;
    let bar = watch::bar(args.json);
    let watch = watch::CommandWatch::new(
        &games,
        &args.outside,
        args.env_seed,
        bar.clone(),
        Arc::clone(&interrupt),
    );
    // A panic of an environment is a finding, and must not write over the progress.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let worked = work::validate(&subjects, jobs, &watch);
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    let validated =
        worked.context("a check broke down; this is a bug of rhae, not of the environment")?;
    let recordings = match &args.evidence {
        Some(folder) => Some((
            folder,
            evidence::write(folder, &games, args.env_seed, &validated)?,
        )),
        None => None,
    };
    if let Some(file) = &args.html {
        let page = report::page(args, &games, &validated)?;
        std::fs::write(file, page).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if args.json {
        output::print_json(&report::json(args, &validated))?;
    } else {
        output::print(&report::text(args, &validated))?;
        if let Some(file) = &args.html {
            output::print(&format!("wrote {}", file.display()))?;
        }
        if let Some((folder, count)) = recordings {
            output::print(&format!(
                "wrote recordings of what was found to {}: {count}",
                folder.display()
            ))?;
        }
    }
    Ok(if validated.iter().any(|one| one.unfinished > 0) {
        INTERRUPTED.into()
    } else if validated.iter().all(work::Validated::passes) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
