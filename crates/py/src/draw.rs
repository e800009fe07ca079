//! Drawing: one sprite as an array, a camera's view, a whole frame, a sprite on a display.
//!
//! Invariant: sprites are drawn from the lowest layer up and within a layer in their order; cells below 0 are not drawn.

use numpy::{PyArrayMethods, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyTuple};
use rhae_engine::{Camera, Frame, SIZE};

use crate::answer;
use crate::classes::{
    DRAWING, Interaction, Judge, RENDERING, SWITCHING, at, items, reads_plainly, renders_plainly,
};
use crate::look::{Look, Pose};
use crate::pixels::Cells;
use crate::raw::{array, attributes, bytes, field, number, signed};

/// The array that `Sprite.render` gives, if the sprite's cells are bytes.
#[pyfunction]
pub(crate) fn rendered<'py>(sprite: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let look = || {
        let mut judge = Judge::new(sprite.py(), &[])?;
        let attributes = judge.attributes(sprite)?;
        let fields = judge.read(&attributes);
        // Arrays of wider numbers keep their type, which is for NumPy to do.
        bytes(&fields.get(at::PIXELS)?.to_owned())?;
        let look = Look::read(&fields)?;
        let mut cells = Vec::with_capacity(look.width.checked_mul(look.height)?);
        let mut scratch = Vec::new();
        for row in 0..look.height {
            cells.extend_from_slice(look.row(row, 0, look.width, &mut scratch));
        }
        array(sprite.py(), look.height, look.width, &cells)
    };
    answer(sprite.py(), look())
}

/// What `Sprite.color_remap` makes of an array of bytes in row order, for colours that are an `int` each.
#[pyfunction]
pub(crate) fn remapped<'py>(
    pixels: &Bound<'py, PyAny>,
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let remap = || {
        let shape = bytes(pixels)
            .filter(|cells| cells.is_c_contiguous())?
            .shape();
        let (cells, new) = (Cells::read(pixels)?.0, byte(new)?);
        let old = if old.is_none() {
            None
        } else {
            Some(old.cast_exact::<PyInt>().ok()?.extract::<i64>().ok()?)
        };
        let replaced = |cell: i8| old.map_or(cell >= 0, |old| i64::from(cell) == old);
        let cells: Vec<i8> = cells
            .get()
            .iter()
            .map(|&cell| if replaced(cell) { new } else { cell })
            .collect();
        array(pixels.py(), shape[0], shape[1], &cells)
    };
    answer(pixels.py(), remap())
}

/// The columns and rows that `Sprite.render` of a plain sprite would have.
#[pyfunction]
pub(crate) fn size<'py>(sprite: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = sprite.py();
    let size = || {
        let mut judge = Judge::new(py, RENDERING)?;
        let attributes = judge.attributes(sprite)?;
        let fields = judge.read(&attributes);
        let (_, rows, columns) = Cells::read(&fields.get(at::PIXELS)?.to_owned())?;
        Pose::read(&fields)?.size(rows, columns)
    };
    answer(py, size())
}

/// What `Camera._raw_render` gives.
#[pyfunction]
pub(crate) fn view<'py>(
    camera: &Bound<'py, PyAny>,
    sprites: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = camera.py();
    let view = || {
        if !reads_plainly(camera) {
            return None;
        }
        let window = Window::read(&attributes(camera)?)?;
        let mut frame = Frame::filled(0);
        window.draw(py, sprites, &mut frame)?;
        let mut cells = Vec::with_capacity(window.width * window.height);
        for row in frame.rows().take(window.height) {
            cells.extend_from_slice(signed(&row[..window.width]));
        }
        array(py, window.height, window.width, &cells)
    };
    answer(py, view())
}

/// What `Camera.render` gives before the interfaces.
#[pyfunction]
pub(crate) fn frame<'py>(
    camera: &Bound<'py, PyAny>,
    sprites: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = camera.py();
    let frame = || {
        let fields = attributes(camera)?;
        if !renders_plainly(camera, &fields) {
            return None;
        }
        let window = Window::read(&fields)?;
        let letter_box = byte(&fields.get_item(pyo3::intern!(py, "_letter_box")).ok()??)?;
        let camera = Camera::new(window.width, window.height)
            .ok()?
            .colored(window.background, letter_box);
        let mut frame = Frame::filled(0);
        window.draw(py, sprites, &mut frame)?;
        camera.spread(&mut frame);
        array(py, SIZE, SIZE, signed(frame.cells()))
    };
    answer(py, frame())
}

