//! The results of `rhae db check`.

use serde::Serialize;

/// The results of the check of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatabaseReport {
    pub plays: u64,
    pub entries: u64,
    pub snapshots: u64,
    pub findings: Vec<DatabaseFinding>,
}

/// A difference between the stored data and the replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatabaseFinding {
    pub guid: String,
    /// The index of the log entry, if the finding concerns one.
    pub entry: Option<u32>,
    pub what: String,
}
