//! The Messages API of Anthropic.

use serde_json::{Map, Value, json};

use super::{StreamAssembler, Wire, body_for, count, garbled, joined, role, text};
use crate::failure::Failure;
use crate::provider::Backend;
use crate::{
    Finish, ModelConfig, Part, ProviderEntry, Reply, Request, Role, Tool, ToolCall, Turn, Usage,
};

/// The API version that this module implements.
const VERSION: &str = "2023-06-01";

/// The limit of output tokens of a model that has no file. The API requires one.
const DEFAULT_MAX_TOKENS: u64 = 32_000;

pub(crate) const ENTRY: ProviderEntry = ProviderEntry {
    name: "anthropic",
    summary: "Anthropic's Messages API; `request` must contain `max_tokens`",
    key_variable: Some("ANTHROPIC_API_KEY"),
    base_url: Some("https://api.anthropic.com"),
    base_url_variable: Some("ANTHROPIC_BASE_URL"),
    base_url_path: "",
    backend: Backend::Http(&Anthropic),
};

struct Anthropic;

/// Returns whether the provider should cache a request, because the next one extends it. Writing to the
/// cache costs more than other input, so that a price list must contain the price.
fn is_cached(model: &ModelConfig, request: &Request) -> bool {
    let is_from_model = |turn: &Turn| turn.role == Role::Assistant;
    let continues = !request.tools.is_empty() || request.turns.iter().any(is_from_model);
    let prices = model.prices.as_ref();
    continues && prices.is_none_or(|prices| prices.cache_write.is_some())
}

impl Wire for Anthropic {
    fn url(&self, model: &ModelConfig) -> String {
        format!("{}/v1/messages", model.base())
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", VERSION)]
    }

    fn reserved_fields(&self) -> &'static [&'static str] {
        &["messages", "model", "stream", "system"]
    }

    fn check(&self, model: &ModelConfig) -> Result<(), String> {
        if model.request.contains_key("max_tokens") {
            Ok(())
        } else {
            Err("the provider `anthropic` requires `max_tokens` in `request`".to_owned())
        }
    }

    // Long replies are streamed, as the provider recommends.
    fn set_defaults(&self, model: &mut ModelConfig) {
        model.stream = true;
        model
            .request
            .insert("max_tokens".to_owned(), json!(DEFAULT_MAX_TOKENS));
    }

    fn body(&self, model: &ModelConfig, request: &Request) -> Map<String, Value> {
        let mut body = body_for(model);
        if let Some(system) = &request.system {
            body.insert("system".to_owned(), json!(system));
        }
        body.insert(
            "messages".to_owned(),
            request.turns.iter().map(message).collect(),
        );
        if !request.tools.is_empty() {
            body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        }
        if is_cached(model, request) {
            // The API caches nothing unless it is asked to.
            body.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
        body
    }

    fn output_limits(&self) -> &'static [&'static str] {
        &["/max_tokens"]
    }

    // The models with the highest resolution bill up to 4,784 tokens.
    fn max_image_tokens(&self) -> u64 {
        8_000
    }

    fn assembler(&self) -> Box<dyn StreamAssembler> {
        Box::new(Pieces::default())
    }

    // Anthropic counts cache reads and writes separately from the input, so they are added to it.
    fn usage(&self, value: &Value) -> Option<Usage> {
        let usage = &value["usage"];
        usage.as_object()?;
        let cached_tokens = count(&usage["cache_read_input_tokens"]);
        let cache_write_tokens = count(&usage["cache_creation_input_tokens"]);
        Some(Usage {
            input_tokens: count(&usage["input_tokens"])
                .saturating_add(cached_tokens)
                .saturating_add(cache_write_tokens),
            cached_tokens,
            cache_write_tokens,
            output_tokens: count(&usage["output_tokens"]),
            ..Usage::default()
        })
    }

    fn reply(&self, value: &Value, request: &Request) -> Result<Reply, Failure> {
        let content = value["content"]
            .as_array()
            .ok_or_else(|| garbled("the answer has no `content`"))?;
        let of = |kind: &'static str| content.iter().filter(move |block| block["type"] == kind);
        let is_reasoning = |block: &&Value| {
            matches!(
                block["type"].as_str(),
                Some("thinking" | "redacted_thinking")
            )
        };
        let finish = match value["stop_reason"].as_str() {
            Some("end_turn" | "stop_sequence" | "tool_use") | None => Finish::Done,
            Some("max_tokens") => Finish::Length,
            Some("refusal") => Finish::Refused("the model or its provider".to_owned()),
            Some(other) => Finish::Other(other.to_owned()),
        };
        Ok(Reply {
            text: of("text")
                .filter_map(|block| block["text"].as_str())
                .collect(),
            reasoning: joined(of("thinking").filter_map(|block| block["thinking"].as_str())),
            reasoning_items: if request.keep_reasoning {
                content.iter().filter(is_reasoning).cloned().collect()
            } else {
                Vec::new()
            },
            tool_calls: of("tool_use").map(tool_call).collect(),
            finish,
            usage: self.usage(value),
            model: text(&value["model"]),
            id: text(&value["id"]),
        })
    }
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}

