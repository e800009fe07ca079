//! The serialised form of [`PlayState`]: the name that the official API uses.

use rhae_engine::PlayState;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

use crate::recording::unknown_state;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn serialize<S: Serializer>(
    state: &PlayState,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.name())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<PlayState, D::Error> {
    let name = String::deserialize(deserializer)?;
    PlayState::from_name(&name).ok_or_else(|| D::Error::custom(unknown_state(&name)))
}

#[cfg(test)]
mod tests {
    use crate::RunOutcome;

    #[test]
    fn state_is_read_by_its_name_and_unknown_names_are_rejected() {
        let read = |state: &str| {
            let json = serde_json::json!({"state": state, "levels": [], "resets": 0, "ending": ""});
            serde_json::from_value::<RunOutcome>(json)
        };
        let won = read("WIN").unwrap();
        assert_eq!(serde_json::to_value(&won).unwrap()["state"], "WIN");
        assert_eq!(
            read("LOST").unwrap_err().to_string(),
            "`LOST` is not a state: expected `NOT_FINISHED`, `WIN` or `GAME_OVER`"
        );
    }
}
