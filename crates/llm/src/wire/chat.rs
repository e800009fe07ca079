//! The Chat Completions API of OpenAI, which many other servers implement.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    StreamAssembler, Wire, bearer, body_for, count, data_url, garbled, role, some_text, text,
};
use crate::failure::Failure;
use crate::provider::Backend;
use crate::{
    Finish, ModelConfig, Part, ProviderEntry, Reply, Request, Tool, ToolCall, Turn, Usage,
};

/// The fields in which servers return reasoning: as text, or as blocks that can be sent back.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];
const BLOCKS: &str = "reasoning_details";

pub(crate) const ENTRY: ProviderEntry = ProviderEntry {
    name: "openai-chat",
    summary: "the Chat Completions API of OpenAI, or of any compatible service (vLLM, Ollama, LM Studio …) if you set its `base_url`",
    key_variable: Some("OPENAI_API_KEY"),
    base_url: Some("https://api.openai.com/v1"),
    base_url_variable: Some("OPENAI_BASE_URL"),
    base_url_path: "",
    backend: Backend::Http(&Chat),
};

/// Creates the entry of a service with the same API.
pub(crate) const fn compatible(
    name: &'static str,
    key_variable: &'static str,
    base_url: &'static str,
) -> ProviderEntry {
    ProviderEntry {
        name,
        summary: "a service with the Chat Completions API",
        key_variable: Some(key_variable),
        base_url: Some(base_url),
        base_url_variable: None,
        ..ENTRY
    }
}

struct Chat;

impl Wire for Chat {
    fn url(&self, model: &ModelConfig) -> String {
        format!("{}/chat/completions", model.base())
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        bearer(key)
    }

    fn reserved_fields(&self) -> &'static [&'static str] {
        &["messages", "model", "stream", "n"]
    }

    fn body(&self, model: &ModelConfig, request: &Request) -> Map<String, Value> {
        let system = request
            .system
            .iter()
            .map(|text| json!({"role": "system", "content": text}));
        let messages: Vec<Value> = system
            .chain(request.turns.iter().flat_map(messages))
            .collect();
        let mut body = body_for(model);
        body.insert("messages".to_owned(), Value::Array(messages));
        if !request.tools.is_empty() {
            body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        }
        if model.stream {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
        body
    }

    fn output_limits(&self) -> &'static [&'static str] {
        &["/max_completion_tokens", "/max_tokens"]
    }

    fn max_image_tokens(&self) -> u64 {
        super::OPENAI_IMAGE_TOKENS
    }

    // Most servers ignore it, and some reject it.
    fn needs_reasoning_with_tools(&self) -> bool {
        false
    }

    fn assembler(&self) -> Box<dyn StreamAssembler> {
        Box::new(Pieces::default())
    }

    fn usage(&self, value: &Value) -> Option<Usage> {
        usage(&value["usage"])
    }

    fn reply(&self, value: &Value, request: &Request) -> Result<Reply, Failure> {
        let choice = value["choices"]
            .get(0)
            .ok_or_else(|| garbled("the answer has no `choices`"))?;
        let message = choice.get("message").filter(|message| message.is_object());
        let message = message.ok_or_else(|| garbled("the answer's choice has no `message`"))?;
        let refusal = some_text(&message["refusal"]);
        let finish = match (refusal, choice["finish_reason"].as_str()) {
            (Some(refusal), _) => Finish::Refused(refusal),
            (None, Some("content_filter")) => Finish::Refused("the provider's filter".to_owned()),
            (None, Some("length")) => Finish::Length,
            (None, Some("stop" | "tool_calls" | "") | None) => Finish::Done,
            (None, Some(other)) => Finish::Other(other.to_owned()),
        };
        Ok(Reply {
            text: content(&message["content"]),
            reasoning: REASONING
                .iter()
                .find_map(|field| some_text(&message[*field])),
            reasoning_items: if request.keep_reasoning {
                reasoning_items(message)
            } else {
                Vec::new()
            },
            tool_calls: tool_calls(&message["tool_calls"]),
            finish,
            usage: self.usage(value),
            model: text(&value["model"]),
            id: text(&value["id"]),
        })
    }
}

fn tool(tool: &Tool) -> Value {
    json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}})
}

