//! Collision tests between sprites.
//!
//! **Invariant:** the attributes of sprites are read in the order of the official engine. An
//! unusual attribute makes the kernel decline only if the official engine would have read it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::classes::{
    Blocking, COLLISION_LIST, COLLISION_PAIR, Fields, Interaction, SpriteReader, items, slot,
};
use crate::or_not_implemented;
use crate::rendered::RenderedSprite;

/// Implements `Sprite.collides_with`.
#[pyfunction]
pub(crate) fn collides<'py>(
    one: &Bound<'py, PyAny>,
    two: &Bound<'py, PyAny>,
    ignore_mode: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let collides = || {
        let mut reader = SpriteReader::new(one.py(), COLLISION_PAIR)?;
        let fields = reader.attributes(one)?;
        let mut collider = Collider::new(&reader, &fields)?;
        let other = reader.attributes(two)?;
        if one.is(two) {
            Some(false)
        } else {
            collider.collides(&reader, &reader.fields(&other), ignore_mode)
        }
    };
    or_not_implemented(one.py(), collides())
}

/// Returns the sprites of a list or tuple with which `one` collides.
#[pyfunction]
pub(crate) fn collisions<'py>(
    one: &Bound<'py, PyAny>,
    sprites: &Bound<'py, PyAny>,
    ignore_mode: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = one.py();
    let collisions = || {
        let mut reader = SpriteReader::new(py, COLLISION_LIST)?;
        let fields = reader.attributes(one)?;
        let mut collider = Collider::new(&reader, &fields)?;
        let found = PyList::empty(py);
        for other in items(sprites)? {
            let fields = reader.attributes(&other)?;
            if !one.is(&other)
                && collider.collides(&reader, &reader.fields(&fields), ignore_mode)?
            {
                found.append(other).ok()?;
            }
        }
        Some(found)
    };
    or_not_implemented(py, collisions())
}

/// A sprite that is tested against others.
struct Collider<'a, 'py> {
    fields: Fields<'a, 'py>,
    collidable: bool,
    blocking: Blocking,
    x: i64,
    y: i64,
    /// The rendered cells. Read when the first test needs them.
    rendered: Option<RenderedSprite<'py>>,
}

impl<'a, 'py> Collider<'a, 'py> {
    fn new(reader: &SpriteReader<'py>, attributes: &'a Bound<'py, PyDict>) -> Option<Self> {
        let fields = reader.fields(attributes);
        let collidable = is_collidable(reader, &fields)?;
        let blocking = reader.blocking(fields.get(slot::BLOCKING)?)?;
        let (x, y) = (fields.number(slot::X)?, fields.number(slot::Y)?);
        Some(Self {
            fields,
            collidable,
            blocking,
            x,
            y,
            rendered: None,
        })
    }

    fn collides(
        &mut self,
        reader: &SpriteReader<'py>,
        other: &Fields<'_, 'py>,
        ignore_mode: bool,
    ) -> Option<bool> {
        let blocking = reader.blocking(other.get(slot::BLOCKING)?)?;
        if !ignore_mode {
            if !self.collidable || !is_collidable(reader, other)? {
                return Some(false);
            }
            if self.blocking == Blocking::NotBlocked || blocking == Blocking::NotBlocked {
                return Some(false);
            }
        }
        let rendered = match &mut self.rendered {
            Some(rendered) => rendered,
            empty => empty.insert(RenderedSprite::read(&self.fields)?),
        };
        let theirs = RenderedSprite::read(other)?;
        let (x, y) = (other.number(slot::X)?, other.number(slot::Y)?);
        let columns = overlap(self.x, rendered.width, x, theirs.width)?;
        let rows = overlap(self.y, rendered.height, y, theirs.height)?;
        let (Some((from, their_from, width)), Some((above, their_above, height))) = (columns, rows)
        else {
            return Some(false);
        };
        if self.blocking != Blocking::PixelPerfect && blocking != Blocking::PixelPerfect {
            return Some(true);
        }
        let (mut scratch, mut their_scratch) = (Vec::new(), Vec::new());
        Some((0..height).any(|row| {
            let cells = rendered.row(above + row, from, width, &mut scratch);
            let their_cells = theirs.row(their_above + row, their_from, width, &mut their_scratch);
            cells
                .iter()
                .zip(their_cells)
                .any(|(&cell, &their_cell)| cell != -1 && their_cell != -1)
        }))
    }
}

/// Returns the overlap of two intervals that start at `one` and `two`: its offset in each interval
/// and its length, or `Some(None)` if they do not overlap. Returns `None` if a number overflows.
#[expect(
    clippy::option_option,
    reason = "declining differs from finding no overlap"
)]
fn overlap(
    one: i64,
    length: usize,
    two: i64,
    other_length: usize,
) -> Option<Option<(usize, usize, usize)>> {
    let (end, other_end) = (
        one.checked_add(length as i64)?,
        two.checked_add(other_length as i64)?,
    );
    if one >= other_end || end <= two {
        return Some(None);
    }
    let (start, stop) = (one.max(two), end.min(other_end));
    // An empty sprite within another one overlaps it with length 0, as in the official engine.
    let span = usize::try_from(stop - start).ok()?;
    Some(Some(((start - one) as usize, (start - two) as usize, span)))
}

fn is_collidable<'py>(reader: &SpriteReader<'py>, fields: &Fields<'_, 'py>) -> Option<bool> {
    let interaction = reader.interaction(fields.get(slot::INTERACTION)?)?;
    Some(matches!(
        interaction,
        Interaction::Tangible | Interaction::Invisible
    ))
}
