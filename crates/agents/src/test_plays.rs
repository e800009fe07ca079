//! What the tests of several agents share: views of given frames, and plays of built-in environments.

use rhae_engine::{Action, ActionSet, Catalog, Frame, PlayState};
use rhae_games::Builtin;

use crate::{Agent, View};

/// Returns the view of a play that is in its first level and shows these frames.
pub(crate) fn view(frames: &[Frame], available: ActionSet) -> View<'_> {
    View {
        frames,
        state: PlayState::NotFinished,
        levels_completed: 0,
        win_levels: 3,
        available,
        full_reset: false,
    }
}

/// Lets an agent play a built-in environment, and returns its actions.
pub(crate) fn play_builtin(mut agent: impl Agent, game: &str, actions: usize) -> Vec<Action> {
    let mut environment = Builtin.open(game, 0).unwrap();
    let step = |_| {
        let observation = environment.observation();
        let view = View {
            frames: observation.frames.frames(),
            state: observation.state,
            levels_completed: observation.levels_completed,
            win_levels: observation.win_levels,
            available: observation.available,
            full_reset: observation.full_reset,
        };
        let action = agent.act(&view).unwrap().action;
        environment.act(action).unwrap();
        action
    };
    (0..actions).map(step).collect()
}
