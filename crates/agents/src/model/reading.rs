//! The parser of replies: the last allowed action that a reply names is executed.
//!
//! Names are case-insensitive. A click is `ACTION6 x y`, optionally with a colon or a parenthesis
//! before the numbers and a comma between them. A click with coordinates outside the frame is
//! ignored. The running time is linear in the length of the reply.

use rhae_engine::{Action, ActionKind};

use super::observation::AllowedActions;

/// Returns the last allowed action that a reply names.
pub(super) fn action(reply: &str, allowed: AllowedActions) -> Option<Action> {
    let text = reply.to_ascii_uppercase();
    let mut found: Option<(usize, Action)> = None;
    let mut note = |at: usize, action: Action| {
        if found.is_none_or(|(before, _)| at > before) {
            found = Some((at, action));
        }
    };
    if allowed.reset
        && let Some(at) = text.rfind("RESET")
    {
        note(at, Action::Reset);
    }
    for (at, name) in text.match_indices("ACTION") {
        let rest = &text[at + name.len()..];
        let digit = rest.bytes().next().filter(u8::is_ascii_digit);
        let Some(kind) = digit
            .and_then(|digit| ActionKind::from_id(digit - b'0'))
            .filter(|&kind| allowed.actions.contains(kind))
        else {
            continue;
        };
        if let Some(action) = kind.simple().or_else(|| click(&rest[1..])) {
            note(at, action);
        }
    }
    found.map(|(_, action)| action)
}

/// Parses the coordinates after the name of a click.
fn click(text: &str) -> Option<Action> {
    let text = text.trim_start();
    let text = text.strip_prefix(':').unwrap_or(text).trim_start();
    let text = text.strip_prefix('(').unwrap_or(text).trim_start();
    let (x, text) = number(text)?;
    let rest = text.trim_start();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    if rest.len() == text.len() {
        return None;
    }
    let (y, _) = number(rest)?;
    Action::click(x, y)
}

/// Splits a leading number from a text.
fn number(text: &str) -> Option<(u8, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    Some((number, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use rhae_engine::ActionSet;

    use super::*;

    fn everything() -> AllowedActions {
        AllowedActions {
            actions: ActionSet::of(&ActionKind::ALL[1..]),
            reset: true,
        }
    }

    #[test]
    fn last_named_action_is_taken() {
        let click = |x, y| Action::click(x, y);
        let cases = [
            ("ACTION1", Some(Action::Action1)),
            ("action2.", Some(Action::Action2)),
            ("First ACTION1, then ACTION3", Some(Action::Action3)),
            ("ACTION6 12 40", click(12, 40)),
            ("ACTION6: 12, 40", click(12, 40)),
            ("Action6(12,40)", click(12, 40)),
            ("ACTION6: ( 0 , 63 )", click(0, 63)),
            ("ACTION6 12,40 or rather ACTION6 64 3", click(12, 40)),
            ("ACTION6 1240", None),
            ("ACTION6", None),
            ("ACTION6 99999999999999999999 1", None),
            ("ACTION1 but not ACTION6", Some(Action::Action1)),
            ("no RESET; ACTION4", Some(Action::Action4)),
            ("ACTION4, no: reset", Some(Action::Reset)),
            ("ACTION8 ACTION0 ACTIONS", None),
            ("", None),
            ("I würde ÄCTION5 sagen: ACTION5 ✓", Some(Action::Action5)),
        ];
        for (reply, expected) in cases {
            assert_eq!(action(reply, everything()), expected, "{reply}");
        }
    }

    #[test]
    fn action_that_is_not_allowed_is_ignored() {
        let allowed = AllowedActions {
            actions: ActionSet::ARROWS,
            reset: false,
        };
        assert_eq!(
            action("ACTION2 ACTION6 1 1 RESET ACTION5", allowed),
            Some(Action::Action2)
        );
    }
}
