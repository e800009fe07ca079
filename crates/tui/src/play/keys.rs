//! The key bindings of `rhae play`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rhae_engine::{Action, ActionKind, ActionSet};

/// The state of the screen, on which the meaning of keys depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Board,
    /// The board with a cursor that the arrow keys move.
    Cursor,
    /// A completed level, until the player continues to the next one.
    LevelWon,
    /// The prompt to confirm a restart of the whole game.
    RestartPrompt,
}

/// The command bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyCommand {
    /// An action other than a click and RESET.
    Act(Action),
    /// Click the cell under the cursor.
    ClickAtCursor,
    /// Move the cursor by this many cells to the right and down.
    MoveCursor(i8, i8),
    /// Show or hide the cursor.
    ToggleCursor,
    Reset,
    /// Confirm the restart.
    Confirm,
    /// Cancel the restart.
    Cancel,
    NextLevel,
    Quit,
    /// The key is not bound.
    Ignore,
}

/// The number of cells by which an arrow key with Shift moves the cursor.
const SHIFT_STEP: i8 = 8;

/// Returns the command bound to a key.
pub(crate) fn command_for(key: KeyEvent, focus: Focus) -> KeyCommand {
    let letter = match key.code {
        KeyCode::Char(letter) => Some(letter.to_ascii_lowercase()),
        _ => None,
    };
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return if letter == Some('c') {
            KeyCommand::Quit
        } else {
            KeyCommand::Ignore
        };
    }
    if letter == Some('q') || (key.code == KeyCode::Esc && focus != Focus::RestartPrompt) {
        return KeyCommand::Quit;
    }
    match focus {
        Focus::RestartPrompt if letter == Some('y') => KeyCommand::Confirm,
        Focus::RestartPrompt => KeyCommand::Cancel,
        Focus::LevelWon if key.code == KeyCode::Enter || letter == Some(' ') => {
            KeyCommand::NextLevel
        }
        Focus::LevelWon => KeyCommand::Ignore,
        Focus::Cursor => cursor_command(key).unwrap_or_else(|| board_command(key.code, letter)),
        Focus::Board => board_command(key.code, letter),
    }
}

fn board_command(code: KeyCode, letter: Option<char>) -> KeyCommand {
    match (code, letter) {
        (KeyCode::Up, _) | (_, Some('w')) => KeyCommand::Act(Action::Action1),
        (KeyCode::Down, _) | (_, Some('s')) => KeyCommand::Act(Action::Action2),
        (KeyCode::Left, _) | (_, Some('a')) => KeyCommand::Act(Action::Action3),
        (KeyCode::Right, _) | (_, Some('d')) => KeyCommand::Act(Action::Action4),
        (_, Some(' ')) => KeyCommand::Act(Action::Action5),
        (_, Some('u' | 'z')) => KeyCommand::Act(Action::Action7),
        (_, Some('r')) => KeyCommand::Reset,
        (_, Some('c')) => KeyCommand::ToggleCursor,
        _ => KeyCommand::Ignore,
    }
}

fn cursor_command(key: KeyEvent) -> Option<KeyCommand> {
    let by = if key.modifiers.contains(KeyModifiers::SHIFT) {
        SHIFT_STEP
    } else {
        1
    };
    Some(match key.code {
        KeyCode::Up => KeyCommand::MoveCursor(0, -by),
        KeyCode::Down => KeyCommand::MoveCursor(0, by),
        KeyCode::Left => KeyCommand::MoveCursor(-by, 0),
        KeyCode::Right => KeyCommand::MoveCursor(by, 0),
        KeyCode::Enter => KeyCommand::ClickAtCursor,
        _ => return None,
    })
}

