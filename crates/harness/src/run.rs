//! A whole run: plays in parallel, journalled as they end, then scored and reported.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rhae_agents::AgentSpec;
use rhae_protocol::{Ending, JournalLine, PlayResult, Recording, RunConfig};
use rhae_report::{PlayFilm, RunReport, run_page};
use rhae_scoring::Method;
use rhae_session::{Catalog, Play, ResetRule, replay};

use crate::film::film;
use crate::journal::{Journal, plays};
use crate::play::{Finished, PlayOrder, RunningPlay};
use crate::{Budget, HarnessError, Results, RunFolder, assemble, play_id};

/// How often the plays are looked after.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// Recordings that a report carries at most; the others stay in the run folder.
const MOST_FILMS: usize = 60;

/// What is to be run, with all defaults resolved.
pub struct RunOrder {
    /// The effective configuration.
    pub config: RunConfig,
    /// The agent that it names.
    pub agent: AgentSpec,
    /// Where results go.
    pub folder: RunFolder,
    /// How many plays run at once.
    pub jobs: usize,
    /// Whether an earlier process began the run.
    pub resumed: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Plays that have ended.
    pub done: usize,
    /// All plays.
    pub total: usize,
    /// Levels completed in the plays that have ended.
    pub levels: usize,
    /// Actions taken, those of plays under way included.
    pub actions: u64,
}

/// Runs all plays that are not journalled yet, then writes cards, summary and report.
///
/// When `interrupt` becomes true, the plays under way are left, and what there is gets written; the summary then says that
/// the run is not finished.
pub fn run(
    order: &RunOrder,
    catalog: &dyn Catalog,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results, HarnessError> {
    let begun = Instant::now();
    let method: Method = parse(&order.config.method)?;
    let (journal, lines) = Journal::open(&order.folder.file("journal.jsonl"))?;
    let mut all = Plays::new(order, catalog, journal, lines)?;
    all.journal.append(&JournalLine::Started { at_ms: now_ms(), resumed: order.resumed })?;
    all.play_all(interrupt, progress)?;
    let interrupted: Vec<PlayResult> = all.running.values().map(|play| play.interrupt()).collect();
    let mut results_of: Vec<PlayResult> = all.done;
    results_of.extend(interrupted);
    results_of.sort_by_key(|play| (play.repeat, order.config.games.iter().position(|id| *id == play.game_id)));
    let mut results = assemble(&order.config, method, catalog, &results_of)?;
    results.summary.folder = order.folder.path().display().to_string();
    results.summary.report = order.folder.file("report.html").display().to_string();
    results.summary.seconds = begun.elapsed().as_secs_f64();
    write_results(order, catalog, &results, &results_of)?;
    if results.summary.finished {
        all.journal.append(&JournalLine::Finished { at_ms: now_ms() })?;
    }
    Ok(results)
}

type Reports = (Sender<(usize, Finished)>, Receiver<(usize, Finished)>);

/// The plays of a run: waiting, under way, done.
struct Plays<'a> {
    order: &'a RunOrder,
    catalog: &'a dyn Catalog,
    budget: Budget,
    journal: Journal,
    waiting: VecDeque<(u32, String)>,
    running: BTreeMap<usize, Arc<RunningPlay>>,
    done: Vec<PlayResult>,
    total: usize,
    started: usize,
    /// Where plays report, with their number, when they end.
    reports: Reports,
}

impl<'a> Plays<'a> {
    fn new(order: &'a RunOrder, catalog: &'a dyn Catalog, journal: Journal, lines: Vec<JournalLine>) -> Result<Self, HarnessError> {
        let done = plays(lines);
        let known: BTreeSet<(u32, &str)> = done.iter().map(|play| (play.repeat, play.game_id.as_str())).collect();
        let all = (1..=order.config.repeat).flat_map(|repeat| order.config.games.iter().map(move |id| (repeat, id)));
        let total = all.clone().count();
        let waiting =
            all.filter(|(repeat, id)| !known.contains(&(*repeat, id.as_str()))).map(|(repeat, id)| (repeat, id.clone())).collect();
        let budget = parse(&order.config.budget)?;
        Ok(Self { order, catalog, budget, journal, waiting, running: BTreeMap::new(), done, total, started: 0, reports: channel() })
    }

