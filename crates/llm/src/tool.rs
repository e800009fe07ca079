//! Tools that a model may call: their descriptions, calls and results.
//!
//! Every wire format of this crate has native tool calls. A caller that wants to use tools with a
//! server that lacks them describes the tools in its prompt instead.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A tool that a model may call.
///
/// # Examples
///
/// ```
/// use rhae_llm::{Parameter, Tool};
///
/// let tool = Tool::new(
///     "grep",
///     "Searches the log.",
///     &[Parameter::text("pattern", "A regular expression."), Parameter::number("limit", "The maximum number of lines.").optional()],
/// );
/// assert_eq!(tool.parameters["required"], serde_json::json!(["pattern"]));
/// assert_eq!(tool.parameters["properties"]["limit"]["type"], "integer");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// The JSON schema of the arguments, an object.
    pub parameters: Value,
}

impl Tool {
    /// Creates a tool whose arguments are an object with these fields.
    pub fn new(name: &str, description: &str, parameters: &[Parameter]) -> Self {
        let properties: serde_json::Map<String, Value> = parameters
            .iter()
            .map(|parameter| (parameter.name.to_owned(), parameter.schema.clone()))
            .collect();
        let required: Vec<&str> = parameters
            .iter()
            .filter(|parameter| !parameter.is_optional)
            .map(|parameter| parameter.name)
            .collect();
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({"type": "object", "properties": properties, "required": required}),
        }
    }
}

/// A field of a tool's arguments.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: &'static str,
    schema: Value,
    is_optional: bool,
}

impl Parameter {
    /// Creates a text field.
    pub fn text(name: &'static str, description: &str) -> Self {
        Self::with_schema(name, json!({"type": "string", "description": description}))
    }

    /// Creates a field with a whole number.
    pub fn number(name: &'static str, description: &str) -> Self {
        Self::with_schema(name, json!({"type": "integer", "description": description}))
    }

    /// Creates a field with a list of texts.
    pub fn texts(name: &'static str, description: &str) -> Self {
        Self::with_schema(
            name,
            json!({"type": "array", "items": {"type": "string"}, "description": description}),
        )
    }

    /// Returns the same field as one that may be absent.
    #[must_use]
    pub fn optional(self) -> Self {
        Self {
            is_optional: true,
            ..self
        }
    }

    fn with_schema(name: &'static str, schema: Value) -> Self {
        Self {
            name,
            schema,
            is_optional: false,
        }
    }
}

/// A call of a tool by the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that connects the call with its result. It is empty if the provider has no ids;
    /// results are then in the order of the calls.
    pub id: String,
    pub name: String,
    /// The arguments. A model may write arguments that are not JSON; they are kept as a
    /// [`Value::String`].
    pub arguments: Value,
}

impl ToolCall {
    /// Creates a call whose arguments the provider sends as text.
    pub(crate) fn from_text(id: String, name: String, arguments: &str) -> Self {
        let parsed = if arguments.trim().is_empty() {
            Ok(json!({}))
        } else {
            serde_json::from_str(arguments)
        };
        Self {
            id,
            name,
            arguments: parsed.unwrap_or_else(|_| Value::String(arguments.to_owned())),
        }
    }

    /// Returns the arguments as text, exactly as the model wrote them if they are not JSON.
    pub(crate) fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        }
    }

    /// Returns the arguments as an object, for formats that allow nothing else.
    pub(crate) fn arguments_object(&self) -> Value {
        match &self.arguments {
            Value::Object(fields) => Value::Object(fields.clone()),
            _ => json!({"malformed": self.arguments_text()}),
        }
    }
}

/// The result of a tool call, for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    pub output: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_arguments_are_kept_as_text() {
        let call = |text: &str| ToolCall::from_text("1".to_owned(), "t".to_owned(), text);
        assert_eq!(call("{\"a\": 1}").arguments, json!({"a": 1}));
        assert_eq!(call(" ").arguments, json!({}));
        let malformed = call("{\"a\": ");
        assert_eq!(malformed.arguments, json!("{\"a\": "));
        assert_eq!(malformed.arguments_text(), "{\"a\": ");
        assert_eq!(
            malformed.arguments_object(),
            json!({"malformed": "{\"a\": "})
        );
        assert_eq!(call("[1]").arguments_object(), json!({"malformed": "[1]"}));
    }
}
