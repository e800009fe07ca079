//! Typed returns: the form of the value that an agent reports, as a part of JSON Schema.
//!
//! The form is checked when a task is given, and the value when it is reported, so that an agent
//! that asks for a list of cells never gets prose.

use serde_json::{Value, json};

/// The characters of a form.
const MAX_FORM_CHARS: usize = 8_000;
/// The characters of a value.
const MAX_VALUE_CHARS: usize = 40_000;
/// The nesting of a form.
const MAX_DEPTH: usize = 8;
/// The keywords that have no effect on the check.
const NOTES: [&str; 2] = ["description", "title"];

/// The form of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Returns(Value);

impl Default for Returns {
    /// Returns the form of a task that asks for no other: a summary.
    fn default() -> Self {
        Self(json!({
            "type": "object",
            "properties": {"summary": {"type": "string"}},
            "required": ["summary"],
        }))
    }
}

impl Returns {
    /// Parses a form. An absent one is the default.
    ///
    /// # Errors
    ///
    /// Returns the mistake in the form, for the model.
    pub(crate) fn parse(form: &Value) -> Result<Self, String> {
        if form.is_null() {
            return Ok(Self::default());
        }
        if form.to_string().chars().count() > MAX_FORM_CHARS {
            return Err("`returns` is too long".to_owned());
        }
        check_form(form, "returns", 0)?;
        Ok(Self(form.clone()))
    }

    /// Returns the form for a prompt.
    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// Returns the first part of the value that does not have the form, for the model.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        if value.to_string().chars().count() > MAX_VALUE_CHARS {
            return Err(format!(
                "`value` is longer than {MAX_VALUE_CHARS} characters"
            ));
        }
        check_value(&self.0, value, "value")
    }
}

fn check_form(form: &Value, path: &str, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("`{path}` is nested more than {MAX_DEPTH} deep"));
    }
    let Some(fields) = form.as_object() else {
        return Err(format!(
            "`{path}` must be a JSON schema, such as {}",
            Returns::default().text()
        ));
    };
    for (keyword, value) in fields {
        let at = format!("{path}.{keyword}");
        match keyword.as_str() {
            "type" => {
                let known = [
                    "object", "array", "string", "number", "integer", "boolean", "null",
                ];
                if !value.as_str().is_some_and(|name| known.contains(&name)) {
                    return Err(format!("`{at}` must be one of {}", known.join(", ")));
                }
            }
            "properties" => {
                let properties = value.as_object();
                for (name, form) in properties.ok_or(format!("`{at}` must be an object"))? {
                    check_form(form, &format!("{at}.{name}"), depth + 1)?;
                }
            }
            "items" => check_form(value, &at, depth + 1)?,
            "required" | "enum" => {
                if !value.is_array() {
                    return Err(format!("`{at}` must be a list"));
                }
            }
            "additionalProperties" if value.is_boolean() => {}
            note if NOTES.contains(&note) => {}
            _ => {
                return Err(format!(
                    "`{at}` is not supported; use type, properties, required, items, enum and additionalProperties"
                ));
            }
        }
    }
    Ok(())
}

fn check_value(form: &Value, value: &Value, path: &str) -> Result<(), String> {
    if let Some(kind) = form["type"].as_str() {
        let is_right = match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            "boolean" => value.is_boolean(),
            _ => value.is_null(),
        };
        if !is_right {
            return Err(format!("`{path}` must be of the type {kind}"));
        }
    }
    if let Some(allowed) = form["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("`{path}` must be one of {}", json!(allowed)));
    }
    let required = form["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    if let Some(fields) = value.as_object() {
        if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
            return Err(format!("`{path}.{missing}` is missing"));
        }
        for (name, field) in fields {
            match form["properties"].get(name) {
                Some(form) => check_value(form, field, &format!("{path}.{name}"))?,
                None if form["additionalProperties"] == false => {
                    return Err(format!("`{path}.{name}` is not a field of the form"));
                }
                None => {}
            }
        }
    }
    if let (Some(items), Some(form)) = (value.as_array(), form.get("items")) {
        for (index, item) in items.iter().enumerate() {
            check_value(form, item, &format!("{path}[{index}]"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_have_the_form() {
        let form = json!({
            "type": "object",
            "properties": {
                "effect": {"enum": ["moves", "nothing"], "description": "of the action"},
                "cells": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
                "sure": {"type": "boolean"},
            },
            "required": ["effect", "cells"],
            "additionalProperties": false,
        });
        let returns = Returns::parse(&form).unwrap();
        let check = |value: Value| returns.check(&value).err().unwrap_or_default();
        assert_eq!(check(json!({"effect": "moves", "cells": [[1, 2]]})), "");
        for (value, problem) in [
            (json!("moves"), "`value` must be of the type object"),
            (json!({"effect": "moves"}), "`value.cells` is missing"),
            (
                json!({"effect": "jumps", "cells": []}),
                "`value.effect` must be one of [\"moves\",\"nothing\"]",
            ),
            (
                json!({"effect": "moves", "cells": [[1, 2.5]]}),
                "`value.cells[0][1]` must be of the type integer",
            ),
            (
                json!({"effect": "moves", "cells": [], "why": 1}),
                "`value.why` is not a field of the form",
            ),
        ] {
            assert_eq!(check(value), problem);
        }
        assert!(Returns::default().check(&json!({"summary": "s"})).is_ok());
        let long = json!({"summary": "s".repeat(MAX_VALUE_CHARS)});
        assert!(Returns::default().check(&long).is_err());
    }

    #[test]
    fn mistakes_in_forms_are_named() {
        let error = |form: Value| Returns::parse(&form).unwrap_err();
        assert!(error(json!("text")).contains("must be a JSON schema"));
        assert!(error(json!({"type": "text"})).contains("`returns.type` must be one of object"));
        assert!(error(json!({"anyOf": []})).contains("`returns.anyOf` is not supported"));
        assert!(
            error(json!({"properties": {"a": {"items": 3}}}))
                .contains("`returns.properties.a.items` must be")
        );
        let mut deep = json!({"type": "string"});
        for _ in 0..20 {
            deep = json!({"items": deep});
        }
        assert!(error(deep).contains("nested"));
        assert_eq!(Returns::parse(&Value::Null), Ok(Returns::default()));
    }
}
