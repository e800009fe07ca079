//! What a model answered.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Usage;

/// An answer that arrived whole. It may still be of no use: cut off at the limit of tokens, refused, or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What the model said.
    pub text: String,
    /// Its reasoning or a summary of it, where the provider shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Its reasoning in the provider's form, to be sent back with the turn; empty unless it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Value>,
    /// Why it ended.
    pub finish: Finish,
    /// What it consumed; `None` if the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, by the provider's word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The provider's id of the answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model was done.
    #[default]
    Done,
    /// The limit of tokens was reached.
    Length,
    /// The model or its provider refused, with what was said about it.
    Refused(String),
    /// Something else, in the provider's word.
    Other(String),
}
