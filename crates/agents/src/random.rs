//! An agent that chooses its actions at random: a reference point for comparisons.

use rhae_engine::{Action, ActionKind, PlayState, Rng};

use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "random",
    form: "random",
    summary: "chooses uniformly among the offered actions and, for a click, among all cells",
    constructor: Constructor::FromSeed(|seed| Box::new(RandomAgent::new(seed))),
};

/// Chooses uniformly among the offered actions, and among all cells for a click. After a loss it
/// resets the level.
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
}

impl RandomAgent {
    pub const fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 1),
        }
    }
}

impl Agent for RandomAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        if view.state == PlayState::GameOver {
            return Ok(Action::Reset.into());
        }
        let kinds: Vec<ActionKind> = view.available.iter().collect();
        let kind = self
            .rng
            .choose(&kinds)
            .ok_or_else(|| AgentError::Failed("no action is offered".to_owned()))?;
        let mut coordinate = || self.rng.below(64) as u8;
        Ok(kind
            .simple()
            .unwrap_or_else(|| Action::Action6 {
                x: coordinate(),
                y: coordinate(),
            })
            .into())
    }
}
