//! The image of a sprite: a rectangle of cells, with a bit mask of the cells that collide.
//!
//! **Invariant:** a picture is immutable, so that sprites can share it, and its mask agrees with
//! its cells. A picture has no position. It may be larger than the frame or have no cells at all,
//! because games create such pictures.

use std::fmt;
use std::ops::Range;

use crate::{Frame, SIZE};

/// A cell that is not drawn and does not collide.
pub const TRANSPARENT: i8 = -1;
/// A cell that is not drawn but collides. Every value below −1 behaves the same way.
pub const SOLID: i8 = -2;

/// The maximum number of cells of a picture, which is enough for a frame-sized picture at scale 64.
pub(crate) const MAX_CELLS: usize = 1 << 24;

/// The error for an invalid picture, or an invalid property of a sprite, camera or overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpriteError {
    /// The list of rows is empty.
    #[error("a picture needs at least one row")]
    NoRows,
    /// The rows differ in length.
    #[error("row `{row}` has `{found}` cells, but the first one has `{expected}`")]
    Ragged {
        /// The index of the row, starting at 0.
        row: usize,
        /// The length of this row.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// The number of cells is not width × height.
    #[error("a picture of `{width}` x `{height}` cells cannot have `{found}`")]
    CellCount {
        width: usize,
        height: usize,
        found: usize,
    },
    /// The picture would have more than 2²⁴ cells.
    #[error("a picture of `{width}` x `{height}` cells is too large")]
    TooLarge { width: usize, height: usize },
    #[error("a scale cannot be `0`")]
    ZeroScale,
    /// The reduction factor does not divide both sides of the picture.
    #[error(
        "a picture of `{width}` x `{height}` cells cannot be reduced by `{factor}`: it does not divide both sides"
    )]
    Indivisible {
        width: usize,
        height: usize,
        /// The side of the square of cells that should become one cell.
        factor: usize,
    },
    /// A square of cells cannot be reduced to one cell: it does not become transparent, and it
    /// contains this cell below −1, which has no colour.
    #[error("a block with the cell `{0}` cannot be reduced")]
    Colorless(i8),
    /// The angle in degrees is not a multiple of 90.
    #[error("`{0}` degrees is not a multiple of `90`")]
    Rotation(i64),
    /// The camera is larger than the frame.
    #[error("a camera of `{width}` x `{height}` cells does not fit into `64` x `64`")]
    CameraSize { width: usize, height: usize },
    /// The overlay has no pair with this index.
    #[error("there is no pair `{index}` among `{count}`")]
    NoPair {
        index: usize,
        /// The number of pairs in the overlay.
        count: usize,
    },
}

/// An immutable rectangle of cells. A cell is a colour from 0 up, [`TRANSPARENT`] or [`SOLID`].
///
/// # Examples
///
/// ```
/// use rhae_engine::{Frame, Picture, TRANSPARENT};
///
/// let picture = Picture::from_rows(&[[8, TRANSPARENT], [8, 8]])?;
/// let mut frame = Frame::filled(0);
/// picture.draw(&mut frame, 10, 10);
/// assert_eq!((frame.get(10, 10), frame.get(11, 10)), (8, 0));
/// assert_eq!(picture.enlarged(3)?.width(), 6);
/// # Ok::<(), rhae_engine::SpriteError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Picture {
    width: usize,
    height: usize,
    cells: Vec<i8>,
    /// One bit for each cell, set if it collides, with the lowest bit leftmost. Each row has
    /// [`Picture::words`] words.
    solid: Vec<u64>,
}

impl Picture {
    /// Creates a picture from its cells, row by row.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of cells is not `width * height` or exceeds 2²⁴.
    pub fn new(width: usize, height: usize, cells: Vec<i8>) -> Result<Self, SpriteError> {
        check_size(width, height)?;
        if cells.len() != width * height {
            return Err(SpriteError::CellCount {
                width,
                height,
                found: cells.len(),
            });
        }
        Ok(Self::of(width, height, cells))
    }

    /// Creates a picture from its rows, top to bottom.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no row, if the rows differ in length, or if there are more than
    /// 2²⁴ cells.
    pub fn from_rows<Row: AsRef<[i8]>>(rows: &[Row]) -> Result<Self, SpriteError> {
        let expected = rows.first().ok_or(SpriteError::NoRows)?.as_ref().len();
        let mut cells = Vec::with_capacity(rows.len().saturating_mul(expected).min(MAX_CELLS));
        for (row, line) in rows.iter().map(AsRef::as_ref).enumerate() {
            if line.len() != expected {
                return Err(SpriteError::Ragged {
                    row,
                    found: line.len(),
                    expected,
                });
            }
            cells.extend_from_slice(line);
        }
        Self::new(expected, rows.len(), cells)
    }

    /// Creates a picture whose size the caller has checked with [`check_size`].
    pub(crate) fn of(width: usize, height: usize, cells: Vec<i8>) -> Self {
        debug_assert_eq!(width * height, cells.len());
        let words = width.div_ceil(64);
        let mut solid = Vec::with_capacity(words * height);
        if width > 0 {
            for row in cells.chunks_exact(width) {
                solid.extend(row.chunks(64).map(|part| {
                    part.iter().enumerate().fold(0, |bits, (place, &cell)| {
                        bits | u64::from(cell != TRANSPARENT) << place
                    })
                }));
            }
        }
        Self {
            width,
            height,
            cells,
            solid,
        }
    }

    /// Returns the number of columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Returns all cells, row by row.
    pub fn cells(&self) -> &[i8] {
        &self.cells
    }

