//! Logs of coordinators: a file in a run folder, or memory for work that leaves no folder. A log in a
//! database is in `rhae-store`.

use rhae_protocol::WorkEvent;
use rhae_runs::{Journal, RunFolder, RunsError};
use rhae_work::{AppendError, EventLog};

/// The log of leases in a run folder.
const LEASES: &str = "leases.jsonl";

/// A log in a file of a run folder, which only one process can have open.
#[derive(Debug)]
pub struct FolderLog {
    journal: Journal<WorkEvent>,
    /// The events of earlier coordinators.
    earlier: Vec<WorkEvent>,
}

impl FolderLog {
    /// Opens the log in a run folder, which a coordinator that was killed may have written.
    ///
    /// # Errors
    ///
    /// Returns an error if another process has the log open, or it is malformed.
    pub fn open(folder: &RunFolder) -> Result<Self, RunsError> {
        let (journal, earlier) = Journal::open_named(folder, LEASES)?;
        Ok(Self { journal, earlier })
    }
}

impl EventLog for FolderLog {
    fn take_earlier(&mut self) -> Vec<WorkEvent> {
        std::mem::take(&mut self.earlier)
    }

    fn append(&mut self, events: &[WorkEvent]) -> Result<(), AppendError> {
        let appended = self.journal.append_all(events);
        appended.map_err(|error| AppendError::Failed(error.to_string()))
    }
}

/// A log that ends with its process.
#[derive(Debug, Default)]
pub struct MemoryLog;

impl EventLog for MemoryLog {
    fn take_earlier(&mut self) -> Vec<WorkEvent> {
        Vec::new()
    }

    fn append(&mut self, _: &[WorkEvent]) -> Result<(), AppendError> {
        Ok(())
    }
}
