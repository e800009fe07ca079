//! What is counted of a play: the one rule, for whoever counts, whether while playing or from a log.

use rhae_engine::{Action, Observation, PlayState};

use crate::{Entry, PlayOutcome};

/// The part of an observation that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whether the command was RESET.
    pub reset: bool,
    /// Whether it started the game anew.
    pub full_reset: bool,
    /// Whether it counts as an action.
    pub counted: bool,
    /// Whether it changed the state.
    pub changed: bool,
    /// Levels completed afterwards.
    pub levels_completed: u8,
    /// Where the play stood afterwards.
    pub state: PlayState,
}

impl From<&Observation> for Seen {
    fn from(seen: &Observation) -> Self {
        Self {
            reset: seen.action == Action::Reset,
            full_reset: seen.full_reset,
            counted: seen.counted,
            changed: seen.changed,
            levels_completed: seen.levels_completed,
            state: seen.state,
        }
    }
}

/// An entry that does not say whether it changed anything is taken to have done so.
impl From<&Entry> for Seen {
    fn from(entry: &Entry) -> Self {
        Self {
            reset: entry.action == Action::Reset,
            full_reset: entry.full_reset,
            counted: entry.counted,
            changed: entry.changed.unwrap_or(true),
            levels_completed: entry.levels_completed,
            state: entry.state,
        }
    }
}

impl PlayOutcome {
    /// Counts one observation of this run. Its command was given on this level, from 0, and is charged to it.
    pub fn count(&mut self, level: usize, seen: Seen) {
        let completed = usize::from(seen.levels_completed);
        let reached = if completed > level { completed } else { 0 };
        let reached = if seen.counted {
            reached.max(level + 1)
        } else {
            reached
        };
        if self.levels.len() < reached {
            self.levels.resize(reached, crate::LevelOutcome::default());
        }
        if seen.counted {
            let level = &mut self.levels[level];
            level.actions += 1;
            level.effective += u32::from(seen.changed);
            self.resets += u64::from(seen.reset);
        }
        // Hosted games may jump over levels or fall back: what counts as completed is always just the first `levels_completed`
        // levels.
        for (index, level) in self.levels.iter_mut().enumerate() {
            level.completed = index < completed;
        }
        if self.state != seen.state.name() {
            self.state = seen.state.name().to_owned();
        }
    }
}
