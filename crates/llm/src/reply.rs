//! The reply of a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Part, Role, ToolCall, Turn, Usage};

/// A complete reply of a model. Its text may still be unusable: truncated by the token limit, a
/// refusal, or empty. See [`finish`](Self::finish).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    /// The reasoning or a summary of it, if the provider shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The reasoning in the provider's own format, to be sent back with the turn. Empty unless
    /// [`Request::keep_reasoning`](crate::Request::keep_reasoning) is set.
    #[serde(rename = "kept", default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning_items: Vec<Value>,
    /// The tools that the model calls, in order. Empty unless
    /// [`Request::tools`](crate::Request::tools) offers some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    pub finish: Finish,
    /// The consumed tokens; `None` if the provider does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The name of the model that answered, as reported by the provider.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The id that the provider assigned to the reply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

impl Reply {
    /// Returns the reply as a turn of the conversation, to be sent back.
    pub fn to_turn(&self) -> Turn {
        let text = (!self.text.is_empty()).then(|| Part::text(&self.text));
        let calls = self.tool_calls.iter().cloned().map(Part::ToolCall);
        Turn {
            role: Role::Assistant,
            parts: text.into_iter().chain(calls).collect(),
            reasoning_items: self.reasoning_items.clone(),
        }
    }
}

/// The reason why a reply ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model completed its reply.
    #[default]
    Done,
    /// The reply reached the token limit.
    Length,
    /// The model or its provider refused, with the given explanation.
    Refused(String),
    /// Another reason, as named by the provider.
    Other(String),
}