/// Returns the keys to list on the screen, each with its effect, for the available actions.
pub(crate) fn legend(available_actions: ActionSet, cursor: bool) -> Vec<(String, String)> {
    let arrows = [
        (ActionKind::Action1, '↑', 'W'),
        (ActionKind::Action2, '↓', 'S'),
        (ActionKind::Action3, '←', 'A'),
        (ActionKind::Action4, '→', 'D'),
    ];
    let here: Vec<_> = arrows
        .into_iter()
        .filter(|(kind, ..)| available_actions.contains(*kind))
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
    let mut add = |kind: Option<ActionKind>, key: &str, effect: &str| {
        if kind.is_none_or(|kind| available_actions.contains(kind)) {
            keys.push((key.to_owned(), effect.to_owned()));
        }
    };
    add(Some(ActionKind::Action5), "space", "ACTION5");
    if cursor {
        add(Some(ActionKind::Action6), "↑↓←→", "cursor");
        add(Some(ActionKind::Action6), "enter", "click");
        add(Some(ActionKind::Action6), "c", "hide cursor");
    } else {
        add(Some(ActionKind::Action6), "mouse", "click");
        add(Some(ActionKind::Action6), "c", "cursor");
    }
    add(Some(ActionKind::Action7), "u", "undo");
    add(None, "r", "reset");
    add(None, "q", "quit");
    keys
}

/// Returns the key of an action, for hints.
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

    fn press(code: KeyCode, focus: Focus) -> KeyCommand {
        command_for(KeyEvent::from(code), focus)
    }

    #[test]
    fn arrows_and_letters_are_bound_to_the_same_actions() {
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
            assert_eq!(press(arrow, Focus::Board), KeyCommand::Act(action));
            assert_eq!(
                press(KeyCode::Char(letter), Focus::Board),
                KeyCommand::Act(action)
            );
            assert_eq!(
                press(KeyCode::Char(letter), Focus::Cursor),
                KeyCommand::Act(action)
            );
        }
        assert_eq!(
            press(KeyCode::Char(' '), Focus::Board),
            KeyCommand::Act(Action::Action5)
        );
        // Undo is `u`, or `z` as in the web app.
        for letter in ['u', 'z'] {
            assert_eq!(
                press(KeyCode::Char(letter), Focus::Cursor),
                KeyCommand::Act(Action::Action7)
            );
        }
    }

    #[test]
    fn arrows_move_the_cursor_when_it_is_shown() {
        assert_eq!(
            press(KeyCode::Left, Focus::Cursor),
            KeyCommand::MoveCursor(-1, 0)
        );
        assert_eq!(
            command_for(
                KeyEvent::new(KeyCode::Down, KeyModifiers::SHIFT),
                Focus::Cursor
            ),
            KeyCommand::MoveCursor(0, 8)
        );
        assert_eq!(
            press(KeyCode::Enter, Focus::Cursor),
            KeyCommand::ClickAtCursor
        );
        assert_eq!(press(KeyCode::Enter, Focus::Board), KeyCommand::Ignore);
    }

    #[test]
    fn quit_keys_work_in_every_focus() {
        for focus in [
            Focus::Board,
            Focus::Cursor,
            Focus::LevelWon,
            Focus::RestartPrompt,
        ] {
            assert_eq!(press(KeyCode::Char('q'), focus), KeyCommand::Quit);
            assert_eq!(
                command_for(
                    KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
                    focus
                ),
                KeyCommand::Quit
            );
        }
        assert_eq!(press(KeyCode::Esc, Focus::Board), KeyCommand::Quit);
        assert_eq!(
            press(KeyCode::Esc, Focus::RestartPrompt),
            KeyCommand::Cancel
        );
    }

    #[test]
    fn only_y_confirms_and_actions_are_ignored_on_a_completed_level() {
        assert_eq!(
            press(KeyCode::Char('y'), Focus::RestartPrompt),
            KeyCommand::Confirm
        );
        assert_eq!(
            press(KeyCode::Enter, Focus::RestartPrompt),
            KeyCommand::Cancel
        );
        assert_eq!(
            press(KeyCode::Char('r'), Focus::RestartPrompt),
            KeyCommand::Cancel
        );
        assert_eq!(
            press(KeyCode::Char(' '), Focus::LevelWon),
            KeyCommand::NextLevel
        );
        assert_eq!(press(KeyCode::Up, Focus::LevelWon), KeyCommand::Ignore);
    }

    #[test]
    fn legend_lists_the_available_actions() {
        let shown = |available_actions: ActionSet, cursor: bool| {
            legend(available_actions, cursor)
                .iter()
                .map(|(key, effect)| format!("{key} {effect}"))
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
            "↑↓←→ cursor, enter click, c hide cursor, r reset, q quit"
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
