//! The Responses API of OpenAI.

use serde_json::{Map, Value, json};

use super::{
    StreamAssembler, Wire, bearer, body_for, count, data_url, garbled, joined, role, some_text,
    text,
};
use crate::failure::Failure;
use crate::http::error_in;
use crate::provider::Backend;
use crate::{
    Finish, ModelConfig, Part, ProviderEntry, Reply, Request, Role, Tool, ToolCall, Turn, Usage,
};

pub(crate) const ENTRY: ProviderEntry = ProviderEntry {
    name: "openai-responses",
    summary: "OpenAI's Responses API; Rhae sends `store = false` unless `request` sets `store`",
    key_variable: Some("OPENAI_API_KEY"),
    base_url: Some("https://api.openai.com/v1"),
    base_url_variable: Some("OPENAI_BASE_URL"),
    base_url_path: "",
    backend: Backend::Http(&Responses),
};

struct Responses;

impl Wire for Responses {
    fn url(&self, model: &ModelConfig) -> String {
        format!("{}/responses", model.base())
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        bearer(key)
    }

    fn reserved_fields(&self) -> &'static [&'static str] {
        &[
            "input",
            "model",
            "stream",
            "instructions",
            "background",
            "previous_response_id",
        ]
    }

    fn body(&self, model: &ModelConfig, request: &Request) -> Map<String, Value> {
        let mut body = body_for(model);
        if let Some(system) = &request.system {
            body.insert("instructions".to_owned(), json!(system));
        }
        body.insert(
            "input".to_owned(),
            request.turns.iter().flat_map(items).collect(),
        );
        if !request.tools.is_empty() {
            body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        }
        // Responses need not be stored: no later request refers to them.
        body.insert("store".to_owned(), json!(false));
        if request.keep_reasoning {
            body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
        }
        body
    }

    fn output_limits(&self) -> &'static [&'static str] {
        &["/max_output_tokens"]
    }

    fn max_image_tokens(&self) -> u64 {
        super::OPENAI_IMAGE_TOKENS
    }

    fn assembler(&self) -> Box<dyn StreamAssembler> {
        Box::new(Pieces::default())
    }

    fn usage(&self, value: &Value) -> Option<Usage> {
        let usage = &value["usage"];
        usage.as_object()?;
        Some(Usage {
            input_tokens: count(&usage["input_tokens"]),
            cached_tokens: count(&usage["input_tokens_details"]["cached_tokens"]),
            output_tokens: count(&usage["output_tokens"]),
            reasoning_tokens: count(&usage["output_tokens_details"]["reasoning_tokens"]),
            ..Usage::default()
        })
    }

    fn reply(&self, value: &Value, request: &Request) -> Result<Reply, Failure> {
        let output = value["output"]
            .as_array()
            .ok_or_else(|| garbled("the answer has no `output`"))?;
        let of = |kind: &'static str| output.iter().filter(move |item| item["type"] == kind);
        let contents =
            || of("message").flat_map(|item| item["content"].as_array().into_iter().flatten());
        let refusal = contents().find_map(|part| some_text(&part["refusal"]));
        let finish = match (
            refusal,
            value["status"].as_str(),
            value["incomplete_details"]["reason"].as_str(),
        ) {
            (Some(refusal), _, _) => Finish::Refused(refusal),
            (None, Some("incomplete"), Some("max_output_tokens")) => Finish::Length,
            (None, Some("incomplete"), Some("content_filter")) => {
                Finish::Refused("the provider's filter".to_owned())
            }
            (None, Some("completed") | None, _) => Finish::Done,
            (None, Some(other), _) => Finish::Other(other.to_owned()),
        };
        let thoughts = of("reasoning")
            .flat_map(|item| [&item["summary"], &item["content"]])
            .filter_map(Value::as_array)
            .flatten();
        Ok(Reply {
            text: contents()
                .filter_map(|part| part["text"].as_str())
                .collect(),
            reasoning: joined(thoughts.filter_map(|part| part["text"].as_str())),
            reasoning_items: if request.keep_reasoning {
                of("reasoning").cloned().collect()
            } else {
                Vec::new()
            },
            tool_calls: of("function_call").map(tool_call).collect(),
            finish,
            usage: self.usage(value),
            model: text(&value["model"]),
            id: text(&value["id"]),
        })
    }
}

