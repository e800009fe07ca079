//! The canonical form of a value and its hash.
//!
//! The canonical form is JSON without white space, with the keys of every object in ascending order.
//! It does not depend on the order of fields in a type or in a file, so a protocol that was edited
//! and restored has its old hash.

use rhae_protocol::Digest;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Returns the canonical JSON of a value.
///
/// # Panics
///
/// Panics if the value cannot be represented in JSON. The forms of `rhae-protocol` always can.
///
/// # Examples
///
/// ```
/// use rhae_study::canonical_json;
///
/// let value = serde_json::json!({"b": [1, 2], "a": {"d": null, "c": true}});
/// assert_eq!(canonical_json(&value), r#"{"a":{"c":true,"d":null},"b":[1,2]}"#);
/// ```
pub fn canonical_json(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("study forms are valid JSON");
    sorted(value).to_string()
}

/// Returns the SHA-256 hash of the canonical JSON of a value.
pub fn digest(value: &impl Serialize) -> Digest {
    text_digest(&canonical_json(value))
}

/// Returns the SHA-256 hash of a text.
///
/// # Examples
///
/// ```
/// use rhae_study::text_digest;
///
/// assert!(text_digest("7|3|1|bb22").as_str().starts_with("1999"));
/// ```
pub fn text_digest(text: &str) -> Digest {
    Digest(hex::encode(Sha256::digest(text.as_bytes())))
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            fields
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_of_fields_does_not_change_the_hash() {
        assert_eq!(
            digest(&json!({"a": 1, "b": 2})),
            digest(&json!({"b": 2, "a": 1}))
        );
        assert_ne!(digest(&json!({"a": 1})), digest(&json!({"a": 2})));
    }

    #[test]
    fn empty_text_has_the_published_hash() {
        assert_eq!(
            text_digest("").as_str(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
