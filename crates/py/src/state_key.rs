//! The functions with which `rhae._expansion` identifies states and chooses cells to click. They are
//! those of the engine, so that a search inside a game's process gives the same graph as one that
//! applies the actions one by one.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rhae_engine::{CELLS, Frame, PlayState};

/// Returns the key of a state as 16 bytes. `cells` is the settled frame, `state` the status of the
/// play as in the hosting protocol, and `hidden` the key of the hidden state, if it is known.
#[pyfunction]
pub(crate) fn state_key<'py>(
    py: Python<'py>,
    cells: &[u8],
    levels_completed: u8,
    state: u8,
    hidden: Option<&[u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = match state {
        0 => PlayState::NotFinished,
        1 => PlayState::Win,
        2 => PlayState::GameOver,
        _ => return Err(PyValueError::new_err("unknown state of a play")),
    };
    let hidden = hidden
        .map(|hidden| <[u8; 16]>::try_from(hidden).map(u128::from_le_bytes))
        .transpose()
        .map_err(|_| PyValueError::new_err("a hidden key must have 16 bytes"))?;
    let key = rhae_engine::observation_key(frame_cells(cells)?, levels_completed, state, hidden);
    Ok(PyBytes::new(py, &key.to_le_bytes()))
}

/// Returns one cell `(x, y)` for each of the given cells of sprites and for each other connected
/// component of a frame.
#[pyfunction]
pub(crate) fn representative_clicks(
    cells: &[u8],
    sprites: Vec<(u8, u8)>,
) -> PyResult<Vec<(u8, u8)>> {
    let frame = Frame::from_cells(*frame_cells(cells)?);
    Ok(rhae_engine::representative_clicks(&frame, &sprites))
}

fn frame_cells(cells: &[u8]) -> PyResult<&[u8; CELLS]> {
    cells
        .try_into()
        .map_err(|_| PyValueError::new_err("a frame must have 4,096 cells"))
}
