//! Reading JSON objects without losing keys that occur twice.
//!
//! A map would keep one of two equal keys and say nothing, and a duplicated task or answer is just what must be noticed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::TasksError;

/// A JSON object's entries in the file's order, equal keys included.
pub(crate) struct Entries(pub(crate) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// The top of a file: an object with its entries, or anything else.
pub(crate) enum Top {
    Object(Vec<(String, Value)>),
    Other(Value),
}

/// Reads a file's text.
pub(crate) fn read(file: &str, text: &str) -> Result<Top, TasksError> {
    let text = text.trim_start_matches('\u{feff}');
    let fault = |error: &serde_json::Error| {
        let reason = error.to_string();
        let reason = reason
            .rsplit_once(" at line ")
            .map_or(reason.as_str(), |(reason, _)| reason)
            .to_owned();
        let reason = if error.is_eof() {
            format!("the file is cut off ({reason})")
        } else {
            format!("not valid JSON: {reason}")
        };
        TasksError::at(
            file,
            format!("line {}, column {}", error.line(), error.column()),
            reason,
        )
    };
    if text.trim_start().starts_with('{') {
        serde_json::from_str::<Entries>(text)
            .map(|entries| Top::Object(entries.0))
            .map_err(|error| fault(&error))
    } else {
        serde_json::from_str(text)
            .map(Top::Other)
            .map_err(|error| fault(&error))
    }
}
