//! One play: an agent and an environment in a dedicated thread.
//!
//! **Invariant:** the thread never holds the lock while it waits for an action of the agent or for
//! the environment. The supervising thread can therefore abort a play while either of them hangs,
//! for example an agent in an endless loop or a server that does not respond.

use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_agents::{AbortHandle, Agent, AgentError, AgentSpec, Decision, View, log_path};
use rhae_engine::{Action, Catalog, Frame, PlayState};
use rhae_protocol::{
    Details, Ending, Entry, Header, ModelUsage, PlayResult, RecordingWriter, ResetRule, RunOutcome,
    SOFTWARE,
};
use rhae_runs::RunsError;
use rhae_session::{Play, PlayStep, Tally};

use crate::{Budget, HarnessError};

/// The number of consecutive uncounted commands after which the agent is considered stuck and the
/// play ends as `failed`.
pub(crate) const MAX_UNCOUNTED: u32 = 1000;
/// The time that an agent has, after it was stopped at the time limit of its play, to report the
/// usage of its last request.
const TIMEOUT_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The settings of one play: its environment, agent, budget and files.
#[derive(Clone, Debug)]
pub(crate) struct PlaySpec {
    pub(crate) repeat: u32,
    pub(crate) game_id: String,
    pub(crate) guid: String,
    pub(crate) agent: AgentSpec,
    pub(crate) agent_seed: u64,
    pub(crate) env_seed: u64,
    pub(crate) budget: Budget,
    /// The time limit of the play, from its start.
    pub(crate) timeout: Option<Duration>,
    pub(crate) recording_path: PathBuf,
    /// The path of the recording relative to the run folder.
    pub(crate) recording_name: String,
    /// The file for the standard error of an agent process.
    pub(crate) stderr_path: PathBuf,
}

/// A play in progress, shared by its own thread and the thread that supervises the run.
pub(crate) struct RunningPlay {
    started: Instant,
    spec: PlaySpec,
    /// The time at which the agent was last asked for an action, in milliseconds since `started`;
    /// [`NOT_AGENTS_TURN`] while the environment works.
    turn_started_ms: AtomicU64,
    /// Whether the time limit of the play has passed.
    timed_out: AtomicBool,
    /// Whether the agent has been dropped, which may happen long after the end of the play.
    agent_exited: AtomicBool,
    shared: Mutex<SharedState>,
}

/// The value of `turn_started_ms` while the environment works.
const NOT_AGENTS_TURN: u64 = u64::MAX;

struct SharedState {
    /// The counts after the last recorded command.
    tally: Tally,
    /// The usage that the agent reported, by level.
    spent: Vec<ModelUsage>,
    /// The number of levels, if the environment is open and has no baselines.
    levels: Option<u8>,
    writer: Writer,
    abort_handle: Option<AbortHandle>,
}

/// The recording of a play.
enum Writer {
    /// The environment is not open yet.
    NotOpened,
    Open(RecordingWriter<BufWriter<File>>),
    /// The play has ended. Its own thread or the supervising thread closed the recording.
    Closed,
}

impl SharedState {
    /// Aborts the agent if it supports that.
    fn stop(&mut self) {
        if let Some(abort_handle) = self.abort_handle.take() {
            abort_handle();
        }
    }
}

/// The report of a play's thread.
pub(crate) enum Finished {
    /// The play has ended, and its recording is complete.
    Ended(PlayResult),
    /// The play is unfinished, and a resumed run repeats it. `all_plays` means that no other play
    /// can continue either.
    Suspended { result: PlayResult, all_plays: bool },
    /// The recording could not be written.
    Unwritable(HarnessError),
}

/// How a play ended, with the error if one ended it.
pub(crate) struct PlayEnd {
    ending: Ending,
    message: Option<String>,
}

impl PlayEnd {
    /// The play failed for this reason.
    pub(crate) const fn failed(reason: String) -> Self {
        Self {
            ending: Ending::Failed,
            message: Some(reason),
        }
    }
}

impl From<Ending> for PlayEnd {
    fn from(ending: Ending) -> Self {
        Self {
            ending,
            message: None,
        }
    }
}

/// The reason why a play stops without an ending.
enum EarlyExit {
    Interrupted { reason: String, all_plays: bool },
    Unwritable(HarnessError),
}

