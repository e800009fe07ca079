//! Who answers: the interface, and the solvers.

mod model;
mod random;
mod replay;
mod search;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rhae_protocol::{EvalAnswer, EvalSpent};
use rhae_tasks::{Task, TaskId};

pub use model::Ask;
pub use random::Random;
pub use replay::Replay;
pub use search::Search;

/// How much one request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One attempt at one test.
    Attempt,
    /// All attempts at one test.
    Test,
    /// One attempt at all tests of a task.
    Task,
}

/// What a solver is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The set's name.
    pub set: &'a str,
    /// The task's id.
    pub id: &'a TaskId,
    /// The task, without solutions.
    pub task: &'a Task,
    /// Which tests, from 0.
    pub tests: &'a [usize],
    /// Which attempts, from 1.
    pub attempts: &'a [usize],
}

/// What a solver gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The answer, or why there is none.
    pub result: Result<EvalAnswer, Failure>,
    /// What it cost, failed transmissions included.
    pub spent: EvalSpent,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind, for counts.
    pub kind: FailureKind,
    /// What is known about it.
    pub message: String,
    /// Whether every other request would fail as well, so that the run should stop.
    pub ends_run: bool,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A request took too long.
    RequestTime,
    /// The task's time was over.
    TaskTime,
    /// The run's time was over.
    RunTime,
    /// The run was stopped.
    Stopped,
    /// The connection broke.
    Lost,
    /// A server answered with an error.
    Status,
    /// A server's answer makes no sense.
    Garbled,
    /// A recording has no answer to this.
    NotRecorded,
    /// The solver is faulty.
    Panicked,
}

impl FailureKind {
    const ALL: [Self; 9] = [
        Self::RequestTime,
        Self::TaskTime,
        Self::RunTime,
        Self::Stopped,
        Self::Lost,
        Self::Status,
        Self::Garbled,
        Self::NotRecorded,
        Self::Panicked,
    ];

    /// The name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequestTime => "request-time",
            Self::TaskTime => "task-time",
            Self::RunTime => "run-time",
            Self::Stopped => "stopped",
            Self::Lost => "connection-lost",
            Self::Status => "server-error",
            Self::Garbled => "garbled",
            Self::NotRecorded => "not-recorded",
            Self::Panicked => "solver-fault",
        }
    }

    /// The name of a kind in a journal, which may be of another version.
    pub(crate) fn known(name: &str) -> &'static str {
        Self::ALL
            .into_iter()
            .map(Self::name)
            .find(|&known| known == name)
            .unwrap_or("failed")
    }

    /// Whether the attempt counts as missing. What the run's own end cut off is still open.
    pub(crate) const fn is_lasting(self) -> bool {
        !matches!(self, Self::RunTime | Self::Stopped)
    }
}

/// Who answers questions, several at a time.
pub trait Solver: Sync {
    /// How much one request asks for.
    fn unit(&self) -> Unit;

    /// Answers. It returns soon after the watch says that it is over.
    fn answer(&self, question: &Question<'_>, watch: &Watch<'_>) -> Outcome;

    /// Whether answers cost money or a server's time, so that one under way is waited for when a run stops.
    fn costs(&self) -> bool {
        false
    }

    /// What is asked, in words; nothing for solvers that read none.
    fn prompt(&self, _question: &Question<'_>) -> Option<String> {
        None
    }

    /// About how much a request costs, before it is sent; nothing for solvers that send none.
    fn foresee(&self, _question: &Question<'_>) -> Option<Foreseen> {
        None
    }
}

/// What a request will cost at least, as far as that is known before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Foreseen {
    /// Tokens of what is asked.
    pub input_tokens: u64,
    /// Tokens of an answer that has nothing but the grids, if they are as large as the largest training output.
    pub answer_tokens: u64,
    /// What both cost; absent if there are no prices.
    pub usd: Option<f64>,
}

impl Foreseen {
    /// What two requests cost.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens + other.input_tokens,
            answer_tokens: self.answer_tokens + other.answer_tokens,
            usd: self.usd.zip(other.usd).map(|(one, two)| one + two),
        }
    }
}

/// What stands over a request: its deadline, the run's end, and the journal for its transmissions.
pub struct Watch<'a> {
    /// The request's number.
    pub request: u64,
    /// When it must be over, and which limit says so.
    pub deadline: Option<(Instant, FailureKind)>,
    pub(crate) cut: &'a AtomicBool,
    pub(crate) scribe: &'a dyn Scribe,
}

/// Where transmissions are written down.
pub(crate) trait Scribe: Sync {
    fn sending(&self, request: u64, id: &str) -> Result<(), String>;
    fn failed(
        &self,
        request: u64,
        id: &str,
        message: &str,
        spent: &EvalSpent,
    ) -> Result<(), String>;
}

impl Watch<'_> {
    /// Which limit is past, if one is.
    pub fn over(&self) -> Option<FailureKind> {
        if self.cut.load(Ordering::Relaxed) {
            return Some(FailureKind::Stopped);
        }
        self.deadline
            .filter(|(deadline, _)| Instant::now() >= *deadline)
            .map(|(_, kind)| kind)
    }

    /// Writes down that a transmission is about to go out. An error says why nothing may be sent: a limit, or a full disk.
    pub fn sending(&self, id: &str) -> Result<(), String> {
        self.scribe.sending(self.request, id)
    }

    /// Writes down that a transmission did not lead to an answer, and what it cost. After an error nothing more may be sent.
    pub fn failed(&self, id: &str, message: &str, spent: &EvalSpent) -> Result<(), String> {
        self.scribe.failed(self.request, id, message, spent)
    }
}

impl Outcome {
    /// An answer that cost nothing.
    pub fn free(answer: EvalAnswer) -> Self {
        Self {
            result: Ok(answer),
            spent: EvalSpent::default(),
        }
    }

    /// No answer.
    pub fn failure(kind: FailureKind, message: impl Into<String>) -> Self {
        let failure = Failure {
            kind,
            message: message.into(),
            ends_run: false,
        };
        Self {
            result: Err(failure),
            spent: EvalSpent::default(),
        }
    }
}
