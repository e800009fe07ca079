//! Runs a solver on static tasks: every request journalled before it is sent and when its answer is there, under limits, resumable.
//!
//! * **What arrived is kept.** An answer is on the disk before anything else is done with it. Who kills the process loses only what
//!   was in flight, and the journal says what that was.
//! * **A run goes on at the attempt.** What the journal answers is not asked again.
//! * **Limits are measured.** Money and tokens are those that were spent, failed requests included, over all processes of a run.
//! * **Scoring is apart from running.** Results are made from the journal alone and can be made again, with another parser too.
//!
//! What this crate deliberately does not know: terminals, flags, where data come from. Solvers do not see solutions.

mod estimate;
mod folder;
mod gate;
mod journal;
mod ledger;
mod plan;
mod report;
mod results;
mod run;
pub mod solver;
mod tables;

use std::path::PathBuf;

pub use estimate::{Estimate, estimate};
pub use folder::{EvalFolder, load_config};
pub use journal::load_lines;
pub use ledger::{Given, Ledger, RequestRecord, Slot};
pub use plan::{Plan, PlannedSet, shard};
pub use report::report;
pub use results::{AttemptResult, EvalResults, SetResult, assemble};
pub use run::{Order, Progress, run};
pub use tables::{csv, markdown};

/// Why an evaluation could not be done.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The output folder holds something already.
    #[error("the output folder `{}` exists and is not empty; choose another, or go on with `--resume {}`", .0.display(), .0.display())]
    FolderInUse(PathBuf),
    /// Not the folder of an evaluation.
    #[error("`{}` is not the folder of an evaluation: {reason}", folder.display())]
    NotAnEvaluation {
        /// The folder.
        folder: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// Another process is at it.
    #[error("another process is at work on this evaluation (`{}` is locked)", .0.display())]
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
    /// The run was begun by other software, whose answers must not be mixed with ours.
    #[error(
        "the run was begun by `{begun_by}` and this is `{this}`: resume it with the version that began it"
    )]
    OtherSoftware {
        /// What began it.
        begun_by: String,
        /// What this is.
        this: String,
    },
    /// The data are not those of the run.
    #[error("the run is on revision {expected} of `{set}`, and the data are of revision {found}")]
    OtherData {
        /// The set.
        set: String,
        /// The run's revision.
        expected: String,
        /// The data's.
        found: String,
    },
    /// A value that cannot be.
    #[error("{0}")]
    Config(String),
    /// Tasks, answers or scores.
    #[error(transparent)]
    Tasks(#[from] rhae_tasks::TasksError),
    /// A page or a picture could not be made.
    #[error(transparent)]
    Picture(#[from] rhae_report::PictureError),
}
