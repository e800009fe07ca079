//! A run: executes plays in parallel, journals each play when it ends, and finally writes the
//! scorecards and the report.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rhae_agents::AgentSpec;
use rhae_engine::Catalog;
use rhae_protocol::{Entry, JournalLine, PlayResult, Recording, RunConfig};
use rhae_report::{PlayFilm, RunReport, run_page};
use rhae_runs::{Journal, RunFolder, now_ms};
use rhae_scoring::Method;
use rhae_session::replay_with;

use crate::film::film;
use crate::first_request;
use crate::journal::plays;
use crate::play::{Finished, PlaySpec, RunningPlay};
use crate::play_end::PlayEnd;
use crate::{Budget, HarnessError, Results, assemble, play_id};

/// The interval at which the running plays are checked for timeouts.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// The time that agents have to exit on their own when a run is over.
const EXIT_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The maximum number of frames in a report, over all recordings. They take about 250 MB of memory
/// while the report is built.
const MAX_REPORT_FRAMES: usize = 60_000;

/// The description of a run, with all defaults resolved.
pub struct RunSpec {
    pub config: RunConfig,
    /// The agent that `config` names.
    pub agent: AgentSpec,
    /// The folder for the results.
    pub folder: RunFolder,
    /// The number of plays that run in parallel. It does not affect the results.
    pub jobs: usize,
    /// Whether an earlier process started the run.
    pub resumed: bool,
}

/// The progress of a run, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of plays that have ended.
    pub done: usize,
    /// The number of all plays.
    pub total: usize,
    /// The number of levels completed in the plays that have ended.
    pub levels: usize,
    /// The number of actions taken, including those of running plays.
    pub actions: u64,
}

/// The host of the plays of a run: this process, or a server on which the plays belong to a
/// scorecard.
///
/// Every [`Catalog`] that can be cloned is also an arena for local plays.
pub trait Arena {
    /// Returns the catalogue that describes the environments.
    fn environments(&self) -> &dyn Catalog;

    /// Returns the catalogue that opens the plays of one scorecard. `repeat` counts from 1.
    fn card(&self, repeat: u32) -> Arc<dyn Catalog>;

    /// Returns the catalogue in which recordings are replayed for the report. It is always local.
    fn replays(&self) -> &dyn Catalog;
}

/// A local catalogue serves all three purposes.
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

/// Runs all plays that are not in the journal yet, then writes scorecards, summary and report.
///
/// `progress` is called about every 50 milliseconds. When `interrupt` becomes true, the running
/// plays stop and are not journalled. The scorecards and the report then show these plays as
/// interrupted, and the summary is marked as unfinished. A later process can resume the run.
///
/// # Errors
///
/// Returns an error if the configuration is invalid, an environment is unknown, another process
/// uses the folder, or a file cannot be written. Failures of agents are results, not errors.
///
/// # Examples
///
/// See the [crate documentation](crate#examples).
pub fn run(
    spec: &RunSpec,
    arena: &dyn Arena,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results, HarnessError> {
    let started = Instant::now();
    let method: Method = parse(&spec.config.method)?;
    spec.folder.create_subfolder("recordings")?;
    let (journal, lines) = Journal::open(&spec.folder)?;
    let earlier = EarlierProcesses::of(&lines);
    let mut all = Plays::new(spec, arena, journal, lines)?;
    // A run that has finished is only reported again.
    let finished_ms = earlier.finished_ms.filter(|_| all.waiting.is_empty());
    if spec.resumed {
        first_request::check_resumed(spec, arena.replays(), &all.waiting)?;
    }
    all.deadline = spec
        .config
        .run_timeout_ms
        .map(|limit| started + Duration::from_millis(limit.saturating_sub(earlier.working_ms)));
    let started_ms = earlier.started_ms.unwrap_or_else(now_ms);
    if finished_ms.is_none() {
        all.journal.append(&JournalLine::Started {
            at_ms: now_ms(),
            resumed: spec.resumed,
        })?;
    }
    all.play_all(interrupt, progress)?;
    let mut play_results = all.take_results()?;
    play_results.sort_by_key(|play| {
        (
            play.repeat,
            spec.config.games.iter().position(|id| *id == play.game_id),
        )
    });
    let mut results = assemble(&spec.config, method, arena.environments(), &play_results)?;
    results.summary.folder = spec.folder.path().display().to_string();
    results.summary.report = spec.folder.file("report.html").display().to_string();
    let own_time = finished_ms.map_or(started.elapsed(), |_| Duration::ZERO);
    let working_time = Duration::from_millis(earlier.working_ms) + own_time;
    results.summary.seconds = working_time.as_secs_f64();
    results.summary.started_ms = Some(started_ms);
    results.summary.ended_ms = Some(finished_ms.unwrap_or_else(now_ms));
    write_results(spec, arena.replays(), &results, &play_results)?;
    if results.summary.finished && finished_ms.is_none() {
        all.journal
            .append(&JournalLine::Finished { at_ms: now_ms() })?;
    }
    Ok(results)
}

/// The two ends of the channel on which plays send their reports, each with the index of the play.
type Reports = (Sender<(usize, Finished)>, Receiver<(usize, Finished)>);

/// The plays of a run: waiting, running and done.
struct Plays<'a> {
    spec: &'a RunSpec,
    arena: &'a dyn Arena,
    budget: Budget,
    journal: Journal<JournalLine>,
    waiting: VecDeque<(u32, String)>,
    running: BTreeMap<usize, Arc<RunningPlay>>,
    /// Plays that have ended but whose agents may not have exited yet.
    exiting: Vec<Arc<RunningPlay>>,
    done: Vec<PlayResult>,
    total: usize,
    started: usize,
    /// Whether a suspended play reported a cause that affects all plays.
    halted: bool,
    /// The end of the run's time limit.
    deadline: Option<Instant>,
    reports: Reports,
}

