//! The interface of a durable log of model calls.

use std::time::Instant;

use rhae_llm::{Attempt, AttemptStart, CostBound, Reply};
use rhae_protocol::ModelUsage;
use serde_json::Value;

/// The reason why a log does not belong to what the agent does.
pub const DIFFERENT_REQUEST: &str = "the log of this play answers a different request: the model's settings or the environment have changed";

/// A call of an earlier process, with the usage of all its transmissions.
#[derive(Debug, Default, PartialEq)]
pub struct LoggedCall {
    /// The fingerprint of the request.
    pub request: String,
    pub spent: ModelUsage,
    pub reply: Option<Reply>,
}

/// A durable log of calls, which [`LoggedCalls`](super::LoggedCalls) reads and writes: the model log
/// of a play, or the journal of an evaluation.
///
/// What one of its functions has written is synced to disk when the function returns. Errors are
/// messages for the user.
pub trait CallLog: Send {
    /// Returns the next call of an earlier process, or `None` after the last one. Fails if the log
    /// belongs to other requests than `request`, which is a fingerprint.
    fn next_call(&mut self, request: &str) -> Result<Option<LoggedCall>, String>;

    /// Returns the next effect of an earlier process, or `None` after the last one. Fails if the key
    /// of that effect is not `key`.
    fn next_effect(&mut self, key: &str) -> Result<Option<Value>, String>;

    /// Stores an effect.
    fn effect(&mut self, key: &str, value: &Value) -> Result<(), String>;

    /// Stores that a transmission is about to start. If it fails, nothing is sent.
    fn sent(
        &mut self,
        request: &str,
        start: &AttemptStart,
        worst: &CostBound,
    ) -> Result<(), String>;

    /// Stores the end of a transmission, with the reply if it succeeded.
    fn ended(
        &mut self,
        request: &str,
        attempt: &Attempt,
        worst: &CostBound,
        reply: Option<&Reply>,
    ) -> Result<(), String>;

    /// Returns the time at which a call must end, in addition to the time limit of each request.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}
