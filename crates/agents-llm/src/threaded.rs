//! Agents that are written as one function over a game, run in a thread of their own.
//!
//! The interface of agents asks for one action at a time. An agent whose tools act in the middle of
//! a conversation would have to be a state machine. Here it is a [`Player`]: a function that calls
//! [`Game::step`] wherever it wants to act. [`ThreadedAgent`] connects the two with channels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use rhae_agents::{AbortHandle, Agent, AgentError, Decision, View, usage_details};
use rhae_engine::{Action, ActionSet, Frame, PlayState};
use rhae_llm::CancelToken;
use rhae_protocol::Details;
use serde_json::Value;

use crate::engine::SharedUnreported;

/// A copy of a [`View`].
#[derive(Clone, Debug)]
pub struct Observation {
    /// The settled frame, preceded by the frames of an animation.
    pub frames: Vec<Frame>,
    pub state: PlayState,
    pub levels_completed: u8,
    pub win_levels: u8,
    pub available: ActionSet,
}

impl Observation {
    pub(crate) fn of(view: &View<'_>) -> Self {
        Self {
            frames: view.frames.to_vec(),
            state: view.state,
            levels_completed: view.levels_completed,
            win_levels: view.win_levels,
            available: view.available,
        }
    }

    /// Returns the frame after any animation.
    pub fn settled(&self) -> &Frame {
        self.frames.last().expect("a view has at least one frame")
    }
}

/// The game as a [`Player`] sees it.
pub struct Game {
    current: Observation,
    observations: Receiver<Observation>,
    decisions: Sender<Result<Decision, AgentError>>,
    unreported: SharedUnreported,
}

impl Game {
    /// Returns the last observation.
    pub fn current(&self) -> &Observation {
        &self.current
    }

    /// Executes an action and returns what it leads to. `reasoning` is stored in the recording.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Stopped`] if the play has ended.
    pub fn step(
        &mut self,
        action: Action,
        reasoning: Option<Value>,
    ) -> Result<&Observation, AgentError> {
        let decision = Decision {
            action,
            details: take_details(&self.unreported, reasoning),
        };
        let sent = self.decisions.send(Ok(decision));
        sent.map_err(|_| AgentError::Stopped)?;
        self.current = self.observations.recv().map_err(|_| AgentError::Stopped)?;
        Ok(&self.current)
    }
}

/// An agent as one function.
pub trait Player: Send {
    /// Plays until the game ends or the player gives up.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Game::step`], and an error to end or suspend the play.
    fn play(&mut self, game: &mut Game) -> Result<(), AgentError>;
}

/// Runs a [`Player`] behind the interface of agents.
pub(crate) struct ThreadedAgent {
    observations: Option<Sender<Observation>>,
    decisions: Receiver<Result<Decision, AgentError>>,
    thread: Option<JoinHandle<()>>,
    cancel: CancelToken,
    unreported: SharedUnreported,
}

impl ThreadedAgent {
    /// Starts the thread of a player. `cancel` unblocks whatever the player waits for.
    pub(crate) fn start(
        mut player: Box<dyn Player>,
        cancel: CancelToken,
        unreported: SharedUnreported,
    ) -> Result<Self, AgentError> {
        let (send_observation, observations) = channel();
        let (decisions, receive_decision) = channel();
        let usage = Arc::clone(&unreported);
        let body = move || {
            let Ok(current) = observations.recv() else {
                return;
            };
            let errors = decisions.clone();
            let mut game = Game {
                current,
                observations,
                decisions,
                unreported: usage,
            };
            let end = player.play(&mut game).err().unwrap_or(AgentError::Stopped);
            // The receiver is gone only if the play has already ended.
            let _ = errors.send(Err(end));
        };
        let thread = std::thread::Builder::new()
            .name("agent".to_owned())
            .spawn(body)
            .map_err(|error| AgentError::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self {
            observations: Some(send_observation),
            decisions: receive_decision,
            thread: Some(thread),
            cancel,
            unreported,
        })
    }

