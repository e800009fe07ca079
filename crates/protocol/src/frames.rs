//! Frames as nested JSON lists of rows of numbers, `frame[t][y][x]`.

use rhae_engine::{CELLS, Frame, SIZE};

/// Frames as nested lists, `frame[t][y][x]`.
///
/// Cells are signed bytes as in the official engine, because a hosted game may show a value that is
/// not one of the sixteen colours.
pub type WireFrames = Vec<Vec<Vec<i8>>>;

/// A number type that a cell can be read from.
pub trait Cell: Copy {
    /// Returns the cell as [`Frame`] stores it.
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

/// The reason why nested lists are not frames.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameShapeError {
    /// A frame does not have 64 rows.
    #[error("frame {frame} has {found} rows, expected 64")]
    Rows {
        /// The number of the frame, from 1.
        frame: usize,
        /// The number of rows found.
        found: usize,
    },
    /// A row does not have 64 cells.
    #[error("row {row} of frame {frame} has {found} cells, expected 64")]
    Cells {
        /// The number of the frame, from 1.
        frame: usize,
        /// The number of the row, from 1.
        row: usize,
        /// The number of cells found.
        found: usize,
    },
}

/// Converts frames to nested lists.
pub fn frames_to_wire(frames: &[Frame]) -> WireFrames {
    let row = |row: &[u8]| row.iter().map(|cell| cell.cast_signed()).collect();
    frames
        .iter()
        .map(|frame| frame.rows().map(row).collect())
        .collect()
}

/// Converts nested lists to frames.
///
/// # Errors
///
/// Returns a [`FrameShapeError`] that names the first frame or row that is not 64 × 64.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_protocol::{frames_from_wire, frames_to_wire};
///
/// let frames = [Frame::filled(3), Frame::filled(15)];
/// let wire = frames_to_wire(&frames);
/// assert_eq!(wire[1][63][0], 15);
/// assert_eq!(frames_from_wire(&wire)?, frames);
///
/// let error = frames_from_wire(&[vec![vec![0_i8; 64]; 63]]).unwrap_err();
/// assert_eq!(error.to_string(), "frame 1 has 63 rows, expected 64");
/// # Ok::<(), rhae_protocol::FrameShapeError>(())
/// ```
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
    fn frames_round_trip_and_other_shapes_are_rejected() {
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
