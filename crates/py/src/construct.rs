//! Creates Python objects without running their constructors: clones of sprites, and pydantic
//! models.
//!
//! **Invariant:** a sprite is cloned here only if the constructor would store every attribute
//! unchanged. The kernel declines whatever the constructor would convert or reject.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};

use crate::classes::{CLONING, Fields, SpriteReader, slot};
use crate::or_not_implemented;
use crate::pixels::Cells;
use crate::raw::{int8_array, new_instance, new_int8_array, set_attribute};

/// Returns clones of all sprites of a list. `build` creates a sprite from its attributes, in the
/// order of [`slot`].
#[pyfunction]
pub(crate) fn clone_sprites<'py>(
    sprites: &Bound<'py, PyAny>,
    build: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let Some(attributes) = attributes_of_clones(sprites) else {
        return or_not_implemented(py, None::<bool>);
    };
    let clones = attributes
        .into_iter()
        .map(|attributes| build.call1(PyTuple::new(py, attributes)?));
    Ok(PyList::new(py, clones.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// Returns the attributes of the clones. Has no effect if it declines.
fn attributes_of_clones<'py>(sprites: &Bound<'py, PyAny>) -> Option<Vec<[Bound<'py, PyAny>; 12]>> {
    let mut reader = SpriteReader::new(sprites.py(), CLONING)?;
    let list = sprites.cast_exact::<PyList>().ok()?;
    let mut all = Vec::with_capacity(list.len());
    for sprite in list.iter() {
        let attributes = reader.attributes(&sprite)?;
        all.push(clone_attributes(&reader.fields(&attributes))?);
    }
    Some(all)
}

fn clone_attributes<'py>(fields: &Fields<'_, 'py>) -> Option<[Bound<'py, PyAny>; 12]> {
    let whole = |place| {
        Some(fields.get(place)?.to_owned()).filter(|value| value.is_exact_instance_of::<PyInt>())
    };
    let any = |place| Some(fields.get(place)?.to_owned());
    let pixels = any(slot::PIXELS)?;
    int8_array(&pixels)?;
    let (cells, rows, columns) = Cells::read(&pixels)?;
    let upright = matches!(fields.number(slot::ROTATION)?, 0 | 90 | 180 | 270);
    let interaction = any(slot::INTERACTION).filter(|mode| !mode.is_none())?;
    let name = any(slot::NAME).filter(|name| name.is_exact_instance_of::<PyString>())?;
    if rows == 0 || !upright || fields.number(slot::SCALE)? < 1 {
        return None;
    }
    let tags = fields.get(slot::TAGS)?;
    let tags = tags.cast_exact::<PyList>().ok()?;
    let tags = tags.get_slice(0, tags.len()).into_any();
    Some([
        new_int8_array(pixels.py(), rows, columns, cells.get())?.into_any(),
        name,
        whole(slot::X)?,
        whole(slot::Y)?,
        whole(slot::LAYER)?,
        whole(slot::ROTATION)?,
        any(slot::MIRROR_UD)?,
        any(slot::MIRROR_LR)?,
        any(slot::BLOCKING)?,
        whole(slot::SCALE)?,
        interaction,
        tags,
    ])
}

/// Returns the result of an action as a model of `class` (`FrameDataRaw`), equal to the one that
/// its constructor and setters create. `given` is the set of fields that count as set explicitly.
/// The constructor takes ten times as long.
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
    new_model(
        class,
        &values,
        given.call_method0(pyo3::intern!(py, "copy"))?.as_any(),
        &private,
    )
}

/// Creates an instance of the pydantic model `class` without validation. `values` are its fields,
/// `given` the names of the fields that count as set explicitly, `private` its private attributes.
#[pyfunction]
pub(crate) fn new_model<'py>(
    class: &Bound<'py, PyType>,
    values: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
    private: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let model = new_instance(class)?;
    set_attribute(&model, pyo3::intern!(py, "__dict__"), values)?;
    set_attribute(&model, pyo3::intern!(py, "__pydantic_fields_set__"), given)?;
    set_attribute(
        &model,
        pyo3::intern!(py, "__pydantic_extra__"),
        &py.None().into_bound(py),
    )?;
    set_attribute(&model, pyo3::intern!(py, "__pydantic_private__"), private)?;
    Ok(model)
}
