//! The providers' forms, from their documentation.

use serde_json::{Value, json};

use super::{Asked, Fault};

/// Tokens that came out of a cache, of every request.
const CACHED: u64 = 3;
/// Tokens of reasoning, of every answer.
const REASONING: u64 = 7;
/// The reasoning that is shown.
const THOUGHT: &str = "I thought about it.";

/// A provider's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
}

/// What is billed for a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens {
    /// All of the request, at least those out of a cache.
    pub(super) input: u64,
    /// All of the answer, reasoning included.
    pub(super) output: u64,
}

impl Tokens {
    pub(super) fn new(asked: &Asked, text: &str) -> Self {
        let said: usize = asked.turns.iter().map(|(_, text)| text.len()).sum();
        Self {
            input: CACHED + 1 + (asked.system.len() + said) as u64 / 4,
            output: REASONING + 1 + text.len() as u64 / 4,
        }
    }
}

impl Form {
    /// The form of a path.
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

    /// Whether a stream is asked for.
    pub(super) fn is_streamed(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent") && path.contains("alt=sse"),
            _ => body["stream"] == true,
        }
    }

    /// What is asked.
    pub(super) fn asked(self, number: usize, body: &Value) -> Asked {
        let list = match self {
            Self::Chat | Self::Anthropic => &body["messages"],
            Self::Responses => &body["input"],
            Self::Gemini => &body["contents"],
        };
        let mut asked = Asked {
            number,
            system: String::new(),
            turns: Vec::new(),
            images: 0,
            body: body.clone(),
        };
        asked.system = match self {
            Self::Chat => String::new(),
            Self::Responses => texts(&body["instructions"], &mut asked.images),
            Self::Anthropic => texts(&body["system"], &mut asked.images),
            Self::Gemini => texts(&body["systemInstruction"]["parts"], &mut asked.images),
        };
        for message in list.as_array().into_iter().flatten() {
            let content = if self == Self::Gemini {
                &message["parts"]
            } else {
                &message["content"]
            };
            let text = texts(content, &mut asked.images);
            match message["role"].as_str() {
                Some("system" | "developer") => asked.system = text,
                Some("assistant" | "model") => asked.turns.push((true, text)),
                Some("user") => asked.turns.push((false, text)),
                _ => {}
            }
        }
        asked
    }

    /// A whole answer.
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

    /// The same answer as events of a stream.
    pub(super) fn events(self, value: &Value, tokens: Tokens) -> Vec<String> {
        match self {
            Self::Chat => chat_events(value),
            Self::Responses => responses_events(value),
            Self::Anthropic => anthropic_events(value, tokens),
            Self::Gemini => gemini_events(value),
        }
    }
}

/// The texts of a content, which may be a plain string.
fn texts(content: &Value, images: &mut usize) -> String {
    let Some(parts) = content.as_array() else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    *images += parts.iter().filter(|part| picture(part).is_some()).count();
    parts
        .iter()
        .filter(|part| part["thought"] != true)
        .filter_map(|part| part["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The bytes of a picture in base 64, in whichever form.
fn picture(part: &Value) -> Option<&str> {
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

/// A text in pieces of a few letters.
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
    let mut begun = value.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![named(
        &json!({"type": "response.created", "response": begun}),
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
    let mut begun = value.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut events = vec![
        named(&json!({"type": "message_start", "message": begun})),
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
    let begun = json!({"promptTokenCount": value["usageMetadata"]["promptTokenCount"]});
    let mut events = vec![chunk(parts[0].clone(), &Value::Null, &begun)];
    events.extend(
        pieces(&parts[1]["text"])
            .iter()
            .map(|piece| chunk(json!({"text": piece}), &Value::Null, &begun)),
    );
    let signed = json!({"text": "", "thoughtSignature": parts[1]["thoughtSignature"]});
    events.push(chunk(
        signed,
        &value["candidates"][0]["finishReason"],
        &value["usageMetadata"],
    ));
    events
}
