//! Drawing: one sprite as an array, a camera's view, a frame, a sprite on a display.
//!
//! **Invariant:** sprites are drawn from the lowest layer to the highest, and within a layer in
//! list order. Cells below 0 are transparent.

use numpy::{PyArrayMethods, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyTuple};
use rhae_engine::{Camera, Frame, SIZE};

use crate::classes::{
    DRAWING, Interaction, RENDERING, SpriteReader, TOGGLING, has_plain_attributes,
    has_plain_rendering, items, slot,
};
use crate::or_not_implemented;
use crate::pixels::Cells;
use crate::raw::{as_signed, attributes, field, int8_array, integer, new_int8_array};
use crate::rendered::{Pose, RenderedSprite};

/// Implements `Sprite.render` for sprites whose pixels are `int8`.
#[pyfunction]
pub(crate) fn render_sprite<'py>(sprite: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let rendered = || {
        let mut reader = SpriteReader::new(sprite.py(), &[])?;
        let attributes = reader.attributes(sprite)?;
        let fields = reader.fields(&attributes);
        // `render` keeps the type of wider arrays, so NumPy must do it.
        int8_array(&fields.get(slot::PIXELS)?.to_owned())?;
        let rendered = RenderedSprite::read(&fields)?;
        let mut cells = Vec::with_capacity(rendered.width.checked_mul(rendered.height)?);
        let mut scratch = Vec::new();
        for row in 0..rendered.height {
            cells.extend_from_slice(rendered.row(row, 0, rendered.width, &mut scratch));
        }
        new_int8_array(sprite.py(), rendered.height, rendered.width, &cells)
    };
    or_not_implemented(sprite.py(), rendered())
}

/// Implements `Sprite.color_remap` for a C-contiguous `int8` array and colours of type `int`.
#[pyfunction]
pub(crate) fn remap_colors<'py>(
    pixels: &Bound<'py, PyAny>,
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let remap = || {
        let shape = int8_array(pixels)
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
        new_int8_array(pixels.py(), shape[0], shape[1], &cells)
    };
    or_not_implemented(pixels.py(), remap())
}

/// Returns the columns and rows of `Sprite.render` for a plain sprite.
#[pyfunction]
pub(crate) fn rendered_size<'py>(sprite: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = sprite.py();
    let size = || {
        let mut reader = SpriteReader::new(py, RENDERING)?;
        let attributes = reader.attributes(sprite)?;
        let fields = reader.fields(&attributes);
        let (_, rows, columns) = Cells::read(&fields.get(slot::PIXELS)?.to_owned())?;
        Pose::read(&fields)?.size(rows, columns)
    };
    or_not_implemented(py, size())
}

/// Implements `Camera._raw_render`.
#[pyfunction]
pub(crate) fn render_view<'py>(
    camera: &Bound<'py, PyAny>,
    sprites: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = camera.py();
    let view = || {
        if !has_plain_attributes(camera) {
            return None;
        }
        let window = Window::read(&attributes(camera)?)?;
        let mut frame = Frame::filled(0);
        window.draw(py, sprites, &mut frame)?;
        let mut cells = Vec::with_capacity(window.width * window.height);
        for row in frame.rows().take(window.height) {
            cells.extend_from_slice(as_signed(&row[..window.width]));
        }
        new_int8_array(py, window.height, window.width, &cells)
    };
    or_not_implemented(py, view())
}

/// Implements `Camera.render` without the interfaces.
#[pyfunction]
pub(crate) fn render_frame<'py>(
    camera: &Bound<'py, PyAny>,
    sprites: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = camera.py();
    let frame = || {
        let fields = attributes(camera)?;
        if !has_plain_rendering(camera, &fields) {
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
        new_int8_array(py, SIZE, SIZE, as_signed(frame.cells()))
    };
    or_not_implemented(py, frame())
}

/// Implements `RenderableUserDisplay.draw_sprite`: draws a sprite on a display and returns the
/// display.
#[pyfunction]
pub(crate) fn draw_sprite<'py>(
    display: &Bound<'py, PyAny>,
    sprite: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = display.py();
    let draw = || {
        let mut reader = SpriteReader::new(py, RENDERING)?;
        let attributes = reader.attributes(sprite)?;
        let rendered = RenderedSprite::read(&reader.fields(&attributes))?;
        let (x, y): (i64, i64) = (x.extract().ok()?, y.extract().ok()?);
        let mut target = screen(display, [&rendered])?;
        blit(
            &rendered,
            target.as_slice_mut().ok()?,
            SIZE,
            (x, y),
            (SIZE, SIZE),
        );
        Some(display.clone())
    };
    or_not_implemented(py, draw())
}

/// Implements `ToggleableUserDisplay.render_interface`: draws each sprite of the pairs that is not
/// removed at its own position and returns the display.
#[pyfunction]
pub(crate) fn draw_pairs<'py>(
    display: &Bound<'py, PyAny>,
    pairs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = display.py();
    let draw = || {
        let mut reader = SpriteReader::new(py, TOGGLING)?;
        let mut visible = Vec::new();
        for pair in pairs.cast_exact::<PyList>().ok()?.iter() {
            for sprite in pair.cast_exact::<PyTuple>().ok()?.iter() {
                let attributes = reader.attributes(&sprite)?;
                let fields = reader.fields(&attributes);
                if reader.interaction(fields.get(slot::INTERACTION)?)? != Interaction::Removed {
                    visible.push((
                        RenderedSprite::read(&fields)?,
                        fields.number(slot::X)?,
                        fields.number(slot::Y)?,
                    ));
                }
            }
        }
        let mut target = screen(display, visible.iter().map(|(rendered, ..)| rendered))?;
        let cells = target.as_slice_mut().ok()?;
        for (rendered, x, y) in &visible {
            blit(rendered, cells, SIZE, (*x, *y), (SIZE, SIZE));
        }
        Some(display.clone())
    };
    or_not_implemented(py, draw())
}

