//! Property tests: every parser returns a typed failure for arbitrary responses.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{AssemblerSink, Wire};
use crate::failure::{Failure, FailureKind};
use crate::http::{EventSink, error_in};
use crate::sse::{Event, Events};
use crate::{Provider, Request};

/// One provider of each wire format.
const NAMES_OF_PROVIDERS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

fn wire(provider: &str) -> Option<&'static dyn Wire> {
    Provider::find(provider)?.wire()
}

fn wires() -> impl Iterator<Item = (&'static str, &'static dyn Wire)> {
    NAMES_OF_PROVIDERS
        .into_iter()
        .map(|provider| (provider, wire(provider).expect("it uses HTTP")))
}

/// Field names that at least one parser reads.
const NAMES: [&str; 46] = [
    "id",
    "model",
    "choices",
    "message",
    "content",
    "refusal",
    "finish_reason",
    "delta",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cost",
    "output",
    "type",
    "text",
    "status",
    "summary",
    "incomplete_details",
    "reason",
    "response",
    "input_tokens",
    "output_tokens",
    "stop_reason",
    "thinking",
    "signature",
    "content_block",
    "cache_read_input_tokens",
    "candidates",
    "parts",
    "thought",
    "thoughtSignature",
    "finishReason",
    "usageMetadata",
    "promptTokenCount",
    "thoughtsTokenCount",
    "candidatesTokenCount",
    "promptFeedback",
    "blockReason",
    "modelVersion",
    "responseId",
    "error",
    "code",
];
/// Values that at least one parser interprets.
const WORDS: [&str; 16] = [
    "stop",
    "length",
    "content_filter",
    "completed",
    "incomplete",
    "max_output_tokens",
    "end_turn",
    "refusal",
    "STOP",
    "SAFETY",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "response.completed",
    "reasoning",
];

