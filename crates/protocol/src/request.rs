//! The request bodies of the REST API. The OpenAPI document describes these types, and the server
//! deserialises them.
//!
//! Reading a body is lenient, as on the official server: unknown fields are ignored, `null` counts
//! as absent, and a field of the wrong type is an error only if the request needs the field. A
//! [`Field`] keeps that distinction, so that the server can name the field and what it expects.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

/// A field of an untrusted body.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{CommandBody, Field};
///
/// let body: CommandBody = serde_json::from_str(r#"{"game_id":"ab12","guid":null,"x":64}"#)?;
/// assert_eq!(body.game_id, Field::Valid("ab12".to_owned()));
/// assert_eq!(body.guid, Field::Absent);
/// assert_eq!(body.x, Field::Invalid);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The field is missing or `null`.
    #[default]
    Absent,
    /// The field has a value of the wrong type or out of range.
    Invalid,
    Valid(T),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(if value.is_null() {
            Self::Absent
        } else {
            T::deserialize(value).map_or(Self::Invalid, Self::Valid)
        })
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Valid(value) => value.serialize(serializer),
            Self::Absent | Self::Invalid => serializer.serialize_none(),
        }
    }
}

/// A column or row of the 64 × 64 frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u8")]
pub struct Coordinate(u8);

impl Coordinate {
    /// The column or row, from 0 to 63.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Coordinate {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        if number < 64 {
            Ok(Self(number))
        } else {
            Err("a coordinate is an integer from 0 to 63")
        }
    }
}

/// A command to a play.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
pub struct CommandBody {
    /// The environment: its four-character name, or the full id with the version.
    #[serde(default)]
    #[schema(value_type = String, required)]
    pub game_id: Field<String>,
    /// The play. RESET without a `guid` opens a new play.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub guid: Field<String>,
    /// The open scorecard on which a new play counts. Required to open a play.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub card_id: Field<String>,
    /// The column of a click; required for ACTION6.
    #[serde(default)]
    #[schema(value_type = Option<u8>, maximum = 63)]
    pub x: Field<Coordinate>,
    /// The row of a click; required for ACTION6.
    #[serde(default)]
    #[schema(value_type = Option<u8>, maximum = 63)]
    pub y: Field<Coordinate>,
    /// Any JSON value, stored with the action. At most 16,384 bytes unless the server is configured
    /// otherwise.
    pub reasoning: Option<Value>,
}

/// The properties of a new scorecard.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
pub struct OpeningBody {
    /// Tags of the scorecard, at most 32 of at most 128 bytes each. A card tagged neither `human` nor
    /// `agent` gets the tag `agent`.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>)]
    pub tags: Field<Vec<String>>,
    /// The URL of the agent's source code, at most 2,048 bytes.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub source_url: Field<String>,
    /// Any JSON value, stored with the card. At most 16,384 bytes unless the server is configured
    /// otherwise.
    pub opaque: Option<Value>,
    /// Whether competition rules apply: one play per environment, RESET restarts only the current
    /// level, and results are readable only after the card is closed.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    pub competition_mode: Field<bool>,
}

/// A reference to a scorecard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CardBody {
    /// The id of the scorecard.
    #[serde(default)]
    #[schema(value_type = String, required)]
    pub card_id: Field<String>,
}

/// What to publish: a scorecard or a play.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShareBody {
    /// The id of the scorecard to publish.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub card_id: Field<String>,
    /// The id of the play to publish, if `card_id` is absent.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub guid: Field<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_types_are_invalid_only_in_their_own_field() {
        let body = json!({"tags": ["a", 1], "source_url": 7, "opaque": null, "competition_mode": true, "other": {}});
        let body: OpeningBody = serde_json::from_value(body).unwrap();
        assert_eq!(
            body,
            OpeningBody {
                tags: Field::Invalid,
                source_url: Field::Invalid,
                opaque: None,
                competition_mode: Field::Valid(true),
            }
        );
    }

    #[test]
    fn coordinates_are_integers_on_the_frame() {
        let read = |value: Value| serde_json::from_value::<Field<Coordinate>>(value).unwrap();
        assert_eq!(read(json!(63)), Field::Valid(Coordinate(63)));
        for wrong in [json!(64), json!(-1), json!(5.0), json!("5"), json!(1e300)] {
            assert_eq!(read(wrong), Field::Invalid);
        }
        assert_eq!(read(Value::Null), Field::Absent);
    }
}
