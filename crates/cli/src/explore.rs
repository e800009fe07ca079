//! `rhae explore`: the state graphs of levels, their shortest wins, and the probability that random
//! play wins them.

#[cfg(feature = "server")]
pub(crate) mod distributed;
mod output_files;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::Args;
use indicatif::{HumanCount, ProgressBar};
use rhae_engine::LevelIndex;
use rhae_explore::{Identity, Limits, SearchOptions};
use rhae_inspect::{ExploreOptions, ExploreProgress, Explorer, InspectError, LevelResult};
use rhae_protocol::{ExplorationReport, ExploredLevel};
use rhae_report::{exploration_table, exploration_text};

use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;
use output_files::OutputFiles;

/// Search the states of a level: its graph, its shortest win, and the proved probability that
/// random play wins it.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae explore kq19 --level 1
  rhae explore ny40 --level all --picture ny40.html
  rhae explore ny40 --level all --on local:2
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
    /// matter, or that represent a sprite or an area of one colour
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
    /// Number of search threads, or of processes for a hosted game; the graph does not depend on it
    #[arg(long, alias = "threads", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
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
    /// Send every action to a hosted game separately instead of expanding many states at once; slower,
    /// but the graph is the same
    #[arg(long)]
    step_by_step: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[cfg(feature = "server")]
    #[command(flatten)]
    on: crate::on::OnArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

impl ExploreArgs {
    /// Resolves the flags.
    fn options(&self) -> Result<ExploreOptions> {
        ensure!(
            self.seconds > 0.0 && self.seconds <= 1e6,
            "--seconds must be more than 0 and at most 1,000,000"
        );
        let limits = Limits {
            nodes: self.nodes as usize,
            edges: self.edges as usize,
            depth: self.depth.unwrap_or(usize::MAX),
            bytes: (self.memory as usize).saturating_mul(1 << 20),
        };
        Ok(ExploreOptions {
            search: SearchOptions {
                limits,
                all_clicks: self.all_clicks,
                threads: usize::from(self.jobs),
            },
            seed: self.seed,
            within: self.within,
            time_limit: Duration::from_secs_f64(self.seconds),
            checks: self.checks,
            identity: if self.deep {
                Identity::Deep
            } else {
                Identity::FrameAndHidden
            },
            step_by_step: self.step_by_step,
        })
    }
}

pub(crate) fn run(args: &ExploreArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let interrupt = interrupt_flag()?;
    let explorer = Explorer::open(&games, &args.id, args.options()?, Arc::clone(&interrupt))?;
    let levels = levels(&args.level, explorer.level_count())?;
    let files = OutputFiles::new(
        args.export.as_deref(),
        args.picture.as_deref(),
        args.recording.as_deref(),
        levels.len(),
    )?;
    #[cfg(feature = "server")]
    if let Some(engine) = &args.on.on {
        let bar = spinner(args.json);
        let explored = distributed::run(
            (&args.on, engine),
            &args.hosted,
            distributed::Levels {
                games: Arc::clone(&games),
                id: explorer.info().id.as_str(),
                levels: &levels,
                options: args.options()?,
                outputs: files.outputs(),
            },
            &interrupt,
            &bar,
        );
        bar.finish_and_clear();
        let mut explored = explored?.into_iter();
        let next = |_| explored.next().unwrap_or(Err(InspectError::Interrupted));
        return report(args, &explorer, &levels, &files, &interrupt, next);
    }
    report(args, &explorer, &levels, &files, &interrupt, |index| {
        let bar = spinner(args.json);
        let explored = explorer.explore(index, &files.outputs(), &mut |progress| {
            show_progress(&bar, index, progress);
        });
        bar.finish_and_clear();
        explored
    })
}

/// Writes and prints the results of levels, which `explore` returns one after the other, and returns
/// the exit code.
fn report(
    args: &ExploreArgs,
    explorer: &Explorer<'_>,
    levels: &[LevelIndex],
    files: &OutputFiles,
    interrupt: &AtomicBool,
    mut explore: impl FnMut(LevelIndex) -> Result<LevelResult, InspectError>,
) -> Result<ExitCode> {
    let (mut reports, mut pictures) = (Vec::new(), Vec::new());
    let mut written = Ok(());
    let is_interrupted = || interrupt.load(Ordering::Relaxed);
    for &index in levels {
        let explored = match explore(index) {
            Ok(explored) => explored,
            Err(InspectError::Interrupted) => break,
            Err(error) if reports.is_empty() => return Err(error.into()),
            // Return this error only after the results of the earlier levels have been printed.
            Err(error) => {
                written = written.and(Err(error.into()));
                break;
            }
        };
        if !args.json && levels.len() == 1 {
            output::print(&exploration_text(&explored.report))?;
        }
        written = written.and(files.write(explored.graph, explored.recording));
        reports.push(explored.report);
        pictures.extend(explored.picture);
        if is_interrupted() && !is_distributed(args) {
            break;
        }
    }
    let id = explorer.info().id.as_str();
    if !reports.is_empty() {
        files.write_picture(id, args.seed, &reports, pictures)?;
    }
    let explored = reports.len();
    print_reports(args.json, id, levels.len(), reports)?;
    written?;
    if is_interrupted() {
        eprintln!(
            "interrupted: {explored} of {} levels were explored",
            levels.len()
        );
        return Ok(INTERRUPTED.into());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether the levels are explored before they are reported.
#[cfg(feature = "server")]
const fn is_distributed(args: &ExploreArgs) -> bool {
    args.on.on.is_some()
}

#[cfg(not(feature = "server"))]
const fn is_distributed(_: &ExploreArgs) -> bool {
    false
}

/// Prints the results, except for those of a single level as text, which are already printed.
fn print_reports(json: bool, id: &str, selected: usize, reports: Vec<ExploredLevel>) -> Result<()> {
    match &reports[..] {
        [] => Ok(()),
        [one] if json && selected == 1 => output::print_json(one),
        [_] if selected == 1 => Ok(()),
        _ if json => output::print_json(&ExplorationReport {
            game_id: id.to_owned(),
            levels: reports,
        }),
        all => output::print(&exploration_table(all)),
    }
}

fn spinner(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner()
    }
}

fn show_progress(bar: &ProgressBar, level: LevelIndex, progress: ExploreProgress) {
    bar.set_message(match progress {
        ExploreProgress::Entering => {
            // The search for wins reports no progress.
            bar.enable_steady_tick(Duration::from_millis(100));
            format!("level {level}: searching for wins of the levels before it")
        }
        ExploreProgress::Searching(progress) => format!(
            "level {level}: {} states, depth {}",
            HumanCount(progress.nodes as u64),
            progress.depth
        ),
        ExploreProgress::Analysing { nodes } => format!(
            "level {level}: {} states, analysing",
            HumanCount(nodes as u64)
        ),
    });
    bar.tick();
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
