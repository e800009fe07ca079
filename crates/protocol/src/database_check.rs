//! The results of `rhae db check`, `backup` and `restore`.

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

/// The result of a backup or a restoration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatabaseCopy {
    /// The backup.
    pub file: String,
    /// The database that was copied or restored, without a password.
    pub database: String,
    pub copied: DatabaseCounts,
    /// The check of a restored database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<DatabaseReport>,
}

/// What a database contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatabaseCounts {
    pub cards: u64,
    pub plays: u64,
    /// Log entries of all plays.
    pub entries: u64,
    /// API keys and invitations, including revoked ones.
    pub keys: u64,
    /// Links to published cards and plays, including revoked ones.
    pub links: u64,
    /// Records in the logs of human studies.
    pub study_records: u64,
    /// Records in the logs of leaderboards.
    pub board_records: u64,
}