fn tool(tool: &Tool) -> Value {
    json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters, "strict": false})
}

fn tool_call(item: &Value) -> ToolCall {
    ToolCall::from_text(
        text(&item["call_id"]),
        text(&item["name"]),
        item["arguments"].as_str().unwrap_or_default(),
    )
}

/// Returns the items of a turn: its reasoning, the results of tools, its message and its calls.
fn items(turn: &Turn) -> Vec<Value> {
    let kind = if turn.role == Role::User {
        "input_text"
    } else {
        "output_text"
    };
    let mut results: Vec<Value> = Vec::new();
    let mut content: Vec<Value> = Vec::new();
    let mut calls: Vec<Value> = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text { text } => content.push(json!({"type": kind, "text": text})),
            Part::Image { media_type, base64 } => content
                .push(json!({"type": "input_image", "image_url": data_url(media_type, base64)})),
            Part::ToolCall(call) => calls.push(json!({"type": "function_call", "call_id": call.id,
                "name": call.name, "arguments": call.arguments_text()})),
            Part::ToolResult(result) => results.push(json!({"type": "function_call_output",
                "call_id": result.id, "output": result.output})),
        }
    }
    let has_message = !content.is_empty() || (results.is_empty() && calls.is_empty());
    let message = has_message.then(|| json!({"role": role(turn), "content": content}));
    turn.reasoning_items
        .iter()
        .cloned()
        .chain(results)
        .chain(message)
        .chain(calls)
        .collect()
}

/// A streamed reply. The last event contains it completely.
#[derive(Default)]
struct Pieces {
    response: Value,
}

impl StreamAssembler for Pieces {
    fn take(&mut self, name: &str, piece: &Value) -> Result<bool, Failure> {
        let kind = piece["type"].as_str().unwrap_or(name);
        match kind {
            "error" => Err(error_in(&json!({"error": piece}))
                .unwrap_or_else(|| garbled("the stream reports an error"))),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.response = piece["response"].clone();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn value(&self) -> Value {
        self.response.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_reasons_are_distinguished() {
        let answer = |status: &str, reason: &str, part: Value| {
            let value = json!({"status": status, "incomplete_details": {"reason": reason},
                "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [part]}]});
            Responses.reply(&value, &Request::text("a")).unwrap()
        };
        let text = json!({"type": "output_text", "text": "hi"});
        assert_eq!(answer("completed", "", text.clone()).finish, Finish::Done);
        assert_eq!(
            answer("incomplete", "max_output_tokens", text.clone()).finish,
            Finish::Length
        );
        assert!(matches!(
            answer("incomplete", "content_filter", text.clone()).finish,
            Finish::Refused(_)
        ));
        assert_eq!(
            answer("completed", "", json!({"type": "refusal", "refusal": "no"})).finish,
            Finish::Refused("no".to_owned())
        );
        assert_eq!(answer("completed", "", text).text, "hi");
        assert!(
            Responses
                .reply(&json!({"output": 5}), &Request::text("a"))
                .is_err()
        );
    }

    #[test]
    fn reasoning_is_sent_back_before_the_message() {
        let sealed =
            json!({"type": "reasoning", "id": "rs", "encrypted_content": "x", "summary": []});
        let turn = Turn {
            reasoning_items: vec![sealed.clone()],
            ..Turn::assistant("hi")
        };
        assert_eq!(
            items(&turn),
            [
                sealed,
                json!({"role": "assistant", "content": [{"type": "output_text", "text": "hi"}]})
            ]
        );
    }
}
