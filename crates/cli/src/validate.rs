//! `rhae validate`: checks environments against the validation rules.

mod evidence;
mod monitor;
mod report;
mod subjects;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_engine::{Catalog, GameInfo};
use rhae_pyhost::Games;
use rhae_validate::{GraphLimits, Options};

pub(crate) use evidence::recording;
pub(crate) use monitor::progress_bar;
pub(crate) use subjects::hosted_subject;

use crate::hosted_games::{HostedGamesArgs, find_each};
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;

/// Check environments against all rules: structure, laws, luck, robustness, solvability and design
/// (docs/validate.md).
#[derive(Args)]
#[command(after_help = "Examples:
  rhae validate kq19
  rhae validate --all --html report.html
  rhae validate --all --steps 50000
  rhae validate --games-dir my_games --steps 5000 --evidence evidence
  rhae validate ny40 --strict --json")]
pub(crate) struct ValidateArgs {
    /// Environment ids; four characters select the newest version. With --games-dir and no id: all
    /// games in the folders
    ids: Vec<String>,
    /// All built-in environments
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seed of the environments
    #[arg(long, default_value_t = 0)]
    env_seed: u64,
    /// Number of steps of each kind of random play; play from the start takes at most 50,000
    /// [default: 1,000,000; 20,000 for hosted games]
    #[arg(long, value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    steps: Option<u64>,
    /// Fail an environment for any win of random play, as in the paper
    #[arg(long)]
    strict: bool,
    /// Number of checks that run in parallel [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Maximum number of states of a level's graph [default: 1,000,000; 2,000 for hosted games]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    nodes: Option<u32>,
    /// Identify states of hosted games by their complete Python state instead of their settled
    /// frame and reported hidden state
    #[arg(long)]
    deep: bool,
    /// Folder of recordings that must replay, in addition to those in the game's folder; may be
    /// repeated
    #[arg(long, value_name = "DIR")]
    recordings: Vec<PathBuf>,
    /// Write a report with pictures as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write recordings that demonstrate the findings into this folder
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

impl ValidateArgs {
    /// Returns the options for a hosted or a native game, whose defaults differ.
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

    /// Returns the environments that the arguments select.
    fn selected(&self, games: &Games) -> Result<Vec<GameInfo>> {
        let listed = games.list();
        let selected: Vec<GameInfo> = if self.all {
            listed
                .into_iter()
                .filter(|info| !is_hosted(games, info) || !self.hosted.games_dir.is_empty())
                .collect()
        } else if self.ids.is_empty() {
            ensure!(
                !self.hosted.games_dir.is_empty(),
                "no environment is selected; name some, or use --all, or --games-dir for a folder of games"
            );
            listed
                .into_iter()
                .filter(|info| is_hosted(games, info))
                .collect()
        } else {
            find_each(games, &self.ids)?
        };
        ensure!(
            !selected.is_empty(),
            "there is no game in {}; a game is a folder with a `metadata.json` (docs/hosting.md)",
            self.hosted
                .games_dir
                .iter()
                .map(|folder| format!("`{}`", folder.display()))
                .collect::<Vec<_>>()
                .join(", ")
        );
        Ok(selected)
    }
}

/// Returns whether the environment is a hosted game, that is, one from a folder.
pub(crate) fn is_hosted(games: &Games, info: &GameInfo) -> bool {
    games.folders().any(|folder| folder.metadata.id == info.id)
}

pub(crate) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let selected = args.selected(&games)?;
    if selected.iter().any(|info| is_hosted(&games, info)) {
        games.ready()?;
    }
    args.html
        .as_deref()
        .map_or(Ok(()), output::ensure_writable)?;
    if let Some(folder) = &args.evidence {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    let jobs = match args.jobs {
        Some(jobs) => usize::from(jobs),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let stored = subjects::recordings(&games, &args.recordings)?;
    let interrupt = interrupt_flag()?;
    let subject = |info: &GameInfo| subjects::candidate(args, &games, info, &stored, &interrupt);
    let subjects = selected.iter().map(subject).collect::<Result<Vec<_>>>()?;
    let bar = progress_bar(args.json);
    let monitor = monitor::CommandMonitor::new(
        &games,
        &args.hosted,
        args.env_seed,
        bar.clone(),
        Arc::clone(&interrupt),
    );
    // A panic of an environment is reported as a finding, so its message must not overwrite the
    // progress bar.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let result = work::validate(&subjects, jobs, &monitor);
    std::panic::set_hook(hook);
    bar.finish_and_clear();
    let validated =
        result.context("a check failed; this is a bug in rhae, not in the environment")?;
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
                "wrote {} of findings to {}",
                output::counted(count as u64, "recording"),
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
