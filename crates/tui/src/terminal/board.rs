//! Drawing a frame as a board: two cells per character, a border, and a crosshair on a marked cell.

use rhae_engine::{Frame, PALETTE, SIZE};

use super::canvas::{Canvas, Color, Glyph, TextWriter};
use super::layout::{Area, Layout, MIN_SIZE_TEXT_BELOW, MIN_SIZE_TEXT_RIGHT};

// Cell values of the palette.
const WHITE: u8 = 0;
const DARK_GREY: u8 = 3;
const BLACK: u8 = 5;

/// Draws the board and its border, with a crosshair if a cell is marked.
pub(crate) fn draw(canvas: &mut Canvas, layout: &Layout, frame: &Frame, marked: Option<(u8, u8)>) {
    draw_border(canvas, layout.board);
    match marked {
        Some(cell) => draw_cells(canvas, layout, &with_crosshair(frame, cell)),
        None => draw_cells(canvas, layout, frame),
    }
}

/// Draws a notice that the terminal is too small for the board.
pub(crate) fn too_small_notice(columns: u16, rows: u16) -> Canvas {
    let mut canvas = Canvas::new(columns, rows);
    let area = Area {
        column: 0,
        row: rows / 3,
        columns,
        rows: rows - rows / 3,
    };
    let mut writer = TextWriter::new(&mut canvas, area);
    writer.write_words(
        &format!("This terminal has {columns} x {rows} characters."),
        true,
    );
    writer.new_line();
    writer.write_words(
        &format!(
            "The board needs {} x {}, or {} x {}.",
            MIN_SIZE_TEXT_BELOW.0,
            MIN_SIZE_TEXT_BELOW.1,
            MIN_SIZE_TEXT_RIGHT.0,
            MIN_SIZE_TEXT_RIGHT.1
        ),
        true,
    );
    writer.new_line();
    writer.write_words("Enlarge it or choose a smaller font; q quits.", false);
    canvas
}

/// Draws a line around the board where there is room, because a board may have the same colour as
/// the terminal.
fn draw_border(canvas: &mut Canvas, board: Area) {
    let (right, bottom) = (board.column + board.columns, board.row + board.rows);
    let mut line = |column: Option<u16>, row: Option<u16>, symbol: char| {
        if let (Some(column), Some(row)) = (column, row) {
            canvas.set(
                column,
                row,
                Glyph {
                    symbol,
                    foreground: Color::Cell(DARK_GREY),
                    background: Color::Default,
                    bold: false,
                },
            );
        }
    };
    let (left, top) = (board.column.checked_sub(1), board.row.checked_sub(1));
    for column in board.column..right {
        line(Some(column), top, '─');
        line(Some(column), Some(bottom), '─');
    }
    for row in board.row..bottom {
        line(left, Some(row), '│');
        line(Some(right), Some(row), '│');
    }
    line(left, top, '┌');
    line(Some(right), top, '┐');
    line(left, Some(bottom), '└');
    line(Some(right), Some(bottom), '┘');
}

fn draw_cells(canvas: &mut Canvas, layout: &Layout, frame: &Frame) {
    let color = |(x, y): (u8, u8)| frame.get(usize::from(x), usize::from(y));
    for row in 0..layout.board.rows {
        for column in 0..layout.board.columns {
            let (upper, lower) = layout.cells_of(column, row);
            let (upper, lower) = (color(upper), color(lower));
            let plain = Glyph {
                symbol: ' ',
                foreground: Color::Default,
                background: Color::Cell(lower),
                bold: false,
            };
            let glyph = if upper == lower {
                plain
            } else {
                Glyph {
                    symbol: '▀',
                    foreground: Color::Cell(upper),
                    ..plain
                }
            };
            canvas.set(layout.board.column + column, layout.board.row + row, glyph);
        }
    }
}

/// Returns the frame with a crosshair of four arms around a cell. The cell itself is unchanged.
fn with_crosshair(frame: &Frame, (x, y): (u8, u8)) -> Frame {
    let mut marked = frame.clone();
    let (x, y) = (usize::from(x), usize::from(y));
    for reach in 1..=3 {
        for (x, y) in [
            (x + reach, y),
            (x.wrapping_sub(reach), y),
            (x, y + reach),
            (x, y.wrapping_sub(reach)),
        ] {
            if x < SIZE && y < SIZE {
                let [red, green, blue] = PALETTE[usize::from(frame.get(x, y) & 15)].map(u32::from);
                // Luma as in ITU-R BT.601.
                let bright = 299 * red + 587 * green + 114 * blue > 127_500;
                marked.set(x, y, if bright { BLACK } else { WHITE });
            }
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosshair_surrounds_its_cell_and_is_clipped() {
        let marked = with_crosshair(&Frame::filled(5), (0, 63));
        assert_eq!(
            (marked.get(0, 63), marked.get(3, 63), marked.get(0, 60)),
            (5, 0, 0)
        );
        assert_eq!(marked.cells().iter().filter(|&&cell| cell == 0).count(), 6);
        assert_eq!(with_crosshair(&Frame::filled(0), (9, 9)).get(10, 9), 5);
    }
}
