//! The kinds of failures in the journal of an evaluation.

use serde::{Deserialize, Serialize};

/// The reason why a request of an evaluation has no answer.
///
/// # Examples
///
/// ```
/// use rhae_protocol::EvalFailureKind;
///
/// let kind: EvalFailureKind = serde_json::from_str(r#""connection-lost""#)?;
/// assert_eq!(kind, EvalFailureKind::Lost);
/// // A newer version may know further kinds.
/// let kind: EvalFailureKind = serde_json::from_str(r#""out-of-paper""#)?;
/// assert_eq!(kind.name(), "failed");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvalFailureKind {
    /// The request exceeded its time limit.
    #[serde(rename = "request-time")]
    RequestTimeout,
    /// The time limit of the task was exceeded.
    #[serde(rename = "task-time")]
    TaskTimeout,
    /// The time limit of the run was exceeded.
    #[serde(rename = "run-time")]
    RunTimeout,
    /// The run was stopped.
    #[serde(rename = "stopped")]
    Stopped,
    /// The connection was lost.
    #[serde(rename = "connection-lost")]
    Lost,
    /// A server responded with an error status.
    #[serde(rename = "server-error")]
    Status,
    /// A server's response cannot be parsed.
    #[serde(rename = "garbled")]
    Garbled,
    /// The recording has no answer to this request.
    #[serde(rename = "not-recorded")]
    NotRecorded,
    /// The solver panicked.
    #[serde(rename = "solver-fault")]
    Panicked,
    /// A kind that another version of Rhae wrote.
    #[serde(rename = "failed", other)]
    Unknown,
}

impl EvalFailureKind {
    /// Returns the name in journals and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequestTimeout => "request-time",
            Self::TaskTimeout => "task-time",
            Self::RunTimeout => "run-time",
            Self::Stopped => "stopped",
            Self::Lost => "connection-lost",
            Self::Status => "server-error",
            Self::Garbled => "garbled",
            Self::NotRecorded => "not-recorded",
            Self::Panicked => "solver-fault",
            Self::Unknown => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_serialised_forms() {
        for kind in [
            EvalFailureKind::RequestTimeout,
            EvalFailureKind::TaskTimeout,
            EvalFailureKind::RunTimeout,
            EvalFailureKind::Stopped,
            EvalFailureKind::Lost,
            EvalFailureKind::Status,
            EvalFailureKind::Garbled,
            EvalFailureKind::NotRecorded,
            EvalFailureKind::Panicked,
            EvalFailureKind::Unknown,
        ] {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{}\"", kind.name()));
            assert_eq!(
                serde_json::from_str::<EvalFailureKind>(&text).unwrap(),
                kind
            );
        }
    }
}