/// Arbitrary JSON, which includes known names and values in unexpected places.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        let name = prop_oneof![9 => proptest::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => ".{0,4}"];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// A valid answer with some values replaced, so that parsing proceeds far before it fails.
fn mutated(answer: Value) -> impl Strategy<Value = Value> {
    fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
        found.push(path.to_owned());
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(at, item)| paths(item, &format!("{path}/{at}"), found)),
            Value::Object(fields) => fields
                .iter()
                .for_each(|(name, field)| paths(field, &format!("{path}/{name}"), found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    paths(&answer, "", &mut found);
    proptest::collection::vec((proptest::sample::select(found), values()), 0..3).prop_map(
        move |changes| {
            let mut changed = answer.clone();
            for (path, value) in changes {
                // An earlier replacement may have removed this path.
                if let Some(place) = changed.pointer_mut(&path) {
                    *place = value;
                }
            }
            changed
        },
    )
}

/// Answers and stream events as providers send them.
fn examples() -> Vec<Value> {
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 20, "prompt_tokens_details": {"cached_tokens": 2}, "cost": 0.5});
    let anthropic = json!({"input_tokens": 9, "output_tokens": 4, "cache_read_input_tokens": 1});
    vec![
        json!({"id": "a", "model": "m", "choices": [{"message": {"content": "hi", "reasoning": "hm"}, "finish_reason": "stop"}], "usage": usage}),
        json!({"choices": [{"delta": {"content": "hi", "reasoning_details": [{}], "reasoning_content": "hm"}, "finish_reason": "stop"}], "usage": usage}),
        json!({"status": "completed", "output": [{"type": "reasoning", "summary": [{"text": "hm"}]}, {"type": "message", "content": [{"text": "hi"}]}], "usage": anthropic}),
        json!({"type": "response.completed", "response": {"status": "incomplete", "output": [], "incomplete_details": {"reason": "max_output_tokens"}}}),
        json!({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}], "stop_reason": "end_turn", "usage": anthropic}),
        json!({"type": "message_start", "message": {"id": "a", "stop_reason": null, "usage": anthropic}}),
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": anthropic}),
        json!({"candidates": [{"content": {"parts": [{"text": "hi"}, {"text": "hm", "thought": true}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9, "thoughtsTokenCount": 4}}),
        json!({"promptFeedback": {"blockReason": "SAFETY"}}),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![1 => values(), 2 => proptest::sample::select(examples()).prop_flat_map(mutated)]
}

/// Parses a complete answer and asserts that a failure is a typed one.
fn read(provider: &str, wire: &dyn Wire, value: &Value) {
    let request = Request {
        keep_reasoning: true,
        ..Request::text("a")
    };
    let usage = wire.usage(value);
    match wire.reply(value, &request) {
        Ok(reply) => assert_eq!(reply.usage, usage, "{provider:?} {value}"),
        Err(failure) => assert_eq!(failure.kind, FailureKind::Garbled, "{provider:?} {value}"),
    }
}

fn assert_typed(failure: &Failure) {
    let expected = matches!(
        (failure.kind, failure.status),
        (FailureKind::Garbled, None) | (FailureKind::Status, Some(400..=599))
    );
    assert!(expected, "{failure:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_json_is_an_answer_or_a_typed_failure(value in anything()) {
        for (provider, wire) in wires() {
            read(provider, wire, &value);
        }
        if let Some(failure) = error_in(&value) {
            assert_typed(&failure);
        }
    }

    #[test]
    fn arbitrary_events_are_assembled_or_a_typed_failure(pieces in proptest::collection::vec((anything(), "(|message_stop|error|.{0,3})"), 0..8)) {
        for (provider, wire) in wires() {
            let mut stream = AssemblerSink(wire.assembler());
            for (piece, name) in &pieces {
                match stream.take(&Event { name: name.clone(), data: piece.to_string() }) {
                    Ok(false) => {}
                    Ok(true) => break,
                    Err(failure) => {
                        assert_typed(&failure);
                        break;
                    }
                }
            }
            read(provider, wire, &stream.0.value());
        }
    }

    #[test]
    fn arbitrary_bytes_are_a_stream_or_a_typed_failure(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        proptest::collection::vec(proptest::sample::select(&b"data: {}[]\":,event\n\r1\xff"[..]), 0..200),
    ]) {
        for (provider, wire) in wires() {
            let mut stream = AssemblerSink(wire.assembler());
            let mut events = Events::new(bytes.as_slice());
            while let Ok(Some(event)) = events.next() {
                match stream.take(&event) {
                    Ok(false) => {}
                    Ok(true) => break,
                    Err(failure) => {
                        assert_typed(&failure);
                        break;
                    }
                }
            }
            read(provider, wire, &stream.0.value());
        }
    }
}

/// A stream is complete after the finish reason, with or without the end marker.
#[test]
fn finish_reason_completes_a_streamed_answer() {
    let streams = [
        (
            "openai-chat",
            vec![
                json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": null}]}),
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            ],
        ),
        (
            "anthropic",
            vec![
                json!({"type": "message_start", "message": {"stop_reason": null}}),
                json!({"type": "content_block_start", "content_block": {"type": "text", "text": "hi"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            ],
        ),
    ];
    for (provider, pieces) in streams {
        let wire = wire(provider).unwrap();
        let mut stream = AssemblerSink(wire.assembler());
        for (at, piece) in pieces.iter().enumerate() {
            assert!(!stream.is_complete(), "{provider:?} {at}");
            assert!(
                !stream
                    .take(&Event {
                        name: String::new(),
                        data: piece.to_string()
                    })
                    .unwrap()
            );
        }
        assert!(stream.is_complete(), "{provider:?}");
        let reply = wire.reply(&stream.0.value(), &Request::text("a")).unwrap();
        // The usage was not reported, so it stays unknown.
        assert_eq!(
            (reply.text.as_str(), reply.usage),
            ("hi", None),
            "{provider:?}"
        );
    }
}
