//! The wire formats of the providers, implemented from their documentation.

use serde_json::{Value, json};

use super::{Fault, ModelAnswer, ModelRequest};

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
    pub(super) fn new(request: &ModelRequest, answer: &ModelAnswer) -> Self {
        let calls = answer
            .calls
            .iter()
            .map(|(name, text)| name.len() + text.len());
        let answer_bytes = answer.text.len() + calls.sum::<usize>();
        let text_bytes: usize = request.turns.iter().map(|(_, text)| text.len()).sum();
        Self {
            input: CACHED + 1 + (request.system.len() + text_bytes) as u64 / 4,
            output: REASONING + 1 + answer_bytes as u64 / 4,
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
            results: Vec::new(),
            tools: tool_names(body),
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
            let calls = called(message);
            let results = results(message);
            let has_tools = !calls.is_empty() || !results.is_empty();
            request
                .turns
                .extend(results.iter().map(|result| (false, result.clone())));
            request.results.extend(results);
            match message["role"].as_str() {
                Some("system" | "developer") => request.system = text,
                _ if has_tools && text.is_empty() => {}
                Some("assistant" | "model") => request.turns.push((true, text)),
                Some("user") => request.turns.push((false, text)),
                _ => {}
            }
            request
                .turns
                .extend(calls.into_iter().map(|arguments| (true, arguments)));
        }
        request
    }

    /// Returns a complete response.
    pub(super) fn answer(
        self,
        number: usize,
        answer: &ModelAnswer,
        tokens: Tokens,
        fault: &Fault,
    ) -> Value {
        let refused = *fault == Fault::Refuse;
        match self {
            Self::Chat => chat_answer(number, answer, tokens, refused),
            Self::Responses => responses_answer(number, answer, tokens, refused),
            Self::Anthropic => anthropic_answer(number, answer, tokens, refused),
            Self::Gemini => gemini_answer(number, answer, tokens, refused),
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

/// Returns the id of an answer.
fn answer_id(number: usize) -> String {
    format!("answer-{number}")
}

/// Returns the tool calls of an answer, each with its id, name and arguments.
fn numbered_calls(
    number: usize,
    answer: &ModelAnswer,
) -> impl Iterator<Item = (String, &String, &String)> {
    let calls = answer.calls.iter().enumerate();
    calls.map(move |(index, (name, arguments))| (format!("call-{number}-{index}"), name, arguments))
}

fn chat_answer(number: usize, answer: &ModelAnswer, tokens: Tokens, refused: bool) -> Value {
    let refusal = refused.then_some("I will not");
    let mut message = json!({"role": "assistant", "content": answer.text, "refusal": refusal, "reasoning_content": THOUGHT});
    let mut finish = "stop";
    if !answer.calls.is_empty() {
        let call = |(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        message["tool_calls"] = numbered_calls(number, answer).map(call).collect();
        finish = "tool_calls";
    }
    json!({"id": answer_id(number), "object": "chat.completion", "created": 1, "model": "test-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": tokens.input + tokens.output,
            "prompt_tokens_details": {"cached_tokens": CACHED}, "completion_tokens_details": {"reasoning_tokens": REASONING}}})
}

fn responses_answer(number: usize, answer: &ModelAnswer, tokens: Tokens, refused: bool) -> Value {
    let content = if refused {
        json!({"type": "refusal", "refusal": "I will not"})
    } else {
        json!({"type": "output_text", "text": answer.text, "annotations": []})
    };
    let mut output = vec![
        json!({"type": "reasoning", "id": format!("rs-{number}"), "encrypted_content": format!("sealed-{number}"),
        "summary": [{"type": "summary_text", "text": THOUGHT}]}),
    ];
    if !answer.text.is_empty() || answer.calls.is_empty() {
        output.push(json!({"type": "message", "id": format!("msg-{number}"), "role": "assistant", "status": "completed",
            "content": [content]}));
    }
    output.extend(numbered_calls(number, answer).map(|(id, name, arguments)| {
        json!({"type": "function_call", "id": format!("fc-{id}"), "call_id": id, "name": name, "arguments": arguments, "status": "completed"})
    }));
    json!({"id": answer_id(number), "object": "response", "status": "completed", "model": "test-model", "error": null, "output": output,
        "usage": {"input_tokens": tokens.input, "input_tokens_details": {"cached_tokens": CACHED},
            "output_tokens": tokens.output, "output_tokens_details": {"reasoning_tokens": REASONING},
            "total_tokens": tokens.input + tokens.output}})
}

fn anthropic_answer(number: usize, answer: &ModelAnswer, tokens: Tokens, refused: bool) -> Value {
    let mut content = vec![
        json!({"type": "thinking", "thinking": THOUGHT, "signature": format!("sealed-{number}")}),
    ];
    if !answer.text.is_empty() {
        content.push(json!({"type": "text", "text": answer.text}));
    }
    content.extend(numbered_calls(number, answer).map(|(id, name, arguments)| {
        json!({"type": "tool_use", "id": id, "name": name, "input": object(arguments)})
    }));
    let finish = match (refused, answer.calls.is_empty()) {
        (true, _) => "refusal",
        (false, true) => "end_turn",
        (false, false) => "tool_use",
    };
    json!({"id": answer_id(number), "type": "message", "role": "assistant", "model": "test-model", "content": content,
        "stop_reason": finish, "stop_sequence": null,
        "usage": {"input_tokens": tokens.input - CACHED, "cache_creation_input_tokens": 1, "cache_read_input_tokens": CACHED - 1,
            "output_tokens": tokens.output}})
}

fn gemini_answer(number: usize, answer: &ModelAnswer, tokens: Tokens, refused: bool) -> Value {
    let mut parts = vec![
        json!({"text": THOUGHT, "thought": true}),
        json!({"text": answer.text, "thoughtSignature": format!("sealed-{number}")}),
    ];
    parts.extend(numbered_calls(number, answer).map(
        |(_, name, arguments)| json!({"functionCall": {"name": name, "args": object(arguments)}}),
    ));
    let finish = if refused { "SAFETY" } else { "STOP" };
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": tokens.input, "cachedContentTokenCount": CACHED,
            "candidatesTokenCount": tokens.output - REASONING, "thoughtsTokenCount": REASONING,
            "totalTokenCount": tokens.input + tokens.output},
        "modelVersion": "test-model", "responseId": answer_id(number)})
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

