//! The results of finished runs, and comparisons of runs.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

use std::path::PathBuf;

use pyo3::prelude::*;
use rhae_analysis::{
    CompareOptions, compare as compare_runs, comparison_csv, games_dirs, load_runs as load,
    published_for, replays,
};
use rhae_protocol::RunComparison;
use rhae_pyhost::Games;
use rhae_report::{compare_page, comparison_text};

use crate::errors::{analysis_error, invalid};
use crate::hosting::GamesRequest;

/// Loads runs and returns them as JSON, in the form of `rhae compare --json`.
#[pyfunction]
pub(crate) fn load_runs(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    games: GamesRequest,
) -> PyResult<String> {
    let catalog = catalog(&folders, &games)?;
    let runs = py.detach(|| load(&folders, &catalog));
    serde_json::to_string(&runs.map_err(|error| analysis_error(&error))?).map_err(invalid)
}

/// Loads the built-in environments, those of the folders, and those that the runs name.
fn catalog(folders: &[PathBuf], games: &GamesRequest) -> PyResult<Games> {
    let recorded = games_dirs(folders).into_iter().map(PathBuf::from);
    let games_dirs: Vec<PathBuf> = games.folders.iter().cloned().chain(recorded).collect();
    games.load_folders(&games_dirs)
}

/// The comparison of runs.
#[pyclass(frozen, module = "rhae._native")]
pub(crate) struct Comparison {
    comparison: RunComparison,
    games: Games,
}

/// A comparison as a page.
#[pyclass(frozen, get_all, module = "rhae._native")]
pub(crate) struct ComparisonPage {
    html: String,
    /// Notes about replays that are missing.
    notes: Vec<String>,
}

#[pymethods]
impl Comparison {
    /// Returns the comparison in the form of `rhae compare --json`.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.comparison).map_err(invalid)
    }

    /// Returns the table that `rhae compare` prints.
    fn text(&self, width: usize) -> String {
        comparison_text(&self.comparison, width)
    }

    /// Returns one line for each environment and level.
    fn csv(&self) -> String {
        comparison_csv(&self.comparison)
    }

    /// Returns the page that `rhae compare --html` writes. Without `replays` it has no replays.
    fn page(&self, py: Python<'_>, replays: bool) -> ComparisonPage {
        py.detach(|| {
            let (films, notes) = if replays {
                self::replays(&self.comparison.runs, &self.games)
            } else {
                Default::default()
            };
            let published = published_for(&self.comparison.runs);
            ComparisonPage {
                html: compare_page(&self.comparison, &films, &published),
                notes,
            }
        })
    }
}

/// Compares runs pair by pair.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    force: bool,
    seen: Option<Vec<String>>,
    unseen: Option<Vec<String>>,
    games: GamesRequest,
) -> PyResult<Comparison> {
    let games = catalog(&folders, &games)?;
    let options = CompareOptions {
        force,
        seen,
        unseen,
    };
    let comparison = py.detach(|| compare_runs(load(&folders, &games)?, &options));
    Ok(Comparison {
        comparison: comparison.map_err(|error| analysis_error(&error))?,
        games,
    })
}