/// Returns the messages of a turn: one for each result of a tool, then one for everything else.
fn messages(turn: &Turn) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    let mut content: Vec<Part> = Vec::new();
    let mut calls: Vec<Value> = Vec::new();
    for part in &turn.parts {
        match part {
            Part::ToolResult(result) => messages
                .push(json!({"role": "tool", "tool_call_id": result.id, "content": result.output})),
            Part::ToolCall(call) => calls.push(json!({"id": call.id, "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_text()}})),
            part => content.push(part.clone()),
        }
    }
    if content.is_empty() && calls.is_empty() && !messages.is_empty() {
        return messages;
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!(role(turn)));
    // A message with calls and without text has no content.
    let content = if content.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        parts(&content)
    };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    for fields in turn.reasoning_items.iter().filter_map(Value::as_object) {
        message.extend(fields.clone());
    }
    messages.push(Value::Object(message));
    messages
}

/// Returns the calls of a message, which may be absent.
fn tool_calls(value: &Value) -> Vec<ToolCall> {
    let call = |call: &Value| {
        let function = &call["function"];
        ToolCall::from_text(
            text(&call["id"]),
            text(&function["name"]),
            function["arguments"].as_str().unwrap_or_default(),
        )
    };
    value.as_array().into_iter().flatten().map(call).collect()
}

/// Returns the content of a message. Text alone is sent as a string, which every server supports.
fn parts(parts: &[Part]) -> Value {
    if let [Part::Text { text }] = parts {
        return json!(text);
    }
    let part = |part: &Part| match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { media_type, base64 } => {
            json!({"type": "image_url", "image_url": {"url": data_url(media_type, base64)}})
        }
        // `messages` sends calls and results elsewhere.
        Part::ToolCall(_) | Part::ToolResult(_) => Value::Null,
    };
    parts.iter().map(part).collect()
}

