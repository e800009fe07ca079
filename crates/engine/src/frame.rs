//! The image that an agent sees: 64 × 64 cells of sixteen colours.

use std::fmt;

/// Width and height of a frame in cells.
pub const SIZE: usize = 64;
/// Number of cells in a frame.
pub const CELLS: usize = SIZE * SIZE;

/// A 64 × 64 image, stored row by row from the top left.
///
/// A cell is an index into the [`PALETTE`](crate::PALETTE). The type itself accepts any byte: a
/// hosted game may use any signed byte as a cell, which is stored here with the same bits. The
/// tests of the native games check that their cells are in `0..=15`; see [`Frame::is_valid`].
///
/// All drawing functions clip at the edges instead of failing, because a step cannot fail.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
///
/// let mut frame = Frame::filled(5);
/// frame.rect(10, 20, 3, 2, 9); // x, y, width, height, colour
/// frame.block::<4, 4>(62, 62, 8); // clipped to the 2 × 2 cells inside the frame
/// assert_eq!(frame.get(12, 21), 9);
/// assert_eq!(frame.get(13, 21), 5);
/// assert_eq!(frame.cells().iter().filter(|&&cell| cell == 8).count(), 4);
/// assert!(frame.is_valid());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    cells: [u8; CELLS],
}

impl Frame {
    /// Creates a frame of one colour.
    pub const fn filled(color: u8) -> Self {
        Self {
            cells: [color; CELLS],
        }
    }

    /// Creates a frame from its cells, row by row.
    pub const fn from_cells(cells: [u8; CELLS]) -> Self {
        Self { cells }
    }

    /// Returns all cells, row by row.
    pub const fn cells(&self) -> &[u8; CELLS] {
        &self.cells
    }

    /// Returns all cells for writing, row by row.
    pub const fn cells_mut(&mut self) -> &mut [u8; CELLS] {
        &mut self.cells
    }

