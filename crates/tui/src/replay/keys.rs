//! The key bindings of `rhae replay show`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The command bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlayerCommand {
    /// Pause or resume.
    TogglePause,
    /// Move by this many entries, backwards if negative.
    Step(isize),
    /// Go to the first entry.
    Start,
    /// Go to the last entry.
    End,
    Faster,
    Slower,
    /// Play at the recorded pace, or at an even one.
    TogglePace,
    /// Show or hide what perception sees.
    TogglePercept,
    NextLevel,
    PreviousLevel,
    Quit,
}

/// The number of entries by which a page key, or an arrow key with Shift, moves.
const LONG_STEP: isize = 10;

/// Returns the command bound to a key, or `None` if the key is not bound.
pub(crate) fn command_for(key: KeyEvent) -> Option<PlayerCommand> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(PlayerCommand::Quit);
    }
    let by = if key.modifiers.contains(KeyModifiers::SHIFT) {
        LONG_STEP
    } else {
        1
    };
    Some(match key.code {
        KeyCode::Left => PlayerCommand::Step(-by),
        KeyCode::Right => PlayerCommand::Step(by),
        KeyCode::PageUp => PlayerCommand::Step(-LONG_STEP),
        KeyCode::PageDown => PlayerCommand::Step(LONG_STEP),
        KeyCode::Home => PlayerCommand::Start,
        KeyCode::End => PlayerCommand::End,
        KeyCode::Esc => PlayerCommand::Quit,
        KeyCode::Char(letter) => match letter.to_ascii_lowercase() {
            ' ' => PlayerCommand::TogglePause,
            // On many keyboards `=` and `_` share their keys with `+` and `-`, so Shift does not
            // matter.
            '+' | '=' => PlayerCommand::Faster,
            '-' | '_' => PlayerCommand::Slower,
            't' => PlayerCommand::TogglePace,
            'o' => PlayerCommand::TogglePercept,
            'n' => PlayerCommand::NextLevel,
            'p' => PlayerCommand::PreviousLevel,
            'q' => PlayerCommand::Quit,
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns the keys to list on the screen, each with its effect.
pub(crate) const fn legend(playing: bool) -> [(&'static str, &'static str); 9] {
    [
        ("space", if playing { "pause" } else { "play " }),
        ("←→", "step"),
        ("PgUp PgDn", "±10"),
        ("Home End", "start/end"),
        ("+-", "speed"),
        ("t", "pace"),
        ("o", "objects"),
        ("n p", "next/prev level"),
        ("q", "quit"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<PlayerCommand> {
        command_for(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn shift_and_page_keys_move_by_ten_entries() {
        assert_eq!(
            press(KeyCode::Right, KeyModifiers::NONE),
            Some(PlayerCommand::Step(1))
        );
        assert_eq!(
            press(KeyCode::Left, KeyModifiers::SHIFT),
            Some(PlayerCommand::Step(-10))
        );
        assert_eq!(
            press(KeyCode::PageDown, KeyModifiers::NONE),
            Some(PlayerCommand::Step(10))
        );
        assert_eq!(
            press(KeyCode::PageUp, KeyModifiers::SHIFT),
            Some(PlayerCommand::Step(-10))
        );
    }

    #[test]
    fn letters_are_case_insensitive_and_ignored_with_control() {
        assert_eq!(
            press(KeyCode::Char('N'), KeyModifiers::SHIFT),
            Some(PlayerCommand::NextLevel)
        );
        assert_eq!(press(KeyCode::Char('n'), KeyModifiers::CONTROL), None);
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::NONE), None);
        for (code, modifiers) in [
            (KeyCode::Char('q'), KeyModifiers::NONE),
            (KeyCode::Esc, KeyModifiers::NONE),
            (KeyCode::Char('c'), KeyModifiers::CONTROL),
        ] {
            assert_eq!(press(code, modifiers), Some(PlayerCommand::Quit));
        }
    }
}
