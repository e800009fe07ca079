//! The board as a picture for models that see.

use rhae_engine::{Frame, PALETTE};

/// The width of a cell in pixels.
const SCALE: usize = 4;
const WIDTH: usize = 64 * SCALE;

/// Returns a frame as a PNG file of 256 × 256 pixels.
pub(crate) fn board_png(frame: &Frame) -> Vec<u8> {
    let mut file = Vec::new();
    let side = u32::try_from(WIDTH).expect("the width is small");
    let mut encoder = png::Encoder::new(&mut file, side, side);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(PALETTE.as_flattened());
    let mut pixels = Vec::with_capacity(WIDTH * WIDTH);
    for row in frame.rows() {
        let line: Vec<u8> = row.iter().flat_map(|&cell| [cell.min(15); SCALE]).collect();
        for _ in 0..SCALE {
            pixels.extend_from_slice(&line);
        }
    }
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .expect("a picture of fixed size is written to memory");
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_has_the_colours_of_the_board() {
        let mut frame = Frame::filled(5);
        frame.set(63, 0, 9);
        let file = board_png(&frame);
        assert!(file.len() < 5_000, "{}", file.len());
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let at = |x: usize, y: usize| &pixels[3 * (y * WIDTH + x)..][..3];
        assert_eq!(at(0, 0), PALETTE[5]);
        assert_eq!(at(WIDTH - 1, SCALE - 1), PALETTE[9]);
        assert_eq!(at(WIDTH - 1, SCALE), PALETTE[5]);
    }
}
