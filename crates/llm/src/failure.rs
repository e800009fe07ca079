//! Failures of requests and calls.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The maximum number of characters of a message.
const MAX_MESSAGE_CHARS: usize = 500;

/// The reason why an attempt or a call produced no reply.
///
/// **Invariant:** the message contains no API key and no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    /// The HTTP status of the server's response, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// A description for users.
    pub message: String,
    /// The pause that the server requests before the next attempt.
    #[serde(skip)]
    pub(crate) retry_after: Option<Duration>,
    /// Whether the server states that a retry cannot succeed.
    #[serde(skip)]
    pub(crate) no_retry: bool,
}

/// The kind of a [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The request was not sent, so it consumed nothing.
    NotSent,
    /// The connection broke or was silent for too long. It is unknown how many tokens the request
    /// consumed.
    Lost,
    /// The request exceeded its total timeout or the caller's deadline.
    TimedOut,
    /// The server responded with an error status.
    Status,
    /// The server's response cannot be parsed.
    Garbled,
    /// The caller cancelled the call.
    Cancelled,
    /// The [`CallObserver`](crate::CallObserver) refused further attempts.
    Halted,
    /// The circuit breaker is open permanently after too many failures.
    CircuitOpen,
    /// The configuration cannot produce a reply, for example because a recording does not contain
    /// the request.
    NoAnswer,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            status: None,
            message: clean(message.as_ref()),
            retry_after: None,
            no_retry: false,
        }
    }

    pub(crate) fn status(status: u16, message: impl AsRef<str>) -> Self {
        Self {
            status: Some(status),
            ..Self::new(FailureKind::Status, message)
        }
    }

    /// Returns whether the same request may be retried: after the statuses 408, 409, 429 and 5xx, a
    /// broken connection or a malformed response, unless the server states that a retry cannot
    /// succeed.
    pub fn is_retryable(&self) -> bool {
        let kind = match self.kind {
            FailureKind::NotSent | FailureKind::Lost | FailureKind::Garbled => true,
            FailureKind::Status => matches!(self.status, Some(408 | 409 | 429 | 500..=599)),
            _ => false,
        };
        kind && !self.no_retry
    }

    /// Returns whether every other call would fail as well: because of a wrong key, an unknown
    /// model, missing credit, a permanently open circuit breaker, or because the call was cancelled
    /// or halted.
    pub fn affects_all_calls(&self) -> bool {
        match self.kind {
            FailureKind::Cancelled | FailureKind::Halted | FailureKind::CircuitOpen => true,
            FailureKind::Status => {
                matches!(self.status, Some(401..=404))
                    || (self.status == Some(429) && self.no_retry)
            }
            _ => false,
        }
    }

    /// Returns whether the attempt may have consumed tokens that were not reported. Responses with
    /// an error status are assumed not to be billed.
    pub fn may_have_consumed_tokens(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::Lost
                | FailureKind::TimedOut
                | FailureKind::Garbled
                | FailureKind::Cancelled
        )
    }

    /// Returns whether the circuit breaker counts the failure: the server is unreachable or broken.
    /// A server that is busy or refuses the request does not count.
    pub(crate) fn is_server_fault(&self) -> bool {
        match self.kind {
            FailureKind::NotSent | FailureKind::Lost | FailureKind::Garbled => true,
            FailureKind::Status => matches!(self.status, Some(500..=599)),
            _ => false,
        }
    }
}

/// Shortens an external text and replaces its control characters.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .take(MAX_MESSAGE_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_failures_are_retryable() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(Failure::status(status, "").is_retryable(), "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 413, 422] {
            assert!(!Failure::status(status, "").is_retryable(), "{status}");
        }
        for kind in [
            FailureKind::NotSent,
            FailureKind::Lost,
            FailureKind::Garbled,
        ] {
            assert!(Failure::new(kind, "").is_retryable(), "{kind:?}");
        }
        for kind in [
            FailureKind::TimedOut,
            FailureKind::Cancelled,
            FailureKind::Halted,
            FailureKind::CircuitOpen,
        ] {
            assert!(!Failure::new(kind, "").is_retryable(), "{kind:?}");
        }
        let no_credit = Failure {
            no_retry: true,
            ..Failure::status(429, "")
        };
        assert!(!no_credit.is_retryable() && no_credit.affects_all_calls());
        assert!(
            !Failure::status(429, "").affects_all_calls()
                && Failure::status(401, "").affects_all_calls()
        );
    }

    #[test]
    fn messages_are_short_and_without_control_characters() {
        let failure = Failure::new(FailureKind::Lost, "a\x1b[31m\n".repeat(1000));
        assert!(failure.message.chars().count() <= MAX_MESSAGE_CHARS);
        assert!(!failure.message.contains('\x1b') && !failure.message.contains('\n'));
    }
}
