//! One play of a vector: an episode and the conditions under which it ends.

use rhae_engine::{
    Action, ActionKind, ActionSet, Environment as _, EnvironmentError, Episode, Frame, Game,
    LevelIndex, Levels, NativeEnvironment, NoFrames, PlayState,
};
use serde::{Deserialize, Serialize};

use crate::EpisodeRules;
use crate::batch::Drawn;
use crate::saved::SavedPlay;

/// Whether and why an episode has ended, in the terms of Gymnasium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The episode continues.
    #[default]
    None,
    /// The episode was won or lost.
    Terminated,
    /// The episode reached its maximum number of actions.
    Truncated,
}

/// The result of a reset, step or restore, apart from the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of levels completed by this action.
    pub reward: u8,
    pub ending: Ending,
    pub state: PlayState,
    pub levels_completed: u8,
    /// The level being played, starting at 0.
    pub level: u8,
    /// The number of actions in this episode so far.
    pub actions: u32,
    /// The actions offered now.
    pub available: ActionSet,
    /// Whether RESET can restart the level: an action was taken since the last RESET or level
    /// change, and the game is not won.
    pub may_reset: bool,
    /// Whether the action changed the state.
    pub changed: bool,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            reward: 0,
            ending: Ending::None,
            state: PlayState::NotFinished,
            levels_completed: 0,
            level: 0,
            actions: 0,
            available: ActionSet::EMPTY,
            may_reset: false,
            changed: false,
        }
    }
}

/// One play of a vector. Cloning it copies its whole state.
pub(crate) struct Slot<G: Game> {
    episode: Episode<G>,
    /// Whether an action was taken since the last level change or RESET.
    acted: bool,
    actions: u32,
    ending: Ending,
}

impl<G: Game> Clone for Slot<G> {
    fn clone(&self) -> Self {
        Self {
            episode: self.episode.clone(),
            acted: self.acted,
            actions: self.actions,
            ending: self.ending,
        }
    }
}

impl<G: Game> Slot<G> {
    pub(crate) fn new(levels: Levels<G>, rules: EpisodeRules) -> Self {
        let episode = Episode::at(levels, rules.level.unwrap_or(LevelIndex(0)));
        Self {
            episode,
            acted: false,
            actions: 0,
            ending: Ending::None,
        }
    }

    /// Executes an action. If the episode has ended, ignores the action and starts a new episode.
    pub(crate) fn step(&mut self, action: Action, rules: EpisodeRules) -> Report {
        if self.ending != Ending::None {
            *self = Self::new(self.episode.levels().clone(), rules);
            return self.report(0, true);
        }
        let before = self.episode.completed();
        let mut changed = false;
        // If no action was taken since the last RESET or level change, RESET would restart the
        // whole game, so it is ignored.
        if action != Action::Reset || self.acted {
            let step = self.episode.act(action, &mut NoFrames);
            changed = step.changed;
            self.actions += u32::from(step.counted);
            if step.counted {
                self.acted = action != Action::Reset && self.episode.completed() == before;
            }
        }
        let completed = self.episode.completed();
        self.ending = rules.ending(self.episode.status(), completed, self.actions);
        self.report(completed.saturating_sub(before), changed)
    }

    /// Serialises the play. `report` is that of its last action.
    pub(crate) fn save(&self, report: &Report) -> Result<SavedPlay, EnvironmentError> {
        let environment = NativeEnvironment::from_episode(self.episode.clone());
        Ok(SavedPlay {
            seed: self.episode.levels().seed(),
            environment: environment.snapshot()?,
            acted: self.acted,
            actions: self.actions,
            ending: self.ending,
            reward: report.reward,
            changed: report.changed,
        })
    }

    /// Restores a saved play, whose levels these are, and its report.
    pub(crate) fn load(
        saved: &SavedPlay,
        levels: Levels<G>,
    ) -> Result<(Self, Report), EnvironmentError> {
        let mut environment = NativeEnvironment::from_episode(Episode::at(levels, LevelIndex(0)));
        environment.restore(saved.environment.as_deref().unwrap_or_default())?;
        let slot = Self {
            episode: environment.episode().clone(),
            acted: saved.acted,
            actions: saved.actions,
            ending: saved.ending,
        };
        let report = slot.report(saved.reward, saved.changed);
        Ok((slot, report))
    }

    /// Returns the report of the current state.
    pub(crate) fn report(&self, reward: u8, changed: bool) -> Report {
        Report {
            reward,
            ending: self.ending,
            state: self.episode.status(),
            levels_completed: self.episode.completed(),
            level: self.episode.level().0,
            actions: self.actions,
            available: self.episode.offered(),
            may_reset: self.acted && self.episode.status() != PlayState::Win,
            changed,
        }
    }
}

impl<G: Game> Drawn for Slot<G> {
    fn draw(&mut self, frame: &mut Frame) {
        self.episode.draw(frame);
    }
}

impl EpisodeRules {
    /// Returns whether an episode in this state has ended.
    pub(crate) fn ending(&self, state: PlayState, completed: u8, actions: u32) -> Ending {
        let lost = state == PlayState::GameOver && !self.continue_after_loss;
        let won = state == PlayState::Win || self.level.is_some_and(|level| completed > level.0);
        if won || lost {
            Ending::Terminated
        } else if self.max_actions.is_some_and(|max| actions >= max) {
            Ending::Truncated
        } else {
            Ending::None
        }
    }
}

impl Report {
    /// Returns the action mask: for each kind of action, indexed by its official id, whether it is
    /// available now.
    pub fn mask(&self) -> [bool; 8] {
        std::array::from_fn(|number| match ActionKind::ALL[number] {
            ActionKind::Reset => self.may_reset,
            kind => self.state == PlayState::NotFinished && self.available.contains(kind),
        })
    }
}
