//! Finding sprites: by tag, by name, by place.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::answer;
use crate::classes::{Blocking, Interaction, Judge, NAMING, PLACING, TAGGING, at};
use crate::look::{Look, Pose};
use crate::pixels::Cells;
use crate::raw::field;

/// What `Level.get_sprites_by_tag` gives.
#[pyfunction]
pub(crate) fn tagged<'py>(
    sprites: &Bound<'py, PyAny>,
    tag: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    answer(sprites.py(), tagged_by(sprites, |tags| contains(tags, tag)))
}

/// What `Level.get_sprites_by_tags` gives for tags that are not none.
#[pyfunction]
pub(crate) fn tagged_all<'py>(
    sprites: &Bound<'py, PyAny>,
    tags: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = || {
        let wanted: Vec<_> = tags.cast_exact::<PyList>().ok()?.iter().collect();
        tagged_by(sprites, |tags| {
            wanted
                .iter()
                .try_fold(true, |all, tag| Some(all && contains(tags, tag)?))
        })
    };
    answer(sprites.py(), found())
}

/// What `Level.get_sprites_by_any_tag` gives.
#[pyfunction]
pub(crate) fn tagged_any<'py>(
    sprites: &Bound<'py, PyAny>,
    tags: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = || {
        let wanted: Vec<_> = tags.cast_exact::<PyList>().ok()?.iter().collect();
        tagged_by(sprites, |tags| {
            wanted
                .iter()
                .try_fold(false, |any, tag| Some(any || contains(tags, tag)?))
        })
    };
    answer(sprites.py(), found())
}

/// What `Level.get_sprites_by_name` gives.
#[pyfunction]
pub(crate) fn named<'py>(
    sprites: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let found = || {
        let mut judge = Judge::new(py, NAMING)?;
        let name = name.cast_exact::<PyString>().ok()?;
        let found = PyList::empty(py);
        for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
            let own = judge
                .attributes(&sprite)?
                .get_item(pyo3::intern!(py, "_name"))
                .ok()??;
            if own.is(name) || own.cast_exact::<PyString>().ok()?.as_any().eq(name).ok()? {
                found.append(sprite).ok()?;
            }
        }
        Some(found)
    };
    answer(py, found())
}

/// What `Level.get_sprite_at` gives for sprites that are sorted from the highest layer down.
#[pyfunction]
pub(crate) fn sprite_at<'py>(
    sprites: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    tag: &Bound<'py, PyAny>,
    ignore_collidable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let found = || {
        let (x, y): (i64, i64) = (x.extract().ok()?, y.extract().ok()?);
        let mut judge = Judge::new(py, PLACING)?;
        for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
            let attributes = judge.attributes(&sprite)?;
            let fields = judge.read(&attributes);
            let interaction = judge.interaction(fields.get(at::INTERACTION)?)?;
            if !ignore_collidable
                && matches!(interaction, Interaction::Intangible | Interaction::Removed)
            {
                continue;
            }
            let column = x.checked_sub(fields.number(at::X)?)?;
            let row = y.checked_sub(fields.number(at::Y)?)?;
            let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row)) else {
                continue;
            };
            let (_, rows, columns) = Cells::read(&fields.get(at::PIXELS)?.to_owned())?;
            let (width, height) = Pose::read(&fields)?.size(rows, columns)?;
            if column >= width || row >= height {
                continue;
            }
            let blocking = judge.blocking(fields.get(at::BLOCKING)?)?;
            if blocking == Blocking::PixelPerfect && Look::read(&fields)?.get(column, row) == -1 {
                continue;
            }
            if tag.is_none() || contains(&fields.get(at::TAGS)?.to_owned(), tag)? {
                return Some(sprite);
            }
        }
        Some(py.None().into_bound(py))
    };
    answer(py, found())
}

fn tagged_by<'py>(
    sprites: &Bound<'py, PyAny>,
    fits: impl Fn(&Bound<'py, PyAny>) -> Option<bool>,
) -> Option<Bound<'py, PyList>> {
    let py = sprites.py();
    let mut judge = Judge::new(py, TAGGING)?;
    let found = PyList::empty(py);
    for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
        let fields = judge.attributes(&sprite)?;
        if fits(&field(&fields, pyo3::intern!(py, "_tags"))?.to_owned())? {
            found.append(sprite).ok()?;
        }
    }
    Some(found)
}

/// Whether a list of strings has a string; anything else is for Python to say.
#[inline]
pub(crate) fn contains<'py>(tags: &Bound<'py, PyAny>, tag: &Bound<'py, PyAny>) -> Option<bool> {
    let tags = tags.cast_exact::<PyList>().ok()?;
    if tags.is_empty() {
        return Some(false);
    }
    tag.cast_exact::<PyString>().ok()?;
    tags.contains(tag).ok()
}
