//! Queries for sprites: by tag, by name, by position.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::classes::{
    Blocking, HIT_TESTING, Interaction, NAME_QUERY, SpriteReader, TAG_QUERY, slot,
};
use crate::or_not_implemented;
use crate::pixels::Cells;
use crate::raw::field;
use crate::rendered::{Pose, RenderedSprite};

/// Implements `Level.get_sprites_by_tag`.
#[pyfunction]
pub(crate) fn sprites_with_tag<'py>(
    sprites: &Bound<'py, PyAny>,
    tag: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    or_not_implemented(sprites.py(), tagged_by(sprites, |tags| contains(tags, tag)))
}

/// Implements `Level.get_sprites_by_tags` for a list of tags that is not empty.
#[pyfunction]
pub(crate) fn sprites_with_all_tags<'py>(
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
    or_not_implemented(sprites.py(), found())
}

/// Implements `Level.get_sprites_by_any_tag`.
#[pyfunction]
pub(crate) fn sprites_with_any_tag<'py>(
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
    or_not_implemented(sprites.py(), found())
}

/// Implements `Level.get_sprites_by_name`.
#[pyfunction]
pub(crate) fn sprites_with_name<'py>(
    sprites: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sprites.py();
    let found = || {
        let mut reader = SpriteReader::new(py, NAME_QUERY)?;
        let name = name.cast_exact::<PyString>().ok()?;
        let found = PyList::empty(py);
        for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
            let own = reader
                .attributes(&sprite)?
                .get_item(pyo3::intern!(py, "_name"))
                .ok()??;
            if own.is(name) || own.cast_exact::<PyString>().ok()?.as_any().eq(name).ok()? {
                found.append(sprite).ok()?;
            }
        }
        Some(found)
    };
    or_not_implemented(py, found())
}

/// Implements `Level.get_sprite_at`. `sprites` must be sorted from the highest layer to the lowest.
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
        let mut reader = SpriteReader::new(py, HIT_TESTING)?;
        for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
            let attributes = reader.attributes(&sprite)?;
            let fields = reader.fields(&attributes);
            let interaction = reader.interaction(fields.get(slot::INTERACTION)?)?;
            if !ignore_collidable
                && matches!(interaction, Interaction::Intangible | Interaction::Removed)
            {
                continue;
            }
            let column = x.checked_sub(fields.number(slot::X)?)?;
            let row = y.checked_sub(fields.number(slot::Y)?)?;
            let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row)) else {
                continue;
            };
            let (_, rows, columns) = Cells::read(&fields.get(slot::PIXELS)?.to_owned())?;
            let (width, height) = Pose::read(&fields)?.size(rows, columns)?;
            if column >= width || row >= height {
                continue;
            }
            let blocking = reader.blocking(fields.get(slot::BLOCKING)?)?;
            if blocking == Blocking::PixelPerfect
                && RenderedSprite::read(&fields)?.get(column, row) == -1
            {
                continue;
            }
            if tag.is_none() || contains(&fields.get(slot::TAGS)?.to_owned(), tag)? {
                return Some(sprite);
            }
        }
        Some(py.None().into_bound(py))
    };
    or_not_implemented(py, found())
}

fn tagged_by<'py>(
    sprites: &Bound<'py, PyAny>,
    fits: impl Fn(&Bound<'py, PyAny>) -> Option<bool>,
) -> Option<Bound<'py, PyList>> {
    let py = sprites.py();
    let mut reader = SpriteReader::new(py, TAG_QUERY)?;
    let found = PyList::empty(py);
    for sprite in sprites.cast_exact::<PyList>().ok()?.iter() {
        let fields = reader.attributes(&sprite)?;
        if fits(&field(&fields, pyo3::intern!(py, "_tags"))?.to_owned())? {
            found.append(sprite).ok()?;
        }
    }
    Some(found)
}

/// Returns whether a list of tags contains a tag. Declines lists of another type and tags that are
/// not strings.
#[inline]
pub(crate) fn contains<'py>(tags: &Bound<'py, PyAny>, tag: &Bound<'py, PyAny>) -> Option<bool> {
    let tags = tags.cast_exact::<PyList>().ok()?;
    if tags.is_empty() {
        return Some(false);
    }
    tag.cast_exact::<PyString>().ok()?;
    tags.contains(tag).ok()
}
