//! Tool calls in every wire format: what is sent, and what is parsed with and without streaming.

use serde_json::{Value, json};

use super::{AssemblerSink, Wire};
use crate::http::EventSink;
use crate::sse::Event;
use crate::{
    Models, Parameter, Part, Provider, Reply, Request, Role, Tool, ToolCall, ToolResult, Turn,
};

fn wire(provider: &str) -> &'static dyn Wire {
    Provider::find(provider).unwrap().wire().unwrap()
}

fn call() -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        name: "grep".to_owned(),
        arguments: json!({"pattern": "a+"}),
    }
}

/// A conversation in which the model has called a tool and has got its result and a text.
fn request() -> Request {
    let result = ToolResult {
        id: "c1".to_owned(),
        name: "grep".to_owned(),
        output: "line 3".to_owned(),
        is_error: false,
    };
    let reply = Reply {
        text: "let me see".to_owned(),
        tool_calls: vec![call()],
        ..Reply::default()
    };
    let results = Turn {
        role: Role::User,
        parts: vec![Part::ToolResult(result), Part::text("go on")],
        reasoning_items: Vec::new(),
    };
    Request {
        tools: vec![Tool::new(
            "grep",
            "Searches.",
            &[Parameter::text("pattern", "A pattern.")],
        )],
        turns: vec![Turn::user("find it"), reply.to_turn(), results],
        ..Request::default()
    }
}

fn body(provider: &str) -> Value {
    let text = format!(
        "[models.m]\nprovider = \"{provider}\"\nmodel = \"x\"\nkey_env = \"\"\nrequest = {{ max_tokens = 9 }}"
    );
    let models = Models::parse(&text).unwrap();
    let config = models.resolve("m").unwrap();
    Value::Object(wire(provider).body(&config, &request()))
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"pattern": {"type": "string", "description": "A pattern."}}, "required": ["pattern"]})
}

#[test]
fn chat_completions_send_tools_calls_and_results() {
    let body = body("openai-chat");
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "function": {"name": "grep", "description": "Searches.", "parameters": schema()}}])
    );
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "find it"},
            {"role": "assistant", "content": "let me see", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": "{\"pattern\":\"a+\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "line 3"},
            {"role": "user", "content": "go on"},
        ])
    );
}

#[test]
fn responses_send_tools_calls_and_results() {
    let body = body("openai-responses");
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "name": "grep", "description": "Searches.", "parameters": schema(), "strict": false}])
    );
    assert_eq!(
        body["input"],
        json!([
            {"role": "user", "content": [{"type": "input_text", "text": "find it"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "let me see"}]},
            {"type": "function_call", "call_id": "c1", "name": "grep", "arguments": "{\"pattern\":\"a+\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "line 3"},
            {"role": "user", "content": [{"type": "input_text", "text": "go on"}]},
        ])
    );
}

#[test]
fn anthropic_is_asked_to_cache_conversations_whose_price_is_known() {
    let cached = |prices: &str, request: &Request| {
        let text = format!(
            "[models.m]\nprovider = \"anthropic\"\nmodel = \"x\"\nrequest = {{ max_tokens = 9 }}\n{prices}"
        );
        let config = Models::parse(&text).unwrap().resolve("m").unwrap();
        wire("anthropic")
            .body(&config, request)
            .get("cache_control")
            .cloned()
    };
    let prices = "prices = { date = \"2026-11-01\", input = 1, output = 1, cache_write = 1.25 }";
    let without = "prices = { date = \"2026-11-01\", input = 1, output = 1 }";
    let ephemeral = Some(json!({"type": "ephemeral"}));
    assert_eq!(cached("", &request()), ephemeral);
    assert_eq!(cached(prices, &request()), ephemeral);
    assert_eq!(cached(without, &request()), None);
    assert_eq!(cached(prices, &Request::text("one question")), None);
}

#[test]
fn anthropic_sends_tools_calls_and_results() {
    let body = body("anthropic");
    assert_eq!(
        body["tools"],
        json!([{"name": "grep", "description": "Searches.", "input_schema": schema()}])
    );
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "text", "text": "let me see"}, {"type": "tool_use", "id": "c1", "name": "grep", "input": {"pattern": "a+"}}])
    );
    assert_eq!(
        body["messages"][2],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "line 3", "is_error": false},
            {"type": "text", "text": "go on"}]})
    );
}

