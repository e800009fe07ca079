//! What the screen shows of a sitting.

use rhae_engine::{Frame, PALETTE, SIZE};

use super::canvas::{Canvas, Glyph, Ink, Pen};
use super::keys::legend;
use super::layout::{Area, Layout, NEEDED, NEEDED_BESIDE};
use super::sitting::Sitting;

/// White, dark grey and black.
const LIGHT: u8 = 0;
const DIM: u8 = 3;
const DARK: u8 = 5;

/// The whole screen.
pub(crate) fn view(sitting: &Sitting, columns: u16, rows: u16) -> Canvas {
    let mut canvas = Canvas::new(columns, rows);
    let Some(layout) = Layout::fit(columns, rows) else {
        too_small(&mut canvas, columns, rows);
        return canvas;
    };
    rim(&mut canvas, layout.board);
    match sitting.cursor() {
        Some(place) => board(&mut canvas, &layout, &with_cursor(sitting.frame(), place)),
        None => board(&mut canvas, &layout, sitting.frame()),
    }
    status(&mut canvas, &layout, sitting);
    if let Some((text, urgent)) = sitting.message() {
        Pen::new(&mut canvas, layout.message).sentence(&text, urgent);
    }
    let mut pen = Pen::new(&mut canvas, layout.keys);
    for (key, does) in legend(sitting.offered(), sitting.cursor().is_some()) {
        pen.group(3, &[(&key, true), (" ", false), (&does, false)]);
    }
    canvas
}

fn too_small(canvas: &mut Canvas, columns: u16, rows: u16) {
    let area = Area { column: 0, row: rows / 3, columns, rows: rows - rows / 3 };
    let mut pen = Pen::new(canvas, area);
    pen.sentence(&format!("This terminal has {columns} x {rows} characters."), true);
    pen.new_line();
    pen.sentence(&format!("The board needs {} x {}, or {} x {}.", NEEDED.0, NEEDED.1, NEEDED_BESIDE.0, NEEDED_BESIDE.1), true);
    pen.new_line();
    pen.sentence("Enlarge it or choose a smaller font; q quits.", false);
}

