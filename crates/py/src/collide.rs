//! Which sprites collide.
//!
//! Invariant: what is asked of a sprite is asked in the official engine's order, so that an unusual sprite is only looked
//! at where the original would have looked at it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::answer;
use crate::classes::{Blocking, COLLIDING, Fields, Interaction, Judge, MEETING, at, items};
use crate::look::Look;

/// What `Sprite.collides_with` gives.
#[pyfunction]
pub(crate) fn collides<'py>(
    one: &Bound<'py, PyAny>,
    two: &Bound<'py, PyAny>,
    ignore_mode: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let collides = || {
        let mut judge = Judge::new(one.py(), MEETING)?;
        let fields = judge.attributes(one)?;
        let mut body = Body::new(&judge, &fields)?;
        let other = judge.attributes(two)?;
        if one.is(two) {
            Some(false)
        } else {
            body.meets(&judge, &judge.read(&other), ignore_mode)
        }
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
        let fields = judge.attributes(one)?;
        let mut body = Body::new(&judge, &fields)?;
        let found = PyList::empty(py);
        for other in items(sprites)? {
            let fields = judge.attributes(&other)?;
            if !one.is(&other) && body.meets(&judge, &judge.read(&fields), ignore_mode)? {
                found.append(other).ok()?;
            }
        }
        Some(found)
    };
    answer(py, collisions())
}

/// A sprite that others are held against.
struct Body<'a, 'py> {
    fields: Fields<'a, 'py>,
    collidable: bool,
    blocking: Blocking,
    x: i64,
    y: i64,
    /// How it looks, once that was asked.
    look: Option<Look<'py>>,
}

impl<'a, 'py> Body<'a, 'py> {
    fn new(judge: &Judge<'py>, attributes: &'a Bound<'py, PyDict>) -> Option<Self> {
        let fields = judge.read(attributes);
        let collidable = is_collidable(judge, &fields)?;
        let blocking = judge.blocking(fields.get(at::BLOCKING)?)?;
        let (x, y) = (fields.number(at::X)?, fields.number(at::Y)?);
        Some(Self {
            fields,
            collidable,
            blocking,
            x,
            y,
            look: None,
        })
    }

    fn meets(
        &mut self,
        judge: &Judge<'py>,
        other: &Fields<'_, 'py>,
        ignore_mode: bool,
    ) -> Option<bool> {
        let blocking = judge.blocking(other.get(at::BLOCKING)?)?;
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
        let (x, y) = (other.number(at::X)?, other.number(at::Y)?);
        let columns = overlap(self.x, look.width, x, theirs.width)?;
        let rows = overlap(self.y, look.height, y, theirs.height)?;
        let (Some((from, their_from, width)), Some((above, their_above, height))) = (columns, rows)
        else {
            return Some(false);
        };
        if self.blocking != Blocking::PixelPerfect && blocking != Blocking::PixelPerfect {
            return Some(true);
        }
        let (mut scratch, mut their_scratch) = (Vec::new(), Vec::new());
        Some((0..height).any(|row| {
            let cells = look.row(above + row, from, width, &mut scratch);
            let their_cells = theirs.row(their_above + row, their_from, width, &mut their_scratch);
            cells
                .iter()
                .zip(their_cells)
                .any(|(&cell, &their_cell)| cell != -1 && their_cell != -1)
        }))
    }
}

/// Where two lengths at two places overlap: the start in either, and how long. Outer `None` if a number is too large.
#[expect(
    clippy::option_option,
    reason = "declining and lying apart are different answers"
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
    // An empty sprite inside another one has no cell, but its rectangle is not outside.
    let span = usize::try_from(stop - start).ok()?;
    Some(Some(((start - one) as usize, (start - two) as usize, span)))
}

fn is_collidable<'py>(judge: &Judge<'py>, fields: &Fields<'_, 'py>) -> Option<bool> {
    let interaction = judge.interaction(fields.get(at::INTERACTION)?)?;
    Some(matches!(
        interaction,
        Interaction::Tangible | Interaction::Invisible
    ))
}