/// Parses a call. A stream delivers its input as text, which may be malformed.
fn tool_call(block: &Value) -> ToolCall {
    let (id, name) = (text(&block["id"]), text(&block["name"]));
    match &block["input"] {
        Value::String(arguments) => ToolCall::from_text(id, name, arguments),
        Value::Null => ToolCall::from_text(id, name, ""),
        arguments => ToolCall {
            id,
            name,
            arguments: arguments.clone(),
        },
    }
}

fn message(turn: &Turn) -> Value {
    let part = |part: &Part| match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { media_type, base64 } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": base64}})
        }
        Part::ToolCall(call) => {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments_object()})
        }
        Part::ToolResult(result) => {
            json!({"type": "tool_result", "tool_use_id": result.id, "content": result.output, "is_error": result.is_error})
        }
    };
    let content: Value = turn
        .reasoning_items
        .iter()
        .cloned()
        .chain(turn.parts.iter().map(part))
        .collect();
    json!({"role": role(turn), "content": content})
}

/// A streamed reply: the message and its content blocks so far.
#[derive(Default)]
struct Pieces {
    message: Map<String, Value>,
    blocks: Vec<Value>,
}

impl StreamAssembler for Pieces {
    fn take(&mut self, name: &str, piece: &Value) -> Result<bool, Failure> {
        match piece["type"].as_str().unwrap_or(name) {
            "message_start" => {
                self.message = piece["message"].as_object().cloned().unwrap_or_default();
            }
            "content_block_start" => self.blocks.push(piece["content_block"].clone()),
            "content_block_delta" => self.add(&piece["delta"])?,
            "message_delta" => {
                self.message.insert(
                    "stop_reason".to_owned(),
                    piece["delta"]["stop_reason"].clone(),
                );
                // Counts are cumulative, so they replace earlier ones. A count that an event does
                // not repeat stays unchanged.
                if let Some(news) = piece["usage"].as_object() {
                    let news = news
                        .iter()
                        .filter(|(_, count)| !count.is_null())
                        .map(|(name, count)| (name.clone(), count.clone()));
                    match self.message.get_mut("usage").and_then(Value::as_object_mut) {
                        Some(usage) => usage.extend(news),
                        None => drop(self.message.insert("usage".to_owned(), news.collect())),
                    }
                }
            }
            "message_stop" => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn is_complete(&self) -> bool {
        self.message
            .get("stop_reason")
            .is_some_and(Value::is_string)
    }

    fn value(&self) -> Value {
        let mut message = self.message.clone();
        message.insert("content".to_owned(), json!(self.blocks));
        Value::Object(message)
    }
}

impl Pieces {
    /// Appends to the last block, because blocks are streamed one after the other.
    fn add(&mut self, delta: &Value) -> Result<(), Failure> {
        let block = self
            .blocks
            .last_mut()
            .and_then(Value::as_object_mut)
            .ok_or_else(|| garbled("a piece of the stream belongs to no block"))?;
        if let Some(more) = delta["partial_json"].as_str() {
            // The block starts with an empty object, which the pieces replace.
            match block.get_mut("input") {
                Some(Value::String(so_far)) => so_far.push_str(more),
                _ => drop(block.insert("input".to_owned(), json!(more))),
            }
        }
        for field in ["text", "thinking", "signature"] {
            if let Some(more) = delta[field].as_str() {
                match block.get_mut(field) {
                    Some(Value::String(so_far)) => so_far.push_str(more),
                    _ => drop(block.insert(field.to_owned(), json!(more))),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let value = json!({"usage": {"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 5, "output_tokens": 7}});
        let usage = Anthropic.usage(&value).unwrap();
        assert_eq!(
            (
                usage.input_tokens,
                usage.cached_tokens,
                usage.cache_write_tokens,
                usage.output_tokens
            ),
            (45, 30, 5, 7)
        );
    }

    #[test]
    fn reasoning_is_returned_with_its_signature_if_requested() {
        let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let hidden = json!({"type": "redacted_thinking", "data": "x"});
        let value = json!({"content": [thinking, hidden, {"type": "text", "text": "hi"}], "stop_reason": "end_turn"});
        let keeping = Request {
            keep_reasoning: true,
            ..Request::text("a")
        };
        let reply = Anthropic.reply(&value, &keeping).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.reasoning.as_deref()),
            ("hi", Some("hm"))
        );
        assert_eq!(reply.reasoning_items, [thinking.clone(), hidden.clone()]);
        assert!(
            Anthropic
                .reply(&value, &Request::text("a"))
                .unwrap()
                .reasoning_items
                .is_empty()
        );
        let turn = Turn {
            reasoning_items: reply.reasoning_items,
            ..Turn::assistant("hi")
        };
        assert_eq!(
            message(&turn)["content"],
            json!([thinking, hidden, {"type": "text", "text": "hi"}])
        );
        assert!(
            Anthropic
                .reply(&json!({"content": "hi"}), &keeping)
                .is_err()
        );
    }

    #[test]
    fn delta_without_a_block_is_an_error() {
        let delta = json!({"type": "content_block_delta", "index": 4_000_000_000_u64, "delta": {"type": "text_delta", "text": "x"}});
        assert!(Pieces::default().take("", &delta).is_err());
    }
}
