//! What a worker and a coordinator tell each other over HTTP.
//!
//! Every request is a POST with a JSON body, and every response is JSON. A refused request has a
//! [`WorkRefusal`]. The kind of the work determines the types of tasks and results; the types of each
//! kind are in `work_kind`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, UnitKey, WorkCost, WorkKind};

/// A worker introduces itself. It is refused if its software or its games differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerHello {
    /// The name and version of the software.
    pub software: String,
    /// The SHA-256 hash of the executable.
    pub software_digest: Digest,
}

/// What workers are to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkJob {
    pub work: WorkKind,
    /// The interval at which a worker renews its lease.
    pub heartbeat_ms: u64,
    /// The time after which a lease ends that was not renewed.
    pub lease_ms: u64,
    /// The number of workers that share a rate limit.
    pub workers: u32,
}

/// A worker asks for a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// The name of the worker, which no other process has.
    pub worker: String,
    /// The digests of the sources of the worker's hosted games, by id.
    pub source_digests: BTreeMap<String, String>,
    /// The number of units that the worker would like to have at once, because they are short.
    pub units: u32,
}

/// The answer to a [`LeaseRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LeaseReply<T> {
    /// The worker has these units, which it executes in their order. Each has its own lease and its own
    /// result.
    Leased { leases: Vec<WorkLease<T>> },
    /// Other workers have all open units. One of them may come back.
    Wait,
    /// Nothing is left to do, or others do it.
    Finished,
}

/// A unit that a worker has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkLease<T> {
    pub unit: UnitKey,
    pub epoch: u64,
    pub task: T,
}

/// A worker renews a lease.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeaseName {
    pub unit: UnitKey,
    pub epoch: u64,
}

/// A worker returns a unit without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRelease {
    #[serde(flatten)]
    pub lease: LeaseName,
    /// Why no other unit can be executed either, for example because the spend limit is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
}

/// The result of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkReport<R> {
    pub unit: UnitKey,
    pub epoch: u64,
    pub result: R,
    /// Why no further unit can be executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
}

/// Lines that a worker adds to the log of a unit. The next lease of the unit gets them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkLines {
    pub unit: UnitKey,
    pub epoch: u64,
    /// The number of lines that the worker added before under this lease. A request that is repeated
    /// adds nothing.
    pub after: u64,
    /// The lines, without their ends.
    pub lines: Vec<String>,
}

/// A worker reserves the worst case of a transmission before it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkReserve {
    pub unit: UnitKey,
    pub epoch: u64,
    /// A number that the worker gives the transmission. A request that is repeated reserves nothing.
    pub transmission: u64,
    pub worst: WorkCost,
}

/// The answer to a [`WorkReserve`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ReserveReply {
    /// The transmission may be sent.
    Reserved,
    /// It fits if a transmission in flight turns out to be cheap. The worker asks again.
    Wait,
    /// It does not fit into the rest of the spend limit.
    Refused { reason: String },
}

/// A transmission has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSettle {
    pub unit: UnitKey,
    pub epoch: u64,
    pub transmission: u64,
    pub cost: WorkCost,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRefusal {
    pub error: WorkErrorCode,
    pub message: String,
}

/// The kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorkErrorCode {
    /// The request is malformed, or its path is unknown.
    InvalidRequest,
    /// The request does not have the token of the coordinator.
    InvalidToken,
    /// The worker has other software or other games than the coordinator.
    OtherSoftware,
    /// Another lease of the unit is newer, or the unit has its result.
    StaleLease,
    /// The result was not verified: it differs from that of the replayed recording.
    NotVerified,
    /// The coordinator failed.
    Failed,
}

impl WorkErrorCode {
    /// Returns the HTTP status of a refusal.
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::InvalidToken => 401,
            Self::OtherSoftware => 403,
            Self::StaleLease => 409,
            Self::NotVerified => 422,
            Self::Failed => 500,
        }
    }
}
