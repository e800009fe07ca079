//! The hooks into a call while it runs, and its outcome.

use serde::{Deserialize, Serialize};

use crate::{Failure, Reply, Usage};

/// A hook before and after each attempt of a call, for journals and spend limits.
///
/// Both methods run in the thread of the call, which holds no lock while they run. A call with two
/// retries calls each method three times.
///
/// # Examples
///
/// ```
/// use rhae_llm::{
///     AttemptStart, CallObserver, CancelToken, FailureKind, Halt, Model, Models, Request,
/// };
///
/// /// Allows a fixed number of attempts.
/// struct Quota(u32);
///
/// impl CallObserver for Quota {
///     fn before(&mut self, _start: &AttemptStart) -> Result<(), Halt> {
///         self.0 = self.0.checked_sub(1).ok_or_else(|| Halt("no quota left".to_owned()))?;
///         Ok(())
///     }
/// }
///
/// let file = "[models.m]\nprovider = \"mock\"\nreplies = [\"yes\"]";
/// let model = Model::open(&Models::parse(file)?, "m")?;
/// let mut quota = Quota(1);
/// let (request, cancel) = (Request::text("Is it?"), CancelToken::default());
/// assert!(model.ask(&request, &cancel, None, &mut quota).reply.is_ok());
/// let failure = model.ask(&request, &cancel, None, &mut quota).reply.unwrap_err();
/// assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Halted, "no quota left"));
/// # Ok::<(), rhae_llm::LlmError>(())
/// ```
pub trait CallObserver {
    /// Called before a request is sent. An error prevents the request, and the call fails as
    /// [`Halted`](crate::FailureKind::Halted). A spend limit thus also stops retries.
    fn before(&mut self, start: &AttemptStart) -> Result<(), Halt> {
        let _ = start;
        Ok(())
    }

    /// Called when an attempt has ended, with or without a reply. After an error the call fails
    /// as [`Halted`](crate::FailureKind::Halted).
    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        let _ = (attempt, reply);
        Ok(())
    }
}

/// An observer that does nothing.
impl CallObserver for () {}

/// The reason why an observer refuses further attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt(pub String);

/// An attempt that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStart {
    /// The id of the attempt, which is sent as `X-Client-Request-Id`.
    pub id: String,
    /// The number of the attempt within its call, from 1.
    pub number: u32,
}

/// An attempt that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The id from [`AttemptStart`].
    pub id: String,
    /// The number of the attempt within its call, from 1.
    pub number: u32,
    /// The duration in milliseconds.
    pub ms: u64,
    /// The usage that the provider reported before the end; `None` if it reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The cost of the usage; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The failure, if there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Attempt {
    /// Returns whether the tokens are known but their cost is not.
    pub const fn is_unpriced(&self) -> bool {
        self.usage.is_some() && self.cost_usd.is_none()
    }

    /// Returns whether the attempt may have consumed tokens that were not reported: it failed after
    /// the request was sent, or its reply has no usage report.
    pub fn is_uncounted(&self) -> bool {
        match &self.failure {
            Some(failure) => failure.may_have_consumed_tokens(),
            None => self.usage.is_none(),
        }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutcome {
    /// The reply, or the failure that ended the call.
    pub reply: Result<Reply, Failure>,
    /// Every attempt that was sent, in order.
    pub attempts: Vec<Attempt>,
}

impl CallOutcome {
    /// Returns the known usage of all attempts, including failed ones.
    pub fn usage(&self) -> Usage {
        self.attempts
            .iter()
            .filter_map(|attempt| attempt.usage)
            .sum()
    }

    /// Returns the known cost of all attempts in US dollars, including failed ones.
    pub fn cost_usd(&self) -> f64 {
        // `sum` of an empty iterator is -0.
        self.attempts
            .iter()
            .filter_map(|attempt| attempt.cost_usd)
            .fold(0.0, |sum, usd| sum + usd)
    }

    /// Returns the number of attempts whose tokens are known but whose cost is not.
    pub fn unpriced(&self) -> usize {
        self.attempts
            .iter()
            .filter(|attempt| attempt.is_unpriced())
            .count()
    }

    /// Returns the number of attempts that may have consumed unreported tokens: failures after the
    /// request was sent, and replies without a usage report.
    pub fn uncounted(&self) -> usize {
        self.attempts
            .iter()
            .filter(|attempt| attempt.is_uncounted())
            .count()
    }
}
