//! The error of boards in a database.

use std::path::PathBuf;

use rhae_board::{Rejection, ReplayError};
use rhae_protocol::BoardId;
use rhae_store::StoreError;

use crate::run_check::RunError;

/// Why a board cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rules of the board do not accept the command.
    #[error("{0} (rule {rule})", rule = .0.rule())]
    Rejected(Rejection),
    #[error("there is no board `{0}`; `rhae board show` lists all boards")]
    Unknown(BoardId),
    #[error("the board `{0}` exists already: choose another id")]
    Exists(BoardId),
    #[error("`{0}` is not an id: expected 1 to 40 lower-case letters, digits and hyphens")]
    Id(String),
    /// The stored log was changed by another program.
    #[error("the log of the board `{board}` is not valid: {error}")]
    Log { board: BoardId, error: ReplayError },
    #[error("other servers change the board `{0}` too often: try again")]
    Contended(BoardId),
    /// A run is not accepted.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A card on the server does not contain the plays of a row.
    #[error("the row is not witnessed: {0}")]
    Witness(String),
    /// The static tasks are not those that the board fixes.
    #[error("the tasks of the board cannot be used: {0}")]
    Tasks(String),
    /// A human study cannot order the environments of a board.
    #[error(
        "the study has no people for `{0}`, so people cannot order the environments: leave --baselines out, or create the board without --tiers"
    )]
    People(String),
    #[error("the submission is not valid: {field}: {reason}")]
    Submission { field: String, reason: String },
    #[error("cannot {what} `{}`: {reason}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        reason: String,
    },
    #[error("the export cannot be checked: {0}")]
    Export(String),
}

// The message contains that of the rejection, so the rejection is not a source that is printed again.
impl From<Rejection> for BoardError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl BoardError {
    pub(crate) fn file<'a>(
        what: &'static str,
        path: &'a std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |error| Self::File {
            what,
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
}
