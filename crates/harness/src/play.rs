//! One play: an agent and an environment in a dedicated thread.
//!
//! **Invariant:** the thread never holds the lock while it waits for an action of the agent or for
//! the environment. The supervising thread can therefore abort a play while either of them hangs,
//! for example an agent in an endless loop or a server that does not respond.
//!
//! **Invariant:** a failure of the environment ends the play as `environment failed`, never as a
//! failure of the agent.

use std::fs::{self, File};
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_agents::{
    AbortHandle, Agent, AgentError, AgentSpec, Decision, PlayContext, StderrLog, log_path,
};
use rhae_engine::{Action, Catalog, PlayState};
use rhae_protocol::{
    Details, Ending, Entry, Header, ModelUsage, PlayResult, RecordingWriter, ResetRule, RunOutcome,
    SOFTWARE, sent_reasoning,
};
use rhae_runs::RunsError;
use rhae_session::{Play, StepOutcome, Tally};

use crate::observation_buffer::ObservationBuffer;
use crate::play_end::PlayEnd;
use crate::stuck_play::{UncountedCommands, dead_end};
use crate::{Budget, HarnessError};

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
    /// The folder for files of an agent process, as an absolute path.
    pub(crate) output_dir: PathBuf,
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
    /// The standard error of an agent process. It has its own lock.
    stderr: StderrLog,
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
            stderr: StderrLog::default(),
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
                && let Some(finished) = own.abort(PlayEnd::agent_panicked(panic.as_ref()))
            {
                report(finished);
            }
            // This fails, as intended, if the agent has written files.
            let _ = fs::remove_dir(&own.spec.output_dir);
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
        let end = self.with_stderr_tail(end);
        let mut shared = self.shared();
        shared.stop();
        self.close(&mut shared, end)
    }

    /// Ends the play from its own thread. Returns `None` if it was aborted in the meantime.
    fn finish(&self, end: PlayEnd) -> Option<Finished> {
        let end = self.with_stderr_tail(end);
        self.close(&mut self.shared(), end)
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
        let mut play = match self.open(catalog) {
            Ok(play) => play,
            Err(end) => return self.finish(end).into_iter().for_each(report),
        };
        match self.start_recording(&play) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return report(Finished::Unwritable(error)),
        }
        // The time limit of a turn also covers the start of the agent.
        self.turn_started_ms.store(self.now_ms(), Ordering::Relaxed);
        let mut agent = match self.build_agent() {
            Ok(agent) => agent,
            Err(error) => return self.finish(error.into()).into_iter().for_each(report),
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
        self.finish(end).into_iter().for_each(report);
        agent.end(&ending);
        drop(agent);
        self.shared().abort_handle = None;
    }

    /// Opens the environment.
    fn open(&self, catalog: &dyn Catalog) -> Result<Play, PlayEnd> {
        let opened = catch_unwind(AssertUnwindSafe(|| {
            catalog.open(&self.spec.game_id, self.spec.env_seed)
        }));
        let environment =
            opened.map_err(|panic| PlayEnd::environment_panicked(panic.as_ref()))??;
        Ok(Play::new(environment, ResetRule::LevelsOnly))
    }

    fn build_agent(&self) -> Result<Box<dyn Agent>, AgentError> {
        if matches!(self.spec.agent, AgentSpec::Command(_)) {
            // An agent that needs the folder reports that it is missing.
            let _ = fs::create_dir_all(&self.spec.output_dir);
        }
        self.spec.agent.build(&PlayContext {
            seed: self.spec.agent_seed,
            model_log: log_path(&self.spec.recording_path),
            play_id: self.spec.guid.clone(),
            output_dir: self.spec.output_dir.clone(),
            stderr_path: self.spec.stderr_path.clone(),
            stderr: self.stderr.clone(),
        })
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
        let mut uncounted = UncountedCommands::default();
        if let Some(end) = dead_end(play) {
            return Ok(Some(end));
        }
        loop {
            self.turn_started_ms.store(self.now_ms(), Ordering::Relaxed);
            let decision = match catch_unwind(AssertUnwindSafe(|| agent.act(&observation.view()))) {
                Ok(Ok(decision)) => decision,
                Ok(Err(error)) => {
                    let usage = agent.unreported_usage();
                    add_usage(&mut self.shared().spent, play.tally().level(), &usage);
                    return match error {
                        // The agent was stopped.
                        _ if self.is_timed_out() => Ok(Some(self.timeout_end())),
                        AgentError::Interrupted { reason, all_plays } => {
                            Err(EarlyExit::Interrupted { reason, all_plays })
                        }
                        error => Ok(Some(error.into())),
                    };
                }
                Err(panic) => return Ok(Some(PlayEnd::agent_panicked(panic.as_ref()))),
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
            if matches!(
                self.spec.agent,
                AgentSpec::Command(_) | AgentSpec::Model(_) | AgentSpec::External(_)
            ) {
                details.t_ms = Some(self.now_ms());
            }
            add_usage(&mut self.shared().spent, play.tally().level(), &details);
            if self.is_timed_out() {
                return Ok(Some(self.timeout_end()));
            }
            let should_count = observation.should_count(action);
            attach_reasoning(play, &details);
            let (outcome, entry) = match execute(play, action, details) {
                Ok((outcome, entry, next)) => {
                    observation = next;
                    (outcome, entry)
                }
                Err(end) => return Ok(Some(end)),
            };
            if !self
                .record(&entry, play.tally())
                .map_err(EarlyExit::Unwritable)?
            {
                return Ok(None);
            }
            if outcome.state == PlayState::Win {
                return Ok(Some(Ending::Won.into()));
            }
            if let Some(end) = uncounted
                .add(outcome.counted, should_count)
                .or_else(|| dead_end(play))
            {
                return Ok(Some(end));
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
    fn close(&self, shared: &mut SharedState, end: PlayEnd) -> Option<Finished> {
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

    /// Appends the last line of the agent's standard error to a failure of the agent, because it
    /// often names the cause. The caller must not hold the lock.
    fn with_stderr_tail(&self, mut end: PlayEnd) -> PlayEnd {
        if let (Ending::Failed, Some(reason)) = (&end.ending, &mut end.message)
            && let Some(line) = self.stderr.last_line()
        {
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

/// Attaches what the agent says about its next command, if the environment is on a server.
fn attach_reasoning(play: &mut Play, details: &Details) {
    let max_bytes = play.max_reasoning_bytes();
    if max_bytes > 0 {
        let reasoning = sent_reasoning(details, max_bytes);
        play.set_reasoning(reasoning.map(|reasoning| reasoning.to_string()));
    }
}

/// Executes a command. Returns what is counted, recorded and shown to the agent.
fn execute(
    play: &mut Play,
    action: Action,
    details: Details,
) -> Result<(StepOutcome, Entry, ObservationBuffer), PlayEnd> {
    catch_unwind(AssertUnwindSafe(|| {
        let step = play.command(action)?;
        let (entry, next) = (step.entry(action, details), ObservationBuffer::of(&step));
        Ok((step.outcome, entry, next))
    }))
    .unwrap_or_else(|panic| Err(PlayEnd::environment_panicked(panic.as_ref())))
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
