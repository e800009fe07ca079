//! The Gemini API of Google.

use serde_json::{Map, Value, json};

use super::{StreamAssembler, Wire, count, garbled, joined, some_text, text};
use crate::failure::Failure;
use crate::provider::Backend;
use crate::{
    Finish, ModelConfig, Part, ProviderEntry, Reply, Request, Role, Tool, ToolCall, Turn, Usage,
};

/// The finish reasons that mean a refusal.
const REFUSALS: [&str; 6] = [
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
];

pub(crate) const ENTRY: ProviderEntry = ProviderEntry {
    name: "gemini",
    summary: "Google's Gemini API",
    key_variable: Some("GEMINI_API_KEY"),
    base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
    base_url_variable: Some("GOOGLE_GEMINI_BASE_URL"),
    base_url_path: "/v1beta",
    backend: Backend::Http(&Gemini),
};

struct Gemini;

impl Wire for Gemini {
    fn url(&self, model: &ModelConfig) -> String {
        let call = if model.stream {
            "streamGenerateContent?alt=sse"
        } else {
            "generateContent"
        };
        format!("{}/models/{}:{call}", model.base(), model.model)
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn reserved_fields(&self) -> &'static [&'static str] {
        &["contents", "systemInstruction", "model"]
    }

    // The addresses of the API contain the name of the model, so its characters are restricted.
    fn check(&self, model: &ModelConfig) -> Result<(), String> {
        let fine = |letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/')
        };
        if model.model.chars().all(fine) {
            Ok(())
        } else {
            Err("the provider `gemini` allows only letters, digits, `-`, `_`, `.` and `/` in `model`".to_owned())
        }
    }

    fn body(&self, _model: &ModelConfig, request: &Request) -> Map<String, Value> {
        let mut body = Map::new();
        if let Some(system) = &request.system {
            body.insert(
                "systemInstruction".to_owned(),
                json!({"parts": [{"text": system}]}),
            );
        }
        body.insert(
            "contents".to_owned(),
            request.turns.iter().map(content).collect(),
        );
        if !request.tools.is_empty() {
            let declarations: Value = request.tools.iter().map(declaration).collect();
            body.insert(
                "tools".to_owned(),
                json!([{"functionDeclarations": declarations}]),
            );
        }
        body
    }

    fn output_limits(&self) -> &'static [&'static str] {
        &[
            "/generationConfig/maxOutputTokens",
            "/generation_config/max_output_tokens",
        ]
    }

    fn reply_counts(&self) -> &'static [&'static str] {
        &[
            "/generationConfig/candidateCount",
            "/generation_config/candidate_count",
        ]
    }

    // An image is billed as tiles of 258 tokens, or as up to 2,240 tokens.
    fn max_image_tokens(&self) -> u64 {
        8_000
    }

    fn assembler(&self) -> Box<dyn StreamAssembler> {
        Box::new(Pieces::default())
    }

    // Gemini counts thinking separately from the reply, so it is added to the output.
    fn usage(&self, value: &Value) -> Option<Usage> {
        let usage = &value["usageMetadata"];
        usage.as_object()?;
        let reasoning_tokens = count(&usage["thoughtsTokenCount"]);
        Some(Usage {
            input_tokens: count(&usage["promptTokenCount"])
                .saturating_add(count(&usage["toolUsePromptTokenCount"])),
            cached_tokens: count(&usage["cachedContentTokenCount"]),
            output_tokens: count(&usage["candidatesTokenCount"]).saturating_add(reasoning_tokens),
            reasoning_tokens,
            ..Usage::default()
        })
    }

    fn reply(&self, value: &Value, request: &Request) -> Result<Reply, Failure> {
        let blocked = some_text(&value["promptFeedback"]["blockReason"]);
        let candidate = match (&value["candidates"][0], &blocked) {
            (Value::Null, None) => return Err(garbled("the answer has no `candidates`")),
            (candidate, _) => candidate,
        };
        let parts: &[Value] = candidate["content"]["parts"]
            .as_array()
            .map_or(&[], Vec::as_slice);
        let text_of = |thought: bool| {
            parts
                .iter()
                .filter(move |part| (part["thought"] == true) == thought)
                .filter_map(|part| part["text"].as_str())
        };
        let finish = match (blocked, candidate["finishReason"].as_str()) {
            (Some(reason), _) => Finish::Refused(reason),
            (None, Some("STOP") | None) => Finish::Done,
            (None, Some("MAX_TOKENS")) => Finish::Length,
            (None, Some(reason)) if REFUSALS.contains(&reason) => {
                Finish::Refused(reason.to_owned())
            }
            (None, Some(reason)) => Finish::Other(reason.to_owned()),
        };
        Ok(Reply {
            text: text_of(false).collect(),
            reasoning: joined(text_of(true)),
            // Any part can carry a signature, so all parts are kept.
            reasoning_items: if request.keep_reasoning {
                parts.to_vec()
            } else {
                Vec::new()
            },
            tool_calls: tool_calls(parts),
            finish,
            usage: self.usage(value),
            model: text(&value["modelVersion"]),
            id: text(&value["responseId"]),
        })
    }
}

