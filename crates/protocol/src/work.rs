//! Work that several processes share: shards of a run, and the log of leases.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// The version of [`ShardRecord`].
pub const SHARD_VERSION: u32 = 1;
/// The maximum number of shards of a run.
const MAX_SHARDS: u32 = 100_000;

/// One of the parts into which the plays of a run are divided. The shard `I/N` consists of the plays
/// whose position in the run is congruent to `I` modulo `N`.
///
/// # Examples
///
/// ```
/// use rhae_protocol::Shard;
///
/// let shard: Shard = "1/4".parse()?;
/// assert!(shard.contains(1) && shard.contains(5) && !shard.contains(4));
/// assert_eq!(shard.to_string(), "1/4");
/// assert!("4/4".parse::<Shard>().is_err());
/// # Ok::<(), rhae_protocol::ShardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the shard, from 0.
    pub index: u32,
    /// The number of shards.
    pub count: u32,
}

/// A text is not a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a shard: it must be I/N, where I counts from 0 and is less than N, such as 0/4"
)]
pub struct ShardError(String);

impl Shard {
    /// Returns whether the shard contains the play at this position, which counts from 0.
    pub const fn contains(self, position: usize) -> bool {
        position % self.count as usize == self.index as usize
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        text.split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)))
            .filter(|&(index, count)| index < count && count <= MAX_SHARDS)
            .map(|(index, count)| Self { index, count })
            .ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// What says that a run folder contains a shard: `shard.json`. The configuration of the folder is
/// that of the complete run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRecord {
    /// The version of this form, see [`SHARD_VERSION`].
    pub version: u32,
    pub shard: Shard,
}

/// The key of a unit of work: a hash of everything that determines its result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitKey(pub String);

impl fmt::Display for UnitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Money and tokens of requests to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCost {
    /// Billionths of a US dollar.
    pub nano_usd: u64,
    /// Input and output tokens.
    pub tokens: u64,
}

impl WorkCost {
    /// Returns the sum. A sum that exceeds the largest number is the largest number.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

/// Why a lease was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseLoss {
    /// The worker did not renew the lease in time.
    Expired,
    /// The process of the worker has ended by itself, or was killed on its machine.
    WorkerEnded,
    /// The machine of the worker was lost.
    NodeLost,
}

/// One line of the log of a coordinator.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{UnitKey, WorkEvent};
///
/// let line = r#"{"event":"leased","unit":"9f0c","epoch":1,"worker":"w1","until_ms":60000}"#;
/// let event: WorkEvent = serde_json::from_str(line)?;
/// assert_eq!(event.unit(), Some(&UnitKey("9f0c".to_owned())));
/// assert_eq!(serde_json::to_string(&event)?, line);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum WorkEvent {
    /// A worker has a unit until a time. Each lease of a unit has the next epoch.
    Leased {
        unit: UnitKey,
        epoch: u64,
        worker: String,
        /// Unix time in milliseconds.
        until_ms: u64,
    },
    /// A worker has a unit until a later time.
    Renewed {
        unit: UnitKey,
        epoch: u64,
        until_ms: u64,
    },
    /// A worker returned a unit without a result, for example because its machine is needed for
    /// something else.
    Released { unit: UnitKey, epoch: u64 },
    /// A worker disappeared with a unit.
    Lost {
        unit: UnitKey,
        epoch: u64,
        reason: LeaseLoss,
    },
    /// A unit has its result.
    Committed {
        unit: UnitKey,
        epoch: u64,
        /// The digest of the result.
        result: Digest,
    },
    /// A unit had its result before the log began, or its result was stored but not logged.
    Adopted { unit: UnitKey },
    /// A resumed coordinator tries a unit again that was given up, or whose result is not stored.
    Reopened { unit: UnitKey },
    /// The result of an earlier lease came too late and was not used.
    Discarded {
        unit: UnitKey,
        epoch: u64,
        result: Digest,
        /// Whether it equals the committed result; absent if the unit has no committed result yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        same: Option<bool>,
    },
    /// The worst case of a transmission is reserved before it is sent.
    Reserved {
        /// The number of the reservation, from 1.
        reservation: u64,
        unit: UnitKey,
        epoch: u64,
        worst: WorkCost,
    },
    /// A transmission has ended.
    Settled { reservation: u64, cost: WorkCost },
    /// A coordinator that starts has added up the costs in the files of the run. They include the
    /// transmissions of earlier workers.
    Counted { cost: WorkCost },
}

impl WorkEvent {
    /// Returns the unit of an event.
    pub const fn unit(&self) -> Option<&UnitKey> {
        match self {
            Self::Leased { unit, .. }
            | Self::Renewed { unit, .. }
            | Self::Released { unit, .. }
            | Self::Lost { unit, .. }
            | Self::Committed { unit, .. }
            | Self::Adopted { unit }
            | Self::Reopened { unit }
            | Self::Discarded { unit, .. }
            | Self::Reserved { unit, .. } => Some(unit),
            Self::Settled { .. } | Self::Counted { .. } => None,
        }
    }
}