/// Draws a sprite on a display as `RenderableUserDisplay.draw_sprite` does; gives the display back.
#[pyfunction]
pub(crate) fn draw_sprite<'py>(
    display: &Bound<'py, PyAny>,
    sprite: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = display.py();
    let draw = || {
        let mut judge = Judge::new(py, RENDERING)?;
        let attributes = judge.attributes(sprite)?;
        let look = Look::read(&judge.read(&attributes))?;
        let (x, y): (i64, i64) = (x.extract().ok()?, y.extract().ok()?);
        let mut target = screen(display, [&look])?;
        blit(
            &look,
            target.as_slice_mut().ok()?,
            SIZE,
            (x, y),
            (SIZE, SIZE),
        );
        Some(display.clone())
    };
    answer(py, draw())
}

/// Draws the sprites of pairs that are not removed, each at its own place, as `ToggleableUserDisplay.render_interface` does;
/// gives the display back.
#[pyfunction]
pub(crate) fn draw_pairs<'py>(
    display: &Bound<'py, PyAny>,
    pairs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = display.py();
    let draw = || {
        let mut judge = Judge::new(py, SWITCHING)?;
        let mut looks = Vec::new();
        for pair in pairs.cast_exact::<PyList>().ok()?.iter() {
            for sprite in pair.cast_exact::<PyTuple>().ok()?.iter() {
                let attributes = judge.attributes(&sprite)?;
                let fields = judge.read(&attributes);
                if judge.interaction(fields.get(at::INTERACTION)?)? != Interaction::Removed {
                    looks.push((
                        Look::read(&fields)?,
                        fields.number(at::X)?,
                        fields.number(at::Y)?,
                    ));
                }
            }
        }
        let mut target = screen(display, looks.iter().map(|(look, ..)| look))?;
        let cells = target.as_slice_mut().ok()?;
        for (look, x, y) in &looks {
            blit(look, cells, SIZE, (*x, *y), (SIZE, SIZE));
        }
        Some(display.clone())
    };
    answer(py, draw())
}

/// A display's cells, if they are those of a whole frame in row order that may be written to, and none of these sprites has its
/// cells in the same memory, where drawing would change what is still to be drawn.
fn screen<'a, 'py: 'a>(
    display: &Bound<'py, PyAny>,
    looks: impl IntoIterator<Item = &'a Look<'py>>,
) -> Option<PyReadwriteArray2<'py, i8>> {
    let cells = bytes(display)?;
    if cells.shape() != [SIZE, SIZE] || !cells.is_c_contiguous() {
        return None;
    }
    let first = cells.data().cast_const();
    let memory = first..first.wrapping_add(SIZE * SIZE);
    let lies_apart = |look: &Look<'_>| {
        let own = look.memory();
        own.end <= memory.start || memory.end <= own.start
    };
    if looks.into_iter().all(lies_apart) {
        cells.try_readwrite().ok()
    } else {
        None
    }
}

/// Draws one plain sprite onto a camera's view, which begins at a place of the level; gives whether it did.
#[pyfunction]
pub(crate) fn stamp(
    view: &Bound<'_, PyAny>,
    sprite: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
) -> bool {
    let draw = || {
        let py = sprite.py();
        // Before the sprite is read, because a number may be of a class that runs Python code.
        let (x, y): (i64, i64) = (x.extract().ok()?, y.extract().ok()?);
        let mut judge = Judge::new(py, DRAWING)?;
        let attributes = judge.attributes(sprite)?;
        let fields = judge.read(&attributes);
        let look = Look::read(&fields)?;
        let x = fields.number(at::X)?.checked_sub(x)?;
        let y = fields.number(at::Y)?.checked_sub(y)?;
        let target = bytes(view)?;
        let &[height, width] = target.shape() else {
            return None;
        };
        let mut target = target.try_readwrite().ok()?;
        blit(
            &look,
            target.as_slice_mut().ok()?,
            width,
            (x, y),
            (width, height),
        );
        Some(())
    };
    draw().is_some()
}

/// A frame of the letter-box's colour with a view on it, each cell as a square of `zoom` cells, its upper left corner at a place.
#[pyfunction]
pub(crate) fn enlarged<'py>(
    letter_box: &Bound<'py, PyAny>,
    view: &Bound<'py, PyAny>,
    zoom: &Bound<'py, PyAny>,
    left: &Bound<'py, PyAny>,
    top: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let frame = || {
        let whole =
            |value: &Bound<'py, PyAny>| value.cast_exact::<PyInt>().ok()?.extract::<usize>().ok();
        let (zoom, left, top) = (
            whole(zoom).filter(|&zoom| zoom > 0)?,
            whole(left)?,
            whole(top)?,
        );
        let (cells, rows, columns) = Cells::read(bytes(view)?)?;
        let fits = |start: usize, length: usize| {
            start
                .checked_add(length.checked_mul(zoom)?)
                .filter(|&end| end <= SIZE)
        };
        let right = fits(left, columns)?;
        fits(top, rows)?;
        let mut frame = [byte(letter_box)?; SIZE * SIZE];
        for (row, cells) in cells.get().chunks_exact(columns.max(1)).enumerate() {
            let first = (top + row * zoom) * SIZE;
            for (square, &cell) in frame[first + left..first + right]
                .chunks_exact_mut(zoom)
                .zip(cells)
            {
                square.fill(cell);
            }
            for copy in 1..zoom {
                frame.copy_within(first + left..first + right, first + copy * SIZE + left);
            }
        }
        array(view.py(), SIZE, SIZE, &frame)
    };
    answer(view.py(), frame())
}

