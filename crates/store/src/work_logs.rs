//! Logs of coordinators, which distribute units of work over processes and machines.
//!
//! The store knows nothing about leases. It keeps events in the order in which they were appended, and
//! appends only directly after the last one, so that two coordinators cannot both decide on the same
//! state.

use std::sync::Arc;

use rhae_protocol::WorkEvent;
use rhae_work::{AppendError, EventLog};
use tokio::runtime::Handle;

use crate::{Pending, StoreError};

/// The number of events that are read at a time.
const PAGE: u32 = 1000;

/// An append to the log of a job. It takes effect completely or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkAppend {
    /// The id of the job.
    pub job: String,
    /// The number of events that the caller has seen; 0 for a new job.
    pub last_seq: u64,
    pub events: Vec<WorkEvent>,
}

/// A database of the logs of coordinators.
///
/// # Errors
///
/// Every method can fail with one of the database errors of [`StoreError`].
pub trait WorkStore: Send + Sync {
    /// Appends events to the log of a job, in one transaction.
    ///
    /// # Errors
    ///
    /// [`StoreError::WorkConflict`] if the log does not have
    /// `last_seq` events, for example because another coordinator appended first.
    fn append_work(&self, append: WorkAppend) -> Pending<'_, ()>;

    /// Returns at most `limit` events with a number above `after`, in the order in which they were
    /// appended. The first event has the number 1.
    fn work_events(&self, job: &str, after: u64, limit: u32) -> Pending<'_, Vec<WorkEvent>>;
}

/// The log of one coordinator in a database.
///
/// Of two coordinators with the same job, only one can continue: the other finds that its number of the
/// last event is no longer current.
pub struct StoreLog {
    store: Arc<dyn WorkStore>,
    runtime: Handle,
    job: String,
    last_seq: u64,
    /// The events of earlier coordinators.
    earlier: Vec<WorkEvent>,
}

impl StoreLog {
    /// Opens the log of a job. The functions of [`EventLog`] wait for the database in `runtime`, so they
    /// must be called outside of it, for example from a thread for blocking work.
    ///
    /// # Errors
    ///
    /// Returns one of the database errors of [`StoreError`].
    pub async fn open(
        store: Arc<dyn WorkStore>,
        job: &str,
        runtime: Handle,
    ) -> Result<Self, StoreError> {
        let mut earlier = Vec::new();
        loop {
            let page = store.work_events(job, earlier.len() as u64, PAGE).await?;
            if page.is_empty() {
                break;
            }
            earlier.extend(page);
        }
        Ok(Self {
            store,
            runtime,
            job: job.to_owned(),
            last_seq: earlier.len() as u64,
            earlier,
        })
    }
}

impl EventLog for StoreLog {
    fn take_earlier(&mut self) -> Vec<WorkEvent> {
        std::mem::take(&mut self.earlier)
    }

    fn append(&mut self, events: &[WorkEvent]) -> Result<(), AppendError> {
        if events.is_empty() {
            return Ok(());
        }
        let append = WorkAppend {
            job: self.job.clone(),
            last_seq: self.last_seq,
            events: events.to_vec(),
        };
        match self.runtime.block_on(self.store.append_work(append)) {
            Ok(()) => {
                self.last_seq += events.len() as u64;
                Ok(())
            }
            Err(StoreError::WorkConflict(_)) => Err(AppendError::Taken),
            Err(error) => Err(AppendError::Failed(error.to_string())),
        }
    }
}

/// Returns the numbers and the texts of the events of an append.
pub(crate) fn numbered(append: &WorkAppend) -> impl Iterator<Item = (i64, String)> {
    let first = append.last_seq + 1;
    (first..).zip(&append.events).map(|(seq, event)| {
        let text = serde_json::to_string(event).expect("an event is valid JSON");
        (seq.cast_signed(), text)
    })
}
