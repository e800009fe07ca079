//! The errors of this crate.

use std::path::PathBuf;

use rhae_engine::{CatalogError, EnvironmentError, LevelIndex};
use rhae_protocol::RecordingError;
use rhae_report::PictureError;
use rhae_validate::ValidateError;

/// The reason why an environment could not be explored or validated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The environment is unknown or cannot be opened, or the system cannot run hosted games.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The environment failed.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The catalogue lists an environment that is neither hosted nor native.
    #[error("the environment `{0}` is not in the registry of native games")]
    NotNative(String),
    /// No environment is selected.
    #[error("no environment is selected")]
    NothingSelected,
    /// The same environment is selected twice.
    #[error("`{0}` is named twice")]
    Duplicate(String),
    /// The level does not exist.
    #[error("`{id}` has levels 1 to {count}, found {level}")]
    NoSuchLevel { id: String, count: usize, level: u8 },
    /// A level of a hosted game is entered by winning the levels before it, and no win is known.
    #[error(
        "level {level} is unreachable: no win of the levels before it is stored or was found within {seconds} s and {nodes} states; \
         raise these limits, or put a recording of a win into the game's folder"
    )]
    Unreachable {
        level: LevelIndex,
        seconds: f64,
        nodes: usize,
    },
    /// The game offers clicks but does not list where they may matter.
    #[error(
        "`{0}` does not list where clicks may matter (`sys_click` tags or `_get_valid_actions`); explore it with clicks on all cells (--all-clicks)"
    )]
    UnlistedClicks(String),
    /// The graph is too large for an export.
    #[error(
        "the graph has {states} states, but an export holds at most {max}; limit the number of states or the depth"
    )]
    GraphTooLarge { states: usize, max: usize },
    /// No win was found, so it cannot be recorded.
    #[error("no win was found")]
    NoWin,
    /// A picture cannot be encoded.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A file or folder of recordings cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Read {
        path: PathBuf,
        error: std::io::Error,
    },
    /// A file is not a recording.
    #[error("cannot read `{}` as a recording: {error}", path.display())]
    Recording {
        path: PathBuf,
        error: RecordingError,
    },
    /// A recording cannot be written.
    #[error("cannot record a play: {0}")]
    Write(#[from] std::io::Error),
    /// A check failed. This is a defect of this software, not of the environment.
    #[error("a check failed, which is a bug in rhae and not in the environment: {0}")]
    Check(#[from] ValidateError),
    /// What a worker reported.
    #[error("{0}")]
    Worker(String),
    /// The work was interrupted before it had a result.
    #[error("interrupted")]
    Interrupted,
}

impl From<std::convert::Infallible> for InspectError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
