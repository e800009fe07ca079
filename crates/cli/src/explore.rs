//! `rhae explore`: the state graphs of levels, their shortest wins, and the probability that random
//! play wins them.

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
use rhae_engine::{Catalog, LevelIndex};
use rhae_explore::{Identity, Limits, SearchOptions};
use rhae_validate::{GraphLimits, Subject};

use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;
use crate::validate::{hosted_subject, is_hosted};
use level::{ExploreLevel, explore_hosted};
use output_files::OutputFiles;

/// Search the states of a level: its graph, its shortest win, and the proved probability that
/// random play wins it.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae explore kq19 --level 1
  rhae explore ny40 --level all --picture ny40.html
  rhae explore ny40 --level 2 --json
  rhae explore ym39 --level 1 --all-clicks
  rhae explore ls20 --games-dir environment_files --nodes 5000
  rhae explore ny40 --level 3 --recording shortest.jsonl --export graph.graphml")]
pub(crate) struct ExploreArgs {
    /// Environment id; four characters select the newest version
    id: String,
    /// Level, counted from 1, a range such as `2-5`, or `all`
    #[arg(long, default_value = "1")]
    level: String,
    /// Seed of the environment
    #[arg(long, visible_alias = "env-seed", default_value_t = 0)]
    seed: u64,
    /// Click on all 4,096 cells instead of only those where the environment says that a click may
    /// matter
    #[arg(long)]
    all_clicks: bool,
    /// Report the probability of a win within this many actions [default: five times the baseline]
    #[arg(long)]
    within: Option<u32>,
    /// Maximum number of states
    #[arg(long, default_value_t = 20_000_000, value_parser = clap::value_parser!(u32).range(1..1 << 31))]
    nodes: u32,
    /// Maximum number of edges
    #[arg(long, default_value_t = u32::MAX, value_parser = clap::value_parser!(u32).range(1..))]
    edges: u32,
    /// Maximum depth in actions from the start
    #[arg(long)]
    depth: Option<usize>,
    /// Time limit for each phase of a level: reaching it, searching it, and analysing its graph
    #[arg(long, default_value_t = 60.0, allow_negative_numbers = true)]
    seconds: f64,
    /// Memory limit for the graph and the analysis of a level, in MB
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Number of search threads; the graph does not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Number of random actions that check the graph against the environment [default: 2,000; 200
    /// for hosted games]
    #[arg(long)]
    checks: Option<u32>,
    /// Write the graph to this file: `.json`, `.graphml` or `.dot`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Draw the graph to this file: `.svg` for one level, `.html` for a report of all levels
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write the shortest win as a recording that `rhae replay verify` accepts
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Identify states of a hosted game by its complete Python state instead of its settled frame
    /// and reported hidden state
    #[arg(long)]
    deep: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

/// The resolved flags.
struct Plan {
    search: SearchOptions,
    seed: u64,
    within: Option<u32>,
    /// The limit for each of three phases of a level: reaching it, searching it, and analysing it.
    time_limit: Duration,
    checks: u32,
    quiet: bool,
    /// How states of hosted games are identified.
    identity: Identity,
    interrupt: Arc<AtomicBool>,
}

/// The deadline for reaching the explored level. To reach it, the command searches for a win of each
/// earlier level. There is no deadline until the first call of `restart`.
#[derive(Default)]
struct Deadline(Mutex<Option<Instant>>);

impl Deadline {
    fn restart(&self, time: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + time);
    }

    fn has_time(&self) -> bool {
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
    let games = args.hosted.games()?;
    let info = games.find(&args.id)?;
    let identity = if args.deep {
        Identity::Deep
    } else {
        Identity::FrameAndHidden
    };
    let bytes = (args.memory as usize).saturating_mul(1 << 20);
    // A level can be entered only by winning the earlier levels. If no solutions are stored for them,
    // the command searches for wins within these limits.
    let entry_limits = GraphLimits {
        nodes: args.nodes as usize,
        bytes,
        checks: 0,
        ..GraphLimits::default()
    };
    let interrupt = interrupt_flag()?;
    let entry_deadline = Deadline::default();
    let hosted = is_hosted(&games, &info)
        .then(|| hosted_subject(&games, &info, args.seed, entry_limits, identity))
        .transpose()?;
    let should_continue = || entry_deadline.has_time() && !interrupt.load(Ordering::Relaxed);
    let hosted = hosted.map(|subject| subject.with_should_continue(should_continue));
    let count = hosted.as_ref().map_or(info.baselines.len(), |subject| {
        usize::from(subject.levels())
    });
    let levels = levels(&args.level, count)?;
    ensure!(
        args.seconds > 0.0 && args.seconds <= 1e6,
        "--seconds must be more than 0 and at most 1,000,000"
    );
    let files = OutputFiles::new(
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
        search: SearchOptions {
            limits,
            all_clicks: args.all_clicks,
            threads: usize::from(args.threads),
        },
        seed: args.seed,
        within: args.within,
        time_limit: Duration::from_secs_f64(args.seconds),
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
        entry_deadline.restart(plan.time_limit);
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
            .context("the environment is not in the registry of native games")?,
        };
        let explored = match explored {
            Ok(explored) => explored,
            Err(_) if plan.is_interrupted() => break,
            Err(error) if reports.is_empty() => return Err(error),
            // Return this error only after the results of the earlier levels have been printed.
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
            output::print_json(&serde_json::json!({ "game_id": info.id.as_str(), "levels": all }))?;
        }
        all => output::print(&report::table(all))?,
    }
    written?;
    if plan.is_interrupted() {
        eprintln!(
            "interrupted: {} of {} levels were explored",
            reports.len(),
            levels.len()
        );
        return Ok(INTERRUPTED.into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Parses `--level` for an environment with `count` levels.
fn levels(text: &str, count: usize) -> Result<Vec<LevelIndex>> {
    let number = |part: &str| match part.trim().parse::<usize>() {
        Ok(number) if (1..=count).contains(&number) => Ok(number),
        _ => bail!(
            "`{text}` is not a valid level: expected a number from 1 to {count}, a range such as `2-{count}`, or `all`"
        ),
    };
    let (first, last) = match text.split_once('-') {
        _ if text == "all" => (1, count),
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    ensure!(
        first <= last,
        "`{text}` is not a valid range: its first level comes after its last"
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
