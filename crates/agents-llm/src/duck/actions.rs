//! The names of actions for the model: keys and the mouse instead of numbers.

use rhae_engine::{Action, ActionKind, ActionSet};

/// The names of the actions 1 to 7.
const NAMES: [(&str, ActionKind); 7] = [
    ("UP", ActionKind::Action1),
    ("DOWN", ActionKind::Action2),
    ("LEFT", ActionKind::Action3),
    ("RIGHT", ActionKind::Action4),
    ("SPACE", ActionKind::Action5),
    ("MOUSE", ActionKind::Action6),
    ("UNDO", ActionKind::Action7),
];

/// Returns the names of the offered actions.
pub(super) fn offered(available: ActionSet) -> Vec<&'static str> {
    NAMES
        .iter()
        .filter(|(_, kind)| available.contains(*kind))
        .map(|(name, _)| *name)
        .collect()
}

/// Returns the name of an action, with row and column for a click.
pub(super) fn name(action: Action) -> String {
    if let Action::Action6 { x, y } = action {
        return format!("MOUSE({y}, {x})");
    }
    let known = NAMES.iter().find(|(_, kind)| *kind == action.kind());
    known.map_or_else(|| "RESET".to_owned(), |(name, _)| (*name).to_owned())
}

/// Parses a name such as `UP` or `MOUSE(12, 40)`.
///
/// # Errors
///
/// Returns the mistake in the name, for the model.
pub(super) fn parse(text: &str, available: ActionSet) -> Result<Action, String> {
    let upper = text.trim().to_ascii_uppercase();
    let (name, arguments) = upper.split_once('(').unwrap_or((&upper, ""));
    let known = NAMES.iter().find(|(known, _)| *known == name.trim());
    let Some((name, kind)) = known.filter(|(_, kind)| available.contains(*kind)) else {
        return Err(format!(
            "`{text}` is not a valid action; valid are {}",
            offered(available).join(", ")
        ));
    };
    if let Some(action) = kind.simple() {
        return Ok(action);
    }
    let numbers: Vec<u8> = arguments
        .trim_end_matches(')')
        .split(',')
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    let click = match numbers[..] {
        [row, column] => Action::click(column, row),
        _ => None,
    };
    click.ok_or_else(|| format!("`{text}` needs a row and a column from 0 to 63: {name}(12, 40)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let all = ActionSet::of(&ActionKind::ALL[1..]);
        for text in [
            "UP",
            "DOWN",
            "LEFT",
            "RIGHT",
            "SPACE",
            "MOUSE(12, 40)",
            "UNDO",
        ] {
            assert_eq!(name(parse(text, all).unwrap()), text);
        }
        assert_eq!(
            parse(" mouse( 1,2 ) ", all),
            Ok(Action::click(2, 1).unwrap())
        );
        assert_eq!(name(Action::Reset), "RESET");
    }

    #[test]
    fn invalid_names_say_what_is_valid() {
        let error = |text: &str| parse(text, ActionSet::ARROWS).unwrap_err();
        assert!(error("SPACE").contains("valid are UP, DOWN, LEFT, RIGHT"));
        assert!(error("RESET").contains("not a valid action"));
        let all = ActionSet::of(&ActionKind::ALL[1..]);
        for text in [
            "MOUSE",
            "MOUSE(1)",
            "MOUSE(1, 64)",
            "MOUSE(a, b)",
            "MOUSE(1, 2, 3)",
        ] {
            assert!(
                parse(text, all).unwrap_err().contains("needs a row"),
                "{text}"
            );
        }
    }
}