/// Returns write access to the cells of a display. Declines a display that is not a writable,
/// C-contiguous 64 × 64 `int8` array, and sprites whose cells share its memory, because drawing
/// would change cells that are still to be drawn.
fn screen<'a, 'py: 'a>(
    display: &Bound<'py, PyAny>,
    visible: impl IntoIterator<Item = &'a RenderedSprite<'py>>,
) -> Option<PyReadwriteArray2<'py, i8>> {
    let cells = int8_array(display)?;
    if cells.shape() != [SIZE, SIZE] || !cells.is_c_contiguous() {
        return None;
    }
    let first = cells.data().cast_const();
    let memory = first..first.wrapping_add(SIZE * SIZE);
    let lies_apart = |rendered: &RenderedSprite<'_>| {
        let own = rendered.memory();
        own.end <= memory.start || memory.end <= own.start
    };
    if visible.into_iter().all(lies_apart) {
        cells.try_readwrite().ok()
    } else {
        None
    }
}

/// Draws one plain sprite onto a camera's view, whose upper left corner is at (`x`, `y`) of the
/// level. Returns whether it did.
#[pyfunction]
pub(crate) fn draw_on_view(
    view: &Bound<'_, PyAny>,
    sprite: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
) -> bool {
    let draw = || {
        let py = sprite.py();
        // This must precede reading the sprite: converting an unusual number runs Python code.
        let (x, y): (i64, i64) = (x.extract().ok()?, y.extract().ok()?);
        let mut reader = SpriteReader::new(py, DRAWING)?;
        let attributes = reader.attributes(sprite)?;
        let fields = reader.fields(&attributes);
        let rendered = RenderedSprite::read(&fields)?;
        let x = fields.number(slot::X)?.checked_sub(x)?;
        let y = fields.number(slot::Y)?.checked_sub(y)?;
        let target = int8_array(view)?;
        let &[height, width] = target.shape() else {
            return None;
        };
        let mut target = target.try_readwrite().ok()?;
        blit(
            &rendered,
            target.as_slice_mut().ok()?,
            width,
            (x, y),
            (width, height),
        );
        Some(())
    };
    draw().is_some()
}

/// Returns a frame in the letter-box colour with the view drawn on it: its upper left corner at
/// (`left`, `top`), each cell enlarged to `zoom` × `zoom` cells.
#[pyfunction]
pub(crate) fn enlarge_view<'py>(
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
        let (cells, rows, columns) = Cells::read(int8_array(view)?)?;
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
        new_int8_array(view.py(), SIZE, SIZE, &frame)
    };
    or_not_implemented(view.py(), frame())
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
    /// Reads the window from the attributes of a camera.
    fn read(fields: &Bound<'_, PyDict>) -> Option<Self> {
        let py = fields.py();
        let number = |name| integer(field(fields, name)?);
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

    /// Draws the background and the visible sprites into the upper left corner of `frame`.
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
        let mut reader = SpriteReader::new(py, DRAWING)?;
        let sprites = items(sprites)?;
        let mut visible = Vec::with_capacity(sprites.len());
        let mut order = Vec::with_capacity(sprites.len());
        for sprite in &sprites {
            let attributes = reader.attributes(sprite)?;
            let fields = reader.fields(&attributes);
            let interaction = reader.interaction(fields.get(slot::INTERACTION)?)?;
            if matches!(interaction, Interaction::Invisible | Interaction::Removed) {
                continue;
            }
            let x = fields.number(slot::X)?.checked_sub(self.x)?;
            let y = fields.number(slot::Y)?.checked_sub(self.y)?;
            order.push((fields.number(slot::LAYER)?, visible.len()));
            visible.push((RenderedSprite::read(&fields)?, x, y));
        }
        order.sort_unstable();
        let cells = frame.cells_mut().as_mut_slice();
        for (_, index) in order {
            let (rendered, x, y) = &visible[index];
            blit(rendered, cells, SIZE, (*x, *y), (self.width, self.height));
        }
        Some(())
    }
}

/// A cell of a target array, signed or unsigned.
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

/// Draws a sprite at (`x`, `y`) of a target whose rows are `stride` cells long, clipped to its
/// first `width` columns and `height` rows.
fn blit<T: Cell>(
    rendered: &RenderedSprite<'_>,
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
    let (Some((left, right, from)), Some((top, bottom, above))) = (
        clip(x, rendered.width, width),
        clip(y, rendered.height, height),
    ) else {
        return;
    };
    let mut scratch = Vec::new();
    for row in top..bottom {
        let cells = rendered.row(above + row - top, from, right - left, &mut scratch);
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

/// Returns a colour as `int8`. Declines other values, for which NumPy raises its own error.
fn byte(value: &Bound<'_, PyAny>) -> Option<i8> {
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}
