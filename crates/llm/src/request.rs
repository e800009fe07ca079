//! What a model is asked: a conversation of texts and pictures.
//!
//! It is the same for every provider; `wire` puts it into each one's form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::estimate_tokens;

/// What a picture is taken to cost in an estimate; providers count from some hundred to two thousand.
const TOKENS_OF_A_PICTURE: u64 = 1000;

/// A conversation that the model is to continue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What stands above the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The conversation, the oldest turn first; the last is the user's.
    pub turns: Vec<Turn>,
    /// Which of several independent samples of the same conversation this is, from 0. It is never sent; recordings keep samples
    /// apart by it.
    #[serde(default)]
    pub sample: u32,
    /// Whether the provider is asked for its reasoning in a form that can be sent back ([`Reply::kept`](crate::Reply::kept)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_reasoning: bool,
}

impl Request {
    /// A single question.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            turns: vec![Turn::user(text)],
            ..Self::default()
        }
    }

    /// A fingerprint of everything that is asked, as hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let text = serde_json::to_string(self).expect("a request has only texts and JSON values");
        Sha256::digest(text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// About how many tokens it has, before anyone has counted them.
    pub fn estimated_tokens(&self) -> u64 {
        let parts = self.turns.iter().flat_map(|turn| &turn.parts);
        let tokens = |part: &Part| match part {
            Part::Text { text } => estimate_tokens(text),
            Part::Image { .. } => TOKENS_OF_A_PICTURE,
        };
        self.system.as_deref().map_or(0, estimate_tokens) + parts.map(tokens).sum::<u64>()
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Who asks.
    User,
    /// The model.
    Assistant,
}

/// What one side says at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub parts: Vec<Part>,
    /// The reasoning behind a model's turn, as its provider gave it, to be sent back unchanged. Only the same provider
    /// understands it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Value>,
}

impl Turn {
    /// A text of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            parts: vec![Part::text(text)],
            kept: Vec::new(),
        }
    }

    /// A text of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            parts: vec![Part::text(text)],
            kept: Vec::new(),
        }
    }
}

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its form, such as `image/png`.
        media_type: String,
        /// Its bytes in base 64.
        base64: String,
    },
}

impl Part {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture from the bytes of a PNG file.
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
    fn the_fingerprint_covers_all_that_is_asked() {
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
        ];
        assert_eq!(plain.fingerprint().len(), 64);
        for other in others {
            assert_ne!(plain.fingerprint(), other.fingerprint(), "{other:?}");
        }
    }
}
