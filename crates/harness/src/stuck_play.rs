//! Recognises plays that cannot continue although neither the agent nor the environment reports an
//! error.

use rhae_engine::PlayState;
use rhae_session::Play;

use crate::play_end::PlayEnd;

/// The number of consecutive uncounted commands after which a play ends as `failed`, or as
/// `environment failed` if the environment should have counted one of them.
const MAX_UNCOUNTED: u32 = 1000;

/// The number of commands since the last one that was counted.
#[derive(Default)]
pub(crate) struct UncountedCommands {
    in_a_row: u32,
    /// Whether the environment should have counted one of them.
    any_should_count: bool,
}

impl UncountedCommands {
    /// Adds a command. Returns the end of the play if there are too many.
    pub(crate) fn add(&mut self, counted: bool, should_count: bool) -> Option<PlayEnd> {
        if counted {
            *self = Self::default();
            return None;
        }
        self.in_a_row += 1;
        self.any_should_count |= should_count;
        (self.in_a_row >= MAX_UNCOUNTED).then(|| {
            if self.any_should_count {
                PlayEnd::environment_failed(format!(
                    "the environment counted none of {MAX_UNCOUNTED} consecutive commands, although it offered some of them"
                ))
            } else {
                PlayEnd::failed(format!(
                    "the agent sent {MAX_UNCOUNTED} consecutive commands that were not counted"
                ))
            }
        })
    }
}

/// Returns the end of a play in which no command can have an effect: the level is lost, and RESET is
/// ignored because no action was taken on the level.
pub(crate) fn dead_end(play: &Play) -> Option<PlayEnd> {
    let is_lost = play.current().observation.state == PlayState::GameOver;
    (is_lost && play.reset_restarts_game()).then(|| {
        PlayEnd::environment_failed(format!(
            "level {} is lost before its first action, so the play cannot continue: RESET would restart the whole game, which a run does not allow",
            play.tally().level() + 1
        ))
    })
}
