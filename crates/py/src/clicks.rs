//! The clicks that a game offers as valid actions.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySet, PyTuple, PyType};

use crate::classes::{RENDERING, SpriteReader, slot};
use crate::construct::new_model;
use crate::find::contains;
use crate::or_not_implemented;
use crate::rendered::RenderedSprite;

/// Returns the points of the frame at which `ARCBaseGame._get_valid_clickable_actions` clicks on
/// sprites: the first visible cell of each sprite, or every visible cell if the sprite has the tag
/// `sys_every_pixel`. A cell of the level covers `zoom` × `zoom` cells of the frame; the level
/// starts at column `left` and row `top`.
#[pyfunction]
pub(crate) fn click_points<'py>(
    sprites: &Bound<'py, PyAny>,
    zoom: &Bound<'py, PyAny>,
    left: &Bound<'py, PyAny>,
    top: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let places = || {
        // With NumPy integers, the Python code would return NumPy integers. Decline them.
        let whole =
            |value: &Bound<'py, PyAny>| value.cast_exact::<PyInt>().ok()?.extract::<i64>().ok();
        let (zoom, left, top) = (whole(zoom)?, whole(left)?, whole(top)?);
        let every_pixel = pyo3::intern!(py, "sys_every_pixel").as_any();
        let mut reader = SpriteReader::new(py, RENDERING)?;
        let mut places = Vec::new();
        for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
            let attributes = reader.attributes(&sprite)?;
            let fields = reader.fields(&attributes);
            let every = contains(&fields.get(slot::TAGS)?.to_owned(), every_pixel)?;
            let (x, y) = (
                whole(&fields.get(slot::X)?.to_owned())?,
                whole(&fields.get(slot::Y)?.to_owned())?,
            );
            let rendered = RenderedSprite::read(&fields)?;
            let cells = (0..rendered.height)
                .flat_map(|row| (0..rendered.width).map(move |column| (column, row)));
            let drawn = cells.filter(|&(column, row)| rendered.get(column, row) >= 0);
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
    or_not_implemented(py, places())
}

/// Returns one `ActionInput` (`class`) per point `(x, y)`, with the fields that pydantic would set.
/// The data is not validated.
#[pyfunction]
pub(crate) fn click_inputs<'py>(
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
    // Copying a dictionary is faster than filling a new one.
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
        new_model(class, &values, PySet::new(py, [id, data])?.as_any(), &none)
    };
    PyList::new(py, places.iter().map(click).collect::<PyResult<Vec<_>>>()?)
}
