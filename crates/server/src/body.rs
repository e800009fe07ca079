//! Reading request bodies, which are untrusted. Only JSON objects are accepted. The middleware has
//! already limited the size of the body; the parser limits its nesting depth, and a server may set
//! a lower limit.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, header};
use rhae_protocol::{Coordinate, Field};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ApiError, Limits};

/// The body of a request, as axum passes it to a handler.
pub(crate) type Body = Result<Bytes, BytesRejection>;

/// Parses a body that must be a JSON object.
pub(crate) fn parse<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<T, ApiError> {
    let body = body.map_err(|rejection| ApiError::Http(rejection.status()))?;
    if !is_json(headers) {
        return Err(ApiError::MediaType);
    }
    let malformed = |error: serde_json::Error| ApiError::Malformed(error.to_string());
    let value: Value = serde_json::from_slice(&body).map_err(malformed)?;
    if limits.json_depth < Limits::MAX_JSON_DEPTH && depth(&value) > limits.json_depth {
        return Err(ApiError::TooDeep(limits.json_depth));
    }
    if !value.is_object() {
        return Err(ApiError::NotAnObject);
    }
    T::deserialize(value).map_err(malformed)
}

/// Like [`parse`], but an empty body is an object without fields.
pub(crate) fn parse_optional<T: DeserializeOwned + Default>(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<T, ApiError> {
    match body {
        Ok(body) if body.is_empty() => Ok(T::default()),
        body => parse(headers, body, limits),
    }
}

/// Returns the value of an optional field; `expected` says what it must be if it is present.
pub(crate) fn optional<T>(
    name: &'static str,
    field: Field<T>,
    expected: &'static str,
) -> Result<Option<T>, ApiError> {
    match field {
        Field::Absent => Ok(None),
        Field::Valid(value) => Ok(Some(value)),
        Field::Invalid => Err(ApiError::Field {
            field: name,
            expected,
        }),
    }
}

/// Returns the value of an optional string.
pub(crate) fn text(name: &'static str, field: Field<String>) -> Result<Option<String>, ApiError> {
    optional(name, field, "a string")
}

/// Returns the tags of a card; none if the field is absent.
pub(crate) fn tags(field: Field<Vec<String>>) -> Result<Vec<String>, ApiError> {
    const EXPECTED: &str = "a list of at most 32 strings of at most 128 bytes each";
    let tags = optional("tags", field, EXPECTED)?.unwrap_or_default();
    let fits = |tag: &String| tag.len() <= Limits::MAX_TAG_BYTES;
    if tags.len() > Limits::MAX_TAGS || !tags.iter().all(fits) {
        return Err(ApiError::Field {
            field: "tags",
            expected: EXPECTED,
        });
    }
    Ok(tags)
}

/// Returns the address of the agent's source code.
pub(crate) fn source_url(field: Field<String>) -> Result<Option<String>, ApiError> {
    let max = Limits::MAX_URL_BYTES;
    match text("source_url", field)? {
        Some(url) if url.len() > max => Err(ApiError::TooLong {
            field: "source_url",
            max,
        }),
        url => Ok(url),
    }
}

/// Returns the value of a required string.
pub(crate) fn required_text(name: &'static str, field: Field<String>) -> Result<String, ApiError> {
    text(name, field)?.ok_or(ApiError::Field {
        field: name,
        expected: "present, as a string",
    })
}

/// Returns the value of a required coordinate.
pub(crate) fn coordinate(name: &'static str, field: Field<Coordinate>) -> Result<u8, ApiError> {
    let expected = "present, as an integer from 0 to 63";
    let missing = ApiError::Field {
        field: name,
        expected,
    };
    optional(name, field, expected)?
        .map(Coordinate::get)
        .ok_or(missing)
}

/// Checks that a free-form value has at most `max` bytes. A string counts by its own length, any
/// other value by the length of its compact JSON.
pub(crate) fn extra(
    field: &'static str,
    value: Option<Value>,
    max: usize,
) -> Result<Option<Value>, ApiError> {
    let length = value.as_ref().map_or(0, |value| {
        value
            .as_str()
            .map_or_else(|| value.to_string().len(), str::len)
    });
    if length > max {
        return Err(ApiError::TooLong { field, max });
    }
    Ok(value)
}

/// The number of nested lists and objects. The parser has limited it, so the recursion is bounded.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Whether the `Content-Type` is JSON, including `+json` types.
fn is_json(headers: &HeaderMap) -> bool {
    let declared = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = declared
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    essence == "application/json"
        || essence.starts_with("application/") && essence.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn depth_counts_nested_lists_and_objects() {
        assert_eq!(depth(&json!({"a": [1, [2]], "b": [{}]})), 3);
        assert_eq!(depth(&json!("[[[[")), 0);
        assert_eq!(depth(&json!([])), 1);
    }
}
