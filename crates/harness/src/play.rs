//! One play: an agent and an environment in a thread of their own.

use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rhae_agents::{Agent, AgentError, AgentSpec, Decision, Stopper, View};
use rhae_engine::{Action, Frame, GameInfo, PlayState};
use rhae_protocol::{Details, Ending, Header, PlayResult, RecordingWriter, SOFTWARE};
use rhae_session::{Answer, Play};

use crate::{Budget, HarnessError};

/// Commands in a row that are not counted before an agent is taken to be stuck.
const MOST_UNCOUNTED: u32 = 1000;

/// What one play is.
#[derive(Clone, Debug)]
pub(crate) struct PlayOrder {
    pub(crate) repeat: u32,
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
    /// Milliseconds from the beginning to the last sign of life.
    alive_ms: AtomicU64,
    /// Whether the environment is at work, which has a time limit of its own: then the agent has nothing to answer for.
    environment_works: AtomicBool,
    actions: AtomicU64,
    /// Whether the agent has been taken down, which may be later than the end of the play.
    left: AtomicBool,
    stage: Mutex<Stage>,
}

struct Stage {
    play: Play,
    /// Taken when the play ends, by its thread or by the one that gives up on it.
    writer: Option<RecordingWriter<BufWriter<File>>>,
    stopper: Option<Stopper>,
}

impl Stage {
    /// Ends the agent's process, if it has one.
    fn stop(&mut self) {
        if let Some(stopper) = self.stopper.take() {
            stopper();
        }
    }
}

/// How a play came out, or why its recording could not be written.
pub(crate) type Finished = Result<PlayResult, HarnessError>;

impl RunningPlay {
    /// Opens the recording and starts the play's thread, which reports when the play ends.
    pub(crate) fn start(
        order: PlayOrder,
        play: Play,
        done: Sender<(usize, Finished)>,
        index: usize,
    ) -> Result<Arc<Self>, HarnessError> {
        let failed = |error| HarnessError::File { what: "write", path: order.recording_path.clone(), error };
        let file = File::create(&order.recording_path).map_err(failed)?;
        let mut writer = RecordingWriter::new(BufWriter::new(file), &header(&order, &play)).map_err(failed)?;
        writer.entry(&play.opening().entry(Action::Reset, Details::default())).map_err(failed)?;
        let stage = Mutex::new(Stage { play, writer: Some(writer), stopper: None });
        let running = Arc::new(Self {
            begun: Instant::now(),
            order,
            alive_ms: AtomicU64::new(0),
            environment_works: AtomicBool::new(false),
            actions: AtomicU64::new(0),
            left: AtomicBool::new(false),
            stage,
        });
        let own = Arc::clone(&running);
        let name = format!("play-{}-{index}", own.order.repeat);
        let spawned = std::thread::Builder::new().name(name).spawn(move || {
            // If nobody listens any more, the run has been given up.
            let report = |finished| drop(done.send((index, finished)));
            // What an agent does outside its turns (being built, told the end, dropped) may panic as well.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| own.play(&report)))
                && let Some(finished) = own.give_up(&panicked(panic.as_ref()))
            {
                report(finished);
            }
            own.left.store(true, Ordering::Release);
        });
        match spawned {
            Ok(_) => Ok(running),
            Err(error) => Err(HarnessError::File { what: "start a thread for", path: running.order.recording_path.clone(), error }),
        }
    }

    /// Milliseconds since the agent was last shown something.
    pub(crate) fn silent_ms(&self) -> u64 {
        if self.environment_works.load(Ordering::Acquire) {
            return 0;
        }
        self.now_ms().saturating_sub(self.alive_ms.load(Ordering::Relaxed))
    }

