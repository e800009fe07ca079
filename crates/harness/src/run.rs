//! A run: executes plays in parallel, journals each play when it ends, and finally writes the
//! scorecards and the report.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rhae_agents::AgentSpec;
use rhae_engine::Catalog;
use rhae_protocol::{Ending, JournalLine, PlayResult, RunConfig};
use rhae_runs::{Journal, RunFolder, now_ms};
use rhae_scoring::Method;
use rhae_work::Unit;

use crate::conclusion::{EarlierProcesses, Times, conclude};
use crate::first_request;
use crate::journal::plays;
use crate::play::{Finished, PlaySpec, RunningPlay};
use crate::play_end::PlayEnd;
use crate::shard::{load_shard, units_of};
use crate::{Budget, HarnessError, Results, ShardResults, play_id, tiers};

/// The interval at which the running plays are checked for timeouts.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// The time that agents have to exit on their own when a run is over.
const EXIT_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The time in which this process gets the signal that has ended an agent.
const SIGNAL_DELAY: Duration = Duration::from_millis(500);

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
    let _: Method = parse(&spec.config.method)?;
    spec.folder.create_subfolder("recordings")?;
    let shard = load_shard(spec.folder.path())?;
    let (journal, lines) = Journal::open(&spec.folder)?;
    let earlier = EarlierProcesses::of(&lines);
    let mut all = Plays::new(spec, arena, journal, lines, units_of(&spec.config, shard))?;
    // A run that has finished is only reported again.
    let finished_ms = earlier.finished_ms.filter(|_| all.next_index().is_none());
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
    let play_results = all.take_results();
    let complete = match tiers::reached(&spec.config, &play_results) {
        Some(reached) => reached.finished,
        None => play_results.len() == all.total && !play_results.iter().any(is_interrupted),
    };
    let own_time = finished_ms.map_or(started.elapsed(), |_| Duration::ZERO);
    let times = Times {
        working: Duration::from_millis(earlier.working_ms) + own_time,
        started_ms,
        ended_ms: finished_ms.unwrap_or_else(now_ms),
    };
    let mut results = conclude(&spec.folder, &spec.config, arena, play_results, &times)?;
    results.shard = shard.map(|shard| ShardResults {
        shard,
        plays: all.total,
        of: spec.config.games.len() * spec.config.repeat as usize,
        finished: complete,
    });
    if complete && finished_ms.is_none() {
        all.journal
            .append(&JournalLine::Finished { at_ms: now_ms() })?;
    }
    Ok(results)
}

/// How a unit that is played in a separate folder ended.
pub(crate) enum PlayedUnit {
    Played(PlayResult),
    /// The play was stopped. `stop` is the reason if no other play can continue either.
    Stopped {
        stop: Option<String>,
    },
}

/// Plays one unit in a separate folder, until it ends or `interrupt` becomes true.
///
/// # Errors
///
/// Returns an error if a file cannot be written.
pub(crate) fn play_unit(
    spec: &RunSpec,
    arena: &dyn Arena,
    repeat: u32,
    game_id: &str,
    interrupt: &AtomicBool,
) -> Result<PlayedUnit, HarnessError> {
    spec.folder.create_subfolder("recordings")?;
    let (journal, lines) = Journal::open(&spec.folder)?;
    let mut units = units_of(&spec.config, None);
    units.retain(|unit| unit.repeat == repeat && unit.game_id == game_id);
    let mut plays = Plays::new(spec, arena, journal, lines, units)?;
    plays.play_all(interrupt, &mut |_| {})?;
    let result = plays.take_results().pop();
    if let Some(result) = result.clone().filter(|result| !is_interrupted(result)) {
        return Ok(PlayedUnit::Played(result));
    }
    let reason = || {
        let message = result.as_ref()?.runs.last()?.message.clone();
        Some(message.unwrap_or_else(|| "no play can continue".to_owned()))
    };
    let stop = plays.halted.then(reason).flatten();
    Ok(PlayedUnit::Stopped { stop })
}

