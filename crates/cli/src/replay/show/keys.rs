//! What a key means while a recording is shown.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What the person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To stop or to go on.
    Pause,
    /// So many entries on, or back.
    Step(isize),
    /// The first entry.
    Start,
    /// The last entry.
    End,
    Faster,
    Slower,
    NextLevel,
    PreviousLevel,
    Quit,
}

/// How far a leap goes.
const LEAP: isize = 10;

/// The meaning of a key; `None` if it has none.
pub(crate) fn wish(key: KeyEvent) -> Option<Wish> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Wish::Quit);
    }
    let by = if key.modifiers.contains(KeyModifiers::SHIFT) {
        LEAP
    } else {
        1
    };
    Some(match key.code {
        KeyCode::Left => Wish::Step(-by),
        KeyCode::Right => Wish::Step(by),
        KeyCode::PageUp => Wish::Step(-LEAP),
        KeyCode::PageDown => Wish::Step(LEAP),
        KeyCode::Home => Wish::Start,
        KeyCode::End => Wish::End,
        KeyCode::Esc => Wish::Quit,
        KeyCode::Char(letter) => match letter.to_ascii_lowercase() {
            ' ' => Wish::Pause,
            // The same keys without Shift, or with it.
            '+' | '=' => Wish::Faster,
            '-' | '_' => Wish::Slower,
            'n' => Wish::NextLevel,
            'p' => Wish::PreviousLevel,
            'q' => Wish::Quit,
            _ => return None,
        },
        _ => return None,
    })
}

/// The keys, each with what it does.
pub(crate) const fn legend(playing: bool) -> [(&'static str, &'static str); 7] {
    [
        ("space", if playing { "pause" } else { "play " }),
        ("←→", "step"),
        ("PgUp PgDn", "ten"),
        ("Home End", "ends"),
        ("+-", "speed"),
        ("n p", "next, previous level"),
        ("q", "quit"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Wish> {
        wish(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn shift_and_pages_leap() {
        assert_eq!(
            press(KeyCode::Right, KeyModifiers::NONE),
            Some(Wish::Step(1))
        );
        assert_eq!(
            press(KeyCode::Left, KeyModifiers::SHIFT),
            Some(Wish::Step(-10))
        );
        assert_eq!(
            press(KeyCode::PageDown, KeyModifiers::NONE),
            Some(Wish::Step(10))
        );
        assert_eq!(
            press(KeyCode::PageUp, KeyModifiers::SHIFT),
            Some(Wish::Step(-10))
        );
    }

    #[test]
    fn letters_count_in_either_case_but_not_with_control() {
        assert_eq!(
            press(KeyCode::Char('N'), KeyModifiers::SHIFT),
            Some(Wish::NextLevel)
        );
        assert_eq!(press(KeyCode::Char('n'), KeyModifiers::CONTROL), None);
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::NONE), None);
        for (code, modifiers) in [
            (KeyCode::Char('q'), KeyModifiers::NONE),
            (KeyCode::Esc, KeyModifiers::NONE),
            (KeyCode::Char('c'), KeyModifiers::CONTROL),
        ] {
            assert_eq!(press(code, modifiers), Some(Wish::Quit));
        }
    }
}
