//! The [`Solver`] interface and the built-in solvers.

mod conversation_log;
mod create;
mod model;
mod orchestrator;
mod random;
mod replay;
mod rlm;
mod search;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_llm::{Attempt, CostBound, SpendRefusal};
use rhae_protocol::{EvalAnswer, EvalFailureKind, EvalUsage};
use rhae_tasks::{Task, TaskId};
use serde_json::Value;

use crate::ledger::ConversationEvent;

pub use create::{SolverHost, SolverOptions, SolverSettings, create_solver};
pub use model::ModelSolver;
pub use orchestrator::OrchestratorSolver;
pub use random::RandomSolver;
pub use replay::ReplaySolver;
pub use rlm::RlmSolver;
pub use search::SearchSolver;

/// The part of a task that one request covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One attempt at one test.
    Attempt,
    /// All attempts at one test.
    Test,
    /// One attempt at all tests of a task.
    Task,
}

/// The content of one request.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The name of the task set.
    pub set: &'a str,
    pub id: &'a TaskId,
    /// The task, without solutions.
    pub task: &'a Task,
    /// The indices of the tests to solve, from 0.
    pub tests: &'a [usize],
    /// The numbers of the attempts to make, from 1.
    pub attempts: &'a [usize],
}

/// The result of one request.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub result: Result<EvalAnswer, SolverFailure>,
    /// The usage, including that of failed transmissions.
    pub spent: EvalUsage,
}

/// The reason why a solver returned no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverFailure {
    pub kind: EvalFailureKind,
    pub message: String,
    /// Whether every other request would fail as well, so that the run should stop.
    pub ends_run: bool,
}

/// Returns whether a failure is permanent, so that it closes the attempt. An attempt that was cut off
/// because the run ended stays open.
pub(crate) const fn is_permanent(kind: EvalFailureKind) -> bool {
    !matches!(kind, EvalFailureKind::RunTimeout | EvalFailureKind::Stopped)
}

/// A solver of static tasks. Several threads call it at the same time.
///
/// # Examples
///
/// A solver that answers every test with its input:
///
/// ```
/// use rhae_eval::solver::{Outcome, Question, RequestContext, Solver, Unit};
/// use rhae_protocol::{EvalAnswer, EvalGrid};
///
/// struct Identity;
///
/// impl Solver for Identity {
///     fn unit(&self) -> Unit {
///         Unit::Test
///     }
///
///     fn answer(&self, question: &Question<'_>, _context: &RequestContext<'_>) -> Outcome {
///         let mut grids = Vec::new();
///         for &test in question.tests {
///             let rows = question.task.test[test].input.rows().map(<[u8]>::to_vec).collect();
///             // A second attempt would be identical, so only the first has a grid.
///             grids.push(EvalGrid { test, attempt: 1, grid: Some(rows), note: None });
///         }
///         Outcome::free(EvalAnswer { grids, ..EvalAnswer::default() })
///     }
/// }
///
/// assert_eq!(Identity.unit(), Unit::Test);
/// assert!(!Identity.is_billed());
/// ```
pub trait Solver: Sync {
    /// Returns how the tests of a plan are divided into requests.
    fn unit(&self) -> Unit;

    /// Answers a question. It must return soon after [`RequestContext::expired`] returns a reason.
    fn answer(&self, question: &Question<'_>, context: &RequestContext<'_>) -> Outcome;

    /// Returns whether requests are billed. A run that stops waits for billed requests in flight,
    /// and cancels all others.
    fn is_billed(&self) -> bool {
        false
    }

    /// Returns whether a request is a conversation of several requests to a model. Limits on the
    /// rate and time of requests then apply to each of them, and a run that stops ends conversations
    /// before their next request.
    fn is_conversation(&self) -> bool {
        false
    }

    /// Returns the prompt for a question, or `None` if the solver uses no prompts.
    fn prompt(&self, _question: &Question<'_>) -> Option<String> {
        None
    }

    /// Returns the worst case of one transmission of a request. Returns `None` if the solver sends no
    /// requests to a model.
    fn cost_bound(&self, _question: &Question<'_>) -> Option<CostBound> {
        None
    }