/// Returns the names of the tools that a request offers, in any of the formats.
fn tool_names(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let declared = tools.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(declarations) => declarations.iter().collect(),
        None => vec![tool],
    });
    declared
        .filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
        .map(str::to_owned)
        .collect()
}

/// Returns the arguments of the tool calls in a message, in any of the formats.
fn called(message: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        found.extend(call["function"]["arguments"].as_str().map(str::to_owned));
    }
    if message["type"] == "function_call" {
        found.extend(message["arguments"].as_str().map(str::to_owned));
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    for block in blocks.filter(|block| block["type"] == "tool_use") {
        found.push(block["input"].to_string());
    }
    let parts = message["parts"].as_array().into_iter().flatten();
    found.extend(parts.filter_map(|part| Some(part.get("functionCall")?["args"].to_string())));
    found
}

/// Returns the results of tools in a message, in any of the formats.
fn results(message: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if message["role"] == "tool" {
        found.extend(message["content"].as_str().map(str::to_owned));
    }
    if message["type"] == "function_call_output" {
        found.extend(message["output"].as_str().map(str::to_owned));
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    for block in blocks.filter(|block| block["type"] == "tool_result") {
        found.extend(block["content"].as_str().map(str::to_owned));
    }
    for part in message["parts"].as_array().into_iter().flatten() {
        let response = &part["functionResponse"]["response"];
        let output = response["output"].as_str().or(response["error"].as_str());
        found.extend(output.map(str::to_owned));
    }
    found
}

/// Parses arguments for the formats that send them as an object.
fn object(arguments: &str) -> Value {
    let parsed: Value = serde_json::from_str(arguments).unwrap_or_default();
    if parsed.is_object() {
        parsed
    } else {
        json!({})
    }
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
    for (index, call) in message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let start = json!({"index": index, "id": call["id"], "type": "function",
            "function": {"name": call["function"]["name"], "arguments": ""}});
        events.push(chunk(&json!({"tool_calls": [start]}), &Value::Null));
        events.extend(pieces(&call["function"]["arguments"]).iter().map(|piece| {
            let more = json!({"index": index, "function": {"arguments": piece}});
            chunk(&json!({"tool_calls": [more]}), &Value::Null)
        }));
    }
    events.push(chunk(&json!({}), &value["choices"][0]["finish_reason"]));
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
            Some("tool_use") => (
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                "input_json_delta",
                "partial_json",
            ),
            _ => (json!({"type": "text", "text": ""}), "text_delta", "text"),
        };
        let streamed = match kind {
            "input_json_delta" => json!(block["input"].to_string()),
            _ => block[field].clone(),
        };
        events.push(named(
            &json!({"type": "content_block_start", "index": index, "content_block": empty}),
        ));
        let delta = |delta: Value| {
            named(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        };
        events.extend(
            pieces(&streamed)
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
    let calls = parts.as_array().into_iter().flatten().skip(2);
    events.extend(calls.map(|call| chunk(call.clone(), &Value::Null, &start)));
    let signed = json!({"text": "", "thoughtSignature": parts[1]["thoughtSignature"]});
    events.push(chunk(
        signed,
        &value["candidates"][0]["finishReason"],
        &value["usageMetadata"],
    ));
    events
}
