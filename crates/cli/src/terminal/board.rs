//! A frame drawn as a board: two cells a character, a rim round it, a cross on a cell.

use rhae_engine::{Frame, PALETTE, SIZE};

use super::canvas::{Canvas, Glyph, Ink, Pen};
use super::layout::{Area, Layout, NEEDED, NEEDED_BESIDE};

/// White, dark grey and black.
const LIGHT: u8 = 0;
const DIM: u8 = 3;
const DARK: u8 = 5;

/// Draws the board with its rim, and with a cross if a cell is marked.
pub(crate) fn draw(canvas: &mut Canvas, layout: &Layout, frame: &Frame, marked: Option<(u8, u8)>) {
    rim(canvas, layout.board);
    match marked {
        Some(place) => cells(canvas, layout, &with_cross(frame, place)),
        None => cells(canvas, layout, frame),
    }
}

/// Says that the board does not fit, and what would help.
pub(crate) fn too_small(columns: u16, rows: u16) -> Canvas {
    let mut canvas = Canvas::new(columns, rows);
    let area = Area {
        column: 0,
        row: rows / 3,
        columns,
        rows: rows - rows / 3,
    };
    let mut pen = Pen::new(&mut canvas, area);
    pen.sentence(
        &format!("This terminal has {columns} x {rows} characters."),
        true,
    );
    pen.new_line();
    pen.sentence(
        &format!(
            "The board needs {} x {}, or {} x {}.",
            NEEDED.0, NEEDED.1, NEEDED_BESIDE.0, NEEDED_BESIDE.1
        ),
        true,
    );
    pen.new_line();
    pen.sentence("Enlarge it or choose a smaller font; q quits.", false);
    canvas
}

/// A line round the board as far as there is room: a board may be as dark as the terminal.
fn rim(canvas: &mut Canvas, board: Area) {
    let (right, bottom) = (board.column + board.columns, board.row + board.rows);
    let mut line = |column: Option<u16>, row: Option<u16>, symbol: char| {
        if let (Some(column), Some(row)) = (column, row) {
            canvas.set(
                column,
                row,
                Glyph {
                    symbol,
                    ink: Ink::Cell(DIM),
                    ground: Ink::Plain,
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

fn cells(canvas: &mut Canvas, layout: &Layout, frame: &Frame) {
    let color = |(x, y): (u8, u8)| frame.get(usize::from(x), usize::from(y));
    for row in 0..layout.board.rows {
        for column in 0..layout.board.columns {
            let (upper, lower) = layout.cells_of(column, row);
            let (upper, lower) = (color(upper), color(lower));
            let plain = Glyph {
                symbol: ' ',
                ink: Ink::Plain,
                ground: Ink::Cell(lower),
                bold: false,
            };
            let glyph = if upper == lower {
                plain
            } else {
                Glyph {
                    symbol: '▀',
                    ink: Ink::Cell(upper),
                    ..plain
                }
            };
            canvas.set(layout.board.column + column, layout.board.row + row, glyph);
        }
    }
}

/// The frame with a cross of four arms round a cell, which itself stays as it is.
fn with_cross(frame: &Frame, (x, y): (u8, u8)) -> Frame {
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
                marked.set(x, y, if bright { DARK } else { LIGHT });
            }
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cross_stands_round_its_cell_and_clips() {
        let marked = with_cross(&Frame::filled(5), (0, 63));
        assert_eq!(
            (marked.get(0, 63), marked.get(3, 63), marked.get(0, 60)),
            (5, 0, 0)
        );
        assert_eq!(marked.cells().iter().filter(|&&cell| cell == 0).count(), 6);
        assert_eq!(with_cross(&Frame::filled(0), (9, 9)).get(10, 9), 5);
    }
}
