//! Plays that log their actions and convert panics and errors of the environment into a
//! [`PlayFailure`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use rhae_engine::{
    Action, ActionKind, ActionSet, Environment, Frame, GameInfo, Observation, PlayState, Rng,
    StateKey, key_of,
};
use rhae_explore::{Identity, key_by};

use crate::{Part, Subject};

/// The caller's side of a running validation: it receives progress, can cancel, and supplies
/// measurements.
///
/// All methods have defaults that do nothing, so `()` is a valid monitor. Rules that need a missing
/// measurement stay open.
pub trait Monitor: Sync {
    /// Receives the estimated number of steps of the whole validation, before the first part runs.
    fn started(&self, _total_steps: u64) {}

    /// Reports that a part of the validation of an environment begins.
    fn part_started(&self, _info: &GameInfo, _part: Part) {}

    /// Reports that `steps` further steps are done.
    fn add_steps(&self, _steps: u64) {}

    /// Returns whether the part should continue; false cancels it. The method is called every 64
    /// steps and, during a search, at least every few thousand states. Rules that a cancelled part
    /// has not decided stay open.
    fn should_continue(&self) -> bool {
        true
    }

    /// Returns the seconds since an arbitrary fixed moment; needed for the rule about speed.
    fn seconds(&self) -> Option<f64> {
        None
    }

    /// Returns the memory of this process in bytes; needed for the rule about memory.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// Replays a play in a new process and returns the first difference as an error. Returns `None`
    /// if no process can be started.
    fn replay_in_fresh_process(
        &self,
        _subject: &dyn Subject,
        _actions: &[Action],
    ) -> Option<Result<(), String>> {
        None
    }
}

/// A monitor that measures nothing and never cancels.
impl Monitor for () {}

/// Returns whether the monitor cancels the check. The monitor is consulted only every 64 steps,
/// which is frequent enough even for slow games.
pub(crate) fn is_cancelled(monitor: &dyn Monitor, steps: u64) -> bool {
    steps.is_multiple_of(64) && !monitor.should_continue()
}

/// The failure that ended a play.
#[derive(Clone, Debug)]
pub(crate) struct PlayFailure {
    pub(crate) reason: String,
    /// The action that caused it, unless it happened while the play was opened.
    pub(crate) action: Option<Action>,
    /// All actions up to and including that action, if the path to the level is known.
    pub(crate) actions: Option<Vec<Action>>,
}

/// A play that starts at the start of a level.
pub(crate) struct Walk {
    pub(crate) play: Box<dyn Environment>,
    /// The actions that lead to the level; `None` if they are not known.
    prefix: Option<Vec<Action>>,
    /// The actions since the start of the level.
    pub(crate) log: Vec<Action>,
    /// Which parts of the environment identify a state; `None` if it provides a key of its complete
    /// state.
    identity: Option<Identity>,
}

impl Walk {
    /// Opens a play at the start of a level. Returns `None` if the level cannot be entered.
    pub(crate) fn enter(
        subject: &dyn Subject,
        seed: u64,
        level: u8,
    ) -> Result<Option<Self>, PlayFailure> {
        let prefix = subject.prefix(level);
        let entered = catch_panic(|| subject.enter(seed, level));
        let play = entered.and_then(|entered| entered.map_err(|error| error.to_string()));
        match play {
            Ok(play) => Ok(play.map(|play| Self {
                play,
                prefix,
                log: Vec::new(),
                identity: subject.identity(),
            })),
            Err(reason) => Err(PlayFailure {
                reason,
                action: None,
                actions: prefix,
            }),
        }
    }

    pub(crate) fn observation(&self) -> &Observation {
        self.play.observation()
    }

    /// Applies an action and logs it.
    pub(crate) fn act(&mut self, action: Action) -> Result<&Observation, PlayFailure> {
        self.log.push(action);
        let play = &mut self.play;
        match catch_panic(|| {
            play.act(action)
                .map(|_| ())
                .map_err(|error| error.to_string())
        })
        .flatten()
        {
            Ok(()) => Ok(self.play.observation()),
            Err(reason) => Err(PlayFailure {
                reason,
                action: Some(action),
                actions: self.full_log(),
            }),
        }
    }

    /// Forks the play. Returns `None` if the environment cannot be forked.
    pub(crate) fn fork(&self) -> Option<Self> {
        let play = catch_panic(|| self.play.fork()).ok().flatten()?;
        Some(Self {
            play,
            prefix: self.prefix.clone(),
            log: self.log.clone(),
            identity: self.identity,
        })
    }

    /// Returns the actions that lead from the opening to the current state, or `None` if the path
    /// to the level is not known. Actions before the last [`restart_level`](Self::restart_level)
    /// are left out.
    pub(crate) fn full_log(&self) -> Option<Vec<Action>> {
        self.prefix
            .as_ref()
            .map(|prefix| prefix.iter().chain(&self.log).copied().collect())
    }

    /// Restarts the level by RESET and clears the log, because the earlier actions no longer
    /// influence the state.
    pub(crate) fn restart_level(&mut self) -> Result<(), PlayFailure> {
        self.act(Action::Reset)?;
        self.log.clear();
        Ok(())
    }

    /// Returns the key of the current state: the environment's own key or, if the subject has an
    /// [`Identity`], a key of the parts that it names.
    pub(crate) fn key(&self) -> StateKey {
        let seen = self.observation();
        match (self.identity, self.play.hidden_key()) {
            (None, Some(key)) => key_of(&(key, seen.levels_completed, seen.state)),
            (identity, _) => key_by(&*self.play, identity.unwrap_or(Identity::Frame)),
        }
    }

    /// Returns a hash of the last observation.
    pub(crate) fn observation_hash(&self) -> u128 {
        observation_hash(self.observation())
    }

    /// Draws an action uniformly from the offered kinds; a click is uniform over all cells. Returns
    /// RESET if the level or the game has ended.
    pub(crate) fn random_action(&self, rng: &mut Rng) -> Action {
        if self.observation().state != PlayState::NotFinished {
            return Action::Reset;
        }
        random_action_of(self.observation().available, rng).unwrap_or(Action::Reset)
    }
}

/// Returns a hash of an observation: all of its frames and fields.
pub(crate) fn observation_hash(seen: &Observation) -> u128 {
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

/// Draws an action uniformly from the given kinds.
pub(crate) fn random_action_of(kinds: ActionSet, rng: &mut Rng) -> Option<Action> {
    let count = u32::try_from(kinds.len()).ok().filter(|&count| count > 0)?;
    let kind = kinds.iter().nth(rng.below(count) as usize)?;
    Some(action_of_kind(kind, rng))
}

/// Returns the action of a kind; a click gets a random cell.
pub(crate) fn action_of_kind(kind: ActionKind, rng: &mut Rng) -> Action {
    kind.simple().unwrap_or_else(|| Action::Action6 {
        x: rng.below(64) as u8,
        y: rng.below(64) as u8,
    })
}

/// Runs a closure and converts a panic into an error message.
pub(crate) fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        format!(
            "the environment panicked: {}",
            text.unwrap_or_else(|| "no message".to_owned())
        )
    })
}
