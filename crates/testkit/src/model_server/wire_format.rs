//! The wire formats of the providers, implemented from their documentation.

use serde_json::{Value, json};

use super::{Fault, ModelRequest};

/// The number of cached input tokens that the server reports for every request.
const CACHED: u64 = 3;
/// The number of reasoning tokens that the server reports for every answer.
const REASONING: u64 = 7;
/// The reasoning text of every answer.
const THOUGHT: &str = "I thought about it.";

/// The wire format of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// The Chat Completions API of OpenAI.
    Chat,
    /// The Responses API of OpenAI.
    Responses,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Gemini API of Google.
    Gemini,
}

/// The tokens that are billed for a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens {
    /// The input tokens, including cached ones.
    pub(super) input: u64,
    /// The output tokens, including reasoning.
    pub(super) output: u64,
}

impl Tokens {
    pub(super) fn new(request: &ModelRequest, text: &str) -> Self {
        let text_bytes: usize = request.turns.iter().map(|(_, text)| text.len()).sum();
        Self {
            input: CACHED + 1 + (request.system.len() + text_bytes) as u64 / 4,
            output: REASONING + 1 + text.len() as u64 / 4,
        }
    }
}

impl WireFormat {
    /// Returns the format that a request path belongs to.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match path {
            _ if path.ends_with("/chat/completions") => Some(Self::Chat),
            _ if path.ends_with("/responses") => Some(Self::Responses),
            _ if path.ends_with("/v1/messages") => Some(Self::Anthropic),
            _ if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }

    /// Returns whether the request asks for a stream.
    pub(super) fn is_streamed(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent") && path.contains("alt=sse"),
            _ => body["stream"] == true,
        }
    }

    /// Parses a request body.
    pub(super) fn parse_request(self, number: usize, body: &Value) -> ModelRequest {
        let list = match self {
            Self::Chat | Self::Anthropic => &body["messages"],
            Self::Responses => &body["input"],
            Self::Gemini => &body["contents"],
        };
        let mut request = ModelRequest {
            number,
            system: String::new(),
            turns: Vec::new(),
            images: 0,
            body: body.clone(),
        };
        request.system = match self {
            Self::Chat => String::new(),
            Self::Responses => texts(&body["instructions"], &mut request.images),
            Self::Anthropic => texts(&body["system"], &mut request.images),
            Self::Gemini => texts(&body["systemInstruction"]["parts"], &mut request.images),
        };
        for message in list.as_array().into_iter().flatten() {
            let content = if self == Self::Gemini {
                &message["parts"]
            } else {
                &message["content"]
            };
            let text = texts(content, &mut request.images);
            match message["role"].as_str() {
                Some("system" | "developer") => request.system = text,
                Some("assistant" | "model") => request.turns.push((true, text)),
                Some("user") => request.turns.push((false, text)),
                _ => {}
            }
        }
        request
    }

    /// Returns a complete response.
    pub(super) fn answer(self, number: usize, text: &str, tokens: Tokens, fault: &Fault) -> Value {
        let refused = *fault == Fault::Refuse;
        let id = format!("answer-{number}");
        match self {
            Self::Chat => {
                let refusal = if refused {
                    json!("I will not")
                } else {
                    Value::Null
                };
                let message = json!({"role": "assistant", "content": text, "refusal": refusal, "reasoning_content": THOUGHT});
                json!({"id": id, "object": "chat.completion", "created": 1, "model": "test-model",
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": tokens.input + tokens.output,
                        "prompt_tokens_details": {"cached_tokens": CACHED}, "completion_tokens_details": {"reasoning_tokens": REASONING}}})
            }
            Self::Responses => {
                let content = if refused {
                    json!({"type": "refusal", "refusal": "I will not"})
                } else {
                    json!({"type": "output_text", "text": text, "annotations": []})
                };
                let reasoning = json!({"type": "reasoning", "id": format!("rs-{number}"), "encrypted_content": format!("sealed-{number}"),
                    "summary": [{"type": "summary_text", "text": THOUGHT}]});
                let message = json!({"type": "message", "id": format!("msg-{number}"), "role": "assistant", "status": "completed",
                    "content": [content]});
                json!({"id": id, "object": "response", "status": "completed", "model": "test-model", "error": null, "output": [reasoning, message],
                    "usage": {"input_tokens": tokens.input, "input_tokens_details": {"cached_tokens": CACHED},
                        "output_tokens": tokens.output, "output_tokens_details": {"reasoning_tokens": REASONING},
                        "total_tokens": tokens.input + tokens.output}})
            }
            Self::Anthropic => {
                let mut content = vec![
                    json!({"type": "thinking", "thinking": THOUGHT, "signature": format!("sealed-{number}")}),
                ];
                if !text.is_empty() {
                    content.push(json!({"type": "text", "text": text}));
                }
                json!({"id": id, "type": "message", "role": "assistant", "model": "test-model", "content": content,
                    "stop_reason": if refused { "refusal" } else { "end_turn" }, "stop_sequence": null,
                    "usage": {"input_tokens": tokens.input - CACHED, "cache_creation_input_tokens": 1, "cache_read_input_tokens": CACHED - 1,
                        "output_tokens": tokens.output}})
            }
            Self::Gemini => {
                let parts = json!([{"text": THOUGHT, "thought": true}, {"text": text, "thoughtSignature": format!("sealed-{number}")}]);
                let finish = if refused { "SAFETY" } else { "STOP" };
                json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
                    "usageMetadata": {"promptTokenCount": tokens.input, "cachedContentTokenCount": CACHED,
                        "candidatesTokenCount": tokens.output - REASONING, "thoughtsTokenCount": REASONING,
                        "totalTokenCount": tokens.input + tokens.output},
                    "modelVersion": "test-model", "responseId": id})
            }
        }
    }

    /// Returns the same response as the events of a stream.
    pub(super) fn events(self, value: &Value, tokens: Tokens) -> Vec<String> {
        match self {
            Self::Chat => chat_events(value),
            Self::Responses => responses_events(value),
            Self::Anthropic => anthropic_events(value, tokens),
            Self::Gemini => gemini_events(value),
        }
    }
}