impl RunningPlay {
    /// Starts the thread of a play, which opens the environment and sends a report to `done` when
    /// the play ends.
    pub(crate) fn start(
        spec: PlaySpec,
        catalog: Arc<dyn Catalog>,
        done: Sender<(usize, Finished)>,
        index: usize,
    ) -> Result<Arc<Self>, HarnessError> {
        let shared = Mutex::new(SharedState {
            tally: Tally::default(),
            spent: Vec::new(),
            levels: None,
            writer: Writer::NotOpened,
            abort_handle: None,
        });
        let (turn_started_ms, agent_exited) =
            (AtomicU64::new(NOT_AGENTS_TURN), AtomicBool::new(false));
        let running = Arc::new(Self {
            started: Instant::now(),
            spec,
            turn_started_ms,
            timed_out: AtomicBool::new(false),
            agent_exited,
            shared,
        });
        let own = Arc::clone(&running);
        let name = format!("play-{}-{index}", own.spec.repeat);
        let spawned = std::thread::Builder::new().name(name).spawn(move || {
            // Sending fails only if the run has ended in the meantime. The report is not needed
            // then.
            let report = |finished| drop(done.send((index, finished)));
            // The agent may also panic outside `act`: while it is built, ended or dropped.
            if let Err(panic) =
                catch_unwind(AssertUnwindSafe(|| own.play(catalog.as_ref(), &report)))
                && let Some(finished) = own.abort(panic_end(panic.as_ref()))
            {
                report(finished);
            }
            own.agent_exited.store(true, Ordering::Release);
        });
        match spawned {
            Ok(_) => Ok(running),
            Err(error) => {
                let path = &running.spec.recording_path;
                Err(RunsError::file("start a thread for", path)(error).into())
            }
        }
    }

    /// Returns the milliseconds since the agent was asked for an action, or 0 while the environment
    /// works.
    pub(crate) fn turn_elapsed_ms(&self) -> u64 {
        match self.turn_started_ms.load(Ordering::Relaxed) {
            NOT_AGENTS_TURN => 0,
            turn_started_ms => self.now_ms().saturating_sub(turn_started_ms),
        }
    }

    pub(crate) fn actions(&self) -> u64 {
        self.shared().tally.actions()
    }

    /// Ends the play from the supervising thread. Returns `None` if the play has already ended on
    /// its own.
    ///
    /// A hanging thread is abandoned, never joined. A hanging process is killed.
    pub(crate) fn abort(&self, end: PlayEnd) -> Option<Finished> {
        let mut shared = self.shared();
        shared.stop();
        self.finish(&mut shared, end)
    }

    /// Stops the agent if the time limit of the play has passed. The thread of the play then ends
    /// it. If that takes longer than [`TIMEOUT_GRACE_PERIOD`], the play is aborted and its report
    /// is returned.
    pub(crate) fn enforce_timeout(&self) -> Option<Finished> {
        let late = self.started.elapsed().checked_sub(self.spec.timeout?)?;
        if !self.timed_out.swap(true, Ordering::AcqRel) {
            self.stop();
        }
        (late > TIMEOUT_GRACE_PERIOD)
            .then(|| self.abort(self.timeout_end()))
            .flatten()
    }

    /// Returns whether the agent has been dropped, so that nothing of the play remains.
    pub(crate) fn agent_has_exited(&self) -> bool {
        self.agent_exited.load(Ordering::Acquire)
    }

    /// Aborts the agent without changing the result of the play.
    pub(crate) fn stop(&self) {
        self.shared().stop();
    }

    /// Stops the play because the run is interrupted, for the given reason if the user did not
    /// interrupt it. The recording remains without an ending, and
    /// the returned counts are used only for the report.
    pub(crate) fn interrupt(&self, reason: Option<String>) -> PlayResult {
        let mut shared = self.shared();
        shared.stop();
        if let Writer::Open(mut writer) = std::mem::replace(&mut shared.writer, Writer::Closed) {
            // A resumed run repeats the play, so a failed flush loses nothing.
            let _ = writer.flush();
        }
        let end = PlayEnd {
            ending: Ending::Interrupted,
            message: reason,
        };
        self.result(&shared, end)
    }