    fn play_all(&mut self, interrupt: &AtomicBool, progress: &mut dyn FnMut(Progress)) -> Result<(), HarnessError> {
        while !interrupt.load(Ordering::Relaxed) {
            while self.running.len() < self.order.jobs.max(1)
                && let Some((repeat, id)) = self.waiting.pop_front()
            {
                self.start(repeat, &id)?;
            }
            if self.running.is_empty() {
                break;
            }
            match self.reports.1.recv_timeout(WATCH_INTERVAL) {
                // A play that was given up may still report; it is no longer listed.
                Ok((index, finished)) if self.running.remove(&index).is_some() => self.enter(finished)?,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("this side keeps a sender"),
            }
            self.end_stuck_plays()?;
            progress(self.progress());
        }
        Ok(())
    }

    fn start(&mut self, repeat: u32, id: &str) -> Result<(), HarnessError> {
        let config = &self.order.config;
        let recording_name = format!("recordings/{repeat}-{id}.jsonl");
        let play_order = PlayOrder {
            repeat,
            guid: play_id(&config.run_id, repeat, id),
            agent: self.order.agent.clone(),
            agent_seed: config.seed.wrapping_add(u64::from(repeat) - 1),
            env_seed: config.env_seed,
            budget: self.budget,
            recording_path: self.order.folder.file(&recording_name),
            errors_path: self.order.folder.file(&format!("recordings/{repeat}-{id}.stderr.txt")),
            recording_name,
        };
        let play = Play::new(self.catalog.open(id, config.env_seed)?, ResetRule::LevelsOnly);
        let running = RunningPlay::start(play_order, play, self.reports.0.clone(), self.started)?;
        self.running.insert(self.started, running);
        self.started += 1;
        Ok(())
    }

    fn enter(&mut self, finished: Finished) -> Result<(), HarnessError> {
        let result = finished?;
        self.journal.append(&JournalLine::Play { at_ms: now_ms(), result: result.clone() })?;
        self.done.push(result);
        Ok(())
    }

    fn end_stuck_plays(&mut self) -> Result<(), HarnessError> {
        let limit_ms = self.order.config.step_timeout_ms;
        let stuck: Vec<usize> =
            self.running.iter().filter(|(_, play)| play.silent_ms() > limit_ms).map(|(&index, _)| index).collect();
        for index in stuck {
            let reason = Ending::Failed(format!("the agent gave no action within {} s", limit_ms as f64 / 1000.0));
            // If it has ended in this very moment, its own report follows.
            if let Some(finished) = self.running[&index].give_up(&reason) {
                self.running.remove(&index);
                self.enter(finished)?;
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let levels =
            |play: &PlayResult| play.runs.last().map_or(0, |run| run.levels.iter().filter(|level| level.completed).count());
        let actions =
            |play: &PlayResult| play.runs.iter().flat_map(|run| &run.levels).map(|level| u64::from(level.actions)).sum::<u64>();
        Progress {
            done: self.done.len(),
            total: self.total,
            levels: self.done.iter().map(levels).sum(),
            actions: self.done.iter().map(actions).sum::<u64>() + self.running.values().map(|play| play.actions()).sum::<u64>(),
        }
    }
}

fn write_results(order: &RunOrder, catalog: &dyn Catalog, results: &Results, plays: &[PlayResult]) -> Result<(), HarnessError> {
    for (index, card) in results.cards.iter().enumerate() {
        let name = if results.cards.len() == 1 { "scorecard.json".to_owned() } else { format!("scorecard-{}.json", index + 1) };
        order.folder.write_json(&name, card)?;
    }
    order.folder.write_json("summary.json", &results.summary)?;
    let films = plays.iter().take(MOST_FILMS).filter_map(|play| film_of(order, catalog, play)).collect();
    let report = RunReport { config: order.config.clone(), summary: results.summary.clone(), cards: results.cards.clone(), films };
    order.folder.write("report.html", run_page(&report).as_bytes())
}

/// The film of a play, made by replaying its recording. A recording that cannot be replayed has none: its counts stand in
/// the tables all the same.
fn film_of(order: &RunOrder, catalog: &dyn Catalog, play: &PlayResult) -> Option<PlayFilm> {
    let text = std::fs::read_to_string(order.folder.file(&play.recording)).ok()?;
    let recording = Recording::parse(&text).ok()?;
    let info = catalog.find(&play.game_id).ok()?;
    let replayed = replay(catalog, &recording).ok()?;
    let last = play.runs.last();
    Some(PlayFilm {
        repeat: play.repeat,
        game_id: play.game_id.clone(),
        ending: last.map_or_else(String::new, |run| run.ending.clone()),
        message: last.and_then(|run| run.message.clone()),
        film: film(&recording.header, Some(&info), replayed.entries),
    })
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, HarnessError>
where
    T::Err: ToString,
{
    text.parse().map_err(|error: T::Err| HarnessError::Config(error.to_string()))
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