    /// Actions so far. Nobody is waited for: an environment from outside may be at work.
    pub(crate) fn actions(&self) -> u64 {
        self.actions.load(Ordering::Relaxed)
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
        if let Some(mut writer) = stage.writer.take() {
            // What cannot be flushed is played again anyway.
            let _ = writer.flush();
        }
        let mut tally = stage.play.tally().clone();
        tally.end("interrupted", None);
        self.result(tally.runs().to_vec(), stage.play.info())
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        // The lock is never held while an agent runs, so what it guards is whole even if its holder panicked.
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The body of the play's thread. The play is over, and reported, before the agent is told and taken down: however long that
    /// takes, it cannot change the result. Nothing is reported if the play was given up meanwhile.
    fn play(&self, report: &dyn Fn(Finished)) {
        let errors = match &self.order.agent {
            AgentSpec::Command(_) => File::create(&self.order.errors_path).map_or_else(|_| Stdio::null(), Stdio::from),
            _ => Stdio::null(),
        };
        let mut agent = match self.order.agent.build(self.order.agent_seed, errors) {
            Ok(agent) => agent,
            Err(error) => return self.finish(&mut self.stage(), &ending_of(error)).into_iter().for_each(report),
        };
        {
            let mut stage = self.stage();
            stage.stopper = agent.stopper();
            if stage.writer.is_none() {
                // The play was given up before there was anything to stop.
                stage.stop();
            }
        }
        let ending = match self.play_with(agent.as_mut()) {
            Ok(Some(ending)) => ending,
            Ok(None) => return,
            Err(error) => {
                self.stage().writer = None;
                return report(Err(error));
            }
        };
        self.finish(&mut self.stage(), &ending).into_iter().for_each(report);
        agent.end(ending.name());
        drop(agent);
        self.stage().stopper = None;
    }

    /// Plays until something ends it. `None` if the play was given up meanwhile.
    fn play_with(&self, agent: &mut dyn Agent) -> Result<Option<Ending>, HarnessError> {
        let mut sight = Sight::of(&self.stage().play.opening());
        let mut uncounted = 0;
        loop {
            let decision = match catch_unwind(AssertUnwindSafe(|| agent.act(&sight.view()))) {
                Ok(Ok(decision)) => decision,
                Ok(Err(error)) => return Ok(Some(ending_of(error))),
                Err(panic) => return Ok(Some(panicked(panic.as_ref()))),
            };
            self.alive_ms.store(self.now_ms(), Ordering::Relaxed);
            let mut stage = self.stage();
            let Stage { play, writer, .. } = &mut *stage;
            // Without a writer the play has been given up, and this thread abandoned.
            let Some(writer) = writer.as_mut() else {
                return Ok(None);
            };
            let Decision { action, mut details } = decision;
            if matches!(self.order.agent, AgentSpec::Command(_)) {
                details.t_ms = Some(self.now_ms());
            }
            self.environment_works.store(true, Ordering::Release);
            let answer = play.command(action);
            self.alive_ms.store(self.now_ms(), Ordering::Relaxed);
            self.environment_works.store(false, Ordering::Release);
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => return Ok(Some(Ending::Failed(error.to_string()))),
            };
            writer.entry(&answer.entry(action, details)).map_err(|error| self.unwritable(error))?;
            uncounted = if answer.seen.counted { 0 } else { uncounted + 1 };
            self.actions.fetch_add(u64::from(answer.seen.counted), Ordering::Relaxed);
            sight = Sight::of(&answer);
            if answer.seen.state == PlayState::Win {
                return Ok(Some(Ending::Won));
            }
            if uncounted >= MOST_UNCOUNTED {
                let reason = format!("the agent sent {MOST_UNCOUNTED} commands in a row that do nothing");
                return Ok(Some(Ending::Failed(reason)));
            }
            if self.order.budget.is_used_up(play.tally(), &play.info().baselines) {
                return Ok(Some(Ending::Budget));
            }
        }
    }

    /// Closes the recording and gives the counts; `None` if that was done before.
    fn finish(&self, stage: &mut Stage, ending: &Ending) -> Option<Finished> {
        let writer = stage.writer.take()?;
        let ending = &self.with_last_words(ending);
        let message = if let Ending::Failed(message) = ending { Some(message.clone()) } else { None };
        stage.play.tally_mut().end(ending.name(), message);
        let closed = writer.end(ending).and_then(|out| out.get_ref().sync_all());
        let result = self.result(stage.play.tally().runs().to_vec(), stage.play.info());
        Some(closed.map(|()| result).map_err(|error| self.unwritable(error)))
    }

    /// A failure with the last line that the agent's process wrote to its standard error, which often says why.
    fn with_last_words(&self, ending: &Ending) -> Ending {
        let Ending::Failed(reason) = ending else {
            return ending.clone();
        };
        let written = std::fs::read(&self.order.errors_path).unwrap_or_default();
        let tail = String::from_utf8_lossy(&written[written.len().saturating_sub(2000)..]).into_owned();
        match tail.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => {
                let line: String = line.trim().chars().take(200).collect();
                Ending::Failed(format!("{reason}; the last it said on standard error: `{line}`"))
            }
            None => ending.clone(),
        }
    }

    fn unwritable(&self, error: std::io::Error) -> HarnessError {
        HarnessError::File { what: "write", path: self.order.recording_path.clone(), error }
    }

    fn result(&self, runs: Vec<rhae_protocol::PlayOutcome>, info: &GameInfo) -> PlayResult {
        PlayResult {
            repeat: self.order.repeat,
            game_id: info.id.to_string(),
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

fn ending_of(error: AgentError) -> Ending {
    match error {
        AgentError::Stopped => Ending::Stopped,
        AgentError::Failed(reason) => Ending::Failed(reason),
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Ending {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    Ending::Failed(format!("the agent panicked: {text}"))
}