#[test]
fn gemini_sends_tools_calls_and_results() {
    let body = body("gemini");
    assert_eq!(
        body["tools"],
        json!([{"functionDeclarations": [{"name": "grep", "description": "Searches.", "parameters": schema()}]}])
    );
    assert_eq!(
        body["contents"][1]["parts"],
        json!([{"text": "let me see"}, {"functionCall": {"name": "grep", "args": {"pattern": "a+"}, "id": "c1"}}])
    );
    assert_eq!(
        body["contents"][2]["parts"],
        json!([{"functionResponse": {"name": "grep", "response": {"output": "line 3"}, "id": "c1"}}, {"text": "go on"}])
    );
}

/// Returns an answer of each format with the call of [`call`], once complete and once as events.
fn answers() -> Vec<(&'static str, Value, Vec<Value>)> {
    let item = json!({"type": "function_call", "call_id": "c1", "name": "grep", "arguments": "{\"pattern\": \"a+\"}"});
    let response = json!({"status": "completed", "output": [item]});
    let part = json!({"functionCall": {"id": "c1", "name": "grep", "args": {"pattern": "a+"}}});
    let gemini = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
    let delta = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": null}]});
    vec![
        (
            "openai-chat",
            json!({"choices": [{"message": {"content": null, "tool_calls": [{"id": "c1", "type": "function",
                "function": {"name": "grep", "arguments": "{\"pattern\": \"a+\"}"}}]}, "finish_reason": "tool_calls"}]}),
            vec![
                delta(
                    json!({"index": 0, "id": "c1", "function": {"name": "grep", "arguments": ""}}),
                ),
                delta(json!({"index": 0, "function": {"arguments": "{\"patt"}})),
                delta(json!({"index": 0, "function": {"arguments": "ern\": \"a+\"}"}})),
                json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
            ],
        ),
        (
            "openai-responses",
            response.clone(),
            vec![json!({"type": "response.completed", "response": response})],
        ),
        (
            "anthropic",
            json!({"content": [{"type": "tool_use", "id": "c1", "name": "grep", "input": {"pattern": "a+"}}], "stop_reason": "tool_use"}),
            vec![
                json!({"type": "message_start", "message": {"stop_reason": null}}),
                json!({"type": "content_block_start", "content_block": {"type": "tool_use", "id": "c1", "name": "grep", "input": {}}}),
                json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"patt"}}),
                json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "ern\": \"a+\"}"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ],
        ),
        ("gemini", gemini.clone(), vec![gemini]),
    ]
}

#[test]
fn calls_are_parsed_with_and_without_streaming() {
    for (provider, complete, events) in answers() {
        let wire = wire(provider);
        let mut stream = AssemblerSink(wire.assembler());
        for event in &events {
            let event = Event {
                name: String::new(),
                data: event.to_string(),
            };
            stream.take(&event).unwrap();
        }
        for value in [complete, stream.0.value()] {
            let reply = wire.reply(&value, &request()).unwrap();
            assert_eq!(reply.tool_calls, [call()], "{provider} {value}");
            assert_eq!(reply.finish, crate::Finish::Done, "{provider} {value}");
            assert_eq!(reply.text, "", "{provider} {value}");
        }
    }
}

#[test]
fn malformed_arguments_are_sent_back_as_the_model_wrote_them() {
    let value = json!({"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "grep", "arguments": "{\"patt"}}]}}]});
    let chat = wire("openai-chat");
    let reply = chat.reply(&value, &request()).unwrap();
    assert_eq!(reply.tool_calls[0].arguments, json!("{\"patt"));
    let models =
        Models::parse("[models.m]\nprovider = \"openai-chat\"\nmodel = \"x\"\nkey_env = \"\"")
            .unwrap();
    let again = Request {
        turns: vec![Turn::user("find it"), reply.to_turn()],
        ..request()
    };
    let body = chat.body(&models.resolve("m").unwrap(), &again);
    assert_eq!(
        body["messages"][1]["tool_calls"][0]["function"]["arguments"],
        "{\"patt"
    );
}
