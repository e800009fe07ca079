//! The cells of a sprite, rotated, mirrored and scaled as by the official engine, without a copy.
//!
//! **Invariant:** each cell equals the cell of the array that `Sprite.render` returns.

use pyo3::prelude::*;
use pyo3::types::PyBool;
use rhae_engine::{Picture, Rotation};

use crate::classes::{Fields, slot};
use crate::pixels::Cells;

/// The rendered cells of a sprite.
///
/// Rotation and mirroring only change where the first cell is and the distances in memory to the
/// next column and to the next row.
pub(crate) struct RenderedSprite<'py> {
    cells: Cells<'py>,
    origin: isize,
    column_step: isize,
    row_step: isize,
    zoom: usize,
    /// Columns after rendering.
    pub(crate) width: usize,
    /// Rows after rendering.
    pub(crate) height: usize,
}

/// The rotation, mirroring and scale of a sprite.
#[derive(Clone, Copy)]
pub(crate) struct Pose {
    /// Quarter turns clockwise.
    turns: usize,
    mirror_ud: bool,
    mirror_lr: bool,
    scale: i64,
}

impl Pose {
    /// Reads the pose of a plain sprite. Declines attributes of another type than the constructor
    /// stores.
    #[inline]
    pub(crate) fn read(fields: &Fields<'_, '_>) -> Option<Self> {
        let switch = |place| Some(fields.get(place)?.cast::<PyBool>().ok()?.is_true());
        let rotation = fields.number(slot::ROTATION)?;
        Some(Self {
            // The official engine negates the angle and truncates it to quarter turns. The order
            // matters for angles that are not multiples of 90.
            turns: (4 - rotation.checked_neg()?.rem_euclid(360) / 90) as usize % 4,
            mirror_ud: switch(slot::MIRROR_UD)?,
            mirror_lr: switch(slot::MIRROR_LR)?,
            scale: fields.number(slot::SCALE)?,
        })
    }

    /// Returns the rendered columns and rows of a picture. Declines negative scales, which reduce
    /// it.
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

impl<'py> RenderedSprite<'py> {
    /// Reads the cells and the pose of a plain sprite. Declines unusual values.
    #[inline]
    pub(crate) fn read(fields: &Fields<'_, 'py>) -> Option<Self> {
        Self::of(&fields.get(slot::PIXELS)?.to_owned(), Pose::read(fields)?)
    }

    fn of(pixels: &Bound<'py, PyAny>, pose: Pose) -> Option<Self> {
        let (cells, rows, columns) = Cells::read(pixels)?;
        if pose.scale < 1 {
            return Self::reduced(&cells, rows, columns, pose);
        }
        let (width, height) = pose.size(rows, columns)?;
        let (stride, last) = (columns as isize, (rows * columns) as isize - 1);
        let (mut origin, mut column_step, mut row_step) = match pose.turns {
            0 => (0, 1, stride),
            1 => (last + 1 - stride, -stride, 1),
            2 => (last, -1, -stride),
            _ => (stride - 1, stride, -1),
        };
        let zoom = pose.scale as usize;
        if pose.mirror_ud {
            origin += row_step * (height / zoom) as isize - row_step;
            row_step = -row_step;
        }
        if pose.mirror_lr {
            origin += column_step * (width / zoom) as isize - column_step;
            column_step = -column_step;
        }
        Some(Self {
            cells,
            origin,
            column_step,
            row_step,
            zoom,
            width,
            height,
        })
    }

    fn reduced(cells: &Cells<'py>, rows: usize, columns: usize, pose: Pose) -> Option<Self> {
        // Games that set the attribute directly can leave a scale of 0. It is declined.
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
            origin: 0,
            column_step: 1,
            row_step: width as isize,
            zoom: 1,
            width,
            height,
        })
    }

    /// Returns the memory range of the cells.
    pub(crate) fn memory(&self) -> std::ops::Range<*const i8> {
        self.cells.get().as_ptr_range()
    }

    /// Returns the cell at a rendered position, which must lie within the sprite.
    #[inline]
    pub(crate) fn get(&self, column: usize, row: usize) -> i8 {
        let place = self.origin
            + self.column_step * (column / self.zoom) as isize
            + self.row_step * (row / self.zoom) as isize;
        self.cells.get()[place as usize]
    }

    /// Returns `length` cells of a rendered row, from the column `from`. `scratch` holds them if
    /// they are not contiguous in memory.
    #[inline]
    pub(crate) fn row<'a>(
        &'a self,
        row: usize,
        from: usize,
        length: usize,
        scratch: &'a mut Vec<i8>,
    ) -> &'a [i8] {
        let cells = self.cells.get();
        let start = self.origin + self.row_step * (row / self.zoom) as isize;
        if self.column_step == 1 && self.zoom == 1 {
            let start = start as usize + from;
            return &cells[start..start + length];
        }
        scratch.clear();
        let (mut place, mut within) = (
            start + self.column_step * (from / self.zoom) as isize,
            from % self.zoom,
        );
        while scratch.len() < length {
            let count = (self.zoom - within).min(length - scratch.len());
            scratch.resize(scratch.len() + count, cells[place as usize]);
            (place, within) = (place + self.column_step, 0);
        }
        scratch
    }
}
