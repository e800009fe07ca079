//! What a key means, given what the person is looking at.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rhae_engine::{Action, ActionKind, ActionSet};

/// What the person is looking at, as far as keys depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// The board.
    Board,
    /// The board with a cursor, which takes the arrow keys.
    Cursor,
    /// A completed level, until a key leads on.
    LevelWon,
    /// The question whether the whole game should start again.
    Question,
}

/// What the person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// An action other than a click and RESET.
    Act(Action),
    /// A click on the cell under the cursor.
    ClickAtCursor,
    /// The cursor by so many cells to the right and down.
    MoveCursor(i8, i8),
    /// The cursor on or off.
    ToggleCursor,
    /// RESET.
    Reset,
    /// Yes to the question.
    Confirm,
    /// No to the question.
    Decline,
    /// The next level.
    GoOn,
    /// The end.
    Quit,
    /// The key has no meaning.
    Nothing,
}

/// How far a cursor key moves with Shift held.
const LEAP: i8 = 8;

/// The meaning of a key.
pub(crate) fn wish(key: KeyEvent, focus: Focus) -> Wish {
    let letter = match key.code {
        KeyCode::Char(letter) => Some(letter.to_ascii_lowercase()),
        _ => None,
    };
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return if letter == Some('c') {
            Wish::Quit
        } else {
            Wish::Nothing
        };
    }
    if letter == Some('q') || (key.code == KeyCode::Esc && focus != Focus::Question) {
        return Wish::Quit;
    }
    match focus {
        Focus::Question if letter == Some('y') => Wish::Confirm,
        Focus::Question => Wish::Decline,
        Focus::LevelWon if key.code == KeyCode::Enter || letter == Some(' ') => Wish::GoOn,
        Focus::LevelWon => Wish::Nothing,
        Focus::Cursor => cursor_wish(key).unwrap_or_else(|| board_wish(key.code, letter)),
        Focus::Board => board_wish(key.code, letter),
    }
}

fn board_wish(code: KeyCode, letter: Option<char>) -> Wish {
    match (code, letter) {
        (KeyCode::Up, _) | (_, Some('w')) => Wish::Act(Action::Action1),
        (KeyCode::Down, _) | (_, Some('s')) => Wish::Act(Action::Action2),
        (KeyCode::Left, _) | (_, Some('a')) => Wish::Act(Action::Action3),
        (KeyCode::Right, _) | (_, Some('d')) => Wish::Act(Action::Action4),
        (_, Some(' ')) => Wish::Act(Action::Action5),
        (_, Some('u')) => Wish::Act(Action::Action7),
        (_, Some('r')) => Wish::Reset,
        (_, Some('c')) => Wish::ToggleCursor,
        _ => Wish::Nothing,
    }
}

fn cursor_wish(key: KeyEvent) -> Option<Wish> {
    let by = if key.modifiers.contains(KeyModifiers::SHIFT) {
        LEAP
    } else {
        1
    };
    Some(match key.code {
        KeyCode::Up => Wish::MoveCursor(0, -by),
        KeyCode::Down => Wish::MoveCursor(0, by),
        KeyCode::Left => Wish::MoveCursor(-by, 0),
        KeyCode::Right => Wish::MoveCursor(by, 0),
        KeyCode::Enter => Wish::ClickAtCursor,
        _ => return None,
    })
}

/// The keys that exist, each with what it does, for the actions that are offered.
pub(crate) fn legend(offered: ActionSet, cursor: bool) -> Vec<(String, String)> {
    let arrows = [
        (ActionKind::Action1, '↑', 'W'),
        (ActionKind::Action2, '↓', 'S'),
        (ActionKind::Action3, '←', 'A'),
        (ActionKind::Action4, '→', 'D'),
    ];
    let here: Vec<_> = arrows
        .into_iter()
        .filter(|(kind, ..)| offered.contains(*kind))
        .collect();
    let mut keys = Vec::new();
    if let (Some(first), Some(last)) = (here.first(), here.last()) {
        let symbols: String = if cursor {
            String::new()
        } else {
            here.iter().map(|key| key.1).chain([' ']).collect()
        };
        let letters: String = here.iter().map(|key| key.2).collect();
        let together = usize::from(last.0.id() - first.0.id()) + 1 == here.len();
        let numbers: Vec<String> = here.iter().map(|key| key.0.id().to_string()).collect();
        let numbers = if together && here.len() > 1 {
            format!("{}-{}", numbers[0], last.0.id())
        } else {
            numbers.join(",")
        };
        keys.push((symbols + &letters, format!("ACTION{numbers}")));
    }
    let mut add = |kind: Option<ActionKind>, key: &str, does: &str| {
        if kind.is_none_or(|kind| offered.contains(kind)) {
            keys.push((key.to_owned(), does.to_owned()));
        }
    };
    add(Some(ActionKind::Action5), "space", "ACTION5");
    if cursor {
        add(Some(ActionKind::Action6), "↑↓←→", "cursor");
        add(Some(ActionKind::Action6), "enter", "click");
        add(Some(ActionKind::Action6), "c", "no cursor");
    } else {
        add(Some(ActionKind::Action6), "mouse", "click");
        add(Some(ActionKind::Action6), "c", "cursor");
    }
    add(Some(ActionKind::Action7), "u", "undo");
    add(None, "r", "reset");
    add(None, "q", "quit");
    keys
}

