//! What a coordinator distributes.

use std::collections::BTreeMap;

use rhae_protocol::{Digest, UnitKey, WorkKind};
use rhae_runs::RunsError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A unit, and how it is named in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedUnit {
    pub key: UnitKey,
    /// For example `kq19-v1 in repeat 2`.
    pub name: String,
}

/// The work of one kind: its units, and what happens to their results.
///
/// The coordinator calls [`store`](Self::store) and [`append_log`](Self::append_log) one at a time, and
/// only for the lease that currently has the unit. It calls [`verify`](Self::verify) at the same time
/// for several units, because a verification may take as long as the work.
pub trait Workload: Send + Sync {
    /// What a worker gets with a lease.
    type Task: Serialize;
    /// What a worker returns.
    type Report: DeserializeOwned;
    /// A report that was verified.
    type Verified;

    /// Returns what workers are to do.
    fn kind(&self) -> WorkKind;

    /// Returns the digests of the sources of hosted games, by id. Workers with others are refused.
    fn source_digests(&self) -> &BTreeMap<String, String>;

    /// Returns the units, in the order in which they are leased.
    fn units(&self) -> &[NamedUnit];

    /// Returns whether the result of a unit is stored.
    fn is_stored(&self, unit: &UnitKey) -> bool;

    /// Returns the task of a unit, with what earlier leases have added to its log.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read.
    fn task(&self, unit: &UnitKey) -> Result<Self::Task, RunsError>;

    /// Verifies a report, and returns its digest. Reproducible work has the same digest on every
    /// machine.
    ///
    /// # Errors
    ///
    /// Returns the reason why the report is not accepted, as a clause.
    fn verify(
        &self,
        unit: &UnitKey,
        report: Self::Report,
    ) -> Result<(Digest, Self::Verified), String>;

    /// Stores a result. It is synced to disk before the function returns, if the workload has files.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    fn store(&self, unit: &UnitKey, verified: Self::Verified) -> Result<(), RunsError>;

    /// Adds lines to the log of a unit, with the epoch of the lease that added them.
    ///
    /// # Errors
    ///
    /// Returns the reason why the lines are not accepted, or cannot be written.
    fn append_log(&self, unit: &UnitKey, epoch: u64, lines: &[String]) -> Result<(), String> {
        let _ = (unit, epoch, lines);
        Err("units of this kind have no log".to_owned())
    }
}
