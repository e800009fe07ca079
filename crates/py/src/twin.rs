//! Objects made without their constructors: plain sprites as `Sprite.clone` makes them, and messages.
//!
//! Invariant: a sprite is copied here only if the constructor would take every attribute as it is; whatever it would check,
//! convert or refuse is declined.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};

use crate::answer;
use crate::classes::{CLONING, Fields, Judge, at};
use crate::pixels::Cells;
use crate::raw::{array, blank, bytes, set};

/// Copies of all sprites of a list; `build` makes a sprite from its attributes in their order.
#[pyfunction]
pub(crate) fn twins<'py>(
    sprites: &Bound<'py, PyAny>,
    build: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let Some(parts) = parts(sprites) else {
        return answer(py, None::<bool>);
    };
    let twins = parts
        .into_iter()
        .map(|parts| build.call1(PyTuple::new(py, parts)?));
    Ok(PyList::new(py, twins.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// The attributes of the copies. Nothing has happened if this declines.
fn parts<'py>(sprites: &Bound<'py, PyAny>) -> Option<Vec<[Bound<'py, PyAny>; 12]>> {
    let mut judge = Judge::new(sprites.py(), CLONING)?;
    let list = sprites.cast_exact::<PyList>().ok()?;
    let mut all = Vec::with_capacity(list.len());
    for sprite in list.iter() {
        let attributes = judge.attributes(&sprite)?;
        all.push(twin(&judge.read(&attributes))?);
    }
    Some(all)
}

fn twin<'py>(fields: &Fields<'_, 'py>) -> Option<[Bound<'py, PyAny>; 12]> {
    let whole = |place| {
        Some(fields.get(place)?.to_owned()).filter(|value| value.is_exact_instance_of::<PyInt>())
    };
    let any = |place| Some(fields.get(place)?.to_owned());
    let pixels = any(at::PIXELS)?;
    bytes(&pixels)?;
    let (cells, rows, columns) = Cells::read(&pixels)?;
    let upright = matches!(fields.number(at::ROTATION)?, 0 | 90 | 180 | 270);
    let interaction = any(at::INTERACTION).filter(|mode| !mode.is_none())?;
    let name = any(at::NAME).filter(|name| name.is_exact_instance_of::<PyString>())?;
    if rows == 0 || !upright || fields.number(at::SCALE)? < 1 {
        return None;
    }
    let tags = fields.get(at::TAGS)?;
    let tags = tags.cast_exact::<PyList>().ok()?;
    let tags = tags.get_slice(0, tags.len()).into_any();
    Some([
        array(pixels.py(), rows, columns, cells.get())?.into_any(),
        name,
        whole(at::X)?,
        whole(at::Y)?,
        whole(at::LAYER)?,
        whole(at::ROTATION)?,
        any(at::MIRROR_UD)?,
        any(at::MIRROR_LR)?,
        any(at::BLOCKING)?,
        whole(at::SCALE)?,
        interaction,
        tags,
    ])
}

/// What an action of a game led to: a message of a class as its constructor and setters would leave it, which check nothing and take
/// ten times as long.
#[pyfunction]
pub(crate) fn frame_data<'py>(
    class: &Bound<'py, PyType>,
    given: &Bound<'py, PyAny>,
    game: &Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
    frames: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let values = PyDict::new(py);
    values.set_item(
        pyo3::intern!(py, "game_id"),
        game.getattr(pyo3::intern!(py, "_game_id"))?,
    )?;
    values.set_item(
        pyo3::intern!(py, "state"),
        game.getattr(pyo3::intern!(py, "_state"))?,
    )?;
    values.set_item(
        pyo3::intern!(py, "levels_completed"),
        game.getattr(pyo3::intern!(py, "_score"))?,
    )?;
    values.set_item(
        pyo3::intern!(py, "win_levels"),
        game.getattr(pyo3::intern!(py, "_win_score"))?,
    )?;
    values.set_item(pyo3::intern!(py, "action_input"), action)?;
    values.set_item(pyo3::intern!(py, "guid"), py.None())?;
    values.set_item(
        pyo3::intern!(py, "full_reset"),
        game.getattr(pyo3::intern!(py, "_full_reset"))?,
    )?;
    values.set_item(
        pyo3::intern!(py, "available_actions"),
        game.getattr(pyo3::intern!(py, "_available_actions"))?,
    )?;
    let private = PyDict::new(py);
    private.set_item(pyo3::intern!(py, "_frame"), frames)?;
    model(
        class,
        &values,
        given.call_method0(pyo3::intern!(py, "copy"))?.as_any(),
        &private,
    )
}

/// An object of a pydantic model with these values, of which those were given and not left out; nothing is checked.
#[pyfunction]
pub(crate) fn model<'py>(
    class: &Bound<'py, PyType>,
    values: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
    private: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let model = blank(class)?;
    set(&model, pyo3::intern!(py, "__dict__"), values)?;
    set(&model, pyo3::intern!(py, "__pydantic_fields_set__"), given)?;
    set(
        &model,
        pyo3::intern!(py, "__pydantic_extra__"),
        &py.None().into_bound(py),
    )?;
    set(&model, pyo3::intern!(py, "__pydantic_private__"), private)?;
    Ok(model)
}
