//! Why a request of a worker is refused, and why a log cannot be applied.

use rhae_protocol::UnitKey;

/// The reason why a request of a worker is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Another lease of the unit is newer, or the unit has a result of another lease.
    #[error("the lease with epoch {epoch} is stale: the current epoch of the unit is {current}")]
    StaleLease { epoch: u64, current: u64 },
    /// The unit is not part of the job.
    #[error("the job has no unit `{0}`")]
    UnknownUnit(UnitKey),
    /// The unit has its result, so its lease cannot be renewed and no money can be reserved for it.
    #[error("the unit `{0}` has its result")]
    Finished(UnitKey),
    /// There is no such reservation, or it is settled.
    #[error("there is no open reservation {0}")]
    UnknownReservation(u64),
    /// The worst case of a transmission does not fit into the rest of the spend limit.
    #[error("the spend limit is reached: {0}")]
    SpendLimit(String),
    /// The worst case fits once a transmission in flight turns out to be cheap. The worker asks
    /// again.
    #[error("the rest of the spend limit is reserved by transmissions in flight")]
    Wait,
}

/// An event cannot follow from the events before it, so the log is damaged or of another job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log of the coordinator is damaged: {0}")]
pub struct LogError(pub(crate) String);