/// Returns the text of a content field, which may be a string or a list of parts, and adds the
/// number of its images to `images`.
fn texts(content: &Value, images: &mut usize) -> String {
    let Some(parts) = content.as_array() else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    *images += parts.iter().filter(|part| image(part).is_some()).count();
    parts
        .iter()
        .filter(|part| part["thought"] != true)
        .filter_map(|part| part["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the base64 data of an image part in any of the formats.
fn image(part: &Value) -> Option<&str> {
    let url = part["image_url"]
        .as_str()
        .or(part["image_url"]["url"].as_str());
    url.and_then(|url| url.strip_prefix("data:image/png;base64,"))
        .or(part["source"]["data"]
            .as_str()
            .filter(|_| part["source"]["media_type"] == "image/png"))
        .or(part["inlineData"]["data"]
            .as_str()
            .filter(|_| part["inlineData"]["mimeType"] == "image/png"))
}

/// Splits a text into pieces of three characters.
fn pieces(value: &Value) -> Vec<String> {
    let letters: Vec<char> = value.as_str().unwrap_or_default().chars().collect();
    letters
        .chunks(3)
        .map(|piece| piece.iter().collect())
        .collect()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named(value: &Value) -> String {
    format!(
        "event: {}\ndata: {value}\n\n",
        value["type"].as_str().unwrap_or_default()
    )
}

fn chat_events(value: &Value) -> Vec<String> {
    let message = &value["choices"][0]["message"];
    let chunk = |delta: &Value, finish: &Value| {
        data(
            &json!({"id": value["id"], "object": "chat.completion.chunk", "model": value["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": null}),
        )
    };
    let mut events = vec![
        ": hello\n\n".to_owned(),
        chunk(&json!({"role": "assistant", "content": ""}), &Value::Null),
    ];
    for field in ["reasoning_content", "content", "refusal"] {
        events.extend(
            pieces(&message[field])
                .iter()
                .map(|piece| chunk(&json!({field: piece}), &Value::Null)),
        );
    }
    events.push(chunk(&json!({}), &json!("stop")));
    events.push(data(&json!({"id": value["id"], "model": value["model"], "choices": [], "usage": value["usage"]})));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn responses_events(value: &Value) -> Vec<String> {
    let mut start = value.clone();
    start["status"] = json!("in_progress");
    start["output"] = json!([]);
    start["usage"] = Value::Null;
    let mut events = vec![named(
        &json!({"type": "response.created", "response": start}),
    )];
    let text = &value["output"][1]["content"][0]["text"];
    events.extend(pieces(text).iter().map(|piece| {
        named(&json!({"type": "response.output_text.delta", "output_index": 1, "delta": piece}))
    }));
    events.push(named(
        &json!({"type": "response.completed", "response": value}),
    ));
    events
}

fn anthropic_events(value: &Value, tokens: Tokens) -> Vec<String> {
    let mut start = value.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![
        named(&json!({"type": "message_start", "message": start})),
        named(&json!({"type": "ping"})),
    ];
    for (index, block) in value["content"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let (empty, kind, field) = match block["type"].as_str() {
            Some("thinking") => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                "thinking_delta",
                "thinking",
            ),
            _ => (json!({"type": "text", "text": ""}), "text_delta", "text"),
        };
        events.push(named(
            &json!({"type": "content_block_start", "index": index, "content_block": empty}),
        ));
        let delta = |delta: Value| {
            named(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        };
        events.extend(
            pieces(&block[field])
                .iter()
                .map(|piece| delta(json!({"type": kind, field: piece}))),
        );
        if kind == "thinking_delta" {
            events.push(delta(
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ));
        }
        events.push(named(
            &json!({"type": "content_block_stop", "index": index}),
        ));
    }
    let last = json!({"stop_reason": value["stop_reason"], "stop_sequence": null});
    events.push(named(
        &json!({"type": "message_delta", "delta": last, "usage": {"output_tokens": tokens.output}}),
    ));
    events.push(named(&json!({"type": "message_stop"})));
    events
}

fn gemini_events(value: &Value) -> Vec<String> {
    let parts = &value["candidates"][0]["content"]["parts"];
    let chunk = |part: Value, finish: &Value, usage: &Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": [part]}, "index": 0});
        if !finish.is_null() {
            candidate["finishReason"] = finish.clone();
        }
        data(
            &json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": value["modelVersion"], "responseId": value["responseId"]}),
        )
    };
    let start = json!({"promptTokenCount": value["usageMetadata"]["promptTokenCount"]});
    let mut events = vec![chunk(parts[0].clone(), &Value::Null, &start)];
    events.extend(
        pieces(&parts[1]["text"])
            .iter()
            .map(|piece| chunk(json!({"text": piece}), &Value::Null, &start)),
    );
    let signed = json!({"text": "", "thoughtSignature": parts[1]["thoughtSignature"]});
    events.push(chunk(
        signed,
        &value["candidates"][0]["finishReason"],
        &value["usageMetadata"],
    ));
    events
}