/// The part of a level that a camera sees.
struct Window {
    x: i64,
    y: i64,
    width: usize,
    height: usize,
    background: i8,
}

impl Window {
    /// The window of a camera that keeps its numbers in these attributes.
    fn read(fields: &Bound<'_, PyDict>) -> Option<Self> {
        let py = fields.py();
        let number = |name| number(field(fields, name)?);
        let side = |name| {
            usize::try_from(number(name)?)
                .ok()
                .filter(|side| (1..=SIZE).contains(side))
        };
        Some(Self {
            x: number(pyo3::intern!(py, "_x"))?,
            y: number(pyo3::intern!(py, "_y"))?,
            width: side(pyo3::intern!(py, "_width"))?,
            height: side(pyo3::intern!(py, "_height"))?,
            background: byte(&fields.get_item(pyo3::intern!(py, "_background")).ok()??)?,
        })
    }

    /// Draws the visible sprites into the upper left corner.
    fn draw<'py>(
        &self,
        py: Python<'py>,
        sprites: &Bound<'py, PyAny>,
        frame: &mut Frame,
    ) -> Option<()> {
        frame.rect(
            0,
            0,
            self.width,
            self.height,
            self.background.cast_unsigned(),
        );
        let mut judge = Judge::new(py, DRAWING)?;
        let sprites = items(sprites)?;
        let mut looks = Vec::with_capacity(sprites.len());
        let mut order = Vec::with_capacity(sprites.len());
        for sprite in &sprites {
            let attributes = judge.attributes(sprite)?;
            let fields = judge.read(&attributes);
            let interaction = judge.interaction(fields.get(at::INTERACTION)?)?;
            if matches!(interaction, Interaction::Invisible | Interaction::Removed) {
                continue;
            }
            let x = fields.number(at::X)?.checked_sub(self.x)?;
            let y = fields.number(at::Y)?.checked_sub(self.y)?;
            order.push((fields.number(at::LAYER)?, looks.len()));
            looks.push((Look::read(&fields)?, x, y));
        }
        order.sort_unstable();
        let cells = frame.cells_mut().as_mut_slice();
        for (_, index) in order {
            let (look, x, y) = &looks[index];
            blit(look, cells, SIZE, (*x, *y), (self.width, self.height));
        }
        Some(())
    }
}

/// A cell of a target, whichever sign its type has.
trait Cell: Copy {
    fn from_cell(cell: i8) -> Self;
}

impl Cell for i8 {
    fn from_cell(cell: i8) -> Self {
        cell
    }
}

impl Cell for u8 {
    fn from_cell(cell: i8) -> Self {
        cell.cast_unsigned()
    }
}

/// Draws at a place of a target whose rows are `stride` long, within its first columns and rows.
fn blit<T: Cell>(
    look: &Look<'_>,
    target: &mut [T],
    stride: usize,
    (x, y): (i64, i64),
    (width, height): (usize, usize),
) {
    let clip = |place: i64, size: usize, limit: usize| {
        let end = place.saturating_add(size as i64).min(limit as i64);
        (place.max(0) < end).then(|| {
            (
                place.max(0) as usize,
                end as usize,
                (-place).max(0) as usize,
            )
        })
    };
    let (Some((left, right, from)), Some((top, bottom, above))) =
        (clip(x, look.width, width), clip(y, look.height, height))
    else {
        return;
    };
    let mut scratch = Vec::new();
    for row in top..bottom {
        let cells = look.row(above + row - top, from, right - left, &mut scratch);
        for (target, &cell) in target[row * stride + left..row * stride + right]
            .iter_mut()
            .zip(cells)
        {
            *target = if cell >= 0 {
                T::from_cell(cell)
            } else {
                *target
            };
        }
    }
}

/// A colour that fills an array of bytes; NumPy has its own words for one that does not fit.
fn byte(value: &Bound<'_, PyAny>) -> Option<i8> {
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}