impl<'a> Plays<'a> {
    fn new(
        spec: &'a RunSpec,
        arena: &'a dyn Arena,
        journal: Journal<JournalLine>,
        lines: Vec<JournalLine>,
    ) -> Result<Self, HarnessError> {
        let done = plays(lines);
        let known: BTreeSet<(u32, &str)> = done
            .iter()
            .map(|play| (play.repeat, play.game_id.as_str()))
            .collect();
        let all = (1..=spec.config.repeat)
            .flat_map(|repeat| spec.config.games.iter().map(move |id| (repeat, id)));
        let total = all.clone().count();
        let waiting = all
            .filter(|(repeat, id)| !known.contains(&(*repeat, id.as_str())))
            .map(|(repeat, id)| (repeat, id.clone()))
            .collect();
        let budget = parse(&spec.config.budget)?;
        Ok(Self {
            spec,
            arena,
            budget,
            journal,
            waiting,
            running: BTreeMap::new(),
            exiting: Vec::new(),
            done,
            total,
            started: 0,
            halted: false,
            deadline: None,
            reports: channel(),
        })
    }

    fn play_all(
        &mut self,
        interrupt: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), HarnessError> {
        while !interrupt.load(Ordering::Relaxed) && !self.is_timed_out() {
            while !self.halted
                && self.running.len() < self.spec.jobs.max(1)
                && let Some((repeat, id)) = self.waiting.pop_front()
            {
                self.start(repeat, &id)?;
            }
            if self.running.is_empty() {
                break;
            }
            match self.reports.1.recv_timeout(WATCH_INTERVAL) {
                // An aborted play may still send a report. The report is ignored, because the play
                // is no longer listed as running.
                Ok((index, finished)) if self.mark_ended(index) => self.record_result(finished)?,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("this side keeps a sender"),
            }
            self.end_stuck_plays()?;
            progress(self.progress());
        }
        Ok(())
    }

    fn start(&mut self, repeat: u32, id: &str) -> Result<(), HarnessError> {
        let config = &self.spec.config;
        let recording_name = first_request::recording_name(repeat, id);
        let guid = play_id(&config.run_id, repeat, id);
        // Agents may change their working directory, so the path of their folder is absolute.
        let output_dir = self.spec.folder.file(&format!("outputs/{guid}"));
        let play_spec = PlaySpec {
            repeat,
            game_id: id.to_owned(),
            output_dir: std::path::absolute(&output_dir).unwrap_or(output_dir),
            guid,
            agent: self.spec.agent.clone(),
            agent_seed: config.agent_seed(repeat),
            env_seed: config.env_seed,
            budget: self.budget,
            timeout: config.task_timeout_ms.map(Duration::from_millis),
            recording_path: self.spec.folder.file(&recording_name),
            stderr_path: self
                .spec
                .folder
                .file(&format!("recordings/{repeat}-{id}.stderr.txt")),
            recording_name,
        };
        let running = RunningPlay::start(
            play_spec,
            self.arena.card(repeat),
            self.reports.0.clone(),
            self.started,
        )?;
        self.running.insert(self.started, running);
        self.started += 1;
        Ok(())
    }

    /// Moves a play from the running plays to the exiting ones. Returns false if it was not
    /// running.
    fn mark_ended(&mut self, index: usize) -> bool {
        self.exiting.retain(|play| !play.agent_has_exited());
        let ended = self.running.remove(&index);
        let was_running = ended.is_some();
        self.exiting.extend(ended);
        was_running
    }

