//! What a caller sees of a call while it goes on, and what is left of it afterwards.

use serde::{Deserialize, Serialize};

use crate::{Failure, Reply, Usage};

/// Told of every request, so that a journal can have a line before it is sent and a line with what came of it.
///
/// Both are called in the thread of the call, with nothing locked. A call that sends a request three times calls each three times.
pub trait Watch {
    /// A request is about to be sent. If this fails, it is not, and the call ends as [`Halted`](crate::FailureKind::Halted): so a
    /// limit on spending stops also what would have been sent again.
    fn before(&mut self, sending: &Sending) -> Result<(), Halt> {
        let _ = sending;
        Ok(())
    }

    /// A request has come to an end, with an answer or without. If this fails, the call ends as halted.
    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        let _ = (attempt, reply);
        Ok(())
    }
}

/// Nobody watches.
impl Watch for () {}

/// Why no more requests are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt(pub String);

/// A request that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// Its id, which is sent along as `X-Client-Request-Id`.
    pub id: String,
    /// Which attempt of the call it is, from 1.
    pub number: u32,
}

/// A request that has come to an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its id.
    pub id: String,
    /// Which attempt of the call it was, from 1.
    pub number: u32,
    /// How long it took.
    pub ms: u64,
    /// What it consumed, as far as the provider said so before the end; `None` if it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What that cost; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Attempt {
    /// Whether its tokens are known, but not what they cost.
    pub const fn is_unpriced(&self) -> bool {
        self.usage.is_some() && self.cost_usd.is_none()
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer, or why there is none.
    pub reply: Result<Reply, Failure>,
    /// Every request that was sent, in order.
    pub attempts: Vec<Attempt>,
}

impl Outcome {
    /// What all requests consumed, failed ones too, as far as that is known.
    pub fn usage(&self) -> Usage {
        self.attempts
            .iter()
            .filter_map(|attempt| attempt.usage)
            .sum()
    }

    /// What all requests cost, failed ones too, as far as that is known.
    pub fn cost_usd(&self) -> f64 {
        // A sum of nothing would be -0.
        self.attempts
            .iter()
            .filter_map(|attempt| attempt.cost_usd)
            .fold(0.0, |sum, usd| sum + usd)
    }

    /// Requests whose tokens are known, but not what they cost.
    pub fn unpriced(&self) -> usize {
        self.attempts
            .iter()
            .filter(|attempt| attempt.is_unpriced())
            .count()
    }

    /// Requests that may have consumed more than is known: those without an answer that were not refused, and answers that do not say.
    pub fn uncounted(&self) -> usize {
        let unknown = |attempt: &&Attempt| match &attempt.failure {
            Some(failure) => failure.may_have_consumed(),
            None => attempt.usage.is_none(),
        };
        self.attempts.iter().filter(unknown).count()
    }
}
