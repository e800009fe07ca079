//! Parsing of actions that external programs write: a name or a number and, for a click, its
//! coordinates.

use rhae_engine::{Action, ActionKind};
use serde_json::Value;

/// The reason why an action that an external program wrote cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidAction {
    /// Neither the name nor the number of an action.
    Kind,
    /// A click without coordinates, or with coordinates outside the frame.
    Coordinates,
}

/// Parses an action from its name (upper or lower case) or number, and for a click its coordinates.
pub(crate) fn action_from(
    kind: &Value,
    x: Option<i64>,
    y: Option<i64>,
) -> Result<Action, InvalidAction> {
    let kind = match kind {
        Value::String(name) => ActionKind::from_name(&name.to_ascii_uppercase()),
        Value::Number(id) => id
            .as_u64()
            .and_then(|id| u8::try_from(id).ok())
            .and_then(ActionKind::from_id),
        _ => None,
    };
    let click = || {
        let coordinate = |value: Option<i64>| value.and_then(|value| u8::try_from(value).ok());
        coordinate(x)
            .zip(coordinate(y))
            .and_then(|(x, y)| Action::click(x, y))
            .ok_or(InvalidAction::Coordinates)
    };
    kind.ok_or(InvalidAction::Kind)?
        .simple()
        .map_or_else(click, Ok)
}
