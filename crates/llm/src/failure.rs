//! Why there is no answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The most characters of a message that are kept.
const MOST_CHARACTERS: usize = 500;

/// Why a request, or a whole call, came to nothing. Its message contains no key and no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The status of the server's answer, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What happened, for people.
    pub message: String,
    /// How long the server asks to wait.
    #[serde(skip)]
    pub(crate) retry_after: Option<Duration>,
    /// Whether the server says that trying again is of no use.
    #[serde(skip)]
    pub(crate) final_word: bool,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The request never left: nothing was consumed.
    NotSent,
    /// The connection broke, or was silent too long. What was consumed is not known.
    Lost,
    /// The request took longer than it may in total, or the caller's deadline has passed.
    TimedOut,
    /// The server answered with an error.
    Status,
    /// The server's answer makes no sense.
    Garbled,
    /// The caller gave up.
    Cancelled,
    /// Who watches over the calls wants no more of them.
    Halted,
    /// So many calls failed that no more are sent.
    CircuitOpen,
    /// A recording holds no answer to this request, or the like: only another configuration helps.
    NoAnswer,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            status: None,
            message: clean(message.as_ref()),
            retry_after: None,
            final_word: false,
        }
    }

    pub(crate) fn status(status: u16, message: impl AsRef<str>) -> Self {
        Self {
            status: Some(status),
            ..Self::new(FailureKind::Status, message)
        }
    }

    /// Whether the same request may be sent again: after 408, 409, 429, 5xx, a broken connection or an answer that makes no
    /// sense, and never if the server says that it is of no use.
    pub fn may_be_repeated(&self) -> bool {
        let kind = match self.kind {
            FailureKind::NotSent | FailureKind::Lost | FailureKind::Garbled => true,
            FailureKind::Status => matches!(self.status, Some(408 | 409 | 429 | 500..=599)),
            _ => false,
        };
        kind && !self.final_word
    }

    /// Whether every other call would fail as well: a wrong key, an unknown model, no credit, an open circuit, the end of a run.
    pub fn concerns_every_call(&self) -> bool {
        match self.kind {
            FailureKind::Cancelled | FailureKind::Halted | FailureKind::CircuitOpen => true,
            FailureKind::Status => {
                matches!(self.status, Some(401..=404))
                    || (self.status == Some(429) && self.final_word)
            }
            _ => false,
        }
    }

    /// Whether tokens may have been consumed that nobody counted. Errors with a status are not billed.
    pub fn may_have_consumed(&self) -> bool {
        matches!(
            self.kind,
            FailureKind::Lost
                | FailureKind::TimedOut
                | FailureKind::Garbled
                | FailureKind::Cancelled
        )
    }

    /// Whether it speaks of a server in trouble, as opposed to one that refuses or is busy.
    pub(crate) fn is_trouble(&self) -> bool {
        match self.kind {
            FailureKind::NotSent | FailureKind::Lost | FailureKind::Garbled => true,
            FailureKind::Status => matches!(self.status, Some(500..=599)),
            _ => false,
        }
    }
}

/// A text from outside, short and without control characters.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .take(MOST_CHARACTERS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_repeated() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(Failure::status(status, "").may_be_repeated(), "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 413, 422] {
            assert!(!Failure::status(status, "").may_be_repeated(), "{status}");
        }
        for kind in [
            FailureKind::NotSent,
            FailureKind::Lost,
            FailureKind::Garbled,
        ] {
            assert!(Failure::new(kind, "").may_be_repeated(), "{kind:?}");
        }
        for kind in [
            FailureKind::TimedOut,
            FailureKind::Cancelled,
            FailureKind::Halted,
            FailureKind::CircuitOpen,
        ] {
            assert!(!Failure::new(kind, "").may_be_repeated(), "{kind:?}");
        }
        let no_credit = Failure {
            final_word: true,
            ..Failure::status(429, "")
        };
        assert!(!no_credit.may_be_repeated() && no_credit.concerns_every_call());
        assert!(
            !Failure::status(429, "").concerns_every_call()
                && Failure::status(401, "").concerns_every_call()
        );
    }

    #[test]
    fn messages_are_short_and_plain() {
        let failure = Failure::new(FailureKind::Lost, "a\x1b[31m\n".repeat(1000));
        assert!(failure.message.chars().count() <= MOST_CHARACTERS);
        assert!(!failure.message.contains('\x1b') && !failure.message.contains('\n'));
    }
}
