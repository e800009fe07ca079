//! An agent that chooses its actions at random: a reference point for comparisons.

use rhae_engine::{Action, ActionKind, ActionSet, PlayState, Rng};

use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "random",
    form: "random",
    summary: "chooses uniformly among the offered actions and, for a click, among all cells",
    constructor: Constructor::FromSeed(|seed| Box::new(RandomAgent::new(seed))),
};

/// Chooses uniformly among the offered actions, and among all cells for a click. After a loss, and if
/// no action is offered, it resets the level. If that does not help, it stops.
///
/// # Examples
///
/// ```
/// use rhae_agents::{Agent, RandomAgent, View};
/// use rhae_engine::{Action, ActionSet, Frame, PlayState};
///
/// let lost = View {
///     frames: &[Frame::filled(0)],
///     state: PlayState::GameOver,
///     levels_completed: 0,
///     win_levels: 3,
///     available: ActionSet::ARROWS,
///     full_reset: false,
/// };
/// assert_eq!(RandomAgent::new(7).act(&lost)?.action, Action::Reset);
///
/// // The same seed and views produce the same actions.
/// let view = View { state: PlayState::NotFinished, ..lost };
/// let actions = |seed| {
///     let mut agent = RandomAgent::new(seed);
///     (0..20).map(|_| agent.act(&view).map(|decision| decision.action)).collect::<Vec<_>>()
/// };
/// assert_eq!(actions(7), actions(7));
/// # Ok::<(), rhae_agents::AgentError>(())
/// ```
pub struct RandomAgent {
    rng: Rng,
    /// Whether the last command was RESET, as the one that opens a play.
    was_reset: bool,
}

impl RandomAgent {
    pub const fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 1),
            was_reset: true,
        }
    }
}

impl Agent for RandomAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let action = if view.state == PlayState::GameOver {
            Action::Reset
        } else {
            match random_action(&mut self.rng, view.available) {
                Some(action) => action,
                None if self.was_reset => return Err(nothing_offered()),
                None => Action::Reset,
            }
        };
        self.was_reset = action == Action::Reset;
        Ok(action.into())
    }
}

/// Chooses uniformly among the offered actions, and among all cells for a click. Returns `None` if no
/// action is offered.
pub(crate) fn random_action(rng: &mut Rng, offered: ActionSet) -> Option<Action> {
    let kinds: Vec<ActionKind> = offered.iter().collect();
    let kind = rng.choose(&kinds)?;
    let mut coordinate = || rng.below(64) as u8;
    Some(kind.simple().unwrap_or_else(|| Action::Action6 {
        x: coordinate(),
        y: coordinate(),
    }))
}

/// Returns the error for an environment that offers no action, not even after RESET.
pub(crate) fn nothing_offered() -> AgentError {
    AgentError::Stuck("the environment offers no action, and RESET does not change that".to_owned())
}
