//! Why something could not be stored or read.

use rusqlite::ErrorCode;

/// Why something could not be stored or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No room is left.
    #[error("the database is full: {0}")]
    Full(String),
    /// Nothing may be written.
    #[error("the database is read-only: {0}")]
    ReadOnly(String),
    /// The database cannot be reached, or failed in another way.
    #[error("the database failed: {0}")]
    Unavailable(String),
    /// The connection was lost while a transaction was being committed, and nobody knows whether it was.
    #[error("the database was lost in a commit: {0}")]
    Unknown(String),
    /// The database was made by a newer version of this software.
    #[error(
        "the database has schema version {found}, and this binary knows versions up to {known}: use a newer binary"
    )]
    NewerSchema {
        /// What the database says.
        found: i64,
        /// What this binary knows.
        known: i64,
    },
    /// The database is there, but not of the kind that is needed.
    #[error("the database cannot be used: {0}")]
    Unsuitable(String),
    /// The file is a database of something else.
    #[error("the file is a database, but not one of Rhae: choose another file")]
    Foreign,
    /// A stored value has a form that was never written.
    #[error("the database holds {0}, which was never written in this form")]
    Corrupt(String),
    /// Another entry was appended meanwhile.
    #[error("the play has gone on elsewhere: entry {0} is not the next of its log")]
    Conflict(u32),
    /// The card is closed, or there is none.
    #[error("the scorecard is not open")]
    CardNotOpen,
    /// The card has a play of the environment and may have only one.
    #[error("the environment has been played on this scorecard, and may be played once")]
    PlayedBefore,
    /// The owner has opened a card and may open only one.
    #[error("a scorecard has been opened before, and only one may be opened")]
    OpenedBefore,
    /// A request with this idempotency key was carried out before.
    #[error("the idempotency key has been used before")]
    KeyUsed,
    /// The owner has as many open cards as may be.
    #[error("{0} scorecards are open, and no more may be")]
    TooManyCards(u32),
    /// The card has as many plays as may be.
    #[error("the scorecard has {0} plays, and no more may be opened")]
    TooManyPlays(u32),
}

impl StoreError {
    /// Whether the same call may succeed later, because the fault lies with the database and not with the call.
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Full(_)
                | Self::ReadOnly(_)
                | Self::Unavailable(_)
                | Self::Conflict(_)
                | Self::KeyUsed
        )
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if let rusqlite::Error::InvalidColumnType(_, column, _) = &error {
            return Self::Corrupt(format!("a value in the column `{column}`"));
        }
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            _ => Self::Unavailable,
        };
        kind(error.to_string())
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let code = error
            .as_database_error()
            .and_then(|error| error.code())
            .unwrap_or_default();
        // Appendix A of PostgreSQL's manual: no room on the disk; a transaction, or a whole server, that is read-only.
        let kind = match &*code {
            "53100" => Self::Full,
            "25006" => Self::ReadOnly,
            _ => Self::Unavailable,
        };
        kind(error.to_string())
    }
}
