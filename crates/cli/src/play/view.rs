//! What the screen shows of a sitting.

use super::keys::legend;
use super::sitting::Sitting;
use crate::terminal::board;
use crate::terminal::canvas::{Canvas, Pen};
use crate::terminal::layout::Layout;

/// The whole screen.
pub(crate) fn view(sitting: &Sitting, columns: u16, rows: u16) -> Canvas {
    let Some(layout) = Layout::fit(columns, rows) else {
        return board::too_small(columns, rows);
    };
    let mut canvas = Canvas::new(columns, rows);
    board::draw(&mut canvas, &layout, sitting.frame(), sitting.cursor());
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

fn status(canvas: &mut Canvas, layout: &Layout, sitting: &Sitting) {
    let (level, levels) = sitting.level();
    let (here, all) = sitting.actions();
    let mut pen = Pen::new(canvas, layout.status);
    pen.group(0, &[(sitting.info().id.as_str(), true)]);
    pen.group(
        3,
        &[
            ("level ", false),
            (&level.to_string(), true),
            (&format!(" of {levels}"), false),
        ],
    );
    let total = if level > 1 {
        format!(" ({all} in all)")
    } else {
        String::new()
    };
    pen.group(
        3,
        &[
            ("actions ", false),
            (&here.to_string(), true),
            (&total, false),
        ],
    );
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
        Sitting::new(
            Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official),
            None,
        )
    }

    fn texts(sitting: &Sitting, columns: u16, rows: u16, row: usize) -> String {
        view(sitting, columns, rows)
            .text()
            .lines()
            .skip(row)
            .collect::<Vec<_>>()
            .join("\n")
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
        assert_eq!(
            [line(0), line(33)],
            [("┌", "┐"), ("└", "┘")]
                .map(|(left, right)| format!("{left}{}{right}", "─".repeat(64)))
        );
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
}
