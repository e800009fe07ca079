//! Why a simulation cannot be completed.

use std::path::PathBuf;

use rhae_store::StoreError;

/// The reason why a simulation was aborted. A study that loses or doubles an action is not an error
/// but a result.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error("{field} is {found}: expected 1 to {max}")]
    Size {
        field: &'static str,
        found: u32,
        max: u32,
    },
    #[error("the database `{}` exists: name a new file", .0.display())]
    DatabaseExists(PathBuf),
    #[error("{0} servers need a shared database: name a PostgreSQL database")]
    SharedFile(u32),
    #[error("the database is in use: a simulation needs an empty one")]
    DatabaseInUse,
    #[error("cannot prepare the server: {0}")]
    Io(#[from] std::io::Error),
    #[error("the database failed: {0}")]
    Store(#[from] StoreError),
    #[error("cannot write a request: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{path}: the server did not respond: {reason}")]
    NoResponse { path: String, reason: String },
    #[error("{path}: the server responded with status {status}: {body}")]
    Refused {
        path: String,
        status: u16,
        body: String,
    },
    #[error("{path}: the response is not as expected: {reason}")]
    Unexpected { path: String, reason: String },
}
