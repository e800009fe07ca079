//! One play: an agent and an environment in a thread of their own.
//!
//! **Invariant:** neither the agent nor the environment is ever waited for with the lock held, so that a play can be given up while
//! either of them hangs: an agent may think for ever, and an environment may be on a server that does not answer.

use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rhae_agents::{Agent, AgentError, AgentSpec, Decision, Stopper, View, log_path};
use rhae_engine::{Action, Frame, PlayState};
use rhae_protocol::{
    Details, Ending, Entry, Header, PlayOutcome, PlayResult, RecordingWriter, ResetRule, SOFTWARE,
    Spent,
};
use rhae_session::{Answer, Catalog, Play, Tally};

use crate::{Budget, HarnessError};

/// Commands in a row that are not counted before an agent is taken to be stuck.
const MOST_UNCOUNTED: u32 = 1000;

/// What one play is.
#[derive(Clone, Debug)]
pub(crate) struct PlayOrder {
    pub(crate) repeat: u32,
    pub(crate) game_id: String,
    pub(crate) guid: String,
    pub(crate) agent: AgentSpec,
    pub(crate) agent_seed: u64,
    pub(crate) env_seed: u64,
    pub(crate) budget: Budget,
    /// Where the recording goes, and its name relative to the run folder.
    pub(crate) recording_path: PathBuf,
    pub(crate) recording_name: String,
    /// Where a process's standard error goes.
    pub(crate) errors_path: PathBuf,
}

/// A play under way, as its thread and the one that watches over it share it.
pub(crate) struct RunningPlay {
    begun: Instant,
    order: PlayOrder,
    /// Milliseconds from the beginning to when the agent was last asked for an action; [`NOT_ASKED`] while it is not its turn.
    asked_ms: AtomicU64,
    /// Whether the agent has been taken down, which may be later than the end of the play.
    left: AtomicBool,
    stage: Mutex<Stage>,
}

/// No time: the environment is at work, not the agent.
const NOT_ASKED: u64 = u64::MAX;

struct Stage {
    /// What was counted so far, as the play's thread last left it.
    tally: Tally,
    /// What the player said that it consumed, level by level.
    spent: Vec<Spent>,
    writer: Writer,
    stopper: Option<Stopper>,
}

/// The recording of a play.
enum Writer {
    /// The environment is being opened.
    Awaited,
    Open(RecordingWriter<BufWriter<File>>),
    /// Taken when the play ended, by its thread or by the one that gave up on it.
    Taken,
}

impl Stage {
    /// Ends the agent's process, if it has one.
    fn stop(&mut self) {
        if let Some(stopper) = self.stopper.take() {
            stopper();
        }
    }
}

/// How a play came out.
pub(crate) enum Finished {
    /// It has ended, and its recording is complete.
    Ended(PlayResult),
    /// It was left, and can be gone on with; `all` says that no other play can go on either.
    Left { result: PlayResult, all: bool },
    /// Its recording could not be written.
    Unwritable(HarnessError),
}

/// Why a play does not come to its end.
enum Stop {
    Interrupted { reason: String, all: bool },
    Unwritable(HarnessError),
}

impl RunningPlay {
    /// Starts the play's thread, which opens the environment and reports when the play ends.
    pub(crate) fn start(
        order: PlayOrder,
        catalog: Arc<dyn Catalog>,
        done: Sender<(usize, Finished)>,
        index: usize,
    ) -> Result<Arc<Self>, HarnessError> {
        let stage = Mutex::new(Stage {
            tally: Tally::default(),
            spent: Vec::new(),
            writer: Writer::Awaited,
            stopper: None,
        });
        let (asked_ms, left) = (AtomicU64::new(NOT_ASKED), AtomicBool::new(false));
        let running = Arc::new(Self {
            begun: Instant::now(),
            order,
            asked_ms,
            left,
            stage,
        });
        let own = Arc::clone(&running);
        let name = format!("play-{}-{index}", own.order.repeat);
        let spawned = std::thread::Builder::new().name(name).spawn(move || {
            // If nobody listens any more, the run has been given up.
            let report = |finished| drop(done.send((index, finished)));
            // What an agent does outside its turns (being built, told the end, dropped) may panic as well.
            if let Err(panic) =
                catch_unwind(AssertUnwindSafe(|| own.play(catalog.as_ref(), &report)))
                && let Some(finished) = own.give_up(&panicked(panic.as_ref()))
            {
                report(finished);
            }
            own.left.store(true, Ordering::Release);
        });
        match spawned {
            Ok(_) => Ok(running),
            Err(error) => Err(HarnessError::File {
                what: "start a thread for",
                path: running.order.recording_path.clone(),
                error,
            }),
        }
    }

