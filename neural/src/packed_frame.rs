//! Frames with four bits per cell, as networks read them.

use burn::Tensor;
use burn::tensor::{Device, TensorData};
use rhae_engine::{CELLS, Frame, SIZE};

/// The number of colours, which are the input channels of a network.
pub(crate) const COLORS: usize = 16;
/// The number of cells of a 3 × 3 patch.
const PATCH: usize = 9;

/// A frame in 2,048 bytes. A cell that is not a colour keeps only its low four bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedFrame(Box<[u8; CELLS / 2]>);

impl PackedFrame {
    pub fn new(frame: &Frame) -> Self {
        let mut packed = Box::new([0; CELLS / 2]);
        for (byte, pair) in packed.iter_mut().zip(frame.cells().chunks_exact(2)) {
            *byte = pair[0] & 15 | pair[1] << 4;
        }
        Self(packed)
    }

    /// Returns the cells row by row.
    pub fn cells(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flat_map(|byte| [byte & 15, byte >> 4])
    }
}

/// Returns frames as a tensor of the shape `[frames, 16, 64, 64]`, in which one channel of each cell
/// is 1.
pub(crate) fn one_hot<'a>(
    frames: impl ExactSizeIterator<Item = &'a PackedFrame>,
    device: &Device,
) -> Tensor<4> {
    let count = frames.len();
    let mut values = vec![0.0_f32; count * COLORS * CELLS];
    for (frame, channels) in frames.zip(values.chunks_exact_mut(COLORS * CELLS)) {
        for (position, color) in frame.cells().enumerate() {
            channels[usize::from(color) * CELLS + position] = 1.0;
        }
    }
    Tensor::from_data(TensorData::new(values, [count, COLORS, SIZE, SIZE]), device)
}

/// Returns the 3 × 3 patches of frames as a tensor of the shape `[frames * cells, 9 * 16]`: for each
/// cell in every `stride`-th row and column, the colours of its neighbours, row by row. A neighbour
/// outside the frame has no colour.
pub(crate) fn one_hot_patches<'a>(
    frames: impl ExactSizeIterator<Item = &'a PackedFrame>,
    stride: usize,
    device: &Device,
) -> Tensor<2> {
    let side = SIZE / stride;
    let rows = frames.len() * side * side;
    let mut values = vec![0.0_f32; rows * PATCH * COLORS];
    for (frame, patches) in frames.zip(values.chunks_exact_mut(side * side * PATCH * COLORS)) {
        let cells: Vec<u8> = frame.cells().collect();
        for (position, patch) in patches.chunks_exact_mut(PATCH * COLORS).enumerate() {
            let (top, left) = (position / side * stride, position % side * stride);
            for tap in 0..PATCH {
                // Coordinates with a border of one cell.
                let (y, x) = (top + tap / 3, left + tap % 3);
                if (1..=SIZE).contains(&y) && (1..=SIZE).contains(&x) {
                    let color = cells[(y - 1) * SIZE + x - 1];
                    patch[tap * COLORS + usize::from(color)] = 1.0;
                }
            }
        }
    }
    Tensor::from_data(TensorData::new(values, [rows, PATCH * COLORS]), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_survive_packing() {
        let mut frame = Frame::filled(3);
        frame.rect(7, 9, 20, 5, 15);
        frame.set(0, 0, 255);
        let cells: Vec<u8> = PackedFrame::new(&frame).cells().collect();
        let expected: Vec<u8> = frame.cells().iter().map(|cell| cell & 15).collect();
        assert_eq!(cells, expected);
    }

    #[test]
    fn one_channel_of_each_cell_is_one() {
        let mut frame = Frame::filled(2);
        frame.set(5, 1, 9);
        let packed = [
            PackedFrame::new(&frame),
            PackedFrame::new(&Frame::filled(0)),
        ];
        let tensor = one_hot(packed.iter(), &Device::flex());
        assert_eq!(tensor.dims(), [2, 16, 64, 64]);
        let values: Vec<f32> = tensor.try_to_vec_as().unwrap();
        assert_eq!(values.iter().sum::<f32>(), 2.0 * CELLS as f32);
        assert_eq!(values[9 * CELLS + SIZE + 5], 1.0);
        assert_eq!(values[2 * CELLS + SIZE + 5], 0.0);
        assert_eq!(values[COLORS * CELLS], 1.0);
    }
    #[test]
    fn patches_contain_the_neighbours_of_each_cell() {
        let mut frame = Frame::filled(2);
        frame.set(5, 1, 9);
        let patches = |stride| -> Vec<f32> {
            one_hot_patches([PackedFrame::new(&frame)].iter(), stride, &Device::flex())
                .try_to_vec_as()
                .unwrap()
        };
        let width = PATCH * COLORS;
        let fine = patches(1);
        assert_eq!(fine.len(), CELLS * width);
        // Each of the 4 * 62 cells at an edge lacks three neighbours, and each corner five.
        let neighbours = (PATCH * CELLS - 3 * 4 * 62 - 5 * 4) as f32;
        assert_eq!(fine.iter().sum::<f32>(), neighbours);
        let at = |x: usize, y: usize, tap: usize, color: usize| {
            fine[(y * SIZE + x) * width + tap * COLORS + color]
        };
        assert_eq!(at(5, 1, 4, 9), 1.0, "the cell itself");
        assert_eq!(at(6, 2, 0, 9), 1.0, "the neighbour above to the left");
        assert_eq!(at(4, 1, 5, 9), 1.0, "the neighbour to the right");
        assert_eq!(at(4, 1, 3, 9), 0.0);
        let coarse = patches(2);
        assert_eq!(coarse.len(), CELLS / 4 * width);
        assert_eq!(
            coarse[(32 + 3) * width..][..width],
            fine[(2 * SIZE + 6) * width..][..width]
        );
    }
}
