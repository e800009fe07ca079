//! Runs an agent on environments: every play in a thread of its own, under a budget, recorded, journalled, resumable.
//!
//! * **A play is independent of all others**, so the order and the number of jobs cannot change a result.
//! * **What is journalled is complete:** a play's line is written and synced after its recording is. An interrupted run
//!   loses only the plays that were under way, and plays them again when it is resumed.
//! * **An agent can only end its own play.** A panic, a crash and a hang are results, with a reason.
//!
//! What this crate deliberately does not know: terminals, flags, which environments exist.

mod budget;
mod film;
mod folder;
mod ids;
mod journal;
mod play;
mod results;
mod run;

pub use budget::{Budget, BudgetError};
pub use film::film;
pub use folder::{CONFIG_VERSION, RunFolder, load_config};
pub use ids::{new_run_id, play_id};
pub use journal::load_plays;
pub use results::{Results, assemble};
pub use run::{Arena, Progress, RunOrder, run};

use std::path::PathBuf;

use rhae_session::CatalogError;

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The output folder holds something already.
    #[error("the output folder `{}` exists and is not empty; choose another, or go on with `--resume {}`", .0.display(), .0.display())]
    FolderInUse(PathBuf),
    /// Not a run folder.
    #[error("`{}` is not a run folder: {reason}", folder.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// Another process is at it.
    #[error("another process is at work in this run folder (`{}` is locked)", .0.display())]
    InUse(PathBuf),
    /// A file could not be written or read.
    #[error("cannot {what} `{}`: {error}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The run was begun by other software, whose results must not be mixed with ours.
    #[error(
        "the run was begun by `{begun_by}` and this is `{this}`: resume it with the version that began it"
    )]
    OtherSoftware {
        /// What began it.
        begun_by: String,
        /// What this is.
        this: String,
    },
    /// An environment is not there.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The configuration has a value that cannot be.
    #[error("the run's configuration is wrong: {0}")]
    Config(String),
    /// The system gave no randomness for an id.
    #[error("the system gave no randomness: {0}")]
    Randomness(String),
}
