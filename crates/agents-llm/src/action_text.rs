//! Actions as models write them.

use rhae_engine::{Action, ActionKind};

/// Parses a name such as `ACTION1`, or a click such as `ACTION6(12, 40)` with row and column.
pub(crate) fn parse_action(text: &str) -> Option<Action> {
    let upper = text.trim().to_ascii_uppercase();
    if let Some(kind) = ActionKind::from_name(&upper) {
        return kind.simple();
    }
    let numbers: Vec<u8> = upper
        .strip_prefix("ACTION6")?
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().ok())
        .collect::<Option<_>>()?;
    match numbers[..] {
        [row, column] => Action::click(column, row),
        _ => None,
    }
}

/// Returns an action as models write it: clicks with row and column.
pub(crate) fn action_text(action: Action) -> String {
    match action {
        Action::Action6 { x, y } => format!("ACTION6({y}, {x})"),
        action => action.kind().name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_clicks_are_parsed() {
        assert_eq!(parse_action(" action1 "), Some(Action::Action1));
        assert_eq!(parse_action("RESET"), Some(Action::Reset));
        let click = Action::click(40, 12);
        for text in ["ACTION6(12, 40)", "ACTION6 12 40", "action6: (12,40)"] {
            assert_eq!(parse_action(text), click, "{text}");
        }
        assert_eq!(action_text(click.unwrap()), "ACTION6(12, 40)");
        assert_eq!(action_text(Action::Reset), "RESET");
        for text in [
            "ACTION6",
            "ACTION6(1)",
            "ACTION6(1, 64)",
            "ACTION6(1, 999)",
            "ACTION9",
            "",
        ] {
            assert_eq!(parse_action(text), None, "{text}");
        }
    }
}
