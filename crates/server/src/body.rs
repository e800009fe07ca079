//! Parsing of request bodies, which are untrusted. Only JSON objects are accepted. Every field that
//! a handler reads is validated, and other fields are ignored. The middleware has already limited
//! the size and nesting depth of the body.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, header};
use serde_json::{Map, Value};

use crate::ApiError;

/// The fields of an untrusted JSON object. A field that is `null` counts as absent.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Parses a body that must be a JSON object.
    pub(crate) fn read(
        headers: &HeaderMap,
        body: Result<Bytes, BytesRejection>,
    ) -> Result<Self, ApiError> {
        let body = body.map_err(|rejection| ApiError::Http(rejection.status()))?;
        if !is_json(headers) {
            return Err(ApiError::MediaType);
        }
        match serde_json::from_slice(&body)
            .map_err(|error| ApiError::Malformed(error.to_string()))?
        {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(ApiError::NotAnObject),
        }
    }

    /// Like [`Fields::read`], but an empty body is an object without fields.
    pub(crate) fn read_optional(
        headers: &HeaderMap,
        body: Result<Bytes, BytesRejection>,
    ) -> Result<Self, ApiError> {
        match body {
            Ok(body) if body.is_empty() => Ok(Self(Map::new())),
            body => Self::read(headers, body),
        }
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// An optional string.
    pub(crate) fn text(&self, field: &'static str) -> Result<Option<&str>, ApiError> {
        match self.get(field) {
            Some(value) if !value.is_string() => Err(ApiError::Field {
                field,
                expected: "a string",
            }),
            value => Ok(value.and_then(Value::as_str)),
        }
    }

    /// A required string.
    pub(crate) fn required(&self, field: &'static str) -> Result<&str, ApiError> {
        self.text(field)?.ok_or(ApiError::Field {
            field,
            expected: "present, as a string",
        })
    }

    /// An optional boolean, `false` if absent.
    pub(crate) fn flag(&self, field: &'static str) -> Result<bool, ApiError> {
        let wrong = ApiError::Field {
            field,
            expected: "true or false",
        };
        self.get(field)
            .map_or(Ok(false), |value| value.as_bool().ok_or(wrong))
    }

    /// An optional list of strings, empty if absent.
    pub(crate) fn texts(&self, field: &'static str) -> Result<Vec<String>, ApiError> {
        let wrong = || ApiError::Field {
            field,
            expected: "a list of strings",
        };
        let Some(value) = self.get(field) else {
            return Ok(Vec::new());
        };
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(wrong);
        value
            .as_array()
            .ok_or_else(wrong)?
            .iter()
            .map(text)
            .collect()
    }

    /// A required coordinate on the 64 × 64 frame.
    pub(crate) fn coordinate(&self, field: &'static str) -> Result<u8, ApiError> {
        let number = self
            .get(field)
            .and_then(Value::as_u64)
            .filter(|&number| number < 64);
        let wrong = ApiError::Field {
            field,
            expected: "present, as an integer from 0 to 63",
        };
        number
            .and_then(|number| u8::try_from(number).ok())
            .ok_or(wrong)
    }

    /// An optional JSON value of at most `max` bytes. A string counts by its own length, any other
    /// value by the length of its compact JSON.
    pub(crate) fn extra(&self, field: &'static str, max: usize) -> Result<Option<Value>, ApiError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let length = value
            .as_str()
            .map_or_else(|| value.to_string().len(), str::len);
        if length > max {
            return Err(ApiError::TooLong { field, max });
        }
        Ok(Some(value.clone()))
    }
}

/// Whether the `Content-Type` is JSON, including `+json` types.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
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
