//! Plays a recording again.

use rhae_engine::Action;
use rhae_protocol::Recording;

use crate::{Agent, AgentError, Decision, View};

/// Sends the actions of a recording in order, then stops.
pub struct ReplayAgent {
    decisions: std::vec::IntoIter<Decision>,
}

impl ReplayAgent {
    /// An agent that repeats this recording; its opening RESET is what every play begins with.
    pub fn new(recording: &Recording) -> Self {
        let entries = recording.entries.iter().skip(usize::from(
            recording
                .entries
                .first()
                .is_some_and(|first| first.action == Action::Reset),
        ));
        let decisions: Vec<Decision> = entries
            .map(|entry| Decision {
                action: entry.action,
                details: entry.details.clone(),
            })
            .collect();
        Self {
            decisions: decisions.into_iter(),
        }
    }
}

impl Agent for ReplayAgent {
    fn act(&mut self, _view: &View<'_>) -> Result<Decision, AgentError> {
        self.decisions.next().ok_or(AgentError::Stopped)
    }
}
