//! The interface between an agent and the program that runs it.

use rhae_engine::{Action, ActionSet, Frame, PlayState};
use rhae_protocol::{Details, Ending};

/// The current observation of a play, as an agent sees it.
///
/// A view holds only fields that a client of the official API also receives. It borrows its
/// frames, so an agent that needs them later must copy them.
///
/// **Invariant:** `frames` holds at least one frame.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The settled frame, preceded by the frames of an animation if there was one.
    pub frames: &'a [Frame],
    /// The status of the play. After [`PlayState::GameOver`] only RESET has an effect. After
    /// [`PlayState::Win`] the agent is not asked for another action.
    pub state: PlayState,
    /// The number of levels completed so far.
    pub levels_completed: u8,
    /// The number of levels of the game.
    pub win_levels: u8,
    /// The kinds of action that the environment offers now. RESET is always possible and never
    /// listed. An action that is not offered still counts as an action but changes nothing.
    pub available: ActionSet,
    /// Whether the last command restarted the whole game.
    pub full_reset: bool,
}

impl View<'_> {
    /// Returns the settled frame, which shows the state after any animation.
    ///
    /// # Panics
    ///
    /// Panics if the view has no frame, which violates its invariant.
    pub fn settled(&self) -> &Frame {
        self.frames.last().expect("a view has at least one frame")
    }
}

/// The answer of an agent to a [`View`].
///
/// An agent that has no details to report can convert an action into a decision:
/// `Ok(Action::Action1.into())`.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The command to execute next.
    pub action: Action,
    /// The reasoning behind the action and the model usage that it required. They are written to
    /// the recording.
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

/// The reason why an agent returned no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// The agent has nothing more to do. The play ends as `stopped`.
    #[error("the agent stopped")]
    Stopped,
    /// The environment leaves the agent nothing to do. The play ends as `stopped` with this message.
    #[error("{0}")]
    Stuck(String),
    /// The agent is broken. The play ends as `failed` with this message.
    #[error("{0}")]
    Failed(String),
    /// An external cause, such as an unreachable server, prevents the agent from continuing. The
    /// play is suspended, and it is repeated when the run is resumed.
    #[error("{reason}")]
    Interrupted {
        reason: String,
        /// Whether the cause affects every other play of the run as well, such as a spend limit
        /// that is reached.
        all_plays: bool,
    },
}

/// A callback that makes a blocked [`Agent::act`] return early. It is called from another thread.
pub type AbortHandle = Box<dyn Fn() + Send + Sync>;

/// The interface of all agents. An instance plays a single play.
///
/// The caller opens an environment, which executes the first RESET, and then repeats:
///
/// 1. It passes the current [`View`] to [`act`](Self::act).
/// 2. It executes the action of the returned [`Decision`].
///
/// The play ends when all levels are completed, the action budget is used up, or `act` returns an
/// error. The caller then calls [`end`](Self::end) once and drops the agent.
///
/// Each agent runs in its own thread, so `act` may block. If it exceeds the caller's time limit,
/// the play ends as `failed` and the caller invokes the [`abort_handle`](Self::abort_handle). A
/// panic in `act` also ends only this play.
///
/// # Examples
///
/// A complete agent that tries the offered actions in turn, clicks in the middle of the frame,
/// restarts a lost level and stops after 40 decisions. It plays the built-in game `kq19`:
///
/// ```
/// use rhae_agents::{Agent, AgentError, Decision, View};
/// use rhae_engine::{Action, ActionKind, Catalog, Environment, PlayState};
/// use rhae_games::Builtin;
///
/// struct RoundRobin {
///     decisions: usize,
/// }
///
/// impl Agent for RoundRobin {
///     fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
///         if self.decisions == 40 {
///             return Err(AgentError::Stopped);
///         }
///         self.decisions += 1;
///         if view.state == PlayState::GameOver {
///             return Ok(Action::Reset.into());
///         }
///         let offered: Vec<ActionKind> = view.available.iter().collect();
///         let kind = offered[self.decisions % offered.len()];
///         // Only a click needs coordinates, so only a click has no simple action.
///         let action = kind.simple().unwrap_or(Action::Action6 { x: 32, y: 32 });
///         Ok(action.into())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut agent = RoundRobin { decisions: 0 };
/// let mut environment = Builtin.open("kq19", 0)?;
/// let ending = loop {
///     let observation = environment.observation();
///     let view = View {
///         frames: observation.frames.frames(),
///         state: observation.state,
///         levels_completed: observation.levels_completed,
///         win_levels: observation.win_levels,
///         available: observation.available,
///         full_reset: observation.full_reset,
///     };
///     match agent.act(&view) {
///         Ok(decision) => environment.act(decision.action)?,
///         Err(error) => break error,
///     };
/// };
/// assert_eq!(ending, AgentError::Stopped);
/// assert_eq!(agent.decisions, 40);
/// # Ok(())
/// # }
/// ```
pub trait Agent: Send {
    /// Returns the next action, given the result of the last one.
    ///
    /// # Errors
    ///
    /// Returns an [`AgentError`] to end or suspend the play.
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError>;

    /// Returns the model usage since the last decision. The harness calls it after
    /// `act` has returned an error, so that the cost of a failed decision is still counted.
    fn unreported_usage(&mut self) -> Details {
        Details::default()
    }

    /// Informs the agent that the play is over. `ending` says why.
    fn end(&mut self, _ending: &Ending) {}

    /// Returns a callback that unblocks [`act`](Self::act), or `None` if the agent cannot be
    /// aborted. The harness abandons the thread of an agent that is blocked and cannot be aborted.
    fn abort_handle(&self) -> Option<AbortHandle> {
        None
    }
}
