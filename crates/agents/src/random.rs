//! Plays at random: the floor that every other agent is measured against.

use rhae_engine::{Action, ActionKind, PlayState, Rng};

use crate::{Agent, AgentError, Decision, View};

/// Uniform over the offered actions, and over all cells for a click; RESET after a loss.
pub struct RandomAgent {
    rng: Rng,
}

impl RandomAgent {
    /// The agent with this seed.
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