    fn shared(&self) -> MutexGuard<'_, SharedState> {
        // Code that panics under this lock leaves no update half done, so the state is consistent
        // even if the lock is poisoned.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the time limit of the play has passed.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Acquire)
    }

    fn timeout_end(&self) -> PlayEnd {
        let limit = self.spec.timeout.unwrap_or_default().as_secs_f64();
        PlayEnd {
            ending: Ending::Timeout,
            message: Some(format!("the time limit of the play, {limit} s, is reached")),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Runs the play in its thread.
    ///
    /// The result is reported before the agent is ended and dropped, so that a slow agent cannot
    /// change it. Nothing is reported if the play was aborted in the meantime.
    fn play(&self, catalog: &dyn Catalog, report: &dyn Fn(Finished)) {
        let mut play = match catalog.open(&self.spec.game_id, self.spec.env_seed) {
            Ok(environment) => Play::new(environment, ResetRule::LevelsOnly),
            Err(error) => {
                let end = PlayEnd::failed(error.to_string());
                return self
                    .finish(&mut self.shared(), end)
                    .into_iter()
                    .for_each(report);
            }
        };
        match self.start_recording(&play) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return report(Finished::Unwritable(error)),
        }
        let stderr = match &self.spec.agent {
            AgentSpec::Command(_) => {
                File::create(&self.spec.stderr_path).map_or_else(|_| Stdio::null(), Stdio::from)
            }
            _ => Stdio::null(),
        };
        // The time limit of a turn also covers the start of the agent.
        self.turn_started_ms.store(self.now_ms(), Ordering::Relaxed);
        let mut agent = match self.spec.agent.build(
            self.spec.agent_seed,
            stderr,
            &log_path(&self.spec.recording_path),
        ) {
            Ok(agent) => agent,
            Err(error) => {
                return self
                    .finish(&mut self.shared(), end_of(error))
                    .into_iter()
                    .for_each(report);
            }
        };
        {
            let mut shared = self.shared();
            shared.abort_handle = agent.abort_handle();
            if matches!(shared.writer, Writer::Closed) || self.is_timed_out() {
                // The play was stopped before the agent existed, so the agent must be stopped now.
                shared.stop();
            }
        }
        let end = match self.play_with(&mut play, agent.as_mut()) {
            Ok(Some(end)) => end,
            Ok(None) => return,
            Err(EarlyExit::Interrupted { reason, all_plays }) => {
                return self.suspend(reason, all_plays).into_iter().for_each(report);
            }
            Err(EarlyExit::Unwritable(error)) => {
                self.shared().writer = Writer::Closed;
                return report(Finished::Unwritable(error));
            }
        };
        let ending = end.ending.clone();
        self.finish(&mut self.shared(), end)
            .into_iter()
            .for_each(report);
        agent.end(&ending);
        drop(agent);
        self.shared().abort_handle = None;
    }

    /// Creates the recording and writes its first entry. Returns false if the play was aborted in
    /// the meantime.
    fn start_recording(&self, play: &Play) -> Result<bool, HarnessError> {
        let mut shared = self.shared();
        if matches!(shared.writer, Writer::Closed) {
            return Ok(false);
        }
        let file =
            File::create(&self.spec.recording_path).map_err(|error| self.unwritable(error))?;
        let writer = RecordingWriter::new(BufWriter::new(file), &header(&self.spec, play));
        let mut writer = writer.map_err(|error| self.unwritable(error))?;
        writer
            .entry(&play.current().entry(Action::Reset, Details::default()))
            .map_err(|error| self.unwritable(error))?;
        shared.writer = Writer::Open(writer);
        shared.tally = play.tally().clone();
        let levels = play.current().observation.win_levels;
        shared.levels = play.info().baselines.is_empty().then_some(levels);
        Ok(true)
    }

    /// Asks the agent for actions and executes them until the play ends. Returns `None` if the play
    /// was aborted in the meantime.
    fn play_with(
        &self,
        play: &mut Play,
        agent: &mut dyn Agent,
    ) -> Result<Option<PlayEnd>, EarlyExit> {
        let mut observation = ObservationBuffer::of(&play.current());
        let mut uncounted_in_a_row = 0;
        loop {
            self.turn_started_ms.store(self.now_ms(), Ordering::Relaxed);
            let decision = match catch_unwind(AssertUnwindSafe(|| agent.act(&observation.view()))) {
                Ok(Ok(decision)) => decision,
                Ok(Err(error)) => {
                    let mut shared = self.shared();
                    add_usage(
                        &mut shared.spent,
                        play.tally().level(),
                        &agent.unreported_usage(),
                    );
                    return match error {
                        // The agent was stopped.
                        _ if self.is_timed_out() => Ok(Some(self.timeout_end())),
                        AgentError::Interrupted { reason, all_plays } => {
                            Err(EarlyExit::Interrupted { reason, all_plays })
                        }
                        error => Ok(Some(end_of(error))),
                    };
                }
                Err(panic) => return Ok(Some(panic_end(panic.as_ref()))),
            };
            self.turn_started_ms
                .store(NOT_AGENTS_TURN, Ordering::Relaxed);
            if matches!(self.shared().writer, Writer::Closed) {
                // The play was aborted, and this thread was abandoned. It must no longer use the
                // environment.
                return Ok(None);
            }
            let Decision {
                action,
                mut details,
            } = decision;
            if matches!(self.spec.agent, AgentSpec::Command(_) | AgentSpec::Model(_)) {
                details.t_ms = Some(self.now_ms());
            }
            add_usage(&mut self.shared().spent, play.tally().level(), &details);
            if self.is_timed_out() {
                return Ok(Some(self.timeout_end()));
            }
            let step = match play.command(action) {
                Ok(step) => step,
                Err(error) => return Ok(Some(PlayEnd::failed(error.to_string()))),
            };
            let outcome = step.outcome;
            let entry = step.entry(action, details);
            observation = ObservationBuffer::of(&step);
            if !self
                .record(&entry, play.tally())
                .map_err(EarlyExit::Unwritable)?
            {
                return Ok(None);
            }
            uncounted_in_a_row = if outcome.counted {
                0
            } else {
                uncounted_in_a_row + 1
            };
            if outcome.state == PlayState::Win {
                return Ok(Some(Ending::Won.into()));
            }
            if uncounted_in_a_row >= MAX_UNCOUNTED {
                let reason = format!(
                    "the agent sent {MAX_UNCOUNTED} consecutive commands that were not counted"
                );
                return Ok(Some(PlayEnd::failed(reason)));
            }
            if self
                .spec
                .budget
                .is_used_up(play.tally(), &play.info().baselines)
            {
                return Ok(Some(Ending::Budget.into()));
            }
        }
    }

    /// Writes an entry to the recording and publishes the counts. Returns false if the play was
    /// aborted in the meantime.
    fn record(&self, entry: &Entry, tally: &Tally) -> Result<bool, HarnessError> {
        let mut shared = self.shared();
        let Writer::Open(writer) = &mut shared.writer else {
            return Ok(false);
        };
        writer
            .entry(entry)
            .map_err(|error| self.unwritable(error))?;
        shared.tally.clone_from(tally);
        Ok(true)
    }

    /// Closes the recording and returns the result, or `None` if the recording was already closed.
    fn finish(&self, shared: &mut SharedState, end: PlayEnd) -> Option<Finished> {
        let end = self.with_stderr_tail(end);
        let closed = match std::mem::replace(&mut shared.writer, Writer::Closed) {
            Writer::Closed => return None,
            // The environment was never opened, so there is no recording.
            Writer::NotOpened => Ok(()),
            Writer::Open(writer) => writer
                .end(&end.ending, end.message.as_deref())
                .and_then(|out| out.get_ref().sync_all()),
        };
        let result = self.result(shared, end);
        Some(match closed {
            Ok(()) => Finished::Ended(result),
            Err(error) => Finished::Unwritable(self.unwritable(error)),
        })
    }

    /// Stops the play because its agent cannot continue at present. Returns `None` if the recording
    /// was already closed.
    fn suspend(&self, reason: String, all_plays: bool) -> Option<Finished> {
        let mut shared = self.shared();
        let Writer::Open(mut writer) = std::mem::replace(&mut shared.writer, Writer::Closed) else {
            return None;
        };
        // A resumed run repeats the play, so a failed flush loses nothing.
        let _ = writer.flush();
        let end = PlayEnd {
            ending: Ending::Interrupted,
            message: Some(reason),
        };
        Some(Finished::Suspended {
            result: self.result(&shared, end),
            all_plays,
        })
    }

    /// Appends the last line of the agent's standard error to a failure, because it often names the
    /// cause.
    fn with_stderr_tail(&self, mut end: PlayEnd) -> PlayEnd {
        let (Ending::Failed, Some(reason)) = (&end.ending, &mut end.message) else {
            return end;
        };
        let written = std::fs::read(&self.spec.stderr_path).unwrap_or_default();
        let tail =
            String::from_utf8_lossy(&written[written.len().saturating_sub(2000)..]).into_owned();
        if let Some(line) = tail.lines().rfind(|line| !line.trim().is_empty()) {
            let line: String = line.trim().chars().take(200).collect();
            *reason += &format!("; last line on standard error: `{line}`");
        }
        end
    }

    fn unwritable(&self, error: std::io::Error) -> HarnessError {
        RunsError::file("write", &self.spec.recording_path)(error).into()
    }

    /// Returns the counts with an ending. A play whose environment was never opened has one run
    /// without actions.
    fn result(&self, shared: &SharedState, end: PlayEnd) -> PlayResult {
        let mut tally = shared.tally.clone();
        tally.end(end.ending.clone(), end.message.clone());
        let mut runs = tally.runs().to_vec();
        if runs.is_empty() {
            runs.push(RunOutcome {
                ending: Some(end.ending),
                message: end.message,
                ..RunOutcome::default()
            });
        }
        // The harness ignores a RESET that would restart the whole game, so a play normally has one
        // run. All usage is attributed to the last run.
        if let Some(run) = runs.last_mut() {
            run.spent.clone_from(&shared.spent);
        }
        PlayResult {
            repeat: self.spec.repeat,
            game_id: self.spec.game_id.clone(),
            guid: self.spec.guid.clone(),
            recording: self.spec.recording_name.clone(),
            levels: shared.levels,
            runs,
        }
    }
}

