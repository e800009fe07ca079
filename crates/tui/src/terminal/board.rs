//! Drawing a frame as a board: two cells per character, a border, and a crosshair on a marked cell.

use rhae_engine::{Frame, PALETTE, SIZE};
use rhae_percept::Bounds;
use rhae_report::PerceivedBox;

use super::canvas::{Canvas, Color, Glyph, TextWriter};
use super::layout::{Area, Layout, MIN_SIZE_TEXT_BELOW, MIN_SIZE_TEXT_RIGHT};

// Cell values of the palette.
const WHITE: u8 = 0;
const DARK_GREY: u8 = 3;
const BLACK: u8 = 5;

/// What is drawn over the frame.
#[derive(Clone, Copy, Default)]
pub(crate) struct Marks<'a> {
    /// A cell with a crosshair.
    pub(crate) cell: Option<(u8, u8)>,
    /// Outlined parts of the board.
    pub(crate) boxes: &'a [PerceivedBox],
}

/// Draws the board and its border, with marks over it.
pub(crate) fn draw(canvas: &mut Canvas, layout: &Layout, frame: &Frame, marks: &Marks<'_>) {
    draw_border(canvas, layout.board);
    if marks.cell.is_none() && marks.boxes.is_empty() {
        return draw_cells(canvas, layout, frame);
    }
    let mut marked = frame.clone();
    for shown in marks.boxes {
        draw_corners(&mut marked, frame, shown.bounds);
    }
    if let Some(cell) = marks.cell {
        draw_crosshair(&mut marked, frame, cell);
    }
    draw_cells(canvas, layout, &marked);
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

/// Draws a crosshair of four arms around a cell. The cell itself is unchanged.
fn draw_crosshair(marked: &mut Frame, frame: &Frame, (x, y): (u8, u8)) {
    let (x, y) = (usize::from(x), usize::from(y));
    for reach in 1..=3 {
        for (x, y) in [
            (x + reach, y),
            (x.wrapping_sub(reach), y),
            (x, y + reach),
            (x, y.wrapping_sub(reach)),
        ] {
            contrast(marked, frame, x, y);
        }
    }
}

/// Marks the four corners of a rectangle, one cell outside of it where there is room.
fn draw_corners(marked: &mut Frame, frame: &Frame, bounds: Bounds) {
    let before = |edge: u8| usize::from(edge.saturating_sub(1));
    let after = |edge: u8| (usize::from(edge) + 1).min(SIZE - 1);
    for x in [before(bounds.left), after(bounds.right)] {
        for y in [before(bounds.top), after(bounds.bottom)] {
            contrast(marked, frame, x, y);
        }
    }
}

/// Draws a cell in black or white, whichever contrasts with its colour in `frame`.
fn contrast(marked: &mut Frame, frame: &Frame, x: usize, y: usize) {
    if x < SIZE && y < SIZE {
        let [red, green, blue] = PALETTE[usize::from(frame.get(x, y) & 15)].map(u32::from);
        // Luma as in ITU-R BT.601.
        let bright = 299 * red + 587 * green + 114 * blue > 127_500;
        marked.set(x, y, if bright { BLACK } else { WHITE });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crosshair_surrounds_its_cell_and_is_clipped() {
        let crosshair = |color: u8, cell: (u8, u8)| {
            let frame = Frame::filled(color);
            let mut marked = frame.clone();
            draw_crosshair(&mut marked, &frame, cell);
            marked
        };
        let marked = crosshair(5, (0, 63));
        assert_eq!(
            (marked.get(0, 63), marked.get(3, 63), marked.get(0, 60)),
            (5, 0, 0)
        );
        assert_eq!(marked.cells().iter().filter(|&&cell| cell == 0).count(), 6);
        assert_eq!(crosshair(0, (9, 9)).get(10, 9), 5);
    }

    #[test]
    fn corners_are_outside_of_a_box_and_inside_the_frame() {
        let frame = Frame::filled(5);
        let mut marked = frame.clone();
        let bounds = Bounds {
            left: 0,
            top: 10,
            right: 4,
            bottom: 63,
        };
        draw_corners(&mut marked, &frame, bounds);
        let white = (0..SIZE * SIZE).filter(|&cell| marked.cells()[cell] == WHITE);
        let found: Vec<_> = white.map(|cell| (cell % SIZE, cell / SIZE)).collect();
        assert_eq!(found, [(0, 9), (5, 9), (0, 63), (5, 63)]);
    }
}
