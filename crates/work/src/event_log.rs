//! The log of a coordinator, in which its decisions are stored.

use rhae_protocol::WorkEvent;

/// Where the decisions of a coordinator are stored: a file, a database or memory.
///
/// A coordinator appends the events of a decision, and applies them to its [`Job`](crate::Job) only
/// after that. One that starts again applies the events of the log.
pub trait EventLog: Send {
    /// Returns and forgets the events of earlier coordinators, in their order.
    fn take_earlier(&mut self) -> Vec<WorkEvent>;

    /// Appends events, which are durable when the function returns, all of them or none.
    ///
    /// # Errors
    ///
    /// Returns [`AppendError::Taken`] if another coordinator has appended to the log, and
    /// [`AppendError::Failed`] if it cannot be written.
    fn append(&mut self, events: &[WorkEvent]) -> Result<(), AppendError>;
}

/// The reason why events were not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Another coordinator decides about the units. This one must stop.
    #[error("another coordinator has continued this work")]
    Taken,
    /// The file or the database failed.
    #[error("{0}")]
    Failed(String),
}
