//! Environments, scorecards, replays and pictures.
//!
//! Values with many fields are passed as JSON, in the formats of the REST API and of files.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rhae_engine::{CELLS, Catalog, Frame, PALETTE, SIZE};
use rhae_games::Builtin;
use rhae_protocol::{GameListing, Recording};
use rhae_report::contact_sheet;
use rhae_scoring::{LevelCount, Method};
use rhae_session::{CardMetadata, EnvironmentRuns, replay};
use serde_json::Value;

use crate::errors::invalid;
use crate::game_set::GameSet;
use crate::hosting::GamesRequest;
use crate::play::Play;

/// Returns the list of native environments as JSON, in the format of the REST API.
#[pyfunction]
pub(crate) fn games() -> PyResult<String> {
    let games: Vec<GameListing> = Builtin.list().iter().map(GameListing::from).collect();
    serde_json::to_string(&games).map_err(invalid)
}

/// Returns the scorecard of plays as JSON. Each play comes with its guid. All environments of
/// `expected` count, even if they were not played.
#[pyfunction]
pub(crate) fn scorecard(
    facts: &str,
    plays: Vec<(PyRef<'_, Play>, String)>,
    expected: Option<PyRef<'_, GameSet>>,
    method: &str,
) -> PyResult<String> {
    let facts: Value = serde_json::from_str(facts).map_err(invalid)?;
    let text = |field: &str| facts[field].as_str().map(str::to_owned);
    let tags = facts["tags"].as_array().into_iter().flatten();
    let facts = CardMetadata {
        card_id: text("card_id").unwrap_or_default(),
        source_url: text("source_url"),
        tags: tags
            .filter_map(|tag| tag.as_str().map(str::to_owned))
            .collect(),
        opaque: Some(facts["opaque"].clone()).filter(|opaque| !opaque.is_null()),
        competition: facts["competition_mode"].as_bool().unwrap_or_default(),
    };
    let mut environments: Vec<EnvironmentRuns> = Vec::new();
    for (play, guid) in plays {
        let played = play.runs(&guid);
        match environments
            .iter_mut()
            .find(|environment| environment.info.id == played.info.id)
        {
            Some(environment) => environment.runs.extend(played.runs),
            None => environments.push(played),
        }
    }
    for info in expected.map_or_else(Vec::new, |games| games.infos()) {
        if !environments
            .iter()
            .any(|environment| environment.info.id == info.id)
        {
            environments.push(EnvironmentRuns {
                info,
                runs: Vec::new(),
            });
        }
    }
    let method: Method = method.parse().map_err(invalid)?;
    serde_json::to_string(&rhae_session::scorecard(facts, method, &environments)).map_err(invalid)
}

/// Returns the names of all scoring methods, the default first.
#[pyfunction]
pub(crate) fn methods() -> Vec<&'static str> {
    let others = Method::ALL
        .into_iter()
        .filter(|&method| method != Method::DEFAULT);
    std::iter::once(Method::DEFAULT)
        .chain(others)
        .map(Method::name)
        .collect()
}

/// The replay of a recording.
#[pyclass(frozen, get_all, module = "rhae._native")]
pub(crate) struct Replay {
    /// The play at the end of its recording, or at the first mismatch.
    play: Py<Play>,
    /// The guid that the recording contains.
    guid: Option<String>,
    /// The first entry that does not match, counted from 1.
    mismatch_entry: Option<usize>,
    /// How that entry differs.
    mismatch_reason: Option<String>,
}

/// Replays a recording, given as the text of its file.
#[pyfunction]
pub(crate) fn replay_recording(
    py: Python<'_>,
    text: &str,
    games: GamesRequest,
) -> PyResult<Replay> {
    let recording = Recording::parse(text).map_err(invalid)?;
    let games = games.load()?;
    let replayed = py.detach(|| replay(&games, &recording)).map_err(invalid)?;
    let mismatch = replayed
        .mismatch
        .map(|mismatch| (mismatch.entry + 1, mismatch.reason));
    let (mismatch_entry, mismatch_reason) = mismatch.unzip();
    Ok(Replay {
        play: Py::new(py, Play::new(replayed.play, recording.header.seed))?,
        guid: recording.header.guid,
        mismatch_entry,
        mismatch_reason,
    })
}

/// Returns a PNG file that shows frames side by side.
#[pyfunction]
pub(crate) fn png<'py>(
    py: Python<'py>,
    frames: PyReadonlyArray3<'py, u8>,
    columns: usize,
    zoom: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let &[_, SIZE, SIZE] = frames.shape() else {
        return Err(PyValueError::new_err(format!(
            "frames must have the shape (n, 64, 64), found {:?}",
            frames.shape()
        )));
    };
    let cells: Vec<u8> = frames.as_array().iter().copied().collect();
    if let Some(color) = cells
        .iter()
        .find(|&&color| usize::from(color) >= PALETTE.len())
    {
        return Err(PyValueError::new_err(format!(
            "a cell must be a colour from 0 to 15, found {color}"
        )));
    }
    let whole = |cells: &[u8]| {
        Frame::from_cells(
            cells
                .try_into()
                .expect("chunks have as many cells as a frame"),
        )
    };
    let frames: Vec<Frame> = cells.chunks_exact(CELLS).map(whole).collect();
    let picture = contact_sheet(
        &frames.iter().collect::<Vec<_>>(),
        columns.max(1),
        zoom.clamp(1, 32),
    )
    .map_err(invalid)?;
    Ok(PyBytes::new(py, &picture))
}

/// Returns red, green and blue of the sixteen colours, as an array of shape (16, 3).
#[pyfunction]
pub(crate) fn palette(py: Python<'_>) -> PyResult<Bound<'_, PyArray2<u8>>> {
    let array = PyArray2::zeros(py, [PALETTE.len(), 3], false);
    array
        .try_readwrite()?
        .as_slice_mut()?
        .copy_from_slice(PALETTE.as_flattened());
    Ok(array)
}

/// Returns the score of a completed level by a scoring method, as a fraction.
#[pyfunction]
pub(crate) fn level_score(method: &str, baseline: u32, actions: u32) -> PyResult<f64> {
    let method = method.parse::<Method>().map_err(invalid)?;
    Ok(rhae_scoring::level_score(
        method,
        baseline,
        LevelCount::all_effective(actions),
    ))
}