/// The key that a hint names for an action.
pub(crate) const fn key_name(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Reset => "r",
        ActionKind::Action1 => "↑",
        ActionKind::Action2 => "↓",
        ActionKind::Action3 => "←",
        ActionKind::Action4 => "→",
        ActionKind::Action5 => "space",
        ActionKind::Action6 => "a click",
        ActionKind::Action7 => "u",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, focus: Focus) -> Wish {
        wish(KeyEvent::from(code), focus)
    }

    #[test]
    fn arrows_and_letters_are_the_same_actions() {
        let keys = [
            (KeyCode::Up, 'w', 1),
            (KeyCode::Down, 's', 2),
            (KeyCode::Left, 'a', 3),
            (KeyCode::Right, 'D', 4),
        ];
        for (arrow, letter, id) in keys {
            let action = ActionKind::from_id(id)
                .and_then(ActionKind::simple)
                .unwrap();
            assert_eq!(press(arrow, Focus::Board), Wish::Act(action));
            assert_eq!(
                press(KeyCode::Char(letter), Focus::Board),
                Wish::Act(action)
            );
            assert_eq!(
                press(KeyCode::Char(letter), Focus::Cursor),
                Wish::Act(action)
            );
        }
        assert_eq!(
            press(KeyCode::Char(' '), Focus::Board),
            Wish::Act(Action::Action5)
        );
        assert_eq!(
            press(KeyCode::Char('u'), Focus::Cursor),
            Wish::Act(Action::Action7)
        );
    }

    #[test]
    fn the_cursor_takes_the_arrows() {
        assert_eq!(press(KeyCode::Left, Focus::Cursor), Wish::MoveCursor(-1, 0));
        assert_eq!(
            wish(
                KeyEvent::new(KeyCode::Down, KeyModifiers::SHIFT),
                Focus::Cursor
            ),
            Wish::MoveCursor(0, 8)
        );
        assert_eq!(press(KeyCode::Enter, Focus::Cursor), Wish::ClickAtCursor);
        assert_eq!(press(KeyCode::Enter, Focus::Board), Wish::Nothing);
    }

    #[test]
    fn every_view_can_be_left() {
        for focus in [
            Focus::Board,
            Focus::Cursor,
            Focus::LevelWon,
            Focus::Question,
        ] {
            assert_eq!(press(KeyCode::Char('q'), focus), Wish::Quit);
            assert_eq!(
                wish(
                    KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
                    focus
                ),
                Wish::Quit
            );
        }
        assert_eq!(press(KeyCode::Esc, Focus::Board), Wish::Quit);
        assert_eq!(press(KeyCode::Esc, Focus::Question), Wish::Decline);
    }

    #[test]
    fn only_yes_restarts_and_no_action_leads_on() {
        assert_eq!(press(KeyCode::Char('y'), Focus::Question), Wish::Confirm);
        assert_eq!(press(KeyCode::Enter, Focus::Question), Wish::Decline);
        assert_eq!(press(KeyCode::Char('r'), Focus::Question), Wish::Decline);
        assert_eq!(press(KeyCode::Char(' '), Focus::LevelWon), Wish::GoOn);
        assert_eq!(press(KeyCode::Up, Focus::LevelWon), Wish::Nothing);
    }

    #[test]
    fn the_legend_names_what_is_offered() {
        let shown = |offered: ActionSet, cursor: bool| {
            legend(offered, cursor)
                .iter()
                .map(|(key, does)| format!("{key} {does}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let clicks = ActionSet::of(&[ActionKind::Action6]);
        assert_eq!(
            shown(ActionSet::ARROWS, false),
            "↑↓←→ WSAD ACTION1-4, r reset, q quit"
        );
        assert_eq!(
            shown(clicks, false),
            "mouse click, c cursor, r reset, q quit"
        );
        assert_eq!(
            shown(clicks, true),
            "↑↓←→ cursor, enter click, c no cursor, r reset, q quit"
        );
        let some = ActionSet::of(&[
            ActionKind::Action2,
            ActionKind::Action4,
            ActionKind::Action7,
        ]);
        assert_eq!(
            shown(some, false),
            "↓→ SD ACTION2,4, u undo, r reset, q quit"
        );
    }
}
