//! Reads JSON objects without dropping duplicate keys.
//!
//! A map would silently keep only one of two entries with the same key. Callers must detect
//! duplicate tasks and answers, so this module returns the entries of the top-level object as a
//! list.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::TasksError;

/// The entries of a JSON object in file order, including those with duplicate keys.
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

/// A parsed file: the entries of its top-level object, or any other value.
pub(crate) enum Document {
    Object(Vec<(String, Value)>),
    Other(Value),
}

/// Parses the text of a file; a byte order mark at its start is ignored.
pub(crate) fn read(file: &str, text: &str) -> Result<Document, TasksError> {
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
            .map(|entries| Document::Object(entries.0))
            .map_err(|error| fault(&error))
    } else {
        serde_json::from_str(text)
            .map(Document::Other)
            .map_err(|error| fault(&error))
    }
}
