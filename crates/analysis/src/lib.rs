//! Analyses finished runs: loads them, checks that they are comparable, compares them pair by pair,
//! and reports many runs in one table next to published results.
//!
//! # Overview
//!
//! | step | function |
//! | --- | --- |
//! | load a run of `rhae run` or `rhae arc eval` | [`load_run`], [`load_runs`] |
//! | check and compare runs | [`compare()`] |
//! | replay the plays of the runs next to each other | [`replays()`] |
//! | report many runs | [`report()`], [`published_results`] |
//! | look for knowledge that the prompt did not give | [`contamination()`], [`color_probe`] |
//! | write tables | [`comparison_csv`], [`report_csv`], [`report_markdown`], [`report_latex`] |
//!
//! # Invariants
//!
//! * Missing results are counted as 0 and never dropped from a mean.
//! * Runs that differ in scoring method, budget, environment version or baselines are compared only
//!   if the caller forces it, and the result says so.
//! * No mean is without its interval, and no share without its count.
//!
//! This crate knows nothing about terminals or command-line flags, and computes no statistics itself:
//! these are in `rhae-stats`.
//!
//! # Examples
//!
//! Compare two runs of the random agent:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//!
//! use rhae_analysis::{CompareOptions, compare, load_runs};
//! use rhae_engine::Catalog;
//! use rhae_games::Builtin;
//! use rhae_harness::{HarnessError, LocationRequest, RunRequest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let temp = tempfile::tempdir()?;
//! let mut folders = Vec::new();
//! for seed in [1, 2] {
//!     let out = temp.path().join(format!("seed-{seed}"));
//!     let request = RunRequest {
//!         agent: "random".to_owned(),
//!         games: Some("kq19,ym39".to_owned()),
//!         seed,
//!         out: Some(out.clone()),
//!         ..RunRequest::default()
//!     };
//!     let load = |_: &[std::path::PathBuf]| Ok::<_, HarnessError>(Arc::new(Builtin) as Arc<dyn Catalog>);
//!     let run = LocationRequest::default().prepare(request, load)?;
//!     run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})?;
//!     folders.push(out);
//! }
//! let comparison = compare(load_runs(&folders, &Builtin)?, &CompareOptions::default())?;
//! let pair = comparison.pair.unwrap();
//! assert_eq!(pair.environments.len(), 2);
//! assert_eq!(pair.interval_method, "exact-bootstrap");
//! # Ok(())
//! # }
//! ```

mod comparable;
mod compare;
mod contamination;
mod difference;
mod evaluation;
mod generalisation;
mod load;
mod paper_table;
mod played;
mod published;
mod recorded;
mod replays;
mod report;
mod sources;
mod tables;

pub use comparable::differences;
pub use compare::{CompareOptions, compare};
pub use contamination::{color_probe, contamination};
pub use load::{load_run, load_runs};
pub use paper_table::{report_latex, report_markdown};
pub use played::games_dirs;
pub use published::{published_for, published_results};
pub use replays::replays;
pub use report::report;
pub use tables::{comparison_csv, report_csv};

use std::path::PathBuf;

use rhae_harness::HarnessError;
use rhae_runs::RunsError;

/// The reason why runs cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A run folder cannot be read.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The results of a run cannot be computed from its journal.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// The run has no results yet, or they cannot be read.
    #[error("`{}` has no results that can be compared: {reason}", folder.display())]
    NoResults { folder: PathBuf, reason: String },
    /// A comparison needs at least two runs.
    #[error("a comparison needs two or more runs, and {0} was given")]
    TooFewRuns(usize),
    /// The runs differ in something that determines scores.
    #[error(
        "the runs are not comparable:\n  {}\nrun them with the same settings, or add --force to compare them anyway, which labels the output", .0.join("\n  ")
    )]
    NotComparable(Vec<String>),
    /// Two runs have no environment in common.
    #[error("`{a}` and `{b}` have no environment in common")]
    NothingInCommon { a: String, b: String },
    /// A name of `--seen` or `--unseen` is not an environment of the runs.
    #[error("`{name}` in {flag} is not an environment of the runs: they have {known}")]
    UnknownEnvironment {
        name: String,
        flag: &'static str,
        known: String,
    },
    /// The sets of seen and unseen environments cannot be compared.
    #[error("{0}")]
    Sets(String),
}
