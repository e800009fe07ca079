//! The error type of both stores.

use std::path::PathBuf;

use rusqlite::ErrorCode;

/// An error of a [`Store`](crate::Store) or [`KeyStore`](crate::KeyStore).
///
/// There are three kinds: the database failed (`Full` to `Corrupt`), another request appended to
/// the log or used the idempotency key first (`Conflict`, `KeyUsed`), or a rule rejects the request
/// (the others). After every error except [`CommitUnknown`](Self::CommitUnknown), nothing was
/// written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk or the database file has no space left.
    #[error("the database is full: {0}")]
    Full(String),
    /// The database does not accept writes.
    #[error("the database is read-only: {0}")]
    ReadOnly(String),
    /// The database cannot be opened.
    #[error("cannot open the database {database}: {error}")]
    Open {
        /// The file or the address, without a password.
        database: String,
        error: Box<Self>,
    },
    /// The database cannot be copied.
    #[error("cannot copy {database}: {error}")]
    Copy {
        /// The file or the address, without a password.
        database: String,
        error: Box<Self>,
    },
    /// This software was built without the feature `postgres`.
    #[error(
        "this build of rhae cannot use PostgreSQL: name a file with --db, or build rhae with the feature `postgres`"
    )]
    NoPostgres,
    /// The database cannot be reached, or failed in another way.
    #[error("the database failed: {0}")]
    Unavailable(String),
    /// A commit failed after it may have reached the disk: the connection to the database was lost
    /// or the disk reported an error. The transaction may or may not have taken effect.
    #[error("the commit was interrupted and may or may not have succeeded: {0}")]
    CommitUnknown(String),
    /// The database was created by a newer version of this software.
    #[error(
        "the database has schema version {found}, but this binary supports versions up to {known}: use a newer binary"
    )]
    NewerSchema {
        found: i64,
        /// The newest version that this binary supports.
        known: i64,
    },
    /// The address or the configuration of the database is unusable.
    #[error("the database cannot be used: {0}")]
    Unsuitable(String),
    /// The file is an SQLite database of another application.
    #[error("the file is a database of another application: choose another file")]
    Foreign,
    /// The file exists, and a backup never overwrites one.
    #[error("`{}` exists already: choose another name, or remove it first", .0.display())]
    Exists(PathBuf),
    /// The PostgreSQL database has content, and a restoration never overwrites it.
    #[error("the database {0} already has content: restore to an empty database")]
    NotEmpty(String),
    /// A stored value has a form that this software never writes.
    #[error("the database is corrupt: it contains an invalid value ({0})")]
    Corrupt(String),
    /// The index is not the next index of the log, usually because another request appended first.
    #[error("the play has advanced in the meantime: entry {0} is not the next entry of its log")]
    Conflict(u32),
    /// The card is closed or does not exist.
    #[error("the scorecard is not open")]
    CardNotOpen,
    /// The card already has a play of the environment, and only one is allowed.
    #[error("the environment was already played on this scorecard and may be played only once")]
    PlayedBefore,
    /// The owner has already opened a card, and only one is allowed.
    #[error("a scorecard was already opened, and only one is allowed")]
    OpenedBefore,
    /// A request with this idempotency key was already executed.
    #[error("the idempotency key was already used")]
    KeyUsed,
    /// The owner has reached the limit of open cards.
    #[error("{0} scorecards are open, which is the limit: close one first")]
    TooManyCards(u32),
    /// The card has reached the limit of plays.
    #[error("the scorecard has {0} plays, which is the limit: open another scorecard")]
    TooManyPlays(u32),
    /// The owner has reached the limit of links that are not revoked.
    #[error("{0} links exist, which is the limit: revoke one first")]
    TooManyShares(u32),
    /// The caller has not seen the last record of the study, usually because another server has
    /// appended to its log.
    #[error("the study has advanced in the meantime: its last record is {0}")]
    StudyConflict(u64),
    /// The caller has not seen the last record of the board, usually because another server has
    /// appended to its log.
    #[error("the board has advanced in the meantime: its last record is {0}")]
    BoardConflict(u64),
    /// The caller has not seen the last event of the job, usually because another coordinator has
    /// appended to its log.
    #[error("the job has advanced in the meantime: its last event is {0}")]
    WorkConflict(u64),
}

impl StoreError {
    /// Converts an error of an SQLite `COMMIT`.
    ///
    /// A full disk and a read-only file fail before the commit record is written. After any other
    /// error, such as a failed sync, the record may be in the write-ahead log: a process that opens
    /// the file after a crash would then find the transaction committed.
    pub(crate) fn of_commit(error: rusqlite::Error) -> Self {
        match Self::from(error) {
            Self::Unavailable(reason) => Self::CommitUnknown(reason),
            other => other,
        }
    }

    /// Adds the name of the database that could not be opened.
    pub(crate) fn while_opening(self, database: String) -> Self {
        Self::Open {
            database,
            error: Box::new(self),
        }
    }

    /// Adds the name of the database that could not be copied.
    pub(crate) fn while_copying(self, database: String) -> Self {
        Self::Copy {
            database,
            error: Box::new(self),
        }
    }

    /// Returns whether the client may send the same request again. This is the case if the database
    /// failed without writing, or if another request appended to the log or used the idempotency
    /// key first.
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Full(_)
                | Self::ReadOnly(_)
                | Self::Unavailable(_)
                | Self::Conflict(_)
                | Self::KeyUsed
                | Self::StudyConflict(_)
                | Self::BoardConflict(_)
                | Self::WorkConflict(_)
        )
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if let rusqlite::Error::InvalidColumnType(_, column, _) = &error {
            return Self::Corrupt(format!("column `{column}`"));
        }
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            _ => Self::Unavailable,
        };
        kind(error.to_string())
    }
}

#[cfg(feature = "postgres")]
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let code = error
            .as_database_error()
            .and_then(|error| error.code())
            .unwrap_or_default();
        // PostgreSQL error codes: 53100 is `disk_full`, 25006 is `read_only_sql_transaction`.
        let kind = match &*code {
            "53100" => Self::Full,
            "25006" => Self::ReadOnly,
            _ => Self::Unavailable,
        };
        kind(error.to_string())
    }
}
