//! The request to a model: a conversation of texts, images and tool calls.
//!
//! It is the same for every provider. The module `wire` converts it to each provider's format.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Tool, ToolCall, ToolResult, estimate_tokens};

/// The estimated tokens of an image. Providers count from a few hundred to two thousand.
const ESTIMATED_TOKENS_PER_IMAGE: u64 = 1000;

/// A conversation for the model to continue.
///
/// # Examples
///
/// ```
/// use rhae_llm::{Request, Turn};
///
/// let request = Request {
///     system: Some("Answer with one word.".to_owned()),
///     turns: vec![Turn::user("2 + 2?"), Turn::assistant("four"), Turn::user("2 + 3?")],
///     ..Request::default()
/// };
/// // The fingerprint identifies a request in logs and recordings.
/// assert_eq!(request.fingerprint(), request.clone().fingerprint());
/// assert_ne!(request.fingerprint(), Request { sample: 1, ..request }.fingerprint());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The tools that the model may call. A request with tools and one without share no prompt
    /// cache, so a conversation keeps its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The conversation, oldest turn first. The last turn is the user's.
    pub turns: Vec<Turn>,
    /// The index of this sample among independent samples of the same conversation, from 0. It is
    /// never sent. Recordings use it to distinguish samples.
    #[serde(default)]
    pub sample: u32,
    /// Whether to request the reasoning in a form that can be sent back, as
    /// [`Reply::reasoning_items`](crate::Reply::reasoning_items).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_reasoning: bool,
}

impl Request {
    /// Creates a request with a single turn of the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            turns: vec![Turn::user(text)],
            ..Self::default()
        }
    }

    /// Returns the SHA-256 hash of the serialised request as 64 hexadecimal digits. It covers all
    /// fields.
    pub fn fingerprint(&self) -> String {
        let text = serde_json::to_string(self).expect("a request has only texts and JSON values");
        hex::encode(Sha256::digest(text))
    }

    /// Returns an estimate of the input tokens. Only the provider's count is exact.
    pub fn estimated_tokens(&self) -> u64 {
        let parts = self.turns.iter().flat_map(|turn| &turn.parts);
        let tokens = |part: &Part| match part {
            Part::Text { text } => estimate_tokens(text),
            Part::Image { .. } => ESTIMATED_TOKENS_PER_IMAGE,
            Part::ToolCall(call) => estimate_tokens(&call.arguments_text()),
            Part::ToolResult(result) => estimate_tokens(&result.output),
        };
        let of_tool = |tool: &Tool| {
            estimate_tokens(&tool.description) + estimate_tokens(&tool.parameters.to_string())
        };
        self.system.as_deref().map_or(0, estimate_tokens)
            + self.tools.iter().map(of_tool).sum::<u64>()
            + parts.map(tokens).sum::<u64>()
    }
}

/// The author of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub role: Role,
    pub parts: Vec<Part>,
    /// The reasoning behind a turn of the model in the provider's own format, to be sent back
    /// unchanged. Only the same provider understands it.
    #[serde(rename = "kept", default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning_items: Vec<Value>,
}

impl Turn {
    /// Creates a text turn of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            parts: vec![Part::text(text)],
            reasoning_items: Vec::new(),
        }
    }

    /// Creates a text turn of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            parts: vec![Part::text(text)],
            reasoning_items: Vec::new(),
        }
    }
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Part {
    Text {
        text: String,
    },
    Image {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The bytes of the image, encoded in base64.
        base64: String,
    },
    /// A call of a tool, in a turn of the model.
    #[serde(rename = "tool-call")]
    ToolCall(ToolCall),
    /// The result of a call, in the turn of the user that follows the call. Results come before all
    /// other parts.
    #[serde(rename = "tool-result")]
    ToolResult(ToolResult),
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Creates an image from the bytes of a PNG file.
    pub fn png(bytes: &[u8]) -> Self {
        Self::Image {
            media_type: "image/png".to_owned(),
            base64: STANDARD.encode(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_covers_every_field() {
        let plain = Request::text("a");
        let others = [
            Request::text("b"),
            Request {
                system: Some("be brief".to_owned()),
                ..plain.clone()
            },
            Request {
                sample: 1,
                ..plain.clone()
            },
            Request {
                turns: vec![Turn::assistant("a")],
                ..plain.clone()
            },
            Request {
                tools: vec![Tool::new("t", "A tool.", &[])],
                ..plain.clone()
            },
        ];
        assert_eq!(plain.fingerprint().len(), 64);
        for other in others {
            assert_ne!(plain.fingerprint(), other.fingerprint(), "{other:?}");
        }
    }
}