/// A line round the board as far as there is room: a board may be as dark as the terminal.
fn rim(canvas: &mut Canvas, board: Area) {
    let (right, bottom) = (board.column + board.columns, board.row + board.rows);
    let mut line = |column: Option<u16>, row: Option<u16>, symbol: char| {
        if let (Some(column), Some(row)) = (column, row) {
            canvas.set(column, row, Glyph { symbol, ink: Ink::Cell(DIM), ground: Ink::Plain, bold: false });
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

fn board(canvas: &mut Canvas, layout: &Layout, frame: &Frame) {
    let color = |(x, y): (u8, u8)| frame.get(usize::from(x), usize::from(y));
    for row in 0..layout.board.rows {
        for column in 0..layout.board.columns {
            let (upper, lower) = layout.cells_of(column, row);
            let (upper, lower) = (color(upper), color(lower));
            let plain = Glyph { symbol: ' ', ink: Ink::Plain, ground: Ink::Cell(lower), bold: false };
            let glyph = if upper == lower { plain } else { Glyph { symbol: '▀', ink: Ink::Cell(upper), ..plain } };
            canvas.set(layout.board.column + column, layout.board.row + row, glyph);
        }
    }
}

/// The frame with a cross of four arms round a cell, which itself stays as it is.
fn with_cursor(frame: &Frame, (x, y): (u8, u8)) -> Frame {
    let mut marked = frame.clone();
    let (x, y) = (usize::from(x), usize::from(y));
    for reach in 1..=3 {
        for (x, y) in [(x + reach, y), (x.wrapping_sub(reach), y), (x, y + reach), (x, y.wrapping_sub(reach))] {
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

fn status(canvas: &mut Canvas, layout: &Layout, sitting: &Sitting) {
    let (level, levels) = sitting.level();
    let (here, all) = sitting.actions();
    let mut pen = Pen::new(canvas, layout.status);
    pen.group(0, &[(sitting.info().id.as_str(), true)]);
    pen.group(3, &[("level ", false), (&level.to_string(), true), (&format!(" of {levels}"), false)]);
    let total = if level > 1 { format!(" ({all} in all)") } else { String::new() };
    pen.group(3, &[("actions ", false), (&here.to_string(), true), (&total, false)]);
    pen.group(3, &[(sitting.state_word(), true)]);
    if let Some((x, y)) = sitting.cursor() {
        pen.group(3, &[(&format!("x {x} y {y}"), false)]);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rhae_engine::Action;
    use rhae_session::{Builtin, Catalog, Play, ResetRule};

    use super::*;
    use crate::play::keys::Wish;

    fn sitting() -> Sitting {
        Sitting::new(Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official), None)
    }

    fn texts(sitting: &Sitting, columns: u16, rows: u16, row: usize) -> String {
        view(sitting, columns, rows).text().lines().skip(row).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_common_terminal_shows_status_and_keys() {
        insta::assert_snapshot!(texts(&sitting(), 80, 40, 34), @r"
        hk26-v1   level 1 of 8   actions 0   playing


        ↑↓←→ WSAD ACTION1-4   space ACTION5   mouse click   c cursor
        u undo   r reset   q quit
        ");
    }

    #[test]
    fn the_rim_stands_where_there_is_room() {
        let text = view(&sitting(), 80, 40).text();
        let line = |row: usize| text.lines().nth(row).unwrap().trim().to_owned();
        assert_eq!([line(0), line(33)], [("┌", "┐"), ("└", "┘")].map(|(left, right)| format!("{left}{}{right}", "─".repeat(64))));
        let tight = view(&sitting(), 64, 38).text();
        assert!(!tight.contains('│') && tight.lines().nth(32).unwrap().starts_with('─'));
    }

    #[test]
    fn the_longest_message_fits_below_the_board() {
        let mut sitting = sitting();
        for wish in [Wish::Act(Action::Action4), Wish::Reset, Wish::Reset] {
            sitting.fulfil(wish, Instant::now()).unwrap();
        }
        insta::assert_snapshot!(texts(&sitting, 64, 38, 33), @r"
        hk26-v1   level 1 of 8   actions 2   playing
        The level is as at its start, so RESET restarts the whole game,
        counted anew. y restarts it, any other key goes on.
        ↑↓←→ WSAD ACTION1-4   space ACTION5   mouse click   c cursor
        u undo   r reset   q quit
        ");
    }

    #[test]
    fn the_cursor_changes_keys_and_picture() {
        let mut sitting = sitting();
        let before = view(&sitting, 80, 40);
        sitting.fulfil(Wish::ToggleCursor, Instant::now()).unwrap();
        assert_ne!(view(&sitting, 80, 40), before);
        insta::assert_snapshot!(texts(&sitting, 80, 40, 34), @r"
        hk26-v1   level 1 of 8   actions 0   playing   x 32 y 32


        WSAD ACTION1-4   space ACTION5   ↑↓←→ cursor   enter click
        c no cursor   u undo   r reset   q quit
        ");
    }

    #[test]
    fn a_small_terminal_says_what_is_needed() {
        insta::assert_snapshot!(texts(&sitting(), 50, 12, 4), @r"
        This terminal has 50 x 12 characters.
        The board needs 64 x 38, or 94 x 32.
        Enlarge it or choose a smaller font; q quits.
        ");
        view(&sitting(), 0, 0);
        view(&sitting(), 1, 1);
    }

    #[test]
    fn the_cursor_marks_round_its_cell_and_clips() {
        let marked = with_cursor(&Frame::filled(5), (0, 63));
        assert_eq!((marked.get(0, 63), marked.get(3, 63), marked.get(0, 60)), (5, 0, 0));
        assert_eq!(marked.cells().iter().filter(|&&cell| cell == 0).count(), 6);
        assert_eq!(with_cursor(&Frame::filled(0), (9, 9)).get(10, 9), 5);
    }
}