    /// Milliseconds since the agent was asked for an action; 0 while the environment is at work.
    pub(crate) fn silent_ms(&self) -> u64 {
        match self.asked_ms.load(Ordering::Relaxed) {
            NOT_ASKED => 0,
            asked_ms => self.now_ms().saturating_sub(asked_ms),
        }
    }

    /// Actions so far.
    pub(crate) fn actions(&self) -> u64 {
        self.stage().tally.actions()
    }

    /// Ends the play from outside and takes what there is. `None` if it has just ended by itself.
    ///
    /// A thread that hangs is abandoned, never joined; a process that hangs is ended.
    pub(crate) fn give_up(&self, ending: &Ending) -> Option<Finished> {
        let mut stage = self.stage();
        stage.stop();
        self.finish(&mut stage, ending)
    }

    /// Whether the agent is gone and nothing of the play is left.
    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Ends the agent's process, if it has one, whatever the play's result is.
    pub(crate) fn stop(&self) {
        self.stage().stop();
    }

    /// Leaves the play unfinished because the run is interrupted: its recording stays without an end, and the counts so far
    /// are only for the report.
    pub(crate) fn interrupt(&self) -> PlayResult {
        let mut stage = self.stage();
        stage.stop();
        if let Writer::Open(mut writer) = std::mem::replace(&mut stage.writer, Writer::Taken) {
            // What cannot be flushed is played again anyway.
            let _ = writer.flush();
        }
        self.result(&stage, "interrupted", None)
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        // The lock is never held while foreign code runs, so what it guards is whole even if its holder panicked.
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The body of the play's thread. The play is over, and reported, before the agent is told and taken down: however long that
    /// takes, it cannot change the result. Nothing is reported if the play was given up meanwhile.
    fn play(&self, catalog: &dyn Catalog, report: &dyn Fn(Finished)) {
        let mut play = match catalog.open(&self.order.game_id, self.order.env_seed) {
            Ok(environment) => Play::new(environment, ResetRule::LevelsOnly),
            Err(error) => {
                let ending = Ending::Failed(error.to_string());
                return self
                    .finish(&mut self.stage(), &ending)
                    .into_iter()
                    .for_each(report);
            }
        };
        match self.begin_recording(&play) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return report(Finished::Unwritable(error)),
        }
        let errors = match &self.order.agent {
            AgentSpec::Command(_) => {
                File::create(&self.order.errors_path).map_or_else(|_| Stdio::null(), Stdio::from)
            }
            _ => Stdio::null(),
        };
        // An agent that never gets ready gives no action either.
        self.asked_ms.store(self.now_ms(), Ordering::Relaxed);
        let mut agent = match self.order.agent.build(
            self.order.agent_seed,
            errors,
            &log_path(&self.order.recording_path),
        ) {
            Ok(agent) => agent,
            Err(error) => {
                return self
                    .finish(&mut self.stage(), &ending_of(error))
                    .into_iter()
                    .for_each(report);
            }
        };
        {
            let mut stage = self.stage();
            stage.stopper = agent.stopper();
            if matches!(stage.writer, Writer::Taken) {
                // The play was given up before there was anything to stop.
                stage.stop();
            }
        }
        let ending = match self.play_with(&mut play, agent.as_mut()) {
            Ok(Some(ending)) => ending,
            Ok(None) => return,
            Err(Stop::Interrupted { reason, all }) => {
                return self.leave(reason, all).into_iter().for_each(report);
            }
            Err(Stop::Unwritable(error)) => {
                self.stage().writer = Writer::Taken;
                return report(Finished::Unwritable(error));
            }
        };
        self.finish(&mut self.stage(), &ending)
            .into_iter()
            .for_each(report);
        agent.end(ending.name());
        drop(agent);
        self.stage().stopper = None;
    }

