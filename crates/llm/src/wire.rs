//! How each provider puts a conversation and an answer into JSON.
//!
//! A stream is assembled into the form that the same provider gives without streaming, so that there is one reading of each.

mod anthropic;
mod chat;
mod gemini;
mod responses;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::failure::{Failure, FailureKind};
use crate::http::{TakeEvents, error_in};
use crate::sse::Event;
use crate::{ModelConfig, Provider, Reply, Request, Role, Turn, Usage};

/// A provider's form.
pub(crate) trait Wire: Send + Sync {
    /// Where requests go.
    fn url(&self, model: &ModelConfig) -> String;

    /// How the key is presented.
    fn key_header(&self, key: &str) -> (&'static str, String);

    /// Headers that the interface asks for.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The body of a request, without what the configuration passes on.
    fn body(&self, model: &ModelConfig, request: &Request) -> Map<String, Value>;

    /// An empty answer to assemble a stream in.
    fn assembly(&self) -> Box<dyn Assembly>;

    /// What a whole answer says that it consumed, be it an error.
    fn usage(&self, value: &Value) -> Option<Usage>;

    /// Reads a whole answer.
    fn reply(&self, value: &Value, request: &Request) -> Result<Reply, Failure>;
}

/// An answer that arrives in pieces.
pub(crate) trait Assembly: Send {
    /// Takes in a piece; true if it was the last.
    fn take(&mut self, name: &str, piece: &Value) -> Result<bool, Failure>;

    /// Whether a provider that says nothing more has said all: the reason of the end was among the pieces.
    fn is_whole(&self) -> bool {
        false
    }

    /// What was assembled so far, in the form of a whole answer.
    fn value(&self) -> Value;
}

/// The form of a provider that is asked over HTTP.
pub(crate) fn wire(provider: Provider) -> Option<&'static dyn Wire> {
    match provider {
        Provider::OpenaiChat => Some(&chat::Chat),
        Provider::OpenaiResponses => Some(&responses::Responses),
        Provider::Anthropic => Some(&anthropic::Anthropic),
        Provider::Gemini => Some(&gemini::Gemini),
        Provider::Mock | Provider::Replay | Provider::Record => None,
    }
}

/// Takes events into an assembly.
pub(crate) struct Assembling(pub(crate) Box<dyn Assembly>);

impl TakeEvents for Assembling {
    fn take(&mut self, event: &Event) -> Result<bool, Failure> {
        if event.data == "[DONE]" {
            return if self.0.is_whole() {
                Ok(true)
            } else {
                Err(garbled(
                    "the stream says that it is done before the answer is",
                ))
            };
        }
        let piece: Value = serde_json::from_str(&event.data)
            .map_err(|error| garbled(format!("a part of the stream is not JSON: {error}")))?;
        match error_in(&piece) {
            Some(failure) => Err(failure),
            None => self.0.take(&event.name, &piece),
        }
    }

    fn is_whole(&self) -> bool {
        self.0.is_whole()
    }
}

/// The beginning of a request's body in the forms that name the model there.
fn body_for(model: &ModelConfig) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model.model));
    if model.stream {
        body.insert("stream".to_owned(), json!(true));
    }
    body
}

/// How most providers want the key.
fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

/// A picture as an address that contains it.
fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

/// Who speaks, in the word for a model that most providers use.
fn role(turn: &Turn) -> &'static str {
    if turn.role == Role::User {
        "user"
    } else {
        "assistant"
    }
}

/// Pieces of reasoning as one text, if there is any.
fn joined<'a>(thoughts: impl Iterator<Item = &'a str>) -> Option<String> {
    Some(thoughts.collect::<Vec<_>>().join("\n\n")).filter(|text| !text.is_empty())
}

/// An answer that makes no sense.
fn garbled(message: impl AsRef<str>) -> Failure {
    Failure::new(FailureKind::Garbled, message)
}

/// A count that a provider may leave out or give as null.
fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// A text that may be absent.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A text that is there and not empty.
fn some_text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}
