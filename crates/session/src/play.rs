//! One play of an environment under a reset rule.

use rhae_engine::{Action, Environment, EnvironmentError, Frame, GameInfo, Observation, PlayState};
use rhae_protocol::{Details, Entry, ResetRule};

use crate::{StepOutcome, Tally};

/// The result of one command of a [`Play`].
#[derive(Clone, Copy, Debug)]
pub struct PlayStep<'a> {
    /// The last observation of the environment. If the reset rule ignored the command, this is the
    /// observation of an earlier one.
    pub observation: &'a Observation,
    /// The frames to show to the agent or the person who plays: all frames of the observation, or
    /// only the settled frame if the command was ignored.
    pub frames: &'a [Frame],
    /// The effect of the command on the counts.
    pub outcome: StepOutcome,
}

impl PlayStep<'_> {
    /// Creates the log entry of this step, without frames.
    ///
    /// The caller passes the command, because an ignored RESET is not the last command that the
    /// environment executed.
    pub fn entry(&self, action: Action, details: Details) -> Entry {
        Entry {
            action,
            hash: Frame::hash_all(self.frames),
            frames: None,
            state: self.outcome.state,
            levels_completed: self.outcome.levels_completed,
            full_reset: self.outcome.full_reset,
            counted: self.outcome.counted,
            changed: Some(self.outcome.changed),
            details,
        }
    }
}

/// One play of an environment: the environment, its counts and the reset rule.
///
/// A play starts with an environment that was just opened, that is, after its first RESET. Every
/// further command is executed with [`command`](Self::command), which also counts it. Scorecards
/// are computed from these counts, not from the environment.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, Catalog};
/// use rhae_games::Builtin;
/// use rhae_session::{Play, ResetRule};
///
/// let mut play = Play::new(Builtin.open("kq19", 0)?, ResetRule::LevelsOnly);
/// assert!(play.current().outcome.full_reset);
/// assert_eq!(play.tally().actions(), 0);
///
/// let step = play.command(Action::Action4)?;
/// assert!(step.outcome.counted);
///
/// // This RESET restarts the level and counts as an action.
/// assert!(play.command(Action::Reset)?.outcome.counted);
/// assert_eq!(play.tally().actions(), 2);
///
/// // Another RESET would restart the game. In competitions it is ignored.
/// assert!(play.reset_restarts_game());
/// let step = play.command(Action::Reset)?;
/// assert!(!step.outcome.counted && !step.outcome.full_reset);
/// assert_eq!(play.tally().actions(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Play {
    pub(crate) environment: Box<dyn Environment>,
    pub(crate) rule: ResetRule,
    pub(crate) tally: Tally,
    /// Whether an action was taken since the last level change or RESET.
    pub(crate) acted: bool,
}

impl Play {
    /// Creates a play of an environment that was just opened and counts its opening RESET.
    pub fn new(environment: Box<dyn Environment>, rule: ResetRule) -> Self {
        let mut tally = Tally::default();
        tally.count(StepOutcome::from(environment.observation()));
        Self {
            environment,
            rule,
            tally,
            acted: false,
        }
    }

    /// Returns the metadata of the environment.
    pub fn info(&self) -> &GameInfo {
        self.environment.info()
    }

    pub const fn rule(&self) -> ResetRule {
        self.rule
    }

    /// Returns whether a command may block, because another process or a server executes it.
    pub fn may_block(&self) -> bool {
        self.environment.may_block()
    }

    /// Returns the maximum size in bytes of the reasoning that the environment stores with a command,
    /// or 0 if it stores none.
    pub fn max_reasoning_bytes(&self) -> usize {
        self.environment.max_reasoning_bytes()
    }

    /// Attaches reasoning, as a JSON object or a JSON string, to the next command.
    pub fn set_reasoning(&mut self, json: Option<String>) {
        self.environment.set_reasoning(json);
    }

    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the counts mutably, so that the caller can record why the last run ended.
    pub const fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// Returns the last observation of the environment as a step. Before the first command this is
    /// the step of the opening RESET.
    pub fn current(&self) -> PlayStep<'_> {
        let observation = self.environment.observation();
        PlayStep {
            observation,
            frames: observation.frames.frames(),
            outcome: StepOutcome::from(observation),
        }
    }

    /// Executes a command and counts it.
    ///
    /// Under [`ResetRule::LevelsOnly`] a RESET that would restart the game is ignored: it changes
    /// nothing, is not counted and shows the settled frame.
    ///
    /// # Errors
    ///
    /// Returns the error of the environment. Native games never fail; hosted and remote games can.
    /// A command that fails is not counted.
    pub fn command(&mut self, action: Action) -> Result<PlayStep<'_>, EnvironmentError> {
        if action == Action::Reset
            && self.rule == ResetRule::LevelsOnly
            && self.reset_restarts_game()
        {
            let observation = self.environment.observation();
            let outcome = StepOutcome {
                reset: true,
                full_reset: false,
                counted: false,
                changed: false,
                ..StepOutcome::from(observation)
            };
            return Ok(PlayStep {
                observation,
                frames: std::slice::from_ref(observation.settled()),
                outcome,
            });
        }
        let before = self.tally.level();
        let outcome = StepOutcome::from(self.environment.act(action)?);
        self.tally.count(outcome);
        if outcome.counted || outcome.full_reset {
            self.acted = !outcome.reset && self.tally.level() == before;
        }
        let observation = self.environment.observation();
        Ok(PlayStep {
            observation,
            frames: observation.frames.frames(),
            outcome,
        })
    }

    /// Returns a second play in the same state with the same counts; `None` if the environment does
    /// not support forking.
    pub fn fork(&self) -> Option<Self> {
        let environment = self.environment.fork()?;
        Some(Self {
            environment,
            rule: self.rule,
            tally: self.tally.clone(),
            acted: self.acted,
        })
    }

    /// Returns whether the next RESET would restart the whole game under [`ResetRule::Official`].
    pub fn reset_restarts_game(&self) -> bool {
        !self.acted || self.environment.observation().state == PlayState::Win
    }
}
