//! The conclusion of a run: its scorecards, its summary and its report, written from the counts and the
//! recordings of its plays.
//!
//! **Invariant:** what is written depends only on the configuration, the plays and the times. It does not
//! matter which process played.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use rhae_engine::Catalog;
use rhae_protocol::{Entry, JournalLine, PlayResult, Recording, RunConfig};
use rhae_report::{PlayFilm, RunReport, run_page};
use rhae_runs::{RunFolder, load_lines};
use rhae_scoring::Method;
use rhae_session::replay_with;

use crate::film::film;
use crate::journal::plays;
use crate::run::parse;
use crate::{Arena, HarnessError, Results, assemble};

/// The maximum number of frames in a report, over all recordings. They take about 250 MB of memory
/// while the report is built.
const MAX_REPORT_FRAMES: usize = 60_000;

/// When a run took place.
pub(crate) struct Times {
    pub(crate) working: Duration,
    /// Unix times in milliseconds.
    pub(crate) started_ms: u64,
    pub(crate) ended_ms: u64,
}

/// Scores the plays of a run and writes its scorecards, its summary and its report.
pub(crate) fn conclude(
    folder: &RunFolder,
    config: &RunConfig,
    arena: &dyn Arena,
    mut plays: Vec<PlayResult>,
    times: &Times,
) -> Result<Results, HarnessError> {
    let method: Method = parse(&config.method)?;
    plays.sort_by_key(|play| {
        let position = config.games.iter().position(|id| *id == play.game_id);
        (play.repeat, position)
    });
    let mut results = assemble(config, method, arena.environments(), &plays)?;
    results.summary.folder = folder.path().display().to_string();
    results.summary.report = folder.file("report.html").display().to_string();
    results.summary.seconds = times.working.as_secs_f64();
    results.summary.started_ms = Some(times.started_ms);
    results.summary.ended_ms = Some(times.ended_ms);
    write_results(folder, config, arena.replays(), &results, &plays)?;
    Ok(results)
}

/// Writes the results of a run from its journal, without playing anything.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written.
pub(crate) fn report_recorded(
    folder: &RunFolder,
    config: &RunConfig,
    arena: &dyn Arena,
) -> Result<Results, HarnessError> {
    let lines: Vec<JournalLine> = load_lines(folder.path())?;
    let earlier = EarlierProcesses::of(&lines);
    let started_ms = earlier.started_ms.unwrap_or_default();
    let times = Times {
        working: Duration::from_millis(earlier.working_ms),
        started_ms,
        ended_ms: started_ms.saturating_add(earlier.working_ms),
    };
    conclude(folder, config, arena, plays(lines), &times)
}

/// The processes that worked on a run before this one.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EarlierProcesses {
    /// The start of the first process, as a Unix time in milliseconds.
    pub(crate) started_ms: Option<u64>,
    /// The total working time. For a process that was killed, the time up to its last line counts.
    pub(crate) working_ms: u64,
    /// The end of the run, if the last line says that it has finished.
    pub(crate) finished_ms: Option<u64>,
}

impl EarlierProcesses {
    pub(crate) fn of(lines: &[JournalLine]) -> Self {
        let mut earlier = Self::default();
        let mut last_ms = 0;
        for line in lines {
            match *line {
                JournalLine::Started { at_ms, .. } => {
                    earlier.started_ms.get_or_insert(at_ms);
                    last_ms = at_ms;
                }
                JournalLine::Play { at_ms, .. } | JournalLine::Finished { at_ms } => {
                    earlier.working_ms += at_ms.saturating_sub(last_ms);
                    last_ms = last_ms.max(at_ms);
                }
            }
            earlier.finished_ms = match *line {
                JournalLine::Finished { at_ms } => Some(at_ms),
                _ => None,
            };
        }
        earlier
    }
}

fn write_results(
    folder: &RunFolder,
    config: &RunConfig,
    catalog: &dyn Catalog,
    results: &Results,
    plays: &[PlayResult],
) -> Result<(), HarnessError> {
    for (index, card) in results.cards.iter().enumerate() {
        let name = if results.cards.len() == 1 {
            "scorecard.json".to_owned()
        } else {
            format!("scorecard-{}.json", index + 1)
        };
        folder.write_json(&name, card)?;
    }
    folder.write_json("summary.json", &results.summary)?;
    let films = build_films(folder, catalog, plays);
    let report = RunReport {
        config: config.clone(),
        summary: results.summary.clone(),
        cards: results.cards.clone(),
        films,
    };
    folder.write("report.html", run_page(&report).as_bytes())?;
    Ok(())
}

/// Builds the films of all plays. The limit on frames is divided evenly among the plays, so that a
/// long play does not displace the others.
fn build_films(folder: &RunFolder, catalog: &dyn Catalog, plays: &[PlayResult]) -> Vec<PlayFilm> {
    let mut frames_left = MAX_REPORT_FRAMES;
    let mut films = Vec::new();
    for (index, play) in plays.iter().enumerate() {
        let share = frames_left / (plays.len() - index);
        if let Some(film) = build_film(folder, catalog, play, share) {
            frames_left -= film
                .film
                .moments
                .iter()
                .map(|moment| moment.frames.len())
                .sum::<usize>();
            films.push(film);
        }
    }
    films
}

/// Builds the film of a play by replaying its recording, up to `frames_left` frames. Returns `None`
/// if the recording cannot be replayed; the tables of the report still show its counts.
fn build_film(
    folder: &RunFolder,
    catalog: &dyn Catalog,
    play: &PlayResult,
    mut frames_left: usize,
) -> Option<PlayFilm> {
    let lines = BufReader::new(File::open(folder.file(&play.recording)).ok()?).lines();
    // After the header, each line stands for at least one frame, so further lines are not needed.
    let text: Vec<String> = lines.take(frames_left + 1).map_while(Result::ok).collect();
    let cut = text.len() > frames_left;
    let recording = Recording::parse(&text.join("\n")).ok()?;
    let info = catalog.find(&play.game_id).ok()?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut full = false;
    let replayed = replay_with(catalog, &recording, |entry, frames| {
        full |= frames.len() > frames_left;
        if !full {
            frames_left -= frames.len();
            entries.push(Entry {
                frames: Some(frames.to_vec()),
                ..entry
            });
        }
    });
    // A film must not show frames that differ from those that were played.
    if replayed.ok()?.mismatch.is_some() {
        return None;
    }
    let shown = entries.len().saturating_sub(1);
    let mut film = film(&recording.header, Some(&info), entries);
    if full || cut {
        film.subtitle = format!(
            "{}; only the first {shown} actions are shown here",
            film.subtitle
        );
    }
    let last = play.runs.last();
    Some(PlayFilm {
        repeat: play.repeat,
        game_id: play.game_id.clone(),
        ending: last.and_then(|run| run.ending.clone()),
        message: last.and_then(|run| run.message.clone()),
        film,
    })
}