/// Returns the text of a content field: a string, null, or a list of texts.
fn content(value: &Value) -> String {
    match value.as_array() {
        Some(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        None => text(value),
    }
}

/// Returns the reasoning fields of a message, to be merged into it when it is sent back.
fn reasoning_items(message: &Value) -> Vec<Value> {
    if message[BLOCKS]
        .as_array()
        .is_some_and(|blocks| !blocks.is_empty())
    {
        return vec![json!({BLOCKS: message[BLOCKS]})];
    }
    let field = REASONING
        .iter()
        .find(|field| some_text(&message[**field]).is_some());
    field
        .map(|field| json!({*field: message[*field]}))
        .into_iter()
        .collect()
}

/// Parses the usage. Most servers count reasoning as part of the completion. Some count it
/// separately; their total then exceeds the sum of prompt and completion, and the difference is
/// added to the output.
fn usage(value: &Value) -> Option<Usage> {
    value.as_object()?;
    let input_tokens = count(&value["prompt_tokens"]);
    let completion = count(&value["completion_tokens"]);
    let separate_reasoning =
        count(&value["total_tokens"]).saturating_sub(input_tokens.saturating_add(completion));
    let details = &value["prompt_tokens_details"];
    let cached = count(&details["cached_tokens"]).max(count(&value["prompt_cache_hit_tokens"]));
    Some(Usage {
        input_tokens,
        cached_tokens: cached,
        cache_write_tokens: count(&details["cache_write_tokens"]),
        output_tokens: completion.saturating_add(separate_reasoning),
        reasoning_tokens: count(&value["completion_tokens_details"]["reasoning_tokens"])
            .max(separate_reasoning),
        reported_usd: value["cost"]
            .as_f64()
            .filter(|cost| cost.is_finite() && *cost >= 0.0),
    })
}

/// A streamed reply: the message so far.
#[derive(Default)]
struct Pieces {
    content: String,
    refusal: String,
    /// The field name and the text of the reasoning.
    reasoning: Option<(&'static str, String)>,
    blocks: Vec<Value>,
    /// The tool calls so far, by their index in the message.
    calls: BTreeMap<u64, StreamedCall>,
    finish_reason: Value,
    usage: Value,
    model: Value,
    id: Value,
}

/// A streamed tool call: its id and name arrive once, its arguments in pieces.
#[derive(Default)]
struct StreamedCall {
    id: String,
    name: String,
    arguments: String,
}

impl StreamAssembler for Pieces {
    fn take(&mut self, _name: &str, piece: &Value) -> Result<bool, Failure> {
        if piece["usage"].is_object() {
            self.usage = piece["usage"].clone();
        }
        for (field, place) in [("model", &mut self.model), ("id", &mut self.id)] {
            if place.is_null() {
                *place = piece[field].clone();
            }
        }
        let choice = &piece["choices"][0];
        let delta = &choice["delta"];
        self.content
            .push_str(delta["content"].as_str().unwrap_or_default());
        self.refusal
            .push_str(delta["refusal"].as_str().unwrap_or_default());
        if let Some((field, reasoning)) = REASONING
            .iter()
            .find_map(|field| delta[*field].as_str().map(|reasoning| (*field, reasoning)))
        {
            self.reasoning
                .get_or_insert_with(|| (field, String::new()))
                .1
                .push_str(reasoning);
        }
        self.blocks
            .extend(delta[BLOCKS].as_array().into_iter().flatten().cloned());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.add_call(call);
        }
        if choice["finish_reason"].is_string() {
            self.finish_reason = choice["finish_reason"].clone();
        }
        // The usage follows the last delta, so only `[DONE]` ends the stream.
        Ok(false)
    }

    fn is_complete(&self) -> bool {
        self.finish_reason.is_string()
    }

    fn value(&self) -> Value {
        let mut message = json!({"content": self.content, "refusal": self.refusal});
        if let Some((field, reasoning)) = &self.reasoning {
            message[*field] = json!(reasoning);
        }
        if !self.blocks.is_empty() {
            message[BLOCKS] = json!(self.blocks);
        }
        if !self.calls.is_empty() {
            let call = |call: &StreamedCall| json!({"id": call.id, "function": {"name": call.name, "arguments": call.arguments}});
            message["tool_calls"] = self.calls.values().map(call).collect();
        }
        let choice = json!({"message": message, "finish_reason": self.finish_reason});
        json!({"id": self.id, "model": self.model, "choices": [choice], "usage": self.usage})
    }
}

impl Pieces {
    fn add_call(&mut self, piece: &Value) {
        let call = self.calls.entry(count(&piece["index"])).or_default();
        let function = &piece["function"];
        for (place, more) in [
            (&mut call.id, &piece["id"]),
            (&mut call.name, &function["name"]),
            (&mut call.arguments, &function["arguments"]),
        ] {
            place.push_str(more.as_str().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_counts_as_output() {
        let within = json!({"prompt_tokens": 10, "completion_tokens": 30, "total_tokens": 40,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 25}});
        let within = usage(&within).unwrap();
        assert_eq!(
            (
                within.input_tokens,
                within.cached_tokens,
                within.output_tokens,
                within.reasoning_tokens
            ),
            (10, 4, 30, 25)
        );
        let separate_reasoning = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40,
            "completion_tokens_details": {"reasoning_tokens": 25}});
        let separate_reasoning = usage(&separate_reasoning).unwrap();
        assert_eq!(
            (
                separate_reasoning.output_tokens,
                separate_reasoning.reasoning_tokens
            ),
            (30, 25)
        );
        assert_eq!(
            usage(&json!({"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.5}))
                .unwrap()
                .reported_usd,
            Some(0.5)
        );
        assert_eq!(usage(&Value::Null), None);
    }

    #[test]
    fn malformed_answers_are_typed_failures() {
        let request = Request::text("a");
        for odd in [
            json!({}),
            json!({"choices": []}),
            json!({"choices": [{}]}),
            json!([]),
            json!("x"),
            json!({"choices": 3}),
        ] {
            assert!(Chat.reply(&odd, &request).is_err(), "{odd}");
        }
        let empty = json!({"choices": [{"message": {"content": null}, "finish_reason": "length"}]});
        let reply = Chat.reply(&empty, &request).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.finish, reply.usage),
            ("", Finish::Length, None)
        );
        let refused = json!({"choices": [{"message": {"content": null, "refusal": "no"}, "finish_reason": "stop"}]});
        assert_eq!(
            Chat.reply(&refused, &request).unwrap().finish,
            Finish::Refused("no".to_owned())
        );
    }
}