    /// Waits for the end of the thread, which has failed, and continues its panic.
    fn failed(&mut self) -> AgentError {
        self.observations = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => AgentError::Stopped,
        }
    }
}

impl Agent for ThreadedAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let sent = match &self.observations {
            Some(observations) => observations.send(Observation::of(view)).is_ok(),
            None => false,
        };
        if !sent {
            return Err(self.failed());
        }
        match self.decisions.recv() {
            Ok(decision) => decision,
            Err(_) => Err(self.failed()),
        }
    }

    fn unreported_usage(&mut self) -> Details {
        take_usage(&self.unreported)
    }

    fn abort_handle(&self) -> Option<AbortHandle> {
        let cancel = self.cancel.clone();
        Some(Box::new(move || cancel.cancel()))
    }
}

impl Drop for ThreadedAgent {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.observations = None;
        if let Some(thread) = self.thread.take() {
            // A panic was already reported by `act`, or the play no longer needs the agent.
            let _ = thread.join();
        }
    }
}

/// Takes the usage that was not yet reported.
fn take_usage(unreported: &SharedUnreported) -> Details {
    let mut unreported = unreported.lock().unwrap_or_else(PoisonError::into_inner);
    usage_details(std::mem::take(&mut unreported.usage))
}

/// Takes what was not yet reported: the usage, and the requests, which are added to the reasoning.
fn take_details(unreported: &SharedUnreported, reasoning: Option<Value>) -> Details {
    let mut unreported = unreported.lock().unwrap_or_else(PoisonError::into_inner);
    Details {
        reasoning: unreported.trace.take_into(reasoning),
        ..usage_details(std::mem::take(&mut unreported.usage))
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::ModelUsage;

    use super::*;

    fn view(frames: &[Frame]) -> View<'_> {
        View {
            frames,
            state: PlayState::NotFinished,
            levels_completed: 0,
            win_levels: 3,
            available: ActionSet::ARROWS,
            full_reset: false,
        }
    }

    struct TwoSteps(SharedUnreported);

    impl Player for TwoSteps {
        fn play(&mut self, game: &mut Game) -> Result<(), AgentError> {
            self.0.lock().unwrap().usage.calls += 2;
            game.step(Action::Action1, Some("first".into()))?;
            assert_eq!(game.current().settled().get(0, 0), 2);
            game.step(Action::Action2, None)?;
            Ok(())
        }
    }

    struct Panics;

    impl Player for Panics {
        fn play(&mut self, _: &mut Game) -> Result<(), AgentError> {
            panic!("out of ideas")
        }
    }

    #[test]
    fn player_acts_through_the_interface_of_agents() {
        let usage = SharedUnreported::default();
        let player = Box::new(TwoSteps(Arc::clone(&usage)));
        let mut agent = ThreadedAgent::start(player, CancelToken::default(), usage).unwrap();
        let first = agent.act(&view(&[Frame::filled(1)])).unwrap();
        assert_eq!(first.action, Action::Action1);
        let spent = ModelUsage::from_details(&first.details).unwrap();
        assert_eq!(
            (spent.calls, first.details.reasoning),
            (2, Some("first".into()))
        );
        let second = agent.act(&view(&[Frame::filled(2)])).unwrap();
        assert_eq!(second, Action::Action2.into());
        let third = agent.act(&view(&[Frame::filled(3)]));
        assert_eq!(third.unwrap_err(), AgentError::Stopped);
    }

    #[test]
    fn panic_of_the_player_is_a_panic_of_the_agent() {
        let start = |player| {
            ThreadedAgent::start(player, CancelToken::default(), SharedUnreported::default())
                .unwrap()
        };
        let mut agent = start(Box::new(Panics));
        let act = std::panic::AssertUnwindSafe(|| agent.act(&view(&[Frame::filled(1)])));
        let panic = std::panic::catch_unwind(act).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of ideas"));
        // An agent that is dropped before its first observation ends its thread.
        drop(start(Box::new(Panics)));
    }
}
