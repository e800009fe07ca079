//! A level of any environment that can be copied: a native one behind the interface, or one hosted in another process.
//!
//! States are told apart as the paper does it, by the settled frame, and by what the environment reports of its hidden
//! state. What is neither shown nor reported is not seen: [`check`](crate::check()) looks for its traces.

use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{
    Action, ActionKind, ActionSet, Environment, EnvironmentError, Observation, Outcome, PlayState,
    StateKey, key_of,
};

use crate::Explorable;

/// What tells states apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The settled frame alone.
    Frame,
    /// The settled frame, and the hidden state where the environment reports it.
    FrameAndHidden,
    /// The settled frame, and the whole state as far as the environment can be taken apart.
    Deep,
}

/// A level of an environment, from where a play of it stands.
pub struct EnvironmentLevel {
    start: Position,
    level: u8,
    identity: Identity,
    reports_hidden: bool,
    /// The play that goes from snapshot to snapshot where plays cannot be forked.
    walker: Mutex<Box<dyn Environment>>,
}

/// Where a play stands.
#[derive(Clone)]
pub struct Position {
    play: Held,
    key: StateKey,
    offered: ActionSet,
    /// The clicks that may matter; `None` if the environment does not tell.
    clicks: Option<Arc<[(u8, u8)]>>,
}

#[derive(Clone)]
enum Held {
    Fork(Arc<Mutex<Box<dyn Environment>>>),
    Snapshot(Arc<[u8]>),
}

impl EnvironmentLevel {
    /// The level on which a play stands. Fails if the environment can neither be forked nor give snapshots.
    pub fn new(
        environment: Box<dyn Environment>,
        identity: Identity,
    ) -> Result<Self, EnvironmentError> {
        let level = environment.observation().levels_completed;
        let start = position(&*environment, hold(&*environment)?, identity);
        let reports_hidden = environment.hidden_key().is_some();
        Ok(Self {
            start,
            level,
            identity,
            reports_hidden,
            walker: Mutex::new(environment),
        })
    }

    /// What tells states apart, for reports.
    pub const fn identity_name(&self) -> &'static str {
        match self.identity {
            Identity::Frame => "frame",
            Identity::FrameAndHidden if !self.reports_hidden => "frame",
            Identity::FrameAndHidden => "frame-and-hidden",
            Identity::Deep => "deep",
        }
    }

    /// Whether the clicks that may matter are listed where clicks are offered; if not, only all of them together are complete.
    pub fn lists_clicks(&self) -> bool {
        self.start.clicks.is_some() || !self.start.offered.contains(ActionKind::Action6)
    }

    fn outcome(&self, seen: &Observation) -> Outcome {
        if seen.levels_completed > self.level {
            Outcome::LevelWon
        } else if seen.state == PlayState::GameOver {
            Outcome::GameOver
        } else {
            Outcome::Going
        }
    }

    fn arrive(&self, state: &mut Position, environment: &dyn Environment, play: Held) -> Outcome {
        *state = position(environment, play, self.identity);
        self.outcome(environment.observation())
    }
}

fn position(environment: &dyn Environment, play: Held, identity: Identity) -> Position {
    let offered = environment.observation().available;
    let clicks = if offered.contains(ActionKind::Action6) {
        environment.clicks().map(Into::into)
    } else {
        None
    };
    Position {
        play,
        key: key_by(environment, identity),
        offered,
        clicks,
    }
}

fn hold(environment: &dyn Environment) -> Result<Held, EnvironmentError> {
    if let Some(fork) = environment.fork() {
        return Ok(Held::Fork(Arc::new(Mutex::new(fork))));
    }
    match environment.snapshot()? {
        Some(snapshot) => Ok(Held::Snapshot(snapshot.into())),
        None => {
            let id = &environment.info().id;
            Err(EnvironmentError::Failed(format!(
                "`{id}` can neither be forked nor give snapshots, so it cannot be explored"
            )))
        }
    }
}

/// The key of where a play stands, by what tells its states apart.
pub fn key_by(environment: &dyn Environment, identity: Identity) -> StateKey {
    let seen = environment.observation();
    let hidden = match identity {
        Identity::Frame => None,
        Identity::FrameAndHidden => environment.hidden_key(),
        Identity::Deep => environment.deep_key(),
    };
    key_of(&(
        seen.settled().cells(),
        seen.levels_completed,
        seen.state,
        hidden,
    ))
}

impl Explorable for EnvironmentLevel {
    type State = Position;
    type Error = EnvironmentError;

    fn start(&self) -> Position {
        self.start.clone()
    }

    fn offered(&self, state: &Position) -> ActionSet {
        state.offered
    }

    /// Where an environment does not tell which clicks may matter, none is listed: they are found by trying all cells.
    fn clicks(&self, state: &Position, actions: &mut Vec<Action>) {
        actions.extend(
            state
                .clicks
                .iter()
                .flat_map(|cells| cells.iter())
                .filter_map(|&(x, y)| Action::click(x, y)),
        );
    }

    fn step(&self, state: &mut Position, action: Action) -> Result<Outcome, EnvironmentError> {
        match &state.play {
            Held::Fork(play) => {
                let fork = play.lock().unwrap_or_else(PoisonError::into_inner).fork();
                let mut fork =
                    fork.ok_or_else(|| EnvironmentError::Failed("the play can no longer be copied, which happens if the same actions do not always lead to the same: is it deterministic?".to_owned()))?;
                fork.act(action)?;
                let play = Arc::new(Mutex::new(fork));
                let held = play.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(self.arrive(state, &**held, Held::Fork(Arc::clone(&play))))
            }
            Held::Snapshot(snapshot) => {
                let mut walker = self.walker.lock().unwrap_or_else(PoisonError::into_inner);
                walker.restore(snapshot)?;
                walker.act(action)?;
                let play = hold(&**walker)?;
                Ok(self.arrive(state, &**walker, play))
            }
        }
    }

    fn key(&self, state: &Position) -> StateKey {
        state.key
    }

    fn patience(&self) -> usize {
        1
    }

    fn heap_bytes(&self, state: &Position) -> usize {
        match &state.play {
            // A fork holds its last frames, and whatever else its makers put there.
            Held::Fork(_) => 1 << 15,
            Held::Snapshot(snapshot) => snapshot.len(),
        }
    }
}
