//! What an agent with a model did before an action, as recordings store it.
//!
//! The list is the field [`TRACED_REQUESTS`] of the action's reasoning. Its texts are shortened; the
//! model log of the play has them in full.

use serde::{Deserialize, Serialize};

/// The field of the reasoning with a list of [`TracedRequest`].
pub const TRACED_REQUESTS: &str = "requests";
/// The field of the reasoning with the number of earlier requests that were left out of the list.
pub const TRACED_REQUESTS_LEFT_OUT: &str = "requests_left_out";

/// A request to a model with its reply, or the results of calls whose request belongs to an earlier
/// action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracedRequest {
    /// The agent of a team that sent the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tokens of the conversation after the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The tokens of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The cost in US dollars, with that of transmissions that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The reasoning that the provider returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<TracedCall>,
}

/// A call of a tool, or the execution of code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracedCall {
    pub tool: String,
    /// The code or the arguments; absent if an earlier action has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The result; absent if the action was taken during the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}