    /// Estimates the cost of a request before it is sent. Returns `None` if the solver sends no
    /// requests to a model.
    fn estimate_cost(&self, _question: &Question<'_>) -> Option<CostEstimate> {
        None
    }
}

/// A lower bound of the cost of requests, estimated before they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CostEstimate {
    /// The tokens of the prompts.
    pub input_tokens: u64,
    /// The tokens of answers that contain only grids as large as the largest training output.
    pub answer_tokens: u64,
    /// The cost of both in US dollars; `None` if there are no prices.
    pub usd: Option<f64>,
}

impl CostEstimate {
    /// Adds two estimates.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            answer_tokens: self.answer_tokens + other.answer_tokens,
            usd: self.usd.zip(other.usd).map(|(one, two)| one + two),
        }
    }
}

/// The context of a request: its deadline, the cancellation of the run, and the journal of its
/// transmissions.
pub struct RequestContext<'a> {
    /// The number of the request in the journal.
    pub request: u64,
    /// The deadline, and the failure to report when it passes.
    pub deadline: Option<(Instant, EvalFailureKind)>,
    /// The time limit of one request to a model in a conversation.
    pub(crate) request_timeout: Option<Duration>,
    /// What earlier processes did in this conversation.
    pub(crate) earlier: Vec<ConversationEvent>,
    pub(crate) cancelled: &'a AtomicBool,
    pub(crate) log: &'a dyn TransmissionLog,
}

/// The journal of transmissions.
pub(crate) trait TransmissionLog: Sync {
    fn reserve(
        &self,
        request: u64,
        id: &str,
        worst: &CostBound,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SpendRefusal>;
    fn settle(&self, worst: &CostBound, attempt: &Attempt);
    /// Waits until the rate limit allows a request of a conversation. Returns the reason why it must
    /// not be sent.
    fn admit(&self, cancelled: &dyn Fn() -> bool) -> Result<(), String>;
    fn replied(
        &self,
        request: u64,
        id: &str,
        fingerprint: &str,
        reply: Value,
        spent: &EvalUsage,
    ) -> Result<(), String>;
    fn effect(&self, request: u64, key: &str, value: &Value) -> Result<(), String>;
    fn failed(
        &self,
        request: u64,
        id: &str,
        message: &str,
        spent: &EvalUsage,
    ) -> Result<(), String>;
}

impl RequestContext<'_> {
    /// Returns the reason why the request must stop now, or `None` if it may continue.
    pub fn expired(&self) -> Option<EvalFailureKind> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(EvalFailureKind::Stopped);
        }
        self.deadline
            .filter(|(deadline, _)| Instant::now() >= *deadline)
            .map(|(_, kind)| kind)
    }

    /// Reserves the worst case of a transmission that is about to be sent, and journals it. Waits
    /// while the worst case may still fit into the limits of the run.
    ///
    /// # Errors
    ///
    /// Returns the reason why the transmission must not be sent: it does not fit into a limit, the
    /// request expired while it waited, or the journal cannot be written.
    pub fn reserve(&self, id: &str, worst: &CostBound) -> Result<(), SpendRefusal> {
        let expired = || self.expired().is_some();
        self.log.reserve(self.request, id, worst, &expired)
    }

    /// Replaces a reservation by the cost of a transmission that has ended.
    pub fn settle(&self, worst: &CostBound, attempt: &Attempt) {
        self.log.settle(worst, attempt);
    }

    /// Journals a transmission that failed, with its usage.
    ///
    /// # Errors
    ///
    /// Returns a message if the journal cannot be written. The solver must then send no further
    /// transmissions.
    pub fn failed(&self, id: &str, message: &str, spent: &EvalUsage) -> Result<(), String> {
        self.log.failed(self.request, id, message, spent)
    }
}

impl Outcome {
    /// Creates the outcome for an answer without cost.
    pub fn free(answer: EvalAnswer) -> Self {
        Self {
            result: Ok(answer),
            spent: EvalUsage::default(),
        }
    }

    /// Creates the outcome for a failure without cost that affects only this request.
    pub fn failure(kind: EvalFailureKind, message: impl Into<String>) -> Self {
        let failure = SolverFailure {
            kind,
            message: message.into(),
            ends_run: false,
        };
        Self {
            result: Err(failure),
            spent: EvalUsage::default(),
        }
    }
}
