//! Frames as the wire has them: lists of rows of numbers, `frame[t][y][x]`.

use rhae_engine::{CELLS, Frame, SIZE};

/// Frames as nested lists.
pub type WireFrames = Vec<Vec<Vec<u8>>>;

/// What is wrong with a frame from outside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameShapeError {
    /// Not 64 rows.
    #[error("frame {frame} has {found} rows, expected 64")]
    Rows {
        /// Which frame, from 1.
        frame: usize,
        /// How many rows it has.
        found: usize,
    },
    /// A row that has not 64 cells.
    #[error("row {row} of frame {frame} has {found} cells, expected 64")]
    Cells {
        /// Which frame, from 1.
        frame: usize,
        /// Which row, from 1.
        row: usize,
        /// How many cells it has.
        found: usize,
    },
}

/// Frames as nested lists.
pub fn frames_to_wire(frames: &[Frame]) -> WireFrames {
    frames.iter().map(|frame| frame.rows().map(<[u8]>::to_vec).collect()).collect()
}

/// Frames from nested lists, each of which must be 64 × 64.
pub fn frames_from_wire(frames: &[Vec<Vec<u8>>]) -> Result<Vec<Frame>, FrameShapeError> {
    frames.iter().enumerate().map(|(index, rows)| frame_from_rows(index + 1, rows)).collect()
}

fn frame_from_rows(frame: usize, rows: &[Vec<u8>]) -> Result<Frame, FrameShapeError> {
    if rows.len() != SIZE {
        return Err(FrameShapeError::Rows { frame, found: rows.len() });
    }
    let mut cells = [0; CELLS];
    for (index, (row, target)) in rows.iter().zip(cells.chunks_exact_mut(SIZE)).enumerate() {
        if row.len() != SIZE {
            return Err(FrameShapeError::Cells { frame, row: index + 1, found: row.len() });
        }
        target.copy_from_slice(row);
    }
    Ok(Frame::from_cells(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_other_shapes_are_refused() {
        let frames = [Frame::filled(3), Frame::filled(15)];
        let wire = frames_to_wire(&frames);
        assert_eq!(frames_from_wire(&wire).unwrap(), frames);
        let mut short = wire.clone();
        short[1].pop();
        assert_eq!(frames_from_wire(&short), Err(FrameShapeError::Rows { frame: 2, found: 63 }));
        let mut narrow = wire;
        narrow[0][5].push(1);
        assert_eq!(frames_from_wire(&narrow), Err(FrameShapeError::Cells { frame: 1, row: 6, found: 65 }));
    }
}