fn declaration(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
}

/// Returns a part with a call or a result. Older models have no ids; they match results by order.
fn with_id(id: &str, kind: &str, mut content: Value) -> Value {
    if !id.is_empty() {
        content["id"] = json!(id);
    }
    json!({kind: content})
}

/// Returns the calls among the parts.
fn tool_calls(parts: &[Value]) -> Vec<ToolCall> {
    let calls = parts.iter().filter_map(|part| part.get("functionCall"));
    let call = |call: &Value| {
        let arguments = match &call["args"] {
            Value::Null => json!({}),
            arguments => arguments.clone(),
        };
        ToolCall {
            id: text(&call["id"]),
            name: text(&call["name"]),
            arguments,
        }
    };
    calls.map(call).collect()
}

fn content(turn: &Turn) -> Value {
    let role = if turn.role == Role::User {
        "user"
    } else {
        "model"
    };
    let part = |part: &Part| match part {
        Part::Text { text } => json!({"text": text}),
        Part::Image { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": base64}})
        }
        Part::ToolCall(call) => with_id(
            &call.id,
            "functionCall",
            json!({"name": call.name, "args": call.arguments_object()}),
        ),
        Part::ToolResult(result) => {
            let field = if result.is_error { "error" } else { "output" };
            let response = json!({"name": result.name, "response": {field: result.output}});
            with_id(&result.id, "functionResponse", response)
        }
    };
    let parts: Value = if turn.reasoning_items.is_empty() {
        turn.parts.iter().map(part).collect()
    } else {
        turn.reasoning_items.iter().cloned().collect()
    };
    json!({"role": role, "parts": parts})
}

/// A streamed reply: the parts so far.
#[derive(Default)]
struct Pieces {
    /// The last event, which has the counts and the finish reason.
    last: Value,
    usage: Value,
    parts: Vec<Value>,
}

impl StreamAssembler for Pieces {
    fn take(&mut self, _name: &str, piece: &Value) -> Result<bool, Failure> {
        if piece["usageMetadata"].is_object() {
            self.usage = piece["usageMetadata"].clone();
        }
        for part in piece["candidates"][0]["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.add(part);
        }
        self.last = piece.clone();
        Ok(piece["candidates"][0]["finishReason"].is_string()
            || piece["promptFeedback"]["blockReason"].is_string())
    }

    fn value(&self) -> Value {
        let mut value = self.last.clone();
        if value["candidates"][0].is_object() {
            value["candidates"][0]["content"] = json!({"role": "model", "parts": self.parts});
        }
        if value.is_object() {
            value["usageMetadata"] = self.usage.clone();
        }
        value
    }
}

impl Pieces {
    /// Adds a part. Plain text is appended to a preceding part of the same kind.
    fn add(&mut self, part: &Value) {
        let plain = |part: &Value| part["text"].is_string() && part["thoughtSignature"].is_null();
        if let Some(last) = self.parts.last_mut()
            && plain(last)
            && part["text"].is_string()
            && last["thought"] == part["thought"]
            && let (Some(last), Some(part)) = (last.as_object_mut(), part.as_object())
        {
            // Append in place: a reply may arrive in many thousand events.
            for (name, value) in part {
                match (last.get_mut(name), value) {
                    (Some(Value::String(so_far)), Value::String(more)) if name == "text" => {
                        so_far.push_str(more);
                    }
                    _ => drop(last.insert(name.clone(), value.clone())),
                }
            }
        } else {
            self.parts.push(part.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_counts_as_output() {
        let value = json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 20, "cachedContentTokenCount": 2}});
        let usage = Gemini.usage(&value).unwrap();
        assert_eq!(
            (
                usage.input_tokens,
                usage.cached_tokens,
                usage.output_tokens,
                usage.reasoning_tokens
            ),
            (9, 2, 24, 20)
        );
    }

    #[test]
    fn blocked_prompt_is_a_refusal() {
        let reply = Gemini
            .reply(
                &json!({"promptFeedback": {"blockReason": "SAFETY"}}),
                &Request::text("a"),
            )
            .unwrap();
        assert_eq!(reply.finish, Finish::Refused("SAFETY".to_owned()));
        assert!(Gemini.reply(&json!({}), &Request::text("a")).is_err());
        let cut = json!({"candidates": [{"finishReason": "MAX_TOKENS"}]});
        assert_eq!(
            Gemini.reply(&cut, &Request::text("a")).unwrap().finish,
            Finish::Length
        );
    }

    #[test]
    fn streamed_signatures_are_preserved() {
        let mut pieces = Pieces::default();
        let piece = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
        for part in [
            json!({"text": "a"}),
            json!({"text": "b"}),
            json!({"text": "", "thoughtSignature": "s"}),
            json!({"text": "c"}),
        ] {
            assert!(!pieces.take("", &piece(part)).unwrap());
        }
        assert_eq!(
            pieces.parts,
            [
                json!({"text": "ab", "thoughtSignature": "s"}),
                json!({"text": "c"})
            ]
        );
    }
}
