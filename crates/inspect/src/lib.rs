//! Exploration and validation of the environments of a catalogue, built-in and hosted.
//!
//! The crates `explore` and `validate` are pure: they analyse a level or check a subject, and know
//! no catalogues, processes, clocks or files. This crate supplies those. The command line and the
//! Python package call the same functions of it.
//!
//! * [`Explorer`] opens an environment and explores its levels. For a hosted game it first searches
//!   for wins of the earlier levels. The result has the form that `rhae explore --json` prints.
//! * [`Validation`] opens the selected environments and runs all checks. [`Validation::report`]
//!   returns the form that `rhae validate --json` prints.
//! * [`compare_environments`] compares environments pair by pair for similarity.
//!
//! * [`DistributedValidation`] and [`DistributedExploration`] are the same work as units that other
//!   processes execute, with the same results.
//!
//! All report progress to a callback. Exploration and validation stop when an interrupt flag is set.
//!
//! The crate reads the recordings that are stored with hosted games. It writes no files: pictures,
//! graphs and recordings are returned as text or bytes.
//!
//! # Examples
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use rhae_engine::LevelIndex;
//! use rhae_games::Builtin;
//! use rhae_inspect::{ExploreOptions, Explorer, LevelOutputs};
//!
//! let explorer = Explorer::open(&Builtin, "bx20", ExploreOptions::default(), Arc::default())?;
//! let level = explorer.explore(LevelIndex(0), &LevelOutputs::default(), &mut |_| ())?;
//! assert_eq!(level.report.nodes, 126);
//! # Ok::<(), rhae_inspect::InspectError>(())
//! ```

mod distributed_exploration;
mod distributed_validation;
mod error;
mod evidence;
mod exploration;
mod exploration_form;
mod exploration_page;
mod level_outputs;
mod luck;
mod monitor;
mod novelty;
mod stored_recordings;
mod subjects;
mod validation;
mod validation_form;
mod validation_page;

pub use distributed_exploration::{DistributedExploration, LevelExecutor};
pub use distributed_validation::{DistributedValidation, EnvironmentExecutor};
pub use error::InspectError;
pub use evidence::{EvidenceFile, record};
pub use exploration::{ExploreOptions, ExploreProgress, Explorer};
pub use exploration_page::exploration_page;
pub use level_outputs::{GraphFormat, LevelOutputs, LevelResult};
pub use luck::first_level_luck;
pub use monitor::{ValidationProgress, VerifyCommand};
pub use novelty::compare_environments;
pub use subjects::{find_each, is_hosted, native_subject};
pub use validation::{Validation, ValidationOptions};
pub use validation_page::ReplayCommand;