/// A copy of the last observation, which the agent can read without a lock.
pub(crate) struct ObservationBuffer {
    frames: Vec<Frame>,
    state: PlayState,
    levels_completed: u8,
    win_levels: u8,
    available: rhae_engine::ActionSet,
    full_reset: bool,
}

impl ObservationBuffer {
    pub(crate) fn of(step: &PlayStep<'_>) -> Self {
        Self {
            frames: step.frames.to_vec(),
            state: step.outcome.state,
            levels_completed: step.outcome.levels_completed,
            win_levels: step.observation.win_levels,
            available: step.observation.available,
            full_reset: step.outcome.full_reset,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            frames: &self.frames,
            state: self.state,
            levels_completed: self.levels_completed,
            win_levels: self.win_levels,
            available: self.available,
            full_reset: self.full_reset,
        }
    }
}

fn header(spec: &PlaySpec, play: &Play) -> Header {
    let info = play.info();
    Header {
        game_id: info.id.clone(),
        seed: spec.env_seed,
        agent: spec.agent.name(),
        agent_seed: Some(spec.agent_seed),
        software: SOFTWARE.to_owned(),
        guid: Some(spec.guid.clone()),
        resets: play.rule(),
        win_levels: play.current().observation.win_levels,
        available: info.actions,
        source_digest: info.source_digest.clone(),
    }
}

/// Adds the usage in `details` to the usage of a level.
fn add_usage(spent: &mut Vec<ModelUsage>, level: usize, details: &Details) {
    if let Some(usage) = ModelUsage::from_details(details) {
        if spent.len() <= level {
            spent.resize(level + 1, ModelUsage::default());
        }
        spent[level] += usage;
    }
}

fn end_of(error: AgentError) -> PlayEnd {
    match error {
        AgentError::Stopped => Ending::Stopped.into(),
        AgentError::Failed(reason) | AgentError::Interrupted { reason, .. } => {
            PlayEnd::failed(reason)
        }
    }
}

fn panic_end(panic: &(dyn std::any::Any + Send)) -> PlayEnd {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    PlayEnd::failed(format!("the agent panicked: {text}"))
}
