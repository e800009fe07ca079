//! Request bodies: hostile until read. JSON objects only, every field checked; the gate has bounded their size and depth.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, header};
use serde_json::{Map, Value};

use crate::ApiError;

/// A JSON object from outside.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a body.
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

    /// As [`Fields::read`]; no body at all is an object without fields.
    pub(crate) fn read_optional(
        headers: &HeaderMap,
        body: Result<Bytes, BytesRejection>,
    ) -> Result<Self, ApiError> {
        match body {
            Ok(body) if body.is_empty() => Ok(Self(Map::new())),
            body => Self::read(headers, body),
        }
    }

    /// A field that is not absent and not null.
    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// A text that may be absent.
    pub(crate) fn text(&self, field: &'static str) -> Result<Option<&str>, ApiError> {
        match self.get(field) {
            Some(value) if !value.is_string() => Err(ApiError::Field {
                field,
                expected: "a string",
            }),
            value => Ok(value.and_then(Value::as_str)),
        }
    }

    /// A text that must be there.
    pub(crate) fn required(&self, field: &'static str) -> Result<&str, ApiError> {
        self.text(field)?.ok_or(ApiError::Field {
            field,
            expected: "given, as a string",
        })
    }

    /// A truth value that may be absent, which means no.
    pub(crate) fn flag(&self, field: &'static str) -> Result<bool, ApiError> {
        let wrong = ApiError::Field {
            field,
            expected: "true or false",
        };
        self.get(field)
            .map_or(Ok(false), |value| value.as_bool().ok_or(wrong))
    }

    /// A list of texts that may be absent.
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

    /// A coordinate on the frame.
    pub(crate) fn coordinate(&self, field: &'static str) -> Result<u8, ApiError> {
        let number = self
            .get(field)
            .and_then(Value::as_u64)
            .filter(|&number| number < 64);
        let wrong = ApiError::Field {
            field,
            expected: "given, as an integer from 0 to 63",
        };
        number
            .and_then(|number| u8::try_from(number).ok())
            .ok_or(wrong)
    }

    /// Anything that may be absent, of at most so many bytes: a string by its own length, all else as compact JSON.
    pub(crate) fn extra(
        &self,
        field: &'static str,
        most: usize,
    ) -> Result<Option<Value>, ApiError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let length = value
            .as_str()
            .map_or_else(|| value.to_string().len(), str::len);
        if length > most {
            return Err(ApiError::TooLong { field, most });
        }
        Ok(Some(value.clone()))
    }
}

/// Whether a body is declared as JSON.
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
