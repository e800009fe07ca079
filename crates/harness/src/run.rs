//! A whole run: plays in parallel, journalled as they end, then scored and reported.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rhae_agents::AgentSpec;
use rhae_protocol::{Ending, Entry, JournalLine, PlayResult, Recording, RunConfig};
use rhae_report::{PlayFilm, RunReport, run_page};
use rhae_scoring::Method;
use rhae_session::{Catalog, replay_with};

use crate::film::film;
use crate::journal::{Journal, plays};
use crate::play::{Finished, PlayOrder, RunningPlay};
use crate::{Budget, HarnessError, Results, RunFolder, assemble, play_id};

/// How often the plays are looked after.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// How long agents have to leave by themselves when a run is over.
const FAREWELL: Duration = Duration::from_millis(500);
/// Frames that a report carries at most, over all recordings: about a quarter of a gigabyte while it is made.
const MOST_FRAMES: usize = 60_000;

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

/// Where the plays of a run take place.
pub trait Arena {
    /// What is known of the environments.
    fn environments(&self) -> &dyn Catalog;

    /// Where the plays of a card, counted from 1, are opened.
    fn card(&self, repeat: u32) -> Arc<dyn Catalog>;

    /// Where recordings are replayed for the report: never on a server.
    fn replays(&self) -> &dyn Catalog;
}

/// Environments of this process serve for everything.
impl<C: Catalog + Clone + 'static> Arena for C {
    fn environments(&self) -> &dyn Catalog {
        self
    }

    fn card(&self, _repeat: u32) -> Arc<dyn Catalog> {
        Arc::new(self.clone())
    }

    fn replays(&self) -> &dyn Catalog {
        self
    }
}

/// Runs all plays that are not journalled yet, then writes cards, summary and report.
///
/// When `interrupt` becomes true, the plays under way are left, and what there is gets written; the summary then says that
/// the run is not finished.
pub fn run(
    order: &RunOrder,
    arena: &dyn Arena,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results, HarnessError> {
    let begun = Instant::now();
    let method: Method = parse(&order.config.method)?;
    let (journal, lines) = Journal::open(&order.folder.file("journal.jsonl"))?;
    let mut all = Plays::new(order, arena, journal, lines)?;
    all.journal.append(&JournalLine::Started {
        at_ms: now_ms(),
        resumed: order.resumed,
    })?;
    all.play_all(interrupt, progress)?;
    let mut results_of = all.take_results()?;
    results_of.sort_by_key(|play| {
        (
            play.repeat,
            order.config.games.iter().position(|id| *id == play.game_id),
        )
    });
    let mut results = assemble(&order.config, method, arena.environments(), &results_of)?;
    results.summary.folder = order.folder.path().display().to_string();
    results.summary.report = order.folder.file("report.html").display().to_string();
    results.summary.seconds = begun.elapsed().as_secs_f64();
    write_results(order, arena.replays(), &results, &results_of)?;
    if results.summary.finished {
        all.journal
            .append(&JournalLine::Finished { at_ms: now_ms() })?;
    }
    Ok(results)
}

type Reports = (Sender<(usize, Finished)>, Receiver<(usize, Finished)>);

/// The plays of a run: waiting, under way, done.
struct Plays<'a> {
    order: &'a RunOrder,
    arena: &'a dyn Arena,
    budget: Budget,
    journal: Journal,
    waiting: VecDeque<(u32, String)>,
    running: BTreeMap<usize, Arc<RunningPlay>>,
    /// Plays that have ended, whose agents may still be leaving.
    leaving: Vec<Arc<RunningPlay>>,
    done: Vec<PlayResult>,
    total: usize,
    started: usize,
    /// Whether something keeps all plays from going on.
    halted: bool,
    /// Where plays report, with their number, when they end.
    reports: Reports,
}

impl<'a> Plays<'a> {
    fn new(
        order: &'a RunOrder,
        arena: &'a dyn Arena,
        journal: Journal,
        lines: Vec<JournalLine>,
    ) -> Result<Self, HarnessError> {
        let done = plays(lines);
        let known: BTreeSet<(u32, &str)> = done
            .iter()
            .map(|play| (play.repeat, play.game_id.as_str()))
            .collect();
        let all = (1..=order.config.repeat)
            .flat_map(|repeat| order.config.games.iter().map(move |id| (repeat, id)));
        let total = all.clone().count();
        let waiting = all
            .filter(|(repeat, id)| !known.contains(&(*repeat, id.as_str())))
            .map(|(repeat, id)| (repeat, id.clone()))
            .collect();
        let budget = parse(&order.config.budget)?;
        Ok(Self {
            order,
            arena,
            budget,
            journal,
            waiting,
            running: BTreeMap::new(),
            leaving: Vec::new(),
            done,
            total,
            started: 0,
            halted: false,
            reports: channel(),
        })
    }

