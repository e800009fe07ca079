//! One of many plays: an episode, and when it ends.

use rhae_engine::{
    Action, ActionKind, ActionSet, Episode, Frame, Game, LevelIndex, Levels, NoFrames, PlayState,
};

use crate::Rules;

/// Whether and why an episode is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// It goes on.
    #[default]
    None,
    /// It was won or lost.
    Terminated,
    /// It had as many actions as it may have.
    Truncated,
}

/// What a play answered, beside its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Levels completed by this action.
    pub reward: u8,
    /// Whether the episode is over.
    pub ending: Ending,
    /// Where the play stands.
    pub state: PlayState,
    /// Completed levels.
    pub levels_completed: u8,
    /// The level being played, from 0.
    pub level: u8,
    /// Actions of this episode so far.
    pub actions: u32,
    /// The actions that are offered now.
    pub available: ActionSet,
    /// Whether RESET would do anything.
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

/// A play. `Clone` copies its whole state.
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
    pub(crate) fn new(levels: Levels<G>, rules: Rules) -> Self {
        let episode = Episode::at(levels, rules.level.unwrap_or(LevelIndex(0)));
        Self {
            episode,
            acted: false,
            actions: 0,
            ending: Ending::None,
        }
    }

    /// Carries out an action, or begins a new episode if this one is over.
    pub(crate) fn step(&mut self, action: Action, rules: Rules) -> Report {
        if self.ending != Ending::None {
            *self = Self::new(self.episode.levels().clone(), rules);
            return self.report(0, true);
        }
        let before = self.episode.completed();
        let mut changed = false;
        // A RESET directly after another, or after a level's beginning, would start the whole game anew.
        if action != Action::Reset || self.acted {
            let step = self.episode.act(action, &mut NoFrames);
            changed = step.changed;
            self.actions += u32::from(step.counted);
            if step.counted {
                self.acted = action != Action::Reset && self.episode.completed() == before;
            }
        }
        let completed = self.episode.completed();
        let lost = self.episode.status() == PlayState::GameOver && !rules.goes_on_after_loss;
        let won = self.episode.status() == PlayState::Win
            || rules.level.is_some_and(|level| completed > level.0);
        self.ending = if won || lost {
            Ending::Terminated
        } else if rules.most_actions.is_some_and(|most| self.actions >= most) {
            Ending::Truncated
        } else {
            Ending::None
        };
        self.report(completed.saturating_sub(before), changed)
    }

    /// What the play shows now.
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

    pub(crate) fn draw(&self, frame: &mut Frame) {
        self.episode.draw(frame);
    }
}

impl Report {
    /// Which kinds of action, by their official numbers, have a meaning now.
    pub fn mask(&self) -> [bool; 8] {
        std::array::from_fn(|number| match ActionKind::ALL[number] {
            ActionKind::Reset => self.may_reset,
            kind => self.state == PlayState::NotFinished && self.available.contains(kind),
        })
    }
}
