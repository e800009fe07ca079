//! A play that remembers its actions and survives what it plays: a panic or an error becomes a reason.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rhae_engine::{
    Action, ActionKind, ActionSet, Environment, Frame, Observation, PlayState, Rng, StateKey,
    key_of,
};
use rhae_explore::{Identity, key_by};

use crate::Subject;

/// What a caller measures while parts run, and hears of them.
pub trait Watch: Sync {
    /// So many more steps are done.
    fn steps(&self, _steps: u64) {}

    /// Whether to go on; asked every few steps. What a part has not seen by then is open.
    fn goes_on(&self) -> bool {
        true
    }

    /// Seconds since some moment; nothing is said about speed without.
    fn seconds(&self) -> Option<f64> {
        None
    }

    /// The memory of this process, in bytes; nothing is said about memory without.
    fn memory(&self) -> Option<u64> {
        None
    }

    /// Replays a play in a fresh process and says what differs; `None` if there is no way to start one.
    fn fresh(&self, _subject: &dyn Subject, _actions: &[Action]) -> Option<Result<(), String>> {
        None
    }
}

/// Nobody listens, and nothing is measured.
impl Watch for () {}

/// Whether to end after so many steps. It is not asked at each, but often enough for slow games.
pub(crate) fn is_over(watch: &dyn Watch, steps: u64) -> bool {
    steps.is_multiple_of(64) && !watch.goes_on()
}

/// Why a play cannot go on.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) reason: String,
    /// The action that did it, if it was not the opening.
    pub(crate) action: Option<Action>,
    /// The actions up to and including the one that did it, if the level's beginning can be played to.
    pub(crate) actions: Option<Vec<Action>>,
}

/// A play from where a level begins.
pub(crate) struct Walk {
    pub(crate) play: Box<dyn Environment>,
    /// How the level is come to; `None` if that is not known.
    prefix: Option<Vec<Action>>,
    /// The actions since.
    pub(crate) log: Vec<Action>,
    /// What tells situations apart; `None` if the environment has a key of its own.
    identity: Option<Identity>,
}

impl Walk {
    /// A new play that stands where a level begins; `None` if it cannot be entered.
    pub(crate) fn enter(
        subject: &dyn Subject,
        seed: u64,
        level: u8,
    ) -> Result<Option<Self>, Broken> {
        let prefix = subject.prefix(level);
        let entered = caught(|| subject.enter(seed, level));
        let play = entered.and_then(|entered| entered.map_err(|error| error.to_string()));
        match play {
            Ok(play) => Ok(play.map(|play| Self {
                play,
                prefix,
                log: Vec::new(),
                identity: subject.identity(),
            })),
            Err(reason) => Err(Broken {
                reason,
                action: None,
                actions: prefix,
            }),
        }
    }

    pub(crate) fn seen(&self) -> &Observation {
        self.play.observation()
    }

    /// Carries out an action and remembers it.
    pub(crate) fn act(&mut self, action: Action) -> Result<&Observation, Broken> {
        self.log.push(action);
        let play = &mut self.play;
        match caught(|| {
            play.act(action)
                .map(|_| ())
                .map_err(|error| error.to_string())
        })
        .flatten()
        {
            Ok(()) => Ok(self.play.observation()),
            Err(reason) => Err(Broken {
                reason,
                action: Some(action),
                actions: self.line(),
            }),
        }
    }

    /// A second play where this one stands.
    pub(crate) fn fork(&self) -> Option<Self> {
        let play = caught(|| self.play.fork()).ok().flatten()?;
        Some(Self {
            play,
            prefix: self.prefix.clone(),
            log: self.log.clone(),
            identity: self.identity,
        })
    }

    /// All actions from the opening on.
    pub(crate) fn line(&self) -> Option<Vec<Action>> {
        self.prefix
            .as_ref()
            .map(|prefix| prefix.iter().chain(&self.log).copied().collect())
    }

    /// Starts the level again by RESET, and forgets what was done before, which that makes irrelevant.
    pub(crate) fn again(&mut self) -> Result<(), Broken> {
        self.act(Action::Reset)?;
        self.log.clear();
        Ok(())
    }

    /// What tells this situation apart: the environment's own key, or what is seen and, from outside, reported as hidden.
    pub(crate) fn key(&self) -> StateKey {
        let seen = self.seen();
        match (self.identity, self.play.hidden_key()) {
            (None, Some(key)) => key_of(&(key, seen.levels_completed, seen.state)),
            (identity, _) => key_by(&*self.play, identity.unwrap_or(Identity::Frame)),
        }
    }

    /// A fingerprint of everything that was answered last.
    pub(crate) fn answer(&self) -> u128 {
        answer(self.seen())
    }

    /// A uniformly random offered action, a click uniform over all cells; RESET after the end.
    pub(crate) fn random(&self, rng: &mut Rng) -> Action {
        if self.seen().state != PlayState::NotFinished {
            return Action::Reset;
        }
        random_of(self.seen().available, rng).unwrap_or(Action::Reset)
    }
}

/// A fingerprint of an answer: all its frames, and what it says.
pub(crate) fn answer(seen: &Observation) -> u128 {
    let frames = Frame::hash_all(seen.frames.frames());
    key_of(&(
        frames,
        seen.state,
        seen.levels_completed,
        seen.win_levels,
        seen.available,
        seen.full_reset,
    ))
}

/// A random action among these kinds.
pub(crate) fn random_of(kinds: ActionSet, rng: &mut Rng) -> Option<Action> {
    let count = u32::try_from(kinds.len()).ok().filter(|&count| count > 0)?;
    let kind = kinds.iter().nth(rng.below(count) as usize)?;
    Some(some_action(kind, rng))
}

/// The action of a kind, a click anywhere.
pub(crate) fn some_action(kind: ActionKind, rng: &mut Rng) -> Action {
    kind.simple().unwrap_or_else(|| Action::Action6 {
        x: rng.below(64) as u8,
        y: rng.below(64) as u8,
    })
}

/// Runs what may panic.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        format!(
            "it panicked: {}",
            text.unwrap_or_else(|| "no message".to_owned())
        )
    })
}