    /// Returns the rows from top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.cells.chunks_exact(SIZE)
    }

    /// Returns the colour at column `x`, row `y`, both below 64.
    ///
    /// # Panics
    ///
    /// Panics if `64 * y + x` is not below 4,096. A column above 63 is not checked separately, so
    /// it may read a cell of a later row.
    pub const fn get(&self, x: usize, y: usize) -> u8 {
        self.cells[y * SIZE + x]
    }

    /// Sets the colour of one cell; does nothing outside the frame.
    #[inline]
    pub fn set(&mut self, x: usize, y: usize, color: u8) {
        if x < SIZE && y < SIZE {
            self.cells[y * SIZE + x] = color;
        }
    }

    /// Copies all cells of another frame.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.cells.copy_from_slice(&other.cells);
    }

    /// Fills the whole frame with one colour.
    #[inline]
    pub fn clear(&mut self, color: u8) {
        self.cells.fill(color);
    }

    /// Fills a rectangle, clipped at the edges. For sizes known at compile time, [`Frame::block`]
    /// is faster.
    #[inline]
    pub fn rect(&mut self, x: usize, y: usize, width: usize, height: usize, color: u8) {
        let (right, bottom) = ((x + width).min(SIZE), (y + height).min(SIZE));
        if x >= right {
            return;
        }
        if x + 1 == right {
            // A line of single cells is faster without a fill for each row.
            for row in y..bottom {
                self.cells[row * SIZE + x] = color;
            }
            return;
        }
        for row in y..bottom {
            self.cells[row * SIZE + x..row * SIZE + right].fill(color);
        }
    }

    /// Draws the one-cell outline of a rectangle, clipped at the edges.
    pub fn outline(&mut self, x: usize, y: usize, width: usize, height: usize, color: u8) {
        if width == 0 || height == 0 {
            return;
        }
        self.rect(x, y, width, 1, color);
        self.rect(x, y + height - 1, width, 1, color);
        self.rect(x, y, 1, height, color);
        self.rect(x + width - 1, y, 1, height, color);
    }

    /// Fills a `W` × `H` rectangle, clipped at the edges. The constant size compiles to a few wide
    /// stores.
    #[inline]
    pub fn block<const W: usize, const H: usize>(&mut self, x: usize, y: usize, color: u8) {
        self.stamp(x, y, &[[color; W]; H]);
    }

    /// Copies a small image onto the frame with its upper left corner at `(x, y)`.
    #[inline]
    pub fn stamp<const W: usize, const H: usize>(
        &mut self,
        x: usize,
        y: usize,
        picture: &[[u8; W]; H],
    ) {
        if x + W <= SIZE && y + H <= SIZE {
            let area = &mut self.cells[y * SIZE + x..(y + H - 1) * SIZE + x + W];
            for (row, line) in picture.iter().enumerate() {
                area[row * SIZE..row * SIZE + W].copy_from_slice(line);
            }
        } else {
            for (row, line) in picture.iter().enumerate() {
                for (column, &color) in line.iter().enumerate() {
                    self.set(x + column, y + row, color);
                }
            }
        }
    }

    /// Copies a small image onto the frame, except its cells of colour `transparent`.
    #[inline]
    pub fn stamp_over<const W: usize, const H: usize>(
        &mut self,
        x: usize,
        y: usize,
        picture: &[[u8; W]; H],
        transparent: u8,
    ) {
        for (row, line) in picture.iter().enumerate() {
            for (column, &color) in line.iter().enumerate() {
                if color != transparent {
                    self.set(x + column, y + row, color);
                }
            }
        }
    }

    /// Returns 64 lines of 64 hexadecimal digits, for tests and golden files. Cells above 15 are
    /// shown as `?`.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(CELLS + SIZE);
        for row in self.rows() {
            text.extend(
                row.iter()
                    .map(|&cell| char::from_digit(u32::from(cell), 16).unwrap_or('?')),
            );
            text.push('\n');
        }
        text
    }

    /// Returns whether every cell is one of the sixteen colours.
    pub fn is_valid(&self) -> bool {
        self.cells.iter().all(|&cell| cell < 16)
    }

    /// Returns the hash of a sequence of frames that recordings store: the 64-bit XXH3 hash of all
    /// cells in order.
    pub fn hash_all(frames: &[Self]) -> u64 {
        if let [frame] = frames {
            return xxhash_rust::xxh3::xxh3_64(&frame.cells);
        }
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for frame in frames {
            hasher.update(&frame.cells);
        }
        hasher.digest()
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame\n{}", self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawing_clips_at_the_edges() {
        let mut frame = Frame::filled(0);
        frame.block::<4, 4>(62, 62, 9);
        frame.rect(60, 0, 100, 2, 3);
        frame.rect(70, 70, 3, 3, 3);
        frame.outline(63, 63, 5, 5, 2);
        assert_eq!(frame.get(62, 62), 9);
        assert_eq!(frame.get(63, 63), 2);
        assert_eq!(frame.get(61, 62), 0);
        assert_eq!(frame.cells().iter().filter(|&&cell| cell == 3).count(), 8);
    }

    #[test]
    fn stamp_over_skips_transparent_cells() {
        let mut frame = Frame::filled(1);
        frame.stamp_over(10, 20, &[[5, 16], [16, 5]], 16);
        assert_eq!(
            [
                frame.get(10, 20),
                frame.get(11, 20),
                frame.get(10, 21),
                frame.get(11, 21)
            ],
            [5, 1, 1, 5]
        );
    }

    #[test]
    fn hash_depends_on_the_order_of_frames() {
        let (a, b) = (Frame::filled(1), Frame::filled(2));
        assert_ne!(
            Frame::hash_all(&[a.clone(), b.clone()]),
            Frame::hash_all(&[b, a.clone()])
        );
        assert_ne!(
            Frame::hash_all(std::slice::from_ref(&a)),
            Frame::hash_all(&[a.clone(), a.clone()])
        );
        assert_eq!(
            Frame::hash_all(&[a]),
            xxhash_rust::xxh3::xxh3_64(&[1; CELLS])
        );
    }
}
