//! `rhae explore`: the state graph of levels, and how likely random play wins them.

mod level;
mod output_files;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_engine::LevelIndex;
use rhae_explore::{Identity, Limits, Search};
use rhae_session::Catalog;
use rhae_validate::{GraphLimits, Subject};

use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;
use crate::outside::OutsideArgs;
use crate::validate::{hosted_subject, is_hosted};
use level::{ExploreLevel, explore_hosted};
use output_files::Files;

/// Search all states of a level: its graph, its shortest win, and the proved chance that random play wins it.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae explore kq19 --level 1
  rhae explore ny40 --level all --picture ny40.html
  rhae explore ny40 --level 2 --json
  rhae explore ym39 --level 1 --all-clicks
  rhae explore ls20 --games-dir environment_files --nodes 5000
  rhae explore ny40 --level 3 --recording shortest.jsonl --export graph.graphml")]
pub(crate) struct ExploreArgs {
    /// The environment; four characters name the newest version
    id: String,
    /// Level, counted from 1; a range such as `2-5`; or `all`
    #[arg(long, default_value = "1")]
    level: String,
    /// Seed of the environment
    #[arg(long, visible_alias = "env-seed", default_value_t = 0)]
    seed: u64,
    /// Click on all 4,096 cells, not only where the environment says that clicks may matter
    #[arg(long)]
    all_clicks: bool,
    /// Actions for the chance to win within so many [default: five times the baseline]
    #[arg(long)]
    within: Option<u32>,
    /// Stop at this many states
    #[arg(long, default_value_t = 20_000_000, value_parser = clap::value_parser!(u32).range(1..1 << 31))]
    nodes: u32,
    /// Stop at this many edges
    #[arg(long, default_value_t = u32::MAX, value_parser = clap::value_parser!(u32).range(1..))]
    edges: u32,
    /// Look no deeper than this many actions
    #[arg(long)]
    depth: Option<usize>,
    /// Stop the search of a level after this many seconds; the way to it, and its analysis and check, may take as long again
    #[arg(long, default_value_t = 60.0, allow_negative_numbers = true)]
    seconds: f64,
    /// Memory for a level's graph and analysis, in MB
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Threads that search; the graph does not depend on them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Random actions that check the graph against the environment [default: 2,000; 200 for games from outside]
    #[arg(long)]
    checks: Option<u32>,
    /// Write the graph to this file: `.json`, `.graphml` or `.dot`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Draw the graph: `.svg` for one level, `.html` for a report of all
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write the shortest win as a recording, which `rhae replay` verifies
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Tell states of a game from outside apart by its whole Python state, not by frame and what it reports as hidden
    #[arg(long)]
    deep: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outside: OutsideArgs,
}

/// What the flags mean.
struct Plan {
    search: Search,
    seed: u64,
    within: Option<u32>,
    patience: Duration,
    checks: u32,
    quiet: bool,
    /// What tells states of games from outside apart.
    identity: Identity,
    interrupt: Arc<AtomicBool>,
}

/// Limits the time in which wins are looked for that lead to a level.
#[derive(Default)]
struct Clock(Mutex<Option<Instant>>);

impl Clock {
    fn start(&self, time: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + time);
    }

    fn is_running(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none_or(|end| Instant::now() < end)
    }
}

