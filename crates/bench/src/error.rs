//! The errors of this crate.

use std::io;

use rhae_engine::{CatalogError, EnvironmentError};
use rhae_harness::HarnessError;
use rhae_runs::RunsError;

/// The reason why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file, a connection or a child process failed.
    #[error("{operation}: {error}")]
    Io {
        /// What failed, such as ``cannot create `folder` ``.
        operation: String,
        error: io::Error,
    },
    /// The run of an agent failed.
    #[error(transparent)]
    Run(#[from] HarnessError),
    /// The folder of a run cannot be created.
    #[error(transparent)]
    Folder(#[from] RunsError),
    /// The server under test sent an unexpected response.
    #[error("{0}")]
    Response(String),
    /// The hosted game is unknown or cannot be opened.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The hosted game failed.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A child process failed or printed something unexpected.
    #[error("{0}")]
    Process(String),
}

impl BenchError {
    /// Returns a function that adds the failed operation to an I/O error.
    pub(crate) fn io(operation: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io {
            operation: operation.into(),
            error,
        }
    }
}
