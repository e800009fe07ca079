//! The errors of this crate.

use rhae_protocol::WorkRefusal;
use rhae_runs::RunsError;

/// The reason why work could not be distributed or executed.
#[derive(Debug, thiserror::Error)]
pub enum DistributeError {
    /// A file of the coordinator or of a worker cannot be used.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The log of leases cannot be written, or another coordinator has continued it.
    #[error(transparent)]
    Append(#[from] rhae_work::AppendError),
    /// The log of leases does not belong to this job.
    #[error(transparent)]
    Log(#[from] rhae_work::LogError),
    /// The coordinator refuses a request.
    #[error("{}", .0.message)]
    Refused(WorkRefusal),
    /// The coordinator does not answer.
    #[error("the coordinator at {url} does not answer: {reason}")]
    Unreachable { url: String, reason: String },
    /// Workers cannot be started, or fail again and again.
    #[error("{0}")]
    Workers(String),
    /// A worker cannot execute its units at all, for example because it has no model.
    #[error("{0}")]
    Executor(String),
}