    /// Returns the rows from top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[i8]> {
        (0..self.height).map(|row| &self.cells[row * self.width..(row + 1) * self.width])
    }

    /// Returns the cell at column `x`, row `y`, or `None` outside the picture.
    pub fn get(&self, x: usize, y: usize) -> Option<i8> {
        (x < self.width && y < self.height).then(|| self.cells[y * self.width + x])
    }

    /// Draws the picture onto a frame with its upper left corner at `(x, y)`, clipped at the edges.
    /// Cells below 0 are not drawn.
    pub fn draw(&self, frame: &mut Frame, x: i32, y: i32) {
        self.draw_within(frame, i64::from(x), i64::from(y), SIZE, SIZE);
    }

    /// Draws the picture, clipped to the upper left `width` × `height` cells of the frame.
    pub(crate) fn draw_within(
        &self,
        frame: &mut Frame,
        x: i64,
        y: i64,
        width: usize,
        height: usize,
    ) {
        let (columns, rows) = (
            visible(x, self.width, width),
            visible(y, self.height, height),
        );
        if columns.is_empty() || rows.is_empty() {
            return;
        }
        let (left, top) = (distance(x, columns.start), distance(y, rows.start));
        let lines = self.cells.chunks_exact(self.width).skip(top);
        let targets = frame.cells_mut()[rows.start * SIZE..rows.end * SIZE].chunks_exact_mut(SIZE);
        for (line, target) in lines.zip(targets) {
            let source = &line[left..left + columns.len()];
            for (place, &cell) in target[columns.clone()].iter_mut().zip(source) {
                *place = if cell >= 0 {
                    cell.cast_unsigned()
                } else {
                    *place
                };
            }
        }
    }

    /// Returns the number of mask words of each row.
    pub(crate) const fn words(&self) -> usize {
        self.width.div_ceil(64)
    }

    /// Returns the mask words of all rows.
    pub(crate) fn solid(&self) -> &[u64] {
        &self.solid
    }
}

/// Checks that a picture of this size has at most [`MAX_CELLS`] cells.
pub(crate) fn check_size(width: usize, height: usize) -> Result<(), SpriteError> {
    match width.checked_mul(height) {
        Some(cells) if cells <= MAX_CELLS => Ok(()),
        _ => Err(SpriteError::TooLarge { width, height }),
    }
}

/// Returns the intersection of `0..limit` with `start..start + length`.
fn visible(start: i64, length: usize, limit: usize) -> Range<usize> {
    let clip = |place: i64| usize::try_from(place).unwrap_or(0).min(limit);
    clip(start)..clip(start + length as i64)
}

/// Returns the distance from `start` to `place`. `place` must not be before `start`.
fn distance(start: i64, place: usize) -> usize {
    usize::try_from(place as i64 - start).unwrap_or(0)
}

/// Writes one line for each row: hexadecimal colours, `.` for transparent cells, `:` for solid
/// ones.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture {}x{}", self.width, self.height)?;
        for row in self.rows() {
            let line: String = row
                .iter()
                .map(|&cell| match cell {
                    TRANSPARENT => '.',
                    ..0 => ':',
                    _ => char::from_digit(u32::from(cell.cast_unsigned()), 16).unwrap_or('?'),
                })
                .collect();
            write!(f, "\n{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arbitrary::picture;

    #[test]
    fn rows_of_different_lengths_are_rejected() {
        assert_eq!(
            Picture::from_rows::<[i8; 0]>(&[]).unwrap_err(),
            SpriteError::NoRows
        );
        let error = Picture::from_rows(&[vec![1, 2], vec![3]]).unwrap_err();
        assert_eq!(
            error,
            SpriteError::Ragged {
                row: 1,
                found: 1,
                expected: 2
            }
        );
        assert_eq!(
            error.to_string(),
            "row `1` has `1` cells, but the first one has `2`"
        );
        let error = Picture::new(2, 2, vec![1; 3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a picture of `2` x `2` cells cannot have `3`"
        );
        assert!(matches!(
            Picture::new(usize::MAX, 2, Vec::new()),
            Err(SpriteError::TooLarge { .. })
        ));
    }

    #[test]
    fn picture_may_have_rows_without_cells() {
        // The official engine 0.9.3 accepts `[[]]` as one row of width 0.
        let picture = Picture::from_rows(&[[]]).unwrap();
        assert_eq!(
            (picture.width(), picture.height(), picture.rows().len()),
            (0, 1, 1)
        );
        let mut frame = Frame::filled(3);
        picture.draw(&mut frame, 0, 0);
        assert_eq!(frame, Frame::filled(3));
    }

    #[test]
    fn debug_shows_the_cells() {
        let picture = Picture::from_rows(&[[0, 15, TRANSPARENT], [SOLID, 16, 9]]).unwrap();
        assert_eq!(format!("{picture:?}"), "Picture 3x2\n0f.\n:?9");
    }

    proptest! {
        #[test]
        fn masks_agree_with_the_cells(picture in picture(1..150, 1..5)) {
            for (y, row) in picture.rows().enumerate() {
                for (x, &cell) in row.iter().enumerate() {
                    let word = picture.solid()[y * picture.words() + x / 64];
                    prop_assert_eq!(word >> (x % 64) & 1 == 1, cell != TRANSPARENT);
                }
            }
        }

        #[test]
        fn drawing_agrees_with_cell_by_cell_drawing(picture in picture(1..90, 1..90), x in -100..100, y in -100..100) {
            let mut frame = Frame::filled(7);
            picture.draw(&mut frame, x, y);
            let mut expected = Frame::filled(7);
            for (row, line) in (y..).zip(picture.rows()) {
                for (column, &cell) in (x..).zip(line) {
                    if let (Ok(column), Ok(row), Ok(color)) = (usize::try_from(column), usize::try_from(row), u8::try_from(cell)) {
                        expected.set(column, row, color);
                    }
                }
            }
            prop_assert_eq!(frame, expected);
        }
    }
}
