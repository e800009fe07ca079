//! The error of studies in a database.

use rhae_protocol::StudyId;
use rhae_store::StoreError;
use rhae_study::{Rejection, ReplayError};

/// Why a study cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StudyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rules of the study do not accept the command.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    #[error("there is no study `{0}`; `rhae study status` lists all studies")]
    Unknown(StudyId),
    #[error("the study `{0}` exists already: choose another id")]
    Exists(StudyId),
    #[error(
        "`{0}` is not the id of a study: expected 1 to 40 lower-case letters, digits and hyphens"
    )]
    Id(String),
    /// The stored log was changed by another program.
    #[error("the log of the study `{study}` is not valid: {error}")]
    Log { study: StudyId, error: ReplayError },
    #[error("no payment was sent in a batch `{0}`")]
    Batch(String),
    #[error("revision {0} contains the same baselines: nothing was published")]
    Unchanged(u32),
    /// A published file was changed by another program.
    #[error("the published file `{name}` cannot be read: {reason}")]
    File { name: String, reason: String },
    #[error("other servers change the study `{0}` too often: try again")]
    Contended(StudyId),
}
