//! Why an attempt has no grid.

use rhae_protocol::EvalFailureKind;
use rhae_tasks::{GridError, ParseError};

/// Why an attempt has no grid, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptFailure {
    pub reason: FailureReason,
    pub message: String,
}

/// The reason of an [`AttemptFailure`], by which results count failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureReason {
    /// The run ended before the request was sent.
    NotAsked,
    /// The solver answered without a grid.
    NoAnswer,
    /// The text or the rows of the answer are not a grid.
    Unreadable(ParseError),
    /// The request failed.
    Request(EvalFailureKind),
}

impl FailureReason {
    /// Returns the name in tables and results, for example `not-asked`.
    ///
    /// ```
    /// use rhae_eval::FailureReason;
    /// use rhae_protocol::EvalFailureKind;
    ///
    /// assert_eq!(FailureReason::Request(EvalFailureKind::Lost).name(), "connection-lost");
    /// ```
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotAsked => "not-asked",
            Self::NoAnswer => "no-answer",
            Self::Unreadable(error) => error.kind(),
            Self::Request(kind) => kind.name(),
        }
    }
}

impl AttemptFailure {
    pub(crate) fn new(reason: FailureReason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }

    /// Creates the failure of an answer that is not a grid. `finish` says why its text ended early.
    pub(crate) fn unreadable(error: ParseError, finish: Option<&str>) -> Self {
        let message = match finish {
            Some(finish) => format!("{error} (the answer ended with: {finish})"),
            None => error.to_string(),
        };
        Self::new(FailureReason::Unreadable(error), message)
    }
}

impl From<GridError> for AttemptFailure {
    fn from(error: GridError) -> Self {
        Self::unreadable(ParseError::Grid(error), None)
    }
}
