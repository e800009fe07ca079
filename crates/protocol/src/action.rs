//! Actions as outside programs write them: a name or a number, and a place for a click.

use rhae_engine::{Action, ActionKind};
use serde_json::Value;

/// What is wrong with an action from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadAction {
    /// Neither a name nor a number of an action.
    Kind,
    /// A click without a place on the frame.
    Place,
}

/// Reads an action from its name (in any case) or number and the coordinates that a click needs.
pub(crate) fn action_from(
    kind: &Value,
    x: Option<i64>,
    y: Option<i64>,
) -> Result<Action, BadAction> {
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
            .ok_or(BadAction::Place)
    };
    kind.ok_or(BadAction::Kind)?.simple().map_or_else(click, Ok)
}