    fn record_result(&mut self, finished: Finished) -> Result<(), HarnessError> {
        let result = match finished {
            Finished::Ended(result) => {
                self.journal.append(&JournalLine::Play {
                    at_ms: now_ms(),
                    result: result.clone(),
                })?;
                result
            }
            // The play is not journalled, so that a resumed run repeats it.
            Finished::Suspended { result, all_plays } => {
                self.halted |= all_plays;
                result
            }
            Finished::Unwritable(error) => return Err(error),
        };
        self.done.push(result);
        Ok(())
    }

    /// Returns the results of all plays in the order in which they ended. Plays that are still
    /// running are interrupted.
    fn take_results(&mut self) -> Result<Vec<PlayResult>, HarnessError> {
        // Plays whose report has arrived count as ended.
        while let Ok((index, finished)) = self.reports.1.try_recv() {
            if self.mark_ended(index) {
                self.record_result(finished)?;
            }
        }
        let reason = self
            .is_timed_out()
            .then(|| "the time limit of the run is reached".to_owned());
        let interrupted = self
            .running
            .values()
            .map(|play| play.interrupt(reason.clone()));
        self.done.extend(interrupted);
        self.exiting
            .extend(std::mem::take(&mut self.running).into_values());
        Ok(std::mem::take(&mut self.done))
    }

    fn is_timed_out(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Ends the plays whose agent gave no action in time, and those whose time limit has passed.
    fn end_stuck_plays(&mut self) -> Result<(), HarnessError> {
        let late: Vec<(usize, Finished)> = self
            .running
            .iter()
            .filter_map(|(&index, play)| Some((index, play.enforce_timeout()?)))
            .collect();
        for (index, finished) in late {
            self.mark_ended(index);
            self.record_result(finished)?;
        }
        let limit_ms = self.spec.config.step_timeout_ms;
        let stuck: Vec<usize> = self
            .running
            .iter()
            .filter(|(_, play)| !play.is_timed_out() && play.turn_elapsed_ms() > limit_ms)
            .map(|(&index, _)| index)
            .collect();
        for index in stuck {
            let end = PlayEnd::failed(format!(
                "the agent gave no action within {} s",
                limit_ms as f64 / 1000.0
            ));
            // If the play has already ended on its own, its own report follows.
            if let Some(finished) = self.running[&index].abort(end) {
                self.mark_ended(index);
                self.record_result(finished)?;
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

/// The processes that worked on a run before this one.
#[derive(Debug, Default, PartialEq)]
struct EarlierProcesses {
    /// The start of the first process, as a Unix time in milliseconds.
    started_ms: Option<u64>,
    /// The total working time. For a process that was killed, the time up to its last line counts.
    working_ms: u64,
    /// The end of the run, if the last line says that it has finished.
    finished_ms: Option<u64>,
}

impl EarlierProcesses {
    fn of(lines: &[JournalLine]) -> Self {
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

/// Ensures that no agent process survives the run, however the run ends.
impl Drop for Plays<'_> {
    fn drop(&mut self) {
        self.running
            .values()
            .for_each(|play| drop(play.interrupt(None)));
        let deadline = Instant::now() + EXIT_GRACE_PERIOD;
        while Instant::now() < deadline && self.exiting.iter().any(|play| !play.agent_has_exited())
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.exiting.iter().for_each(|play| play.stop());
    }
}

fn write_results(
    spec: &RunSpec,
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
        spec.folder.write_json(&name, card)?;
    }
    spec.folder.write_json("summary.json", &results.summary)?;
    let films = build_films(spec, catalog, plays);
    let report = RunReport {
        config: spec.config.clone(),
        summary: results.summary.clone(),
        cards: results.cards.clone(),
        films,
    };
    spec.folder
        .write("report.html", run_page(&report).as_bytes())?;
    Ok(())
}

/// Builds the films of all plays. The limit on frames is divided evenly among the plays, so that a
/// long play does not displace the others.
fn build_films(spec: &RunSpec, catalog: &dyn Catalog, plays: &[PlayResult]) -> Vec<PlayFilm> {
    let mut frames_left = MAX_REPORT_FRAMES;
    let mut films = Vec::new();
    for (index, play) in plays.iter().enumerate() {
        let share = frames_left / (plays.len() - index);
        if let Some(film) = build_film(spec, catalog, play, share) {
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
    spec: &RunSpec,
    catalog: &dyn Catalog,
    play: &PlayResult,
    mut frames_left: usize,
) -> Option<PlayFilm> {
    let lines = BufReader::new(File::open(spec.folder.file(&play.recording)).ok()?).lines();
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

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, HarnessError>
where
    T::Err: ToString,
{
    text.parse()
        .map_err(|error: T::Err| HarnessError::Config(error.to_string()))
}
