//! Which action a reply means: the last that it names, of those that are offered.
//!
//! Letters may be large or small. A click is `ACTION6 x y`, with a colon or a bracket before the numbers and a comma between them if the
//! model likes; numbers beyond the picture are no click. Time is linear in the reply.

use rhae_engine::{Action, ActionKind};

use super::observation::Offer;

/// The action that a reply names last.
pub(super) fn action(reply: &str, offer: Offer) -> Option<Action> {
    let text = reply.to_ascii_uppercase();
    let mut found: Option<(usize, Action)> = None;
    let mut note = |at: usize, action: Action| {
        if found.is_none_or(|(before, _)| at > before) {
            found = Some((at, action));
        }
    };
    if offer.reset
        && let Some(at) = text.rfind("RESET")
    {
        note(at, Action::Reset);
    }
    for (at, name) in text.match_indices("ACTION") {
        let rest = &text[at + name.len()..];
        let digit = rest.bytes().next().filter(u8::is_ascii_digit);
        let Some(kind) = digit
            .and_then(|digit| ActionKind::from_id(digit - b'0'))
            .filter(|&kind| offer.actions.contains(kind))
        else {
            continue;
        };
        if let Some(action) = kind.simple().or_else(|| click(&rest[1..])) {
            note(at, action);
        }
    }
    found.map(|(_, action)| action)
}

/// The click that begins behind its name.
fn click(text: &str) -> Option<Action> {
    let text = text.trim_start();
    let text = text.strip_prefix(':').unwrap_or(text).trim_start();
    let text = text.strip_prefix('(').unwrap_or(text).trim_start();
    let (x, text) = number(text)?;
    let behind = text.trim_start();
    let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
    if behind.len() == text.len() {
        return None;
    }
    let (y, _) = number(behind)?;
    Action::click(x, y)
}

/// The number that a text begins with, and the rest.
fn number(text: &str) -> Option<(u8, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    Some((number, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use rhae_engine::ActionSet;

    use super::*;

    fn everything() -> Offer {
        Offer {
            actions: ActionSet::of(&ActionKind::ALL[1..]),
            reset: true,
        }
    }

    #[test]
    fn the_last_action_counts() {
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
    fn what_is_not_offered_is_not_meant() {
        let offer = Offer {
            actions: ActionSet::ARROWS,
            reset: false,
        };
        assert_eq!(
            action("ACTION2 ACTION6 1 1 RESET ACTION5", offer),
            Some(Action::Action2)
        );
    }
}
