//! The screen of a replay.

use rhae_engine::PlayState;
use rhae_report::action_label;

use super::keys::legend;
use super::player::Player;
use super::reasoning::{plain, wrapped_lines};
use crate::terminal::board::{self, Marks};
use crate::terminal::canvas::{Canvas, TextWriter};
use crate::terminal::layout::{Area, Layout};

/// Columns between two parts of a line.
const GAP: u16 = 2;

/// Draws the whole screen.
pub(crate) fn view(player: &Player, columns: u16, rows: u16) -> Canvas {
    let Some(layout) = Layout::fit_with_long_message(columns, rows) else {
        return board::too_small_notice(columns, rows);
    };
    let mut canvas = Canvas::new(columns, rows);
    let marks = Marks {
        cell: player.marked_cell(),
        boxes: player.boxes(),
    };
    board::draw(&mut canvas, &layout, player.frame(), &marks);
    status(&mut canvas, layout.status, player);
    if let Some(text) = &player.caption() {
        let mut writer = TextWriter::new(&mut canvas, layout.message);
        for line in wrapped_lines(
            text,
            usize::from(layout.message.columns),
            usize::from(layout.message.rows),
        ) {
            writer.write_group(0, &[(&line, false)]);
            writer.new_line();
        }
    }
    let mut writer = TextWriter::new(&mut canvas, layout.keys);
    for (key, effect) in legend(player.is_playing()) {
        writer.write_group(3, &[(key, true), (" ", false), (effect, false)]);
    }
    canvas
}

/// Draws the status. The first parts have the same width for every entry, so that the later ones
/// keep their position. If there is enough height, each group of parts gets its own line.
fn status(canvas: &mut Canvas, area: Area, player: &Player) {
    let (entry, entries) = player.entry();
    let (level, levels) = player.level();
    let (action, actions) = player.actions();
    let digits = |number: usize| number.to_string().len();
    let is_tall = area.rows > 2;
    let mut writer = TextWriter::new(canvas, area);
    writer.write_group(0, &[(&plain(player.title()), true)]);
    let width = digits(entries);
    writer.write_group(
        GAP,
        &[
            ("entry ", false),
            (&format!("{entry:>width$}"), true),
            (&format!(" of {entries}"), false),
        ],
    );
    if is_tall {
        writer.new_line();
    }
    writer.write_group(
        GAP,
        &[(
            &format!("{:<17}", action_label(player.moment().action)),
            true,
        )],
    );
    writer.write_group(GAP, &[(&format!("{:<15}", remark(player)), false)]);
    if is_tall {
        writer.new_line();
    }
    let of = if levels == 0 {
        String::new()
    } else {
        format!(" of {levels}")
    };
    writer.write_group(
        GAP,
        &[("level ", false), (&level.to_string(), true), (&of, false)],
    );
    let width = digits(actions);
    writer.write_group(
        GAP,
        &[
            ("action ", false),
            (&format!("{action:>width$}"), true),
            (&format!(" of {actions}"), false),
        ],
    );
    if is_tall {
        writer.new_line();
    }
    let pause = if player.is_playing() { "" } else { " paused" };
    let pace = if player.plays_at_recorded_pace() {
        " recorded"
    } else {
        ""
    };
    writer.write_group(
        GAP,
        &[(
            &format!("{:<8}", format!("{}×{pace}{pause}", player.speed())),
            false,
        )],
    );
    writer.write_group(GAP, &[(&state(player), true)]);
}

/// Returns a remark if the action changed nothing or was not counted, and an empty text otherwise.
fn remark(player: &Player) -> &'static str {
    let moment = player.moment();
    match (moment.counted, moment.changed) {
        (true, false) => "changed nothing",
        (true, true) => "",
        (false, _) if moment.full_reset => "new game",
        (false, _) => "not counted",
    }
}

