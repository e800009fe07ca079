//! The errors of this crate.

use std::io;
use std::path::PathBuf;

use rhae_engine::EnvironmentError;

/// The reason why a play or a replay in the terminal failed.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Standard input or output is not a terminal.
    #[error(
        "`{command}` needs a terminal, but {missing}; start it in a terminal window without pipes \
         or redirections, or {alternative}"
    )]
    NoTerminal {
        command: &'static str,
        missing: &'static str,
        alternative: &'static str,
    },
    /// An operation on the terminal failed.
    #[error("cannot {operation}: {error}")]
    Terminal {
        /// A verb and its object for the message, such as `write to the terminal`.
        operation: &'static str,
        error: io::Error,
    },
    /// The terminal delivers no further events.
    #[error("cannot read from the terminal")]
    Disconnected,
    /// The file for the recording exists.
    #[error("`{}` already exists; name another file with --record, or remove it first", .0.display())]
    RecordingExists(PathBuf),
    /// The recording cannot be created.
    #[error("cannot create `{}`: {error}", path.display())]
    CreateRecording { path: PathBuf, error: io::Error },
    /// The recording cannot be written.
    #[error("cannot write the recording `{}`: {error}", path.display())]
    WriteRecording { path: PathBuf, error: io::Error },
    /// The environment failed.
    #[error("the play cannot continue: {0}")]
    Environment(EnvironmentError),
    /// No entry of the recording has a frame.
    #[error("the recording has no frames to show")]
    NoFrames,
}

impl TuiError {
    /// Returns a function that adds the failed operation to an I/O error.
    pub(crate) fn terminal(operation: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Terminal { operation, error }
    }
}
