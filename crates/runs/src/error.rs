//! The errors of run folders and journals.

use std::io;
use std::path::{Path, PathBuf};

use rhae_protocol::RunKind;

/// The reason why a run folder or a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// The output folder is not empty.
    #[error("the output folder `{}` exists and is not empty; choose another, or resume it with `--resume {}`", .0.display(), .0.display())]
    FolderInUse(PathBuf),
    /// The folder does not contain a run of this kind, or a file of the run cannot be parsed.
    #[error("`{}` is not {}: {reason}", folder.display(), kind.folder())]
    NotARun {
        folder: PathBuf,
        /// The kind of run that was expected.
        kind: RunKind,
        reason: String,
    },
    /// A line of the journal cannot be parsed.
    #[error("line {line} of the journal `{}` cannot be read: {reason}", path.display())]
    MalformedLine {
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        reason: String,
    },
    /// An earlier write to the journal failed in a way that cannot be undone, so nothing more is
    /// appended.
    #[error("an earlier write to the journal `{}` failed; resume the run once the disk works again", .0.display())]
    JournalFailed(PathBuf),
    /// A file of the run cannot be parsed.
    #[error("cannot parse `{}`: {reason}", path.display())]
    MalformedFile { path: PathBuf, reason: String },
    /// Another process holds the lock of the journal.
    #[error("another process is using this run folder (`{}` is locked)", .0.display())]
    InUse(PathBuf),
    /// A file operation failed.
    #[error("cannot {operation} `{}`: {error}", path.display())]
    File {
        /// A verb for the message, such as `write`.
        operation: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// Another version started the run. Results of different versions must not be mixed.
    #[error(
        "the run was started by `{started_by}` and this is `{this}`: resume it with the version that started it"
    )]
    OtherSoftware { started_by: String, this: String },
    /// A value cannot be written as JSON.
    #[error("cannot write `{}` as JSON: {reason}", path.display())]
    Json { path: PathBuf, reason: String },
    /// The system provided no randomness for an id.
    #[error("the system provided no randomness: {0}")]
    Randomness(String),
    /// The signals that interrupt a run cannot be handled.
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
}

impl RunsError {
    /// Returns a function that adds the operation and the path to an I/O error.
    pub fn file(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::File {
            operation,
            path: path.to_owned(),
            error,
        }
    }
}