impl Plan {
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

pub(crate) fn run(args: &ExploreArgs) -> Result<ExitCode> {
    let games = args.outside.games()?;
    let info = games.find(&args.id)?;
    let identity = if args.deep {
        Identity::Deep
    } else {
        Identity::FrameAndHidden
    };
    let bytes = (args.memory as usize).saturating_mul(1 << 20);
    // How far to look for the wins that lead to a level whose solutions are not stored.
    let search = GraphLimits {
        nodes: args.nodes as usize,
        bytes,
        checks: 0,
        ..GraphLimits::default()
    };
    let interrupt = interrupt_flag()?;
    let way = Clock::default();
    let hosted = is_hosted(&games, &info)
        .then(|| hosted_subject(&games, &info, args.seed, search, identity))
        .transpose()?;
    let goes_on = || way.is_running() && !interrupt.load(Ordering::Relaxed);
    let hosted = hosted.map(|subject| subject.as_long_as(goes_on));
    let count = hosted.as_ref().map_or(info.baselines.len(), |subject| {
        usize::from(subject.levels())
    });
    let levels = levels(&args.level, count)?;
    ensure!(
        args.seconds > 0.0 && args.seconds <= 1e6,
        "--seconds must be above 0 and at most 1000000"
    );
    let files = Files::new(
        args.export.as_deref(),
        args.picture.as_deref(),
        args.recording.as_deref(),
        levels.len(),
    )?;
    let limits = Limits {
        nodes: args.nodes as usize,
        edges: args.edges as usize,
        depth: args.depth.unwrap_or(usize::MAX),
        bytes,
    };
    let plan = Plan {
        search: Search {
            limits,
            all_clicks: args.all_clicks,
            threads: usize::from(args.threads),
        },
        seed: args.seed,
        within: args.within,
        patience: Duration::from_secs_f64(args.seconds),
        checks: args
            .checks
            .unwrap_or(if hosted.is_some() { 200 } else { 2_000 }),
        quiet: args.json,
        identity,
        interrupt: Arc::clone(&interrupt),
    };
    let mut reports = Vec::new();
    let mut pictures = Vec::new();
    let mut written = Ok(());
    for &index in &levels {
        way.start(plan.patience);
        let explored = match &hosted {
            Some(subject) => explore_hosted(&plan, &games, index, &files, subject),
            None => rhae_games::visit(
                info.id.as_str(),
                ExploreLevel {
                    plan: &plan,
                    games: &games,
                    index,
                    files: &files,
                },
            )
            .context("the registry lists it")?,
        };
        let explored = match explored {
            Ok(explored) => explored,
            Err(_) if plan.is_interrupted() => break,
            Err(error) if reports.is_empty() => return Err(error),
            // What was found of earlier levels is worth knowing all the same.
            Err(error) => {
                written = written.and(Err(error));
                break;
            }
        };
        if !args.json && levels.len() == 1 {
            output::print(&report::text(&explored.report))?;
        }
        reports.push(explored.report);
        pictures.extend(explored.picture);
        written = written.and(explored.written);
        if plan.is_interrupted() {
            break;
        }
    }
    if !reports.is_empty() {
        files.write_picture(info.id.as_str(), args.seed, &reports, pictures)?;
    }
    match &reports[..] {
        [] => {}
        [one] if args.json && levels.len() == 1 => output::print_json(one)?,
        [_] if levels.len() == 1 => {}
        all if args.json => {
            output::print_json(&serde_json::json!({ "game_id": info.id.as_str(), "levels": all }))?
        }
        all => output::print(&report::table(all))?,
    }
    written?;
    if plan.is_interrupted() {
        eprintln!(
            "interrupted: {} of {} levels were looked at",
            reports.len(),
            levels.len()
        );
        return Ok(INTERRUPTED.into());
    }
    Ok(ExitCode::SUCCESS)
}

fn levels(text: &str, count: usize) -> Result<Vec<LevelIndex>> {
    let number = |part: &str| match part.trim().parse::<usize>() {
        Ok(number) if (1..=count).contains(&number) => Ok(number),
        _ => bail!(
            "`{text}` names no levels: expected a number from 1 to {count}, a range such as `2-{count}`, or `all`"
        ),
    };
    let (first, last) = match text.split_once('-') {
        _ if text == "all" => (1, count),
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    ensure!(
        first <= last,
        "`{text}` names no levels: the first comes after the last"
    );
    Ok((first..=last)
        .map(|number| LevelIndex((number - 1) as u8))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbers_ranges_or_all() {
        let numbers = |text: &str| {
            levels(text, 8)
                .map(|levels| levels.iter().map(|level| level.0 + 1).collect::<Vec<_>>())
                .ok()
        };
        assert_eq!(numbers("3"), Some(vec![3]));
        assert_eq!(numbers("2-4"), Some(vec![2, 3, 4]));
        assert_eq!(numbers("all"), Some((1..=8).collect()));
        for text in ["0", "9", "4-2", "1-9", "x", "", "-", "1-"] {
            assert_eq!(numbers(text), None, "{text}");
        }
    }
}