fn state(player: &Player) -> String {
    match (player.state(), player.completed()) {
        (PlayState::Win, _) => "won".to_owned(),
        (PlayState::GameOver, _) => "game over".to_owned(),
        (PlayState::NotFinished, Some(level)) => format!("completed level {level}"),
        (PlayState::NotFinished, None) => "not finished".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::replay::keys::PlayerCommand;
    use crate::replay::player::tests::film;

    fn texts(player: &Player, columns: u16, rows: u16, from: usize) -> String {
        view(player, columns, rows)
            .text()
            .lines()
            .skip(from)
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn at(entry: isize) -> Player {
        let mut film = film();
        film.moments[1].reasoning =
            Some("The cell may be a button.\x1b[2J\nIf not, it is a wall, and then the way leads round it.".to_owned());
        let mut player = Player::new(film, 1.0, 0, Instant::now()).unwrap();
        player.handle(PlayerCommand::Step(entry - 1), Instant::now());
        player
    }

    #[test]
    fn failure_is_shown_with_the_last_entry() {
        let ended = |entry: isize| {
            at(entry).with_failure(Some(
                "The play failed here: 6@63,63: it raised IndexError".to_owned(),
            ))
        };
        assert!(texts(&ended(7), 80, 40, 34).contains("The play failed here: 6@63,63"));
        assert!(!texts(&ended(6), 80, 40, 34).contains("failed"));
    }

    #[test]
    fn click_without_effect_is_described() {
        insta::assert_snapshot!(texts(&at(2), 80, 40, 34), @r"
        wa1k-v1  entry 2 of 7  ACTION6 at 10, 20  changed nothing
        level 1 of 3  action 1 of 6  1× paused  not finished
        The cell may be a button.[2J
        If not, it is a wall, and then the way leads round it.
        space play    ←→ step   PgUp PgDn ±10   Home End start/end
        +- speed   t pace   o objects   n p next/prev level   q quit
        ");
    }

    #[test]
    fn smallest_terminal_shows_the_full_status() {
        insta::assert_snapshot!(texts(&at(2), 64, 38, 33), @r"
        wa1k-v1  entry 2 of 7  ACTION6 at 10, 20  changed nothing
        level 1 of 3  action 1 of 6  1× paused  not finished
        The cell may be a button.[2J…
        space play    ←→ step   PgUp PgDn ±10   Home End start/end
        +- speed   t pace   o objects   n p next/prev level   q quit
        ");
        insta::assert_snapshot!(texts(&at(3), 64, 38, 33), @r"
        wa1k-v1  entry 3 of 7  ACTION4
        level 2 of 3  action 2 of 6  1× paused  completed level 1

        space play    ←→ step   PgUp PgDn ±10   Home End start/end
        +- speed   t pace   o objects   n p next/prev level   q quit
        ");
    }

    #[test]
    fn text_to_the_right_of_the_board_has_more_rows() {
        let text = texts(&at(2), 94, 32, 0);
        let right = |line: &str| {
            line.chars()
                .skip(66)
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        insta::assert_snapshot!(text.lines().map(right).collect::<Vec<_>>().join("\n"), @r"
        wa1k-v1  entry 2 of 7
        ACTION6 at 10, 20
        changed nothing
        level 1 of 3  action 1 of 6
        1× paused  not finished



        The cell may be a button.[2J
        If not, it is a wall, and
        then the way leads round it.













        space play    ←→ step
        PgUp PgDn ±10
        Home End start/end
        +- speed   t pace
        o objects
        n p next/prev level   q quit
        ");
    }

    #[test]
    fn click_is_marked_on_the_board() {
        let mut player = at(2);
        let marked = view(&player, 80, 40);
        player.tick(Instant::now() + std::time::Duration::from_secs(9));
        assert_ne!(view(&player, 80, 40), marked);
    }

    #[test]
    fn every_size_can_be_drawn() {
        for (columns, rows) in [(0, 0), (1, 1), (63, 38), (94, 31), (300, 200)] {
            view(&at(2), columns, rows);
        }
    }
}