    /// Opens the recording with the first entry; false if the play was given up meanwhile.
    fn begin_recording(&self, play: &Play) -> Result<bool, HarnessError> {
        let mut stage = self.stage();
        if matches!(stage.writer, Writer::Taken) {
            return Ok(false);
        }
        let file =
            File::create(&self.order.recording_path).map_err(|error| self.unwritable(error))?;
        let writer = RecordingWriter::new(BufWriter::new(file), &header(&self.order, play));
        let mut writer = writer.map_err(|error| self.unwritable(error))?;
        writer
            .entry(&play.opening().entry(Action::Reset, Details::default()))
            .map_err(|error| self.unwritable(error))?;
        stage.writer = Writer::Open(writer);
        stage.tally = play.tally().clone();
        Ok(true)
    }

    /// Plays until something ends it. `None` if the play was given up meanwhile.
    fn play_with(&self, play: &mut Play, agent: &mut dyn Agent) -> Result<Option<Ending>, Stop> {
        let mut sight = Sight::of(&play.opening());
        let mut uncounted = 0;
        loop {
            self.asked_ms.store(self.now_ms(), Ordering::Relaxed);
            let decision = match catch_unwind(AssertUnwindSafe(|| agent.act(&sight.view()))) {
                Ok(Ok(decision)) => decision,
                Ok(Err(error)) => {
                    let mut stage = self.stage();
                    charge(&mut stage.spent, play.tally().level(), &agent.leftover());
                    return match error {
                        AgentError::Interrupted { reason, all } => {
                            Err(Stop::Interrupted { reason, all })
                        }
                        error => Ok(Some(ending_of(error))),
                    };
                }
                Err(panic) => return Ok(Some(panicked(panic.as_ref()))),
            };
            self.asked_ms.store(NOT_ASKED, Ordering::Relaxed);
            if matches!(self.stage().writer, Writer::Taken) {
                // The play has been given up, and this thread abandoned: nothing more may happen to the environment.
                return Ok(None);
            }
            let Decision {
                action,
                mut details,
            } = decision;
            if matches!(
                self.order.agent,
                AgentSpec::Command(_) | AgentSpec::Model(_)
            ) {
                details.t_ms = Some(self.now_ms());
            }
            charge(&mut self.stage().spent, play.tally().level(), &details);
            let answer = match play.command(action) {
                Ok(answer) => answer,
                Err(error) => return Ok(Some(Ending::Failed(error.to_string()))),
            };
            let seen = answer.seen;
            let entry = answer.entry(action, details);
            sight = Sight::of(&answer);
            if !self
                .take_down(&entry, play.tally())
                .map_err(Stop::Unwritable)?
            {
                return Ok(None);
            }
            uncounted = if seen.counted { 0 } else { uncounted + 1 };
            if seen.state == PlayState::Win {
                return Ok(Some(Ending::Won));
            }
            if uncounted >= MOST_UNCOUNTED {
                let reason =
                    format!("the agent sent {MOST_UNCOUNTED} commands in a row that do nothing");
                return Ok(Some(Ending::Failed(reason)));
            }
            if self
                .order
                .budget
                .is_used_up(play.tally(), &play.info().baselines)
            {
                return Ok(Some(Ending::Budget));
            }
        }
    }

    /// Writes an entry and shows the counts to whoever watches; false if the play was given up meanwhile.
    fn take_down(&self, entry: &Entry, tally: &Tally) -> Result<bool, HarnessError> {
        let mut stage = self.stage();
        let Writer::Open(writer) = &mut stage.writer else {
            return Ok(false);
        };
        writer
            .entry(entry)
            .map_err(|error| self.unwritable(error))?;
        stage.tally.clone_from(tally);
        Ok(true)
    }

    /// Closes the recording and gives the counts; `None` if that was done before.
    fn finish(&self, stage: &mut Stage, ending: &Ending) -> Option<Finished> {
        let ending = &self.with_last_words(ending);
        let closed = match std::mem::replace(&mut stage.writer, Writer::Taken) {
            Writer::Taken => return None,
            // There was nothing to record.
            Writer::Awaited => Ok(()),
            Writer::Open(writer) => writer.end(ending).and_then(|out| out.get_ref().sync_all()),
        };
        let message = if let Ending::Failed(message) = ending {
            Some(message.clone())
        } else {
            None
        };
        let result = self.result(stage, ending.name(), message);
        Some(match closed {
            Ok(()) => Finished::Ended(result),
            Err(error) => Finished::Unwritable(self.unwritable(error)),
        })
    }