fn is_interrupted(play: &PlayResult) -> bool {
    let last = play.runs.last();
    last.is_some_and(|run| run.ending == Some(Ending::Interrupted))
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
        units: Vec<Unit>,
    ) -> Result<Self, HarnessError> {
        let done = plays(lines);
        let known: BTreeSet<(u32, &str)> = done
            .iter()
            .map(|play| (play.repeat, play.game_id.as_str()))
            .collect();
        let total = units.len();
        let waiting = units
            .into_iter()
            .map(|unit| (unit.repeat, unit.game_id))
            .filter(|(repeat, id)| !known.contains(&(*repeat, id.as_str())))
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
                && let Some((repeat, id)) = self.next_play()
            {
                self.start(repeat, &id)?;
            }
            if self.running.is_empty() {
                break;
            }
            match self.reports.1.recv_timeout(WATCH_INTERVAL) {
                // An aborted play may still send a report. The report is ignored, because the play
                // is no longer listed as running.
                Ok((index, finished)) if self.mark_ended(index) => {
                    self.record_result(unless_terminated(finished, interrupt))?;
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("this side keeps a sender"),
            }
            self.end_stuck_plays()?;
            progress(self.progress());
        }
        // Plays whose report has arrived count as ended.
        while let Ok((index, finished)) = self.reports.1.try_recv() {
            if self.mark_ended(index) {
                self.record_result(unless_terminated(finished, interrupt))?;
            }
        }
        Ok(())
    }

    /// Returns the next play to start. With tiers, returns `None` if all plays of the environments
    /// that the run has reached have started.
    fn next_play(&mut self) -> Option<(u32, String)> {
        let at = self.next_index()?;
        self.waiting.remove(at)
    }

    fn next_index(&self) -> Option<usize> {
        let config = &self.spec.config;
        let Some(reached) = tiers::reached(config, &self.done) else {
            return (!self.waiting.is_empty()).then_some(0);
        };
        let games = &config.games[..reached.games];
        self.waiting.iter().position(|(_, id)| games.contains(id))
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
    fn take_results(&mut self) -> Vec<PlayResult> {
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
        std::mem::take(&mut self.done)
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
        let mut progress = progress_of(&self.done, self.total);
        let running = self.running.values();
        progress.actions += running.map(|play| play.actions()).sum::<u64>();
        progress
    }
}

/// Returns the report of a play, or that of an interrupted play if the process of its agent was
/// terminated together with this one. A scheduler that ends a job sends SIGTERM to all its processes,
/// so an agent may end before this process has handled its own signal.
fn unless_terminated(finished: Finished, interrupt: &AtomicBool) -> Finished {
    let mut result = match finished {
        Finished::Ended(result) if is_terminated(&result) => result,
        other => return other,
    };
    let deadline = Instant::now() + SIGNAL_DELAY;
    while !interrupt.load(Ordering::Relaxed) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    if !interrupt.load(Ordering::Relaxed) {
        return Finished::Ended(result);
    }
    if let Some(run) = result.runs.last_mut() {
        run.ending = Some(Ending::Interrupted);
        run.message = None;
    }
    Finished::Suspended {
        result,
        all_plays: false,
    }
}

/// Returns whether a play failed because the process of its agent got SIGTERM.
fn is_terminated(play: &PlayResult) -> bool {
    play.runs.last().is_some_and(|run| {
        let message = run.message.as_deref().unwrap_or_default();
        run.ending == Some(Ending::Failed) && message.contains("(signal: 15 (SIGTERM)")
    })
}

/// Returns the progress of a run of `total` plays, of which some have ended.
pub(crate) fn progress_of(done: &[PlayResult], total: usize) -> Progress {
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
        done: done.len(),
        total,
        levels: done.iter().map(levels).sum(),
        actions: done.iter().map(actions).sum(),
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

pub(crate) fn parse<T: std::str::FromStr>(text: &str) -> Result<T, HarnessError>
where
    T::Err: ToString,
{
    text.parse()
        .map_err(|error: T::Err| HarnessError::Config(error.to_string()))
}
