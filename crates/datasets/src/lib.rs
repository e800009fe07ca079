//! Loading and downloading data: static ARC tasks, submissions, hosted games and tables of human
//! plays.
//!
//! * [`load_data`] reads task files and folders, [`choose_sets`] selects sets by name, and
//!   [`load_submission`] reads the answers of a solver. The formats are defined by `rhae_tasks`.
//! * [`fetch_tasks`] downloads ARC-AGI-1 and ARC-AGI-2 and records checksums and revisions.
//! * `GameServer` downloads the sources of hosted games from a server with the official API. It
//!   needs the feature `hosting`, which is on by default.
//! * [`HumanTable`] computes baselines from a CSV table of human plays.
//!
//! # Invariants
//!
//! * Downloads are untrusted input. Sizes are limited, names are validated before they become paths,
//!   and no downloaded code is executed.
//! * A key is sent only to the server that the user named, and no download is redirected from https
//!   to http.
//! * A file that the user has changed is never overwritten by a download.
//!
//! This crate prints nothing and runs no tasks or games.

mod data;
mod download;
mod error;
mod fetch;
#[cfg(feature = "hosting")]
mod hosted;
mod humans;
mod submission;

pub use data::{absolute_paths, choose_sets, load_data, load_manifests, read_text};
pub use error::DatasetsError;
pub use fetch::{Corpus, FetchedSet, FetchedTasks, TaskSource, fetch_tasks};
#[cfg(feature = "hosting")]
pub use hosted::{FetchedGame, GameServer};
pub use humans::{Baseline, HumanTable, LevelBaselines};
#[cfg(feature = "hosting")]
pub use rhae_pyhost::WriteOutcome;
pub use submission::{
    SubmissionFormat, WrittenSubmission, load_submission, write_submission, write_tasks,
};
