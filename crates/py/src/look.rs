//! How a sprite looks: its cells, turned, mirrored and scaled as the official engine does it, without being copied.
//!
//! Invariant: the cell at each place equals that of the array which `Sprite.render` returns.

use pyo3::prelude::*;
use pyo3::types::PyBool;
use rhae_engine::{Picture, Rotation};

use crate::classes::{Fields, at};
use crate::pixels::Cells;

/// A sprite's cells, read in a straight walk: from a corner, by one distance along a row and another one from row to row.
pub(crate) struct Look<'py> {
    cells: Cells<'py>,
    corner: isize,
    along: isize,
    down: isize,
    zoom: usize,
    /// Columns, as rendered.
    pub(crate) width: usize,
    /// Rows, as rendered.
    pub(crate) height: usize,
}

/// How a sprite is turned, mirrored and scaled.
#[derive(Clone, Copy)]
pub(crate) struct Pose {
    /// Quarter turns clockwise.
    turns: usize,
    mirror_ud: bool,
    mirror_lr: bool,
    scale: i64,
}

impl Pose {
    /// The pose of a plain sprite, unless a number is none or a switch is no boolean.
    #[inline]
    pub(crate) fn read(fields: &Fields<'_, '_>) -> Option<Self> {
        let switch = |place| Some(fields.get(place)?.cast::<PyBool>().ok()?.is_true());
        let rotation = fields.number(at::ROTATION)?;
        Some(Self {
            // The official engine turns by whole quarters and drops what is left; from the negative angle, so that
            // what is left is dropped on the other side.
            turns: (4 - rotation.checked_neg()?.rem_euclid(360) / 90) as usize % 4,
            mirror_ud: switch(at::MIRROR_UD)?,
            mirror_lr: switch(at::MIRROR_LR)?,
            scale: fields.number(at::SCALE)?,
        })
    }

    /// Columns and rows of a picture with these rows and columns, if it is not made smaller.
    pub(crate) fn size(self, rows: usize, columns: usize) -> Option<(usize, usize)> {
        let zoom = usize::try_from(self.scale).ok().filter(|&zoom| zoom > 0)?;
        let (width, height) = if self.turns.is_multiple_of(2) {
            (columns, rows)
        } else {
            (rows, columns)
        };
        Some((width.checked_mul(zoom)?, height.checked_mul(zoom)?))
    }
}

impl<'py> Look<'py> {
    /// How a plain sprite looks, unless that is unusual.
    #[inline]
    pub(crate) fn read(fields: &Fields<'_, 'py>) -> Option<Self> {
        Self::of(&fields.get(at::PIXELS)?.to_owned(), Pose::read(fields)?)
    }

    fn of(pixels: &Bound<'py, PyAny>, pose: Pose) -> Option<Self> {
        let (cells, rows, columns) = Cells::read(pixels)?;
        if pose.scale < 1 {
            return Self::reduced(&cells, rows, columns, pose);
        }
        let (width, height) = pose.size(rows, columns)?;
        let (stride, last) = (columns as isize, (rows * columns) as isize - 1);
        let (mut corner, mut along, mut down) = match pose.turns {
            0 => (0, 1, stride),
            1 => (last + 1 - stride, -stride, 1),
            2 => (last, -1, -stride),
            _ => (stride - 1, stride, -1),
        };
        let zoom = pose.scale as usize;
        if pose.mirror_ud {
            corner += down * (height / zoom) as isize - down;
            down = -down;
        }
        if pose.mirror_lr {
            corner += along * (width / zoom) as isize - along;
            along = -along;
        }
        Some(Self {
            cells,
            corner,
            along,
            down,
            zoom,
            width,
            height,
        })
    }

    fn reduced(cells: &Cells<'py>, rows: usize, columns: usize, pose: Pose) -> Option<Self> {
        // A scale of 0 is left behind by games that set it directly.
        let factor =
            usize::try_from(pose.scale.checked_neg().filter(|&scale| scale > 0)? + 1).ok()?;
        if rows == 0 || columns == 0 {
            return None;
        }
        let rotation = [Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270][pose.turns];
        let picture = Picture::new(columns, rows, cells.get().to_vec()).ok()?;
        let picture = picture
            .oriented(rotation, pose.mirror_ud, pose.mirror_lr)
            .reduced(factor)
            .ok()?;
        let (width, height) = (picture.width(), picture.height());
        let cells = Cells::Own(picture.cells().to_vec());
        Some(Self {
            cells,
            corner: 0,
            along: 1,
            down: width as isize,
            zoom: 1,
            width,
            height,
        })
    }

    /// Where its cells are.
    pub(crate) fn memory(&self) -> std::ops::Range<*const i8> {
        self.cells.get().as_ptr_range()
    }

    /// The cell at a place that lies on the sprite.
    #[inline]
    pub(crate) fn get(&self, column: usize, row: usize) -> i8 {
        let place = self.corner
            + self.along * (column / self.zoom) as isize
            + self.down * (row / self.zoom) as isize;
        self.cells.get()[place as usize]
    }

    /// Hands out `length` cells of a row, as rendered, from a column on.
    #[inline]
    pub(crate) fn row<'a>(
        &'a self,
        row: usize,
        from: usize,
        length: usize,
        scratch: &'a mut Vec<i8>,
    ) -> &'a [i8] {
        let cells = self.cells.get();
        let start = self.corner + self.down * (row / self.zoom) as isize;
        if self.along == 1 && self.zoom == 1 {
            let start = start as usize + from;
            return &cells[start..start + length];
        }
        scratch.clear();
        let (mut place, mut within) = (
            start + self.along * (from / self.zoom) as isize,
            from % self.zoom,
        );
        while scratch.len() < length {
            let count = (self.zoom - within).min(length - scratch.len());
            scratch.resize(scratch.len() + count, cells[place as usize]);
            (place, within) = (place + self.along, 0);
        }
        scratch
    }
}
