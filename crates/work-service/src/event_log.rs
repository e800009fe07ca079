//! The log of a coordinator: a file in a run folder, or memory for work that leaves no folder.

use rhae_protocol::WorkEvent;
use rhae_runs::{Journal, RunFolder, RunsError};

/// The log of leases in a run folder.
const LEASES: &str = "leases.jsonl";

/// Where the decisions of a coordinator are stored.
#[derive(Debug)]
pub struct EventLog {
    /// Absent if the log is only in memory.
    journal: Option<Journal<WorkEvent>>,
    /// The events of earlier coordinators.
    earlier: Vec<WorkEvent>,
}

impl EventLog {
    /// Opens the log in a run folder, which a coordinator that was killed may have written.
    ///
    /// # Errors
    ///
    /// Returns an error if another process has the log open, or it is malformed.
    pub fn in_folder(folder: &RunFolder) -> Result<Self, RunsError> {
        let (journal, earlier) = Journal::open_named(folder, LEASES)?;
        Ok(Self {
            journal: Some(journal),
            earlier,
        })
    }

    /// Creates a log in memory.
    pub const fn in_memory() -> Self {
        Self {
            journal: None,
            earlier: Vec::new(),
        }
    }

    /// Returns and forgets the events of earlier coordinators.
    pub(crate) fn take_earlier(&mut self) -> Vec<WorkEvent> {
        std::mem::take(&mut self.earlier)
    }

    /// Appends an event. It is synced when the function returns.
    pub(crate) fn append(&self, event: &WorkEvent) -> Result<(), RunsError> {
        self.journal
            .as_ref()
            .map_or(Ok(()), |journal| journal.append(event))
    }
}
