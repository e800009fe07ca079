//! PNG pictures of frames: single frames and contact sheets.
//!
//! Invariant: a cell is a square of whole pixels in exactly the colour of the palette. This module
//! does not know what a frame means.

use rhae_engine::{Frame, PALETTE, SIZE};

/// The reason why a picture could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The PNG encoder failed. For the pictures that this crate makes, the only expected reason is
    /// that a picture is too large.
    #[error("cannot encode the picture: {0}")]
    Encode(#[from] png::EncodingError),
    /// The GIF encoder failed, for the same expected reason.
    #[error("cannot encode the animation: {0}")]
    Animate(#[from] gif::EncodingError),
    /// There is nothing to draw.
    #[error("there are no frames to draw")]
    Empty,
}

/// The palette index of the colour between pictures, after the sixteen colours of frames.
pub(crate) const GAP: u8 = 16;

/// Draws frames side by side as a PNG, `columns` in a row, each cell `zoom` pixels wide.
///
/// Several frames are separated by gaps; a single frame has no border.
///
/// # Errors
///
/// Returns [`PictureError::Empty`] if there are no frames, and [`PictureError::Encode`] if the
/// picture is too large.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_report::contact_sheet;
///
/// let (first, second) = (Frame::filled(5), Frame::filled(9));
/// let png = contact_sheet(&[&first, &second], 2, 4)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// assert!(contact_sheet(&[], 2, 4).is_err());
/// # Ok::<(), rhae_report::PictureError>(())
/// ```
pub fn contact_sheet(
    frames: &[&Frame],
    columns: usize,
    zoom: usize,
) -> Result<Vec<u8>, PictureError> {
    let rows: Vec<&[&Frame]> = frames.chunks(columns.max(1)).collect();
    frame_table(&rows, zoom)
}

/// Draws rows of frames as a PNG, like [`contact_sheet`], but with rows of different lengths. The
/// place of a missing frame has the colour of the gaps.
///
/// # Errors
///
/// Returns [`PictureError::Empty`] if there are no frames, and [`PictureError::Encode`] if the
/// picture is too large.
pub fn frame_table(rows: &[&[&Frame]], zoom: usize) -> Result<Vec<u8>, PictureError> {
    let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    if columns == 0 {
        return Err(PictureError::Empty);
    }
    let gap = if (rows.len(), columns) == (1, 1) {
        0
    } else {
        2 * zoom
    };
    let side = SIZE * zoom;
    let width = columns * (side + gap) + gap;
    let height = rows.len() * (side + gap) + gap;
    let mut pixels = vec![GAP; width * height];
    let places = rows.iter().enumerate().flat_map(|(row, frames)| {
        let frames = frames.iter().enumerate();
        frames.map(move |(column, frame)| (column, row, *frame))
    });
    for (column, row, frame) in places {
        let (left, top) = (gap + column * (side + gap), gap + row * (side + gap));
        for (y, row) in frame.rows().enumerate() {
            let first = (top + y * zoom) * width + left;
            for (x, &cell) in row.iter().enumerate() {
                pixels[first + x * zoom..first + (x + 1) * zoom].fill(cell.min(15));
            }
            for copy in 1..zoom {
                pixels.copy_within(first..first + side, first + copy * width);
            }
        }
    }
    encode(&pixels, width, height)
}

pub(crate) fn encode(pixels: &[u8], width: usize, height: usize) -> Result<Vec<u8>, PictureError> {
    let mut palette: Vec<u8> = PALETTE.concat();
    palette.extend([0x50, 0x58, 0x66]);
    let mut file = Vec::new();
    let dimension = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut file, dimension(width), dimension(height));
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}
