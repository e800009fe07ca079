//! Which sprites collide.
//!
//! Invariant: what is asked of a sprite is asked in the official engine's order, so that an unusual sprite is only looked
//! at where the original would have looked at it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answer;
use crate::classes::{Blocking, COLLIDING, Interaction, Judge, MEETING, items};
use crate::look::Look;
use crate::raw::{field, number};

/// What `Sprite.collides_with` gives.
#[pyfunction]
pub(crate) fn collides<'py>(one: &Bound<'py, PyAny>, two: &Bound<'py, PyAny>, ignore_mode: bool) -> PyResult<Bound<'py, PyAny>> {
    let collides = || {
        let mut judge = Judge::new(one.py(), MEETING)?;
        let fields = judge.fields(one)?;
        let mut body = Body::new(&judge, fields)?;
        let other = judge.fields(two)?;
        if one.is(two) { Some(false) } else { body.meets(&judge, &other, ignore_mode) }
    };
    answer(one.py(), collides())
}

/// The sprites of a list with which a sprite collides.
#[pyfunction]
pub(crate) fn collisions<'py>(
    one: &Bound<'py, PyAny>,
    sprites: &Bound<'py, PyAny>,
    ignore_mode: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = one.py();
    let collisions = || {
        let mut judge = Judge::new(py, COLLIDING)?;
        let fields = judge.fields(one)?;
        let mut body = Body::new(&judge, fields)?;
        let found = PyList::empty(py);
        for other in items(sprites)? {
            let fields = judge.fields(&other)?;
            if !one.is(&other) && body.meets(&judge, &fields, ignore_mode)? {
                found.append(other).ok()?;
            }
        }
        Some(found)
    };
    answer(py, collisions())
}

/// A sprite that others are held against.
struct Body<'py> {
    fields: Bound<'py, PyDict>,
    collidable: bool,
    blocking: Blocking,
    x: i64,
    y: i64,
    /// How it looks, once that was asked.
    look: Option<Look<'py>>,
}

impl<'py> Body<'py> {
    fn new(judge: &Judge<'py>, fields: Bound<'py, PyDict>) -> Option<Self> {
        let py = fields.py();
        let collidable = is_collidable(judge, &fields)?;
        let blocking = judge.blocking(field(&fields, pyo3::intern!(py, "_blocking"))?)?;
        let (x, y) = place(&fields)?;
        Some(Self { fields, collidable, blocking, x, y, look: None })
    }

    fn meets(&mut self, judge: &Judge<'py>, other: &Bound<'py, PyDict>, ignore_mode: bool) -> Option<bool> {
        let blocking = judge.blocking(field(other, pyo3::intern!(other.py(), "_blocking"))?)?;
        if !ignore_mode {
            if !self.collidable || !is_collidable(judge, other)? {
                return Some(false);
            }
            if self.blocking == Blocking::NotBlocked || blocking == Blocking::NotBlocked {
                return Some(false);
            }
        }
        let look = match &mut self.look {
            Some(look) => look,
            empty => empty.insert(Look::read(&self.fields)?),
        };
        let theirs = Look::read(other)?;
        let (x, y) = place(other)?;
        let columns = overlap(self.x, look.width, x, theirs.width)?;
        let rows = overlap(self.y, look.height, y, theirs.height)?;
        let (Some((from, their_from, width)), Some((above, their_above, height))) = (columns, rows) else {
            return Some(false);
        };
        if self.blocking != Blocking::PixelPerfect && blocking != Blocking::PixelPerfect {
            return Some(true);
        }
        let (mut scratch, mut their_scratch) = (Vec::new(), Vec::new());
        Some((0..height).any(|row| {
            let cells = look.row(above + row, from, width, &mut scratch);
            let their_cells = theirs.row(their_above + row, their_from, width, &mut their_scratch);
            cells.iter().zip(their_cells).any(|(&cell, &their_cell)| cell != -1 && their_cell != -1)
        }))
    }
}

/// Where two lengths at two places overlap: the start in either, and how long. Outer `None` if a number is too large.
#[expect(clippy::option_option, reason = "declining and lying apart are different answers")]
fn overlap(one: i64, length: usize, two: i64, other_length: usize) -> Option<Option<(usize, usize, usize)>> {
    let (end, other_end) = (one.checked_add(length as i64)?, two.checked_add(other_length as i64)?);
    if one >= other_end || end <= two {
        return Some(None);
    }
    let (start, stop) = (one.max(two), end.min(other_end));
    // An empty sprite inside another one has no cell, but its rectangle is not outside.
    let span = usize::try_from(stop - start).ok()?;
    Some(Some(((start - one) as usize, (start - two) as usize, span)))
}

fn is_collidable<'py>(judge: &Judge<'py>, fields: &Bound<'py, PyDict>) -> Option<bool> {
    let interaction = judge.interaction(field(fields, pyo3::intern!(fields.py(), "_interaction"))?)?;
    Some(matches!(interaction, Interaction::Tangible | Interaction::Invisible))
}

fn place(fields: &Bound<'_, PyDict>) -> Option<(i64, i64)> {
    let py = fields.py();
    Some((number(fields, pyo3::intern!(py, "_x"))?, number(fields, pyo3::intern!(py, "_y"))?))
}
