//! What a worker and the coordinator of a run tell each other over HTTP.
//!
//! Every request is a POST with a JSON body, and every response is JSON. A refused request has a
//! [`WorkRefusal`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Digest, PlayResult, RunConfig, UnitKey};

/// A worker introduces itself. It is refused if its software or its games differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerHello {
    /// The name and version of the software.
    pub software: String,
    /// The SHA-256 hash of the executable.
    pub software_digest: Digest,
}

/// The run that workers play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkJob {
    pub config: RunConfig,
    /// The interval at which a worker renews its lease.
    pub heartbeat_ms: u64,
    /// The time after which a lease ends that was not renewed.
    pub lease_ms: u64,
}

/// A worker asks for a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// The name of the worker, which no other process has.
    pub worker: String,
    /// The digests of the sources of the worker's hosted games, by id.
    pub source_digests: BTreeMap<String, String>,
}

/// The answer to a [`LeaseRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LeaseReply {
    /// The worker has a unit.
    Leased(WorkLease),
    /// Other workers have all open units. One of them may come back.
    Wait,
    /// Nothing is left to do.
    Finished,
}

/// A unit that a worker has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkLease {
    pub unit: UnitKey,
    pub epoch: u64,
    /// The repeat of the play, from 1.
    pub repeat: u32,
    /// The environment with its version.
    pub game_id: String,
}

/// A worker renews or releases a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseName {
    pub unit: UnitKey,
    pub epoch: u64,
}

/// The result of a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkReport {
    pub unit: UnitKey,
    pub epoch: u64,
    pub result: PlayResult,
    /// The recording, as text; absent if the play ended before its environment was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// The other files of the play in base64, by their path in the run folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
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
    /// The result is not that of the replayed recording.
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
