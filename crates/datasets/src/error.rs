//! The errors of this crate.

use std::io;
use std::path::Path;

use rhae_tasks::TasksError;

/// The reason why data cannot be loaded or downloaded.
#[derive(Debug, thiserror::Error)]
pub enum DatasetsError {
    /// A file, a folder or a program cannot be used.
    #[error("{operation}: {error}")]
    Io {
        /// What failed, such as ``cannot read `file` ``.
        operation: String,
        error: io::Error,
    },
    /// The content of a file is not valid, or a set or test does not exist.
    #[error(transparent)]
    Tasks(#[from] TasksError),
    /// The tasks of a file, folder or download cannot be loaded.
    #[error("cannot load {source_name}: {error}")]
    Load {
        source_name: String,
        error: TasksError,
    },
    /// The record of a hosted game cannot be read or written.
    #[cfg(feature = "hosting")]
    #[error(transparent)]
    Host(#[from] rhae_pyhost::HostError),
    /// A file is larger than the limit.
    #[error("`{file}` has {bytes} bytes; the limit is {limit} bytes")]
    TooLarge {
        file: String,
        bytes: u64,
        limit: u64,
    },
    /// The selection of data sets is not possible.
    #[error("{0}")]
    Selection(String),
    /// A table of human plays is not valid.
    #[error("{0}")]
    Table(String),
    /// A server or a package manager did not deliver what was requested.
    #[error("{0}")]
    Download(String),
    /// A downloaded file would replace a file that the user has changed.
    #[error(
        "`{0}` has local changes and was not overwritten; remove or rename it to fetch it again"
    )]
    LocalChanges(String),
}

impl DatasetsError {
    /// Returns a function that adds a verb and a path to an I/O error.
    pub(crate) fn file(verb: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let operation = format!("cannot {verb} `{}`", path.display());
        move |error| Self::Io { operation, error }
    }
}
