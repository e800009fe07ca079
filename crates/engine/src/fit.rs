//! The placement of a camera window on the frame.
//!
//! **Invariant:** the window is centred with the largest integer zoom that fits; the rest of the
//! frame is letter-box. If the margin cannot be divided evenly, the right or lower bar is one cell
//! wider than the left or upper one.

use crate::{Frame, SIZE};

/// The zoom and position of a window on the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    width: usize,
    height: usize,
    /// The side of a level cell on the frame, in display cells.
    pub(crate) zoom: usize,
    /// The first column that is not part of the letter-box.
    pub(crate) left: usize,
    /// The first row that is not part of the letter-box.
    pub(crate) top: usize,
}

impl Fit {
    /// Computes the fit of a window of at most 64 × 64 cells, or returns `None` if it has no cells.
    pub(crate) fn new(width: usize, height: usize) -> Option<Self> {
        let zoom = (SIZE.checked_div(width)?).min(SIZE.checked_div(height)?);
        Some(Self {
            width,
            height,
            zoom,
            left: (SIZE - width * zoom) / 2,
            top: (SIZE - height * zoom) / 2,
        })
    }

    /// Enlarges the window by its zoom, centres it on the frame and fills the rest with
    /// `letter_box`. The window must already be drawn at scale 1 in the upper left corner.
    pub(crate) fn spread(self, frame: &mut Frame, letter_box: u8) {
        let Self {
            width,
            height,
            zoom,
            left,
            top,
        } = self;
        if width == SIZE && height == SIZE {
            return;
        }
        let cells = frame.cells_mut();
        let mut line = [letter_box; SIZE];
        // Work from the bottom up: each row moves to its old position or further down, so it
        // overwrites only rows that have already moved.
        for row in (0..height).rev() {
            widen(
                &cells[row * SIZE..row * SIZE + width],
                zoom,
                &mut line[left..left + width * zoom],
            );
            let start = (top + row * zoom) * SIZE;
            for target in cells[start..start + zoom * SIZE].chunks_exact_mut(SIZE) {
                target.copy_from_slice(&line);
            }
        }
        cells[..top * SIZE].fill(letter_box);
        cells[(top + height * zoom) * SIZE..].fill(letter_box);
    }
}

/// Repeats every cell `zoom` times. The common factors have specialised code that writes the copies
/// of a cell as one fixed-size block.
fn widen(source: &[u8], zoom: usize, target: &mut [u8]) {
    fn by<const ZOOM: usize>(source: &[u8], target: &mut [u8]) {
        for (place, &cell) in target.as_chunks_mut::<ZOOM>().0.iter_mut().zip(source) {
            *place = [cell; ZOOM];
        }
    }
    match zoom {
        1 => target.copy_from_slice(source),
        2 => by::<2>(source, target),
        3 => by::<3>(source, target),
        4 => by::<4>(source, target),
        5 => by::<5>(source, target),
        6 => by::<6>(source, target),
        7 => by::<7>(source, target),
        8 => by::<8>(source, target),
        _ => {
            for (place, &cell) in target.chunks_exact_mut(zoom).zip(source) {
                place.fill(cell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Expected values from the official engine 0.9.3: size, zoom, left and upper margin.
    #[test]
    fn largest_zoom_is_centred() {
        let table = [
            (64, 64, 1, 0, 0),
            (1, 1, 64, 0, 0),
            (8, 8, 8, 0, 0),
            (10, 7, 6, 2, 11),
            (7, 10, 6, 11, 2),
            (33, 33, 1, 15, 15),
            (63, 64, 1, 0, 0),
            (64, 63, 1, 0, 0),
            (3, 5, 12, 14, 2),
            (21, 22, 2, 11, 10),
            (31, 2, 2, 1, 30),
            (32, 64, 1, 16, 0),
            (20, 20, 3, 2, 2),
            (13, 13, 4, 6, 6),
        ];
        for (width, height, zoom, left, top) in table {
            assert_eq!(
                Fit::new(width, height),
                Some(Fit {
                    width,
                    height,
                    zoom,
                    left,
                    top
                }),
                "{width} x {height}"
            );
        }
    }

    proptest! {
        #[test]
        fn zoom_is_maximal_and_margins_differ_by_at_most_one(width in 1_usize..=64, height in 1_usize..=64) {
            let fit = Fit::new(width, height).unwrap();
            prop_assert!(fit.zoom >= 1 && (fit.zoom + 1) * width.max(height) > SIZE);
            let (right, bottom) = (SIZE - fit.left - width * fit.zoom, SIZE - fit.top - height * fit.zoom);
            prop_assert!(right - fit.left <= 1 && bottom - fit.top <= 1);
        }
    }
}
