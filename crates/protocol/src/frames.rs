//! Frames as the wire has them: lists of rows of numbers, `frame[t][y][x]`.

use rhae_engine::{CELLS, Frame, SIZE};

/// Frames as nested lists. Cells are the official engine's signed bytes: a game from outside may show one that is no colour.
pub type WireFrames = Vec<Vec<Vec<i8>>>;

/// A number that stands for a cell.
pub trait Cell: Copy {
    /// The cell as frames keep it.
    fn to_byte(self) -> u8;
}

impl Cell for i8 {
    fn to_byte(self) -> u8 {
        self.cast_unsigned()
    }
}

impl Cell for u8 {
    fn to_byte(self) -> u8 {
        self
    }
}

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
    let row = |row: &[u8]| row.iter().map(|cell| cell.cast_signed()).collect();
    frames
        .iter()
        .map(|frame| frame.rows().map(row).collect())
        .collect()
}

/// Frames from nested lists, each of which must be 64 × 64.
pub fn frames_from_wire<C: Cell>(frames: &[Vec<Vec<C>>]) -> Result<Vec<Frame>, FrameShapeError> {
    frames
        .iter()
        .enumerate()
        .map(|(index, rows)| frame_from_rows(index + 1, rows))
        .collect()
}

fn frame_from_rows<C: Cell>(frame: usize, rows: &[Vec<C>]) -> Result<Frame, FrameShapeError> {
    if rows.len() != SIZE {
        return Err(FrameShapeError::Rows {
            frame,
            found: rows.len(),
        });
    }
    let mut cells = [0; CELLS];
    for (index, (row, target)) in rows.iter().zip(cells.chunks_exact_mut(SIZE)).enumerate() {
        if row.len() != SIZE {
            return Err(FrameShapeError::Cells {
                frame,
                row: index + 1,
                found: row.len(),
            });
        }
        target
            .iter_mut()
            .zip(row)
            .for_each(|(target, cell)| *target = cell.to_byte());
    }
    Ok(Frame::from_cells(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_other_shapes_are_refused() {
        let frames = [Frame::filled(3), Frame::filled(15), Frame::filled(255)];
        let wire = frames_to_wire(&frames);
        assert_eq!(frames_from_wire(&wire).unwrap(), frames);
        let mut short = wire.clone();
        short[1].pop();
        assert_eq!(
            frames_from_wire(&short),
            Err(FrameShapeError::Rows {
                frame: 2,
                found: 63
            })
        );
        let mut narrow = wire;
        narrow[0][5].push(1);
        assert_eq!(
            frames_from_wire(&narrow),
            Err(FrameShapeError::Cells {
                frame: 1,
                row: 6,
                found: 65
            })
        );
    }
}
