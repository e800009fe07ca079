//! The settings of a run: the part of its configuration that determines its results.

use rhae_protocol::{Digest, RunConfig};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Returns the hash of the part of a configuration that determines the results of its plays. Ids,
/// names, paths and the limits of the whole run are not part of it.
pub fn settings_digest(config: &RunConfig) -> Digest {
    text_digest(&settings(config).to_string())
}

/// Returns the SHA-256 hash of a text.
///
/// # Examples
///
/// ```
/// assert!(rhae_work::text_digest("7|3|1|bb22").as_str().starts_with("1999"));
/// ```
pub fn text_digest(text: &str) -> Digest {
    Digest(hex::encode(Sha256::digest(text.as_bytes())))
}

/// Returns the first field, and its two values as JSON, in which the settings of two runs differ.
pub fn first_difference(one: &RunConfig, other: &RunConfig) -> Option<(String, String, String)> {
    let (one, other) = (settings(one), settings(other));
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (one, other) = (fields(&one), fields(&other));
    let names = one.keys().chain(other.keys());
    let value = |fields: &serde_json::Map<String, Value>, name: &str| {
        fields
            .get(name)
            .map_or("absent".to_owned(), Value::to_string)
    };
    names
        .map(|name| (name.clone(), value(&one, name), value(&other, name)))
        .find(|(_, one, other)| one != other)
}

fn settings(config: &RunConfig) -> Value {
    let mut config = config.clone();
    config.run_id = String::new();
    config.games_dirs = Vec::new();
    config.run_timeout_ms = None;
    config.identity.name = None;
    config.identity.tags = Vec::new();
    config.identity.note = None;
    config.identity.git_commit = None;
    if let Some(model) = &mut config.model {
        model.max_cost_usd = None;
        model.prompts_dir = None;
    }
    sorted(serde_json::to_value(config).expect("a configuration is valid JSON"))
}

/// Returns a value whose objects have their keys in ascending order, so that the order of the
/// fields in a file does not matter.
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