    fn play_all(
        &mut self,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), HarnessError> {
        while !interrupt.load(Ordering::Relaxed) {
            while !self.halted
                && self.running.len() < self.order.jobs.max(1)
                && let Some((repeat, id)) = self.waiting.pop_front()
            {
                self.start(repeat, &id)?;
            }
            if self.running.is_empty() {
                break;
            }
            match self.reports.1.recv_timeout(WATCH_INTERVAL) {
                // A play that was given up may still report; it is no longer listed.
                Ok((index, finished)) if self.has_ended(index) => self.enter(finished)?,
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
            game_id: id.to_owned(),
            guid: play_id(&config.run_id, repeat, id),
            agent: self.order.agent.clone(),
            agent_seed: config.seed.wrapping_add(u64::from(repeat) - 1),
            env_seed: config.env_seed,
            budget: self.budget,
            recording_path: self.order.folder.file(&recording_name),
            errors_path: self
                .order
                .folder
                .file(&format!("recordings/{repeat}-{id}.stderr.txt")),
            recording_name,
        };
        let running = RunningPlay::start(
            play_order,
            self.arena.card(repeat),
            self.reports.0.clone(),
            self.started,
        )?;
        self.running.insert(self.started, running);
        self.started += 1;
        Ok(())
    }

    /// Takes a play off the list of those under way; false if it was not there.
    fn has_ended(&mut self, index: usize) -> bool {
        self.leaving.retain(|play| !play.has_left());
        let ended = self.running.remove(&index);
        let was_there = ended.is_some();
        self.leaving.extend(ended);
        was_there
    }

    fn enter(&mut self, finished: Finished) -> Result<(), HarnessError> {
        let result = match finished {
            Finished::Ended(result) => {
                self.journal.append(&JournalLine::Play {
                    at_ms: now_ms(),
                    result: result.clone(),
                })?;
                result
            }
            // It is not in the journal, so that it is gone on with when the run is.
            Finished::Left { result, all } => {
                self.halted |= all;
                result
            }
            Finished::Unwritable(error) => return Err(error),
        };
        self.done.push(result);
        Ok(())
    }

    /// The results of all plays, in the order they ended; those still under way are left as they are.
    fn take_results(&mut self) -> Result<Vec<PlayResult>, HarnessError> {
        // What has ended by now counts as ended.
        while let Ok((index, finished)) = self.reports.1.try_recv() {
            if self.has_ended(index) {
                self.enter(finished)?;
            }
        }
        let interrupted = self.running.values().map(|play| play.interrupt());
        self.done.extend(interrupted);
        self.leaving
            .extend(std::mem::take(&mut self.running).into_values());
        Ok(std::mem::take(&mut self.done))
    }

    fn end_stuck_plays(&mut self) -> Result<(), HarnessError> {
        let limit_ms = self.order.config.step_timeout_ms;
        let stuck: Vec<usize> = self
            .running
            .iter()
            .filter(|(_, play)| play.silent_ms() > limit_ms)
            .map(|(&index, _)| index)
            .collect();
        for index in stuck {
            let reason = Ending::Failed(format!(
                "the agent gave no action within {} s",
                limit_ms as f64 / 1000.0
            ));
            // If it has ended in this very moment, its own report follows.
            if let Some(finished) = self.running[&index].give_up(&reason) {
                self.has_ended(index);
                self.enter(finished)?;
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let levels = |play: &PlayResult| {
            play.runs.last().map_or(0, |run| {
                run.levels.iter().filter(|level| level.completed).count()
            })
        };
        let actions = |play: &PlayResult| {
            play.runs
                .iter()
                .flat_map(|run| &run.levels)
                .map(|level| u64::from(level.actions))
                .sum::<u64>()
        };
        Progress {
            done: self.done.len(),
            total: self.total,
            levels: self.done.iter().map(levels).sum(),
            actions: self.done.iter().map(actions).sum::<u64>()
                + self
                    .running
                    .values()
                    .map(|play| play.actions())
                    .sum::<u64>(),
        }
    }
}

/// However a run ends, no agent's process is left behind.
impl Drop for Plays<'_> {
    fn drop(&mut self) {
        self.running
            .values()
            .for_each(|play| drop(play.interrupt()));
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline && self.leaving.iter().any(|play| !play.has_left()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.leaving.iter().for_each(|play| play.stop());
    }
}

fn write_results(
    order: &RunOrder,
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
        order.folder.write_json(&name, card)?;
    }
    order.folder.write_json("summary.json", &results.summary)?;
    let films = films_of(order, catalog, plays);
    let report = RunReport {
        config: order.config.clone(),
        summary: results.summary.clone(),
        cards: results.cards.clone(),
        films,
    };
    order
        .folder
        .write("report.html", run_page(&report).as_bytes())
}

/// The films of all plays. Each may take its share of the room that is left, so that a long one does not crowd out the others.
fn films_of(order: &RunOrder, catalog: &dyn Catalog, plays: &[PlayResult]) -> Vec<PlayFilm> {
    let mut room = MOST_FRAMES;
    let mut films = Vec::new();
    for (index, play) in plays.iter().enumerate() {
        let share = room / (plays.len() - index);
        if let Some(film) = film_of(order, catalog, play, share) {
            room -= film
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

/// The film of a play, made by replaying its recording as far as there is room for frames. A recording that cannot be
/// replayed has none: its counts stand in the tables all the same.
fn film_of(
    order: &RunOrder,
    catalog: &dyn Catalog,
    play: &PlayResult,
    mut room: usize,
) -> Option<PlayFilm> {
    let lines = BufReader::new(File::open(order.folder.file(&play.recording)).ok()?).lines();
    // A line has at least one frame, so more lines than there is room for need not even be read.
    let text: Vec<String> = lines.take(room + 1).map_while(Result::ok).collect();
    let cut = text.len() > room;
    let recording = Recording::parse(&text.join("\n")).ok()?;
    let info = catalog.find(&play.game_id).ok()?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut full = false;
    let replayed = replay_with(catalog, &recording, |entry, frames| {
        full |= frames.len() > room;
        if !full {
            room -= frames.len();
            entries.push(Entry {
                frames: Some(frames.to_vec()),
                ..entry
            });
        }
    });
    // A film of other frames than were played would be a lie.
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
        ending: last.map_or_else(String::new, |run| run.ending.clone()),
        message: last.and_then(|run| run.message.clone()),
        film,
    })
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, HarnessError>
where
    T::Err: ToString,
{
    text.parse()
        .map_err(|error: T::Err| HarnessError::Config(error.to_string()))
}

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
