//! The wire formats of the providers: conversations and replies as JSON.
//!
//! A stream is assembled into the document that the provider sends without streaming, so that each
//! format has one parser.

pub(crate) mod anthropic;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod responses;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tool_tests;

use serde_json::{Map, Value, json};

use crate::failure::{Failure, FailureKind};
use crate::http::{EventSink, error_in};
use crate::sse::Event;
use crate::{ModelConfig, Reply, Request, Role, Turn, Usage};

/// The largest number of tokens that OpenAI's models bill for one image. Small models bill up to
/// 5,667 tokens for each of up to eight tiles.
const OPENAI_IMAGE_TOKENS: u64 = 50_000;

/// The wire format of a provider.
pub(crate) trait Wire: Send + Sync {
    /// Returns the address to which requests are sent.
    fn url(&self, model: &ModelConfig) -> String;

    /// Returns the name and the value of the header with the API key.
    fn key_header(&self, key: &str) -> (&'static str, String);

    /// Returns further headers that the API requires.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the fields of the body that the configuration must not set.
    fn reserved_fields(&self) -> &'static [&'static str];

    /// Checks what the API requires of a configuration.
    ///
    /// # Errors
    ///
    /// Returns the requirement that is not met.
    fn check(&self, _model: &ModelConfig) -> Result<(), String> {
        Ok(())
    }

    /// Sets what the API requires of a model that is named `PROVIDER/MODEL` and has no file.
    fn set_defaults(&self, _model: &mut ModelConfig) {}

    /// Returns the body of a request, without the additional fields of the configuration.
    fn body(&self, model: &ModelConfig, request: &Request) -> Map<String, Value>;

    /// Returns the paths of the request fields that limit the output tokens, including reasoning.
    /// The first one is recommended.
    fn output_limits(&self) -> &'static [&'static str];

    /// Returns the paths of the request fields that set the number of replies to one request.
    fn reply_counts(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the largest number of tokens that the API bills for one image.
    fn max_image_tokens(&self) -> u64;

    /// Returns whether the reasoning before a tool call must be sent back with the call.
    fn needs_reasoning_with_tools(&self) -> bool {
        true
    }

    /// Creates an assembler for a stream.
    fn assembler(&self) -> Box<dyn StreamAssembler>;

    /// Returns the usage that a complete reply or error reports.
    fn usage(&self, value: &Value) -> Option<Usage>;

    /// Parses a complete reply.
    fn reply(&self, value: &Value, request: &Request) -> Result<Reply, Failure>;
}

/// An assembler of a streamed reply.
pub(crate) trait StreamAssembler: Send {
    /// Adds an event. Returns true if it was the last.
    fn take(&mut self, name: &str, piece: &Value) -> Result<bool, Failure>;

    /// Returns whether the reply is complete without further events: an event with the finish
    /// reason has arrived.
    fn is_complete(&self) -> bool {
        false
    }

    /// Returns the reply so far, in the format of a complete reply.
    fn value(&self) -> Value;
}

/// Passes the events of a stream to an assembler.
pub(crate) struct AssemblerSink(pub(crate) Box<dyn StreamAssembler>);

impl EventSink for AssemblerSink {
    fn take(&mut self, event: &Event) -> Result<bool, Failure> {
        if event.data == "[DONE]" {
            return if self.0.is_complete() {
                Ok(true)
            } else {
                Err(garbled("the stream ended before the answer was complete"))
            };
        }
        let piece: Value = serde_json::from_str(&event.data)
            .map_err(|error| garbled(format!("a part of the stream is not JSON: {error}")))?;
        match error_in(&piece) {
            Some(failure) => Err(failure),
            None => self.0.take(&event.name, &piece),
        }
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }
}

/// Returns the first fields of the body, for the formats that name the model in it.
fn body_for(model: &ModelConfig) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model.model));
    if model.stream {
        body.insert("stream".to_owned(), json!(true));
    }
    body
}

/// Returns the header for a key as a bearer token.
fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

/// Returns an image as a data URL.
fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

/// Returns the role of a turn as most providers name it.
fn role(turn: &Turn) -> &'static str {
    if turn.role == Role::User {
        "user"
    } else {
        "assistant"
    }
}

/// Joins pieces of reasoning, or returns `None` if there is no text.
fn joined<'a>(thoughts: impl Iterator<Item = &'a str>) -> Option<String> {
    Some(thoughts.collect::<Vec<_>>().join("\n\n")).filter(|text| !text.is_empty())
}

/// Creates the failure for a response that cannot be parsed.
fn garbled(message: impl AsRef<str>) -> Failure {
    Failure::new(FailureKind::Garbled, message)
}

/// Returns a count that may be absent or null.
fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Returns a text, or an empty text if it is absent.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a text that is present and not empty.
fn some_text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
