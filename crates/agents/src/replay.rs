//! An agent that repeats a recording.

use rhae_engine::Action;
use rhae_protocol::Recording;

use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "replay",
    form: "replay:FILE",
    summary: "repeats the actions of a recording",
    constructor: Constructor::FromArgument,
};

/// Returns the actions of a recording in order, with their details, then stops.
pub struct ReplayAgent {
    decisions: std::vec::IntoIter<Decision>,
}

impl ReplayAgent {
    /// Creates an agent that repeats `recording`. An opening RESET is skipped, because every play
    /// starts with one.
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
