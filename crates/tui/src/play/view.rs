//! The screen of a human play.

use super::human_play::HumanPlay;
use super::keys::legend;
use crate::terminal::board::{self, Marks};
use crate::terminal::canvas::{Canvas, TextWriter};
use crate::terminal::layout::Layout;

/// Draws the whole screen.
pub(crate) fn view(play: &HumanPlay, columns: u16, rows: u16) -> Canvas {
    let Some(layout) = Layout::fit(columns, rows) else {
        return board::too_small_notice(columns, rows);
    };
    let mut canvas = Canvas::new(columns, rows);
    let marks = Marks {
        cell: play.cursor(),
        boxes: &[],
    };
    board::draw(&mut canvas, &layout, play.frame(), &marks);
    status(&mut canvas, &layout, play);
    if let Some((text, urgent)) = play.message() {
        TextWriter::new(&mut canvas, layout.message).write_words(&text, urgent);
    }
    let mut writer = TextWriter::new(&mut canvas, layout.keys);
    for (key, effect) in legend(play.available_actions(), play.cursor().is_some()) {
        writer.write_group(3, &[(&key, true), (" ", false), (&effect, false)]);
    }
    canvas
}

fn status(canvas: &mut Canvas, layout: &Layout, play: &HumanPlay) {
    let (level, levels) = play.level();
    let (on_level, all) = play.actions();
    let mut writer = TextWriter::new(canvas, layout.status);
    writer.write_group(0, &[(play.info().id.as_str(), true)]);
    writer.write_group(
        3,
        &[
            ("level ", false),
            (&level.to_string(), true),
            (&format!(" of {levels}"), false),
        ],
    );
    let total = if level > 1 {
        format!(" ({all} in total)")
    } else {
        String::new()
    };
    writer.write_group(
        3,
        &[
            ("actions ", false),
            (&on_level.to_string(), true),
            (&total, false),
        ],
    );
    writer.write_group(3, &[(play.state_label(), true)]);
    if let Some((x, y)) = play.cursor() {
        writer.write_group(3, &[(&format!("x {x} y {y}"), false)]);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rhae_engine::{Action, Catalog};
    use rhae_games::Builtin;
    use rhae_session::{Play, ResetRule};

    use super::*;
    use crate::play::keys::KeyCommand;

    fn new_play() -> HumanPlay {
        HumanPlay::new(
            Play::new(Builtin.open("hk26", 0).unwrap(), ResetRule::Official),
            None,
        )
    }

    fn texts(play: &HumanPlay, columns: u16, rows: u16, row: usize) -> String {
        view(play, columns, rows)
            .text()
            .lines()
            .skip(row)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn status_and_keys_are_shown_on_80x40() {
        insta::assert_snapshot!(texts(&new_play(), 80, 40, 34), @r"
        hk26-v1   level 1 of 8   actions 0   playing


        ↑↓←→ WSAD ACTION1-4   space ACTION5   mouse click   c cursor
        u undo   r reset   q quit
        ");
    }

    #[test]
    fn border_is_drawn_where_there_is_room() {
        let text = view(&new_play(), 80, 40).text();
        let line = |row: usize| text.lines().nth(row).unwrap().trim().to_owned();
        assert_eq!(
            [line(0), line(33)],
            [("┌", "┐"), ("└", "┘")]
                .map(|(left, right)| format!("{left}{}{right}", "─".repeat(64)))
        );
        let tight = view(&new_play(), 64, 38).text();
        assert!(!tight.contains('│') && tight.lines().nth(32).unwrap().starts_with('─'));
    }

    #[test]
    fn longest_message_fits_below_the_board() {
        let mut play = new_play();
        for command in [
            KeyCommand::Act(Action::Action4),
            KeyCommand::Reset,
            KeyCommand::Reset,
        ] {
            play.handle(command, Instant::now()).unwrap();
        }
        insta::assert_snapshot!(texts(&play, 64, 38, 33), @r"
        hk26-v1   level 1 of 8   actions 2   playing
        The level is at its start, so RESET restarts the whole game as a
        new run. y restarts it, any other key cancels.
        ↑↓←→ WSAD ACTION1-4   space ACTION5   mouse click   c cursor
        u undo   r reset   q quit
        ");
    }

    #[test]
    fn cursor_changes_the_legend_and_the_board() {
        let mut play = new_play();
        let before = view(&play, 80, 40);
        play.handle(KeyCommand::ToggleCursor, Instant::now())
            .unwrap();
        assert_ne!(view(&play, 80, 40), before);
        insta::assert_snapshot!(texts(&play, 80, 40, 34), @r"
        hk26-v1   level 1 of 8   actions 0   playing   x 32 y 32


        WSAD ACTION1-4   space ACTION5   ↑↓←→ cursor   enter click
        c hide cursor   u undo   r reset   q quit
        ");
    }

    #[test]
    fn small_terminal_shows_the_required_size() {
        insta::assert_snapshot!(texts(&new_play(), 50, 12, 4), @r"
        This terminal has 50 x 12 characters.
        The board needs 64 x 38, or 94 x 32.
        Enlarge it or choose a smaller font; q quits.
        ");
        view(&new_play(), 0, 0);
        view(&new_play(), 1, 1);
    }
}
