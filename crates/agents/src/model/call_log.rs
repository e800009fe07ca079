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

/// Returns what precedes the fingerprints and keys of a branch in its log: the names of the branch and
/// of those around it.
///
/// # Examples
///
/// ```
/// use rhae_agents::{branch_of, branch_prefix};
///
/// let inner = branch_prefix(&branch_prefix("", "1.0"), "2.3");
/// assert_eq!(inner, "@1.0/@2.3/");
/// assert_eq!(branch_of("@1.0/@2.3/python 1 4f"), inner);
/// assert_eq!(branch_of("python 1 4f"), "");
/// ```
pub fn branch_prefix(around: &str, name: &str) -> String {
    format!("{around}@{name}/")
}

/// Returns the prefix of a fingerprint or key in a log, which is empty outside of branches.
pub fn branch_of(text: &str) -> &str {
    let mut end = 0;
    while text[end..].starts_with('@') {
        match text[end..].find('/') {
            Some(length) => end += length + 1,
            None => break,
        }
    }
    &text[..end]
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

    /// Returns the log of one of several conversations that run at the same time. `name` is unique
    /// in this log. What earlier processes did in that conversation moves to it.
    fn branch<'a>(&mut self, name: &str) -> Box<dyn CallLog + 'a>
    where
        Self: 'a;

    /// Returns the time at which a call must end, in addition to the time limit of each request.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}
