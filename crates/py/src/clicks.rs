//! The clicks that a game says may matter.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySet, PyTuple, PyType};

use crate::answer;
use crate::classes::{Judge, RENDERING, at};
use crate::find::contains;
use crate::look::Look;
use crate::twin::model;

/// Where `ARCBaseGame._get_valid_clickable_actions` clicks on sprites: on the first cell of each that is drawn, or on every one of
/// those that have the tag `sys_every_pixel`. A cell of the level is a square of `zoom` cells of the frame, where it begins at a place.
#[pyfunction]
pub(crate) fn places<'py>(
    sprites: &Bound<'py, PyAny>,
    zoom: &Bound<'py, PyAny>,
    left: &Bound<'py, PyAny>,
    top: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let places = || {
        // Numbers of NumPy would give numbers of NumPy.
        let whole =
            |value: &Bound<'py, PyAny>| value.cast_exact::<PyInt>().ok()?.extract::<i64>().ok();
        let (zoom, left, top) = (whole(zoom)?, whole(left)?, whole(top)?);
        let every_pixel = pyo3::intern!(py, "sys_every_pixel").as_any();
        let mut judge = Judge::new(py, RENDERING)?;
        let mut places = Vec::new();
        for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
            let attributes = judge.attributes(&sprite)?;
            let fields = judge.read(&attributes);
            let every = contains(&fields.get(at::TAGS)?.to_owned(), every_pixel)?;
            let (x, y) = (
                whole(&fields.get(at::X)?.to_owned())?,
                whole(&fields.get(at::Y)?.to_owned())?,
            );
            let look = Look::read(&fields)?;
            let cells =
                (0..look.height).flat_map(|row| (0..look.width).map(move |column| (column, row)));
            let drawn = cells.filter(|&(column, row)| look.get(column, row) >= 0);
            for (column, row) in drawn.take(if every { usize::MAX } else { 1 }) {
                let shown = |place: i64, cell: usize, start: i64| {
                    place
                        .checked_add(cell as i64)?
                        .checked_mul(zoom)?
                        .checked_add(start)
                };
                places.push((shown(x, column, left)?, shown(y, row, top)?));
            }
        }
        Some(places)
    };
    answer(py, places())
}

/// Clicks at places, which are pairs of numbers: messages of a class, made as pydantic would make them from data that need no check.
#[pyfunction]
pub(crate) fn clicks<'py>(
    class: &Bound<'py, PyType>,
    action: &Bound<'py, PyAny>,
    places: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyList>> {
    let py = class.py();
    let (id, data, reasoning) = (
        pyo3::intern!(py, "id"),
        pyo3::intern!(py, "data"),
        pyo3::intern!(py, "reasoning"),
    );
    let none = py.None().into_bound(py);
    // A copy of a dictionary is made faster than one that grows.
    let pattern = PyDict::new(py);
    for (name, value) in [(id, action), (data, &none), (reasoning, &none)] {
        pattern.set_item(name, value)?;
    }
    let click = |place: Bound<'py, PyAny>| {
        let place = place.cast_into::<PyTuple>()?;
        let cell = PyDict::new(py);
        cell.set_item(pyo3::intern!(py, "x"), place.get_item(0)?)?;
        cell.set_item(pyo3::intern!(py, "y"), place.get_item(1)?)?;
        let values = pattern.copy()?;
        values.set_item(data, cell)?;
        model(class, &values, PySet::new(py, [id, data])?.as_any(), &none)
    };
    PyList::new(py, places.iter().map(click).collect::<PyResult<Vec<_>>>()?)
}
