//! The results of finished runs.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

use std::path::PathBuf;

use pyo3::prelude::*;
use rhae_analysis::{games_dirs, load_runs as load};

use crate::errors::{analysis_error, invalid};
use crate::hosting::GamesRequest;

/// Loads runs and returns them as JSON, in the form of `rhae compare --json`.
#[pyfunction]
pub(crate) fn load_runs(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    games: GamesRequest,
) -> PyResult<String> {
    let recorded = games_dirs(&folders).into_iter().map(PathBuf::from);
    let games_dirs: Vec<PathBuf> = games.folders.iter().cloned().chain(recorded).collect();
    let catalog = games.load_folders(&games_dirs)?;
    let runs = py.detach(|| load(&folders, &catalog));
    serde_json::to_string(&runs.map_err(|error| analysis_error(&error))?).map_err(invalid)
}
