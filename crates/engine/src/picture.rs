//! A rectangle of cells that sprites are made of, with its solid cells as bit masks.
//!
//! Invariant: a picture never changes, so that sprites can share it; the masks always agree with the cells.
//! It does not know where it stands, what it means or how it came about. Sizes beyond the frame are allowed, and so are
//! pictures without any cell, because games make both.

use std::fmt;
use std::ops::Range;

use crate::{Frame, SIZE};

/// The cell through which one sees and walks.
pub const TRANSPARENT: i8 = -1;
/// The cell through which one sees, but which collides. Every number below −1 behaves the same way.
pub const SOLID: i8 = -2;

/// The most cells of a picture: enough for a frame-sized picture in its largest useful scale.
pub(crate) const MAX_CELLS: usize = 1 << 24;

/// What is wrong with a picture, or with what a sprite or a camera was asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpriteError {
    /// A picture is a list of rows, and there is none.
    #[error("a picture needs at least one row")]
    NoRows,
    /// The rows differ in length.
    #[error("row `{row}` has `{found}` cells, but the first one has `{expected}`")]
    Ragged {
        /// The row, counted from 0.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// The cells do not fill the picture.
    #[error("a picture of `{width}` x `{height}` cells cannot have `{found}`")]
    CellCount {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// How many cells there were.
        found: usize,
    },
    /// The picture would have more cells than anything can show.
    #[error("a picture of `{width}` x `{height}` cells is too large")]
    TooLarge {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A scale of 0.
    #[error("a scale cannot be `0`")]
    ZeroScale,
    /// A picture can only be reduced by a factor that divides both sides.
    #[error(
        "a picture of `{width}` x `{height}` cells cannot be reduced by `{factor}`: it does not divide both sides"
    )]
    Indivisible {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// How many cells were to become one, in each direction.
        factor: usize,
    },
    /// A block that is to become one cell has a majority, but a cell below −1 has no colour to count.
    #[error("a block with the cell `{0}` cannot be reduced")]
    Colorless(i8),
    /// An angle that is no multiple of a quarter turn.
    #[error("`{0}` degrees is not a multiple of `90`")]
    Rotation(i64),
    /// A camera larger than the frame.
    #[error("a camera of `{width}` x `{height}` cells does not fit into `64` x `64`")]
    CameraSize {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// There is no such pair in an overlay.
    #[error("there is no pair `{index}` among `{count}`")]
    NoPair {
        /// The index that was asked for.
        index: usize,
        /// How many pairs there are.
        count: usize,
    },
}

/// An immutable rectangle of cells: colours from 0 up, [`TRANSPARENT`], or [`SOLID`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Picture {
    width: usize,
    height: usize,
    cells: Vec<i8>,
    /// One bit for each cell that collides, the lowest bit leftmost, in [`Picture::words`] words for each row.
    solid: Vec<u64>,
}

impl Picture {
    /// A picture from its cells, row by row.
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

    /// A picture from its rows, top to bottom.
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

    /// A picture from as many cells as it has; its size was checked with [`check_size`].
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

    /// Number of columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[i8] {
        &self.cells
    }

    /// The rows from top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[i8]> {
        (0..self.height).map(|row| &self.cells[row * self.width..(row + 1) * self.width])
    }

    /// The cell at column `x`, row `y`, if there is one.
    pub fn get(&self, x: usize, y: usize) -> Option<i8> {
        (x < self.width && y < self.height).then(|| self.cells[y * self.width + x])
    }

    /// Draws the colours onto a frame, clipped at its rim; cells below 0 leave what is there.
    pub fn draw(&self, frame: &mut Frame, x: i32, y: i32) {
        self.draw_within(frame, i64::from(x), i64::from(y), SIZE, SIZE);
    }

    /// Draws the colours, clipped to the frame's upper left `width` × `height` cells.
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

    /// The number of mask words that a row takes.
    pub(crate) const fn words(&self) -> usize {
        self.width.div_ceil(64)
    }

    /// The mask words of all rows.
    pub(crate) fn solid(&self) -> &[u64] {
        &self.solid
    }
}

/// Whether a picture of this size may be made.
pub(crate) fn check_size(width: usize, height: usize) -> Result<(), SpriteError> {
    match width.checked_mul(height) {
        Some(cells) if cells <= MAX_CELLS => Ok(()),
        _ => Err(SpriteError::TooLarge { width, height }),
    }
}

/// The part of `0..limit` that something of this length covers from `start` on.
fn visible(start: i64, length: usize, limit: usize) -> Range<usize> {
    let clip = |place: i64| usize::try_from(place).unwrap_or(0).min(limit);
    clip(start)..clip(start + length as i64)
}

/// How far `place` lies behind `start`, which is not behind it.
fn distance(start: i64, place: usize) -> usize {
    usize::try_from(place as i64 - start).unwrap_or(0)
}

/// One line for each row: hexadecimal colours, `.` for transparent, `:` for solid cells without colour.
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
    fn rows_must_be_equally_long() {
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
    fn a_picture_may_have_rows_without_cells() {
        // The official engine, version 0.9.3, takes `[[]]` as one row of width 0.
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
        fn drawing_by_rows_is_drawing_cell_by_cell(picture in picture(1..90, 1..90), x in -100..100, y in -100..100) {
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
