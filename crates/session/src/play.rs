//! One play of an environment under a rule about RESET.

use rhae_engine::{Action, Environment, EnvironmentError, Frame, GameInfo, Observation, PlayState};
use rhae_protocol::{Details, Entry, ResetRule};

use crate::{Seen, Tally};

/// What a command led to.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// What the environment showed last.
    pub observation: &'a Observation,
    /// What the player is shown now: the settled frame alone if the command was not carried out.
    pub frames: &'a [Frame],
    /// What was counted.
    pub seen: Seen,
}

impl Answer<'_> {
    /// The recording's entry for the command that led to this, without frames. The command is named by the caller, because
    /// one that was not carried out is not the one that the environment showed last.
    pub fn entry(&self, action: Action, details: Details) -> Entry {
        Entry {
            action,
            hash: Frame::hash_all(self.frames),
            frames: None,
            state: self.seen.state,
            levels_completed: self.seen.levels_completed,
            full_reset: self.seen.full_reset,
            counted: self.seen.counted,
            changed: Some(self.seen.changed),
            details,
        }
    }
}

/// One play: an environment, its counts, and the rule about RESET.
pub struct Play {
    pub(crate) environment: Box<dyn Environment>,
    pub(crate) rule: ResetRule,
    pub(crate) tally: Tally,
    /// Whether an action was taken since the last level change or RESET.
    pub(crate) acted: bool,
}

impl Play {
    /// Takes over an environment that was just opened.
    pub fn new(environment: Box<dyn Environment>, rule: ResetRule) -> Self {
        let mut tally = Tally::default();
        tally.count(Seen::from(environment.observation()));
        Self {
            environment,
            rule,
            tally,
            acted: false,
        }
    }

    /// What is known of the environment.
    pub fn info(&self) -> &GameInfo {
        self.environment.info()
    }

    /// What RESET may do.
    pub const fn rule(&self) -> ResetRule {
        self.rule
    }

    /// Whether a command may take a while, because it is carried out elsewhere.
    pub fn waits(&self) -> bool {
        self.environment.waits()
    }

    /// The counts so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The counts so far, to end them with a reason.
    pub const fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// What the player sees before the first command.
    pub fn opening(&self) -> Answer<'_> {
        let observation = self.environment.observation();
        Answer {
            observation,
            frames: observation.frames.frames(),
            seen: Seen::from(observation),
        }
    }

    /// Carries out a command and counts it.
    pub fn command(&mut self, action: Action) -> Result<Answer<'_>, EnvironmentError> {
        if action == Action::Reset && self.rule == ResetRule::LevelsOnly && self.reset_starts_anew()
        {
            let observation = self.environment.observation();
            let seen = Seen {
                reset: true,
                full_reset: false,
                counted: false,
                changed: false,
                ..Seen::from(observation)
            };
            return Ok(Answer {
                observation,
                frames: std::slice::from_ref(observation.settled()),
                seen,
            });
        }
        let before = self.tally.level();
        let seen = Seen::from(self.environment.act(action)?);
        self.tally.count(seen);
        if seen.counted || seen.full_reset {
            self.acted = !seen.reset && self.tally.level() == before;
        }
        let observation = self.environment.observation();
        Ok(Answer {
            observation,
            frames: observation.frames.frames(),
            seen,
        })
    }

    /// A second play in the same state with the same counts, where the environment can be copied.
    pub fn fork(&self) -> Option<Self> {
        let environment = self.environment.fork()?;
        Some(Self {
            environment,
            rule: self.rule,
            tally: self.tally.clone(),
            acted: self.acted,
        })
    }

    /// Whether a RESET now would, by the official rule, start the whole game anew.
    pub fn reset_starts_anew(&self) -> bool {
        !self.acted || self.environment.observation().state == PlayState::Win
    }
}
