//! The last observation of a play, copied so that an agent can read it while the play is shared.

use rhae_agents::View;
use rhae_engine::{Action, ActionSet, Frame, PlayState};
use rhae_session::PlayStep;

/// A copy of the last observation, which the agent can read without a lock.
pub(crate) struct ObservationBuffer {
    frames: Vec<Frame>,
    state: PlayState,
    levels_completed: u8,
    win_levels: u8,
    available: ActionSet,
    full_reset: bool,
}

impl ObservationBuffer {
    pub(crate) fn of(step: &PlayStep<'_>) -> Self {
        Self {
            frames: step.frames.to_vec(),
            state: step.outcome.state,
            levels_completed: step.outcome.levels_completed,
            win_levels: step.observation.win_levels,
            available: step.observation.available,
            full_reset: step.outcome.full_reset,
        }
    }

    /// Returns whether the environment must count an action in this state.
    pub(crate) fn should_count(&self, action: Action) -> bool {
        self.state == PlayState::NotFinished && self.available.contains(action.kind())
    }

    pub(crate) fn view(&self) -> View<'_> {
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
