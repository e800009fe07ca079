//! The forms in which a frame is written into the buffer of observations.

use rhae_engine::{CELLS, Frame, PALETTE};

/// The number of colours, and so of planes of [`Encoding::OneHot`].
const COLORS: usize = PALETTE.len();

/// The form in which a settled frame is written into the buffer of observations.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_vector::Encoding;
///
/// let mut frame = Frame::filled(3);
/// frame.set(1, 0, 10);
/// let mut packed = vec![0; Encoding::Packed.bytes()];
/// Encoding::Packed.write(&frame, &mut packed);
/// assert_eq!(packed[..2], [0xA3, 0x33], "column 0 is in the low half of the first byte");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// One byte for each cell, row by row.
    #[default]
    Cells,
    /// Sixteen planes of 64 × 64 bytes. A byte of plane `c` is 1 if the cell has the colour `c`,
    /// and 0 otherwise. A cell outside the sixteen colours is 0 in all planes.
    OneHot,
    /// Half a byte for each cell, row by row: the cell of an even column is in the low half of a
    /// byte, its right neighbour in the high half. A cell outside the sixteen colours is 15.
    Packed,
    /// Red, green and blue for each cell, row by row. A cell outside the sixteen colours is drawn
    /// as 15.
    Rgb,
}

impl Encoding {
    /// Returns the number of bytes of one observation.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Cells => CELLS,
            Self::OneHot => COLORS * CELLS,
            Self::Packed => CELLS / 2,
            Self::Rgb => 3 * CELLS,
        }
    }

    /// Writes a frame.
    ///
    /// # Panics
    ///
    /// Panics if `into` does not have [`bytes`](Self::bytes) bytes.
    pub fn write(self, frame: &Frame, into: &mut [u8]) {
        assert_eq!(into.len(), self.bytes(), "the length of one observation");
        let cells = frame.cells();
        match self {
            Self::Cells => into.copy_from_slice(cells),
            Self::OneHot => {
                for (color, plane) in (0..).zip(into.chunks_exact_mut(CELLS)) {
                    for (byte, &cell) in plane.iter_mut().zip(cells) {
                        *byte = u8::from(cell == color);
                    }
                }
            }
            Self::Packed => {
                for (byte, pair) in into.iter_mut().zip(cells.as_chunks::<2>().0) {
                    *byte = pair[0].min(15) | pair[1].min(15) << 4;
                }
            }
            Self::Rgb => {
                for (pixel, &cell) in into.as_chunks_mut::<3>().0.iter_mut().zip(cells) {
                    *pixel = PALETTE[usize::from(cell.min(15))];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with all colours and, in its last cell, a value outside them.
    fn frame() -> Frame {
        let mut frame = Frame::from_cells(std::array::from_fn(|cell| (cell % 16) as u8));
        frame.set(63, 63, 200);
        frame
    }

    fn written(encoding: Encoding) -> Vec<u8> {
        let mut bytes = vec![99; encoding.bytes()];
        encoding.write(&frame(), &mut bytes);
        bytes
    }

    #[test]
    fn every_encoding_contains_every_cell() {
        let (cells, one_hot) = (written(Encoding::Cells), written(Encoding::OneHot));
        let (packed, rgb) = (written(Encoding::Packed), written(Encoding::Rgb));
        assert_eq!(cells, frame().cells());
        for (at, &cell) in cells.iter().enumerate() {
            for color in 0..COLORS {
                let expected = u8::from(usize::from(cell) == color);
                assert_eq!(one_hot[color * CELLS + at], expected, "cell {at}");
            }
            let visible = cell.min(15);
            assert_eq!(packed[at / 2] >> (4 * (at % 2)) & 15, visible, "cell {at}");
            assert_eq!(
                rgb[3 * at..][..3],
                PALETTE[usize::from(visible)],
                "cell {at}"
            );
        }
    }
}