    /// Leaves the play unfinished because its player cannot go on now; `None` if it was closed before.
    fn leave(&self, reason: String, all: bool) -> Option<Finished> {
        let mut stage = self.stage();
        let Writer::Open(mut writer) = std::mem::replace(&mut stage.writer, Writer::Taken) else {
            return None;
        };
        // What cannot be flushed is played again anyway.
        let _ = writer.flush();
        Some(Finished::Left {
            result: self.result(&stage, "interrupted", Some(reason)),
            all,
        })
    }

    /// A failure with the last line that the agent's process wrote to its standard error, which often says why.
    fn with_last_words(&self, ending: &Ending) -> Ending {
        let Ending::Failed(reason) = ending else {
            return ending.clone();
        };
        let written = std::fs::read(&self.order.errors_path).unwrap_or_default();
        let tail =
            String::from_utf8_lossy(&written[written.len().saturating_sub(2000)..]).into_owned();
        match tail.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => {
                let line: String = line.trim().chars().take(200).collect();
                Ending::Failed(format!(
                    "{reason}; the last it said on standard error: `{line}`"
                ))
            }
            None => ending.clone(),
        }
    }

    fn unwritable(&self, error: std::io::Error) -> HarnessError {
        HarnessError::File {
            what: "write",
            path: self.order.recording_path.clone(),
            error,
        }
    }

    /// The counts with their ending. A play whose environment was never opened has one run without an action.
    fn result(&self, stage: &Stage, ending: &str, message: Option<String>) -> PlayResult {
        let mut tally = stage.tally.clone();
        tally.end(ending, message.clone());
        let mut runs = tally.runs().to_vec();
        if runs.is_empty() {
            let state = PlayState::NotFinished.name().to_owned();
            runs.push(PlayOutcome {
                state,
                ending: ending.to_owned(),
                message,
                ..PlayOutcome::default()
            });
        }
        // Runs restart the whole game, which a run of the harness does not do by itself: all belongs to the one there is.
        if let Some(run) = runs.last_mut() {
            run.spent.clone_from(&stage.spent);
        }
        PlayResult {
            repeat: self.order.repeat,
            game_id: self.order.game_id.clone(),
            guid: self.order.guid.clone(),
            recording: self.order.recording_name.clone(),
            runs,
        }
    }
}

/// What the agent is shown, copied so that nothing is locked while it thinks.
struct Sight {
    frames: Vec<Frame>,
    state: PlayState,
    levels_completed: u8,
    win_levels: u8,
    available: rhae_engine::ActionSet,
    full_reset: bool,
}

impl Sight {
    fn of(answer: &Answer<'_>) -> Self {
        Self {
            frames: answer.frames.to_vec(),
            state: answer.seen.state,
            levels_completed: answer.seen.levels_completed,
            win_levels: answer.observation.win_levels,
            available: answer.observation.available,
            full_reset: answer.seen.full_reset,
        }
    }

    fn view(&self) -> View<'_> {
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

fn header(order: &PlayOrder, play: &Play) -> Header {
    let info = play.info();
    Header {
        game_id: info.id.clone(),
        seed: order.env_seed,
        agent: order.agent.name(),
        agent_seed: Some(order.agent_seed),
        software: SOFTWARE.to_owned(),
        guid: Some(order.guid.clone()),
        resets: play.rule(),
        win_levels: play.opening().observation.win_levels,
        available: info.actions,
    }
}

/// Adds what a player consumed to what it has consumed on the level.
fn charge(spent: &mut Vec<Spent>, level: usize, details: &Details) {
    if let Some(news) = Spent::of(details) {
        if spent.len() <= level {
            spent.resize(level + 1, Spent::default());
        }
        spent[level] += news;
    }
}

fn ending_of(error: AgentError) -> Ending {
    match error {
        AgentError::Stopped => Ending::Stopped,
        AgentError::Failed(reason) | AgentError::Interrupted { reason, .. } => {
            Ending::Failed(reason)
        }
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Ending {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Ending::Failed(format!("the agent panicked: {text}"))
}
