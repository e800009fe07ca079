//! What an agent sees and what it answers.

use rhae_engine::{Action, ActionSet, Frame, PlayState};
use rhae_protocol::Details;

/// What an outside client sees of a play: nothing else reaches an agent.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// One frame or an animation, the settled picture last.
    pub frames: &'a [Frame],
    /// Where the play stands.
    pub state: PlayState,
    /// Completed levels.
    pub levels_completed: u8,
    /// All levels.
    pub win_levels: u8,
    /// The actions that are offered.
    pub available: ActionSet,
    /// Whether the game was started anew.
    pub full_reset: bool,
}

impl View<'_> {
    /// The settled picture.
    pub fn settled(&self) -> &Frame {
        self.frames.last().expect("a view has at least one frame")
    }
}

/// What an agent does next.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The action.
    pub action: Action,
    /// What it has to say about it.
    pub details: Details,
}

impl From<Action> for Decision {
    fn from(action: Action) -> Self {
        Self {
            action,
            details: Details::default(),
        }
    }
}

/// Why an agent gives no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// It is done: the play ends as `stopped`.
    #[error("the agent stopped")]
    Stopped,
    /// It broke: the play ends as `failed`.
    #[error("{0}")]
    Failed(String),
    /// Something outside keeps it from going on: the play is left, and can be gone on with later.
    #[error("{reason}")]
    Interrupted {
        /// What keeps it.
        reason: String,
        /// Whether it keeps every other play from going on as well.
        all: bool,
    },
}

/// Ends an agent that hangs, from another thread.
pub type Stopper = Box<dyn Fn() + Send + Sync>;

/// Something that plays.
pub trait Agent: Send {
    /// The next action, given what the last one led to.
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError>;

    /// What it consumed since its last decision; asked for when there is no further one.
    fn leftover(&mut self) -> Details {
        Details::default()
    }

    /// Told once when the play is over, with the reason.
    fn end(&mut self, _reason: &str) {}

    /// A way to end the agent while it hangs in [`act`](Agent::act), where there is one.
    fn stopper(&self) -> Option<Stopper> {
        None
    }
}
