//! The files of an evaluation folder for static tasks: the effective configuration and the journal.
//!
//! The journal stores answers unchanged. Grids are parsed from them when results are computed, so
//! that a journal can be evaluated again with another parser.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{EvalEnd, EvalFailureKind, RunIdentity};

/// The version of the configuration and of the journal.
pub const EVAL_VERSION: u32 = 1;

/// The effective configuration of an evaluation: the values of all flags, with defaults filled in.
///
/// It is the first file that an evaluation writes, and `--resume` reads it.
///
/// # Examples
///
/// ```
/// use rhae_protocol::EvalConfig;
///
/// let json = r#"{
///     "version": 1, "software": "rhae 0.1.0", "run_id": "20261115-100000-search",
///     "solver": "search", "solver_settings": {"seed": 0}, "protocol": "standard", "attempts": 2,
///     "parser": "lenient", "stop_at_failure": false, "data": ["/data/arc:public"],
///     "sets": [{"name": "public", "revision": "1f2e", "tests": {"007bbfb7": [0]}}],
///     "limits": {"concurrency": 2}
/// }"#;
/// let config: EvalConfig = serde_json::from_str(json)?;
/// assert_eq!(config.sets[0].tests["007bbfb7"], [0]);
/// assert_eq!(config.limits.tokens, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalConfig {
    /// The version of this form, see [`EVAL_VERSION`].
    pub version: u32,
    /// The name and version of the software that made the run.
    pub software: String,
    pub run_id: String,
    /// The solver as given on the command line: `search`, `random`, `replay:FILE` or `model:NAME`.
    pub solver: String,
    /// All settings on which the answers depend: budgets, seeds, model settings, and hashes of
    /// prompts and files.
    pub solver_settings: BTreeMap<String, Value>,
    pub protocol: EvalProtocol,
    /// The number of attempts at each test.
    pub attempts: usize,
    /// The parser that extracts grids from answers.
    pub parser: EvalParser,
    /// Whether the first attempt without a grid ends the run.
    pub stop_at_failure: bool,
    /// The shard of the tasks that this run evaluates, as `[shard, shards]` from 1; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<[usize; 2]>,
    /// The seed with which the colours of the tasks are permuted; absent if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permuted_colors: Option<u64>,
    /// The absolute paths from which the tasks were loaded, each with the name of its set.
    pub data: Vec<String>,
    /// The sets with the selected tests.
    pub sets: Vec<EvalSet>,
    /// The limits at the start of the run. A resumed run may have others.
    pub limits: EvalLimits,
    #[serde(flatten)]
    pub identity: RunIdentity,
}

/// The protocol of an evaluation: the scoring rules of a published benchmark. The crate `tasks`
/// defines the rules.
///
/// # Examples
///
/// ```
/// use rhae_protocol::EvalProtocol;
///
/// let protocol: EvalProtocol = serde_json::from_str(r#""nejumi""#)?;
/// assert_eq!(protocol, EvalProtocol::Nejumi);
/// assert!(serde_json::from_str::<EvalProtocol>(r#""unknown""#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EvalProtocol {
    Standard,
    Official,
    Nejumi,
    Plan,
}

impl EvalProtocol {
    /// Returns the name in files, flags and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Official => "official",
            Self::Nejumi => "nejumi",
            Self::Plan => "plan",
        }
    }
}

/// The rules by which grids are found in texts. The crate `tasks` defines them.
///
/// # Examples
///
/// ```
/// use rhae_protocol::EvalParser;
///
/// let parser: EvalParser = serde_json::from_str(r#""official""#)?;
/// assert_eq!(parser.name(), "official");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EvalParser {
    Lenient,
    Official,
    Nejumi,
    Plan,
}

impl EvalParser {
    /// Returns the name in files, flags and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lenient => "lenient",
            Self::Official => "official",
            Self::Nejumi => "nejumi",
            Self::Plan => "plan",
        }
    }
}

/// A task set and the tests that were selected from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalSet {
    pub name: String,
    /// The revision of the complete set, before any selection.
    pub revision: String,
    /// The indices of the selected tests of each task, from 0.
    pub tests: BTreeMap<String, Vec<usize>>,
}

/// The limits of an evaluation. An absent limit does not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalLimits {
    /// The maximum number of concurrent requests.
    pub concurrency: usize,
    /// The maximum number of requests started per minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<f64>,
    /// The time limit of one request, including its retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_seconds: Option<f64>,
    /// The time limit of a task, from its first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_seconds: Option<f64>,
    /// The time limit of the run, including the time before an interruption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_seconds: Option<f64>,
    /// The maximum number of input and output tokens of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The spend limit of the run in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// One line of the journal of an evaluation.
///
/// A request that has a [`Sent`](Self::Sent) line and neither an [`Answered`](Self::Answered) nor a
/// [`Failed`](Self::Failed) line was in flight when the process ended.
///
/// # Examples
///
/// ```
/// use rhae_protocol::EvalLine;
///
/// let line = r#"{"event":"answered","request":4,"at_ms":1794736800123,"ms":950,"set":"public",
///     "task":"007bbfb7","tests":[0],"attempts":[1],"answer":{"text":"[[1, 0], [0, 1]]"},
///     "input_tokens":700,"output_tokens":12,"cost_usd":0.002}"#;
/// let EvalLine::Answered { target, answer, spent, .. } = serde_json::from_str(line)? else {
///     unreachable!("the event is `answered`")
/// };
/// assert_eq!((target.task.as_str(), target.attempts), ("007bbfb7", vec![1]));
/// assert_eq!(answer.text.as_deref(), Some("[[1, 0], [0, 1]]"));
/// assert_eq!(spent.tokens(), 712);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EvalLine {
    /// A process started to work on the evaluation.
    #[serde(rename = "begun")]
    Started {
        /// Unix time in milliseconds.
        at_ms: u64,
        /// Whether an earlier process started the evaluation.
        resumed: bool,
        limits: EvalLimits,
    },
    /// A request is about to be sent.
    Sent {
        /// The number of the request, unique within the run.
        request: u64,
        at_ms: u64,
        #[serde(flatten)]
        target: EvalTarget,
    },
    /// One transmission of a request is about to start. A request that is retried has several
    /// transmissions.
    Try {
        request: u64,
        /// The id of the transmission, which is also sent to the provider.
        id: String,
        at_ms: u64,
        /// The worst case of its cost in US dollars; absent if it has no bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_cost_usd: Option<f64>,
        /// The maximum number of its input and output tokens; absent if it has no bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_tokens: Option<u64>,
    },
    /// A transmission failed. If a transmission has no such line and its request has neither an
    /// answer nor a failure, the transmission was in flight when the process ended.
    TryFailed {
        request: u64,
        /// The id of the transmission.
        id: String,
        at_ms: u64,
        message: String,
        /// The usage of this transmission. The usage of the request includes it.
        #[serde(flatten)]
        spent: EvalUsage,
    },
    /// A transmission of a request that is a conversation was answered. A resumed run takes the
    /// reply from here instead of sending it again.
    Reply {
        request: u64,
        /// The id of the transmission.
        id: String,
        at_ms: u64,
        /// The fingerprint of what was sent.
        fingerprint: String,
        /// The complete reply.
        reply: Value,
        /// The usage of this transmission. The usage of the request includes it.
        #[serde(flatten)]
        spent: EvalUsage,
    },
    /// Something else that determines what a conversation sends later, such as the output of code.
    Effect {
        request: u64,
        at_ms: u64,
        /// Identifies what the solver did.
        key: String,
        value: Value,
    },
    /// A request was answered.
    Answered {
        request: u64,
        at_ms: u64,
        /// The duration of the request in milliseconds.
        ms: u64,
        #[serde(flatten)]
        target: EvalTarget,
        answer: EvalAnswer,
        #[serde(flatten)]
        spent: EvalUsage,
    },
    /// A request failed without an answer.
    Failed {
        request: u64,
        at_ms: u64,
        /// The duration of the request in milliseconds.
        ms: u64,
        #[serde(flatten)]
        target: EvalTarget,
        /// The kind of failure, by which results count failures.
        kind: EvalFailureKind,
        message: String,
        /// Whether the failure is final, so that the attempts count as unanswered. Otherwise they
        /// remain open, and a resumed run requests them again.
        lasting: bool,
        /// The usage of the request. A failed request can cost money too.
        #[serde(flatten)]
        spent: EvalUsage,
    },
    /// The process ended without a crash.
    Ended { at_ms: u64, reason: EvalEnd },
}

/// The target of a request: tests of a task, and one or more attempts at each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EvalTarget {
    /// The name of the set.
    pub set: String,
    /// The id of the task.
    pub task: String,
    /// The indices of the tests, from 0.
    pub tests: Vec<usize>,
    /// The numbers of the attempts, from 1.
    pub attempts: Vec<usize>,
}

/// The answer to a request: one text for the whole target, or grids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalAnswer {
    /// The text of a model. For several tests it contains a list of grids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The grids of a solver that returns grids instead of text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grids: Vec<EvalGrid>,
    /// The reasoning of the model, if the provider returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the text ended early, for example because of the token limit or a refusal. Absent if the
    /// text is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
}

/// A grid as the answer to one attempt at a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalGrid {
    /// The index of the test, from 0.
    pub test: usize,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// The rows of the grid; absent if the solver has no answer to this attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Vec<Vec<u8>>>,
    /// How the solver found the grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The tokens and cost of a request, summed over its transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalUsage {
    /// Input tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Input tokens that were read from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Input tokens that were written to a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Output tokens, including reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Output tokens that were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// The known cost in US dollars, computed from the prices in the model's settings or reported
    /// by the provider.
    #[serde(default, skip_serializing_if = "is_zero_cost")]
    pub cost_usd: f64,
    /// Transmissions whose tokens are known but whose cost is not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced: u64,
    /// Transmissions whose tokens are unknown, for example because the connection broke before the
    /// provider reported them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmeasured: u64,
    /// The maximum additional cost in US dollars of transmissions whose cost is not fully known.
    #[serde(default, skip_serializing_if = "is_zero_cost")]
    pub possibly_paid_usd: f64,
    /// The maximum additional tokens of transmissions whose tokens are not fully known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub possibly_used_tokens: u64,
}

impl EvalUsage {
    /// Returns the sum of input and output tokens.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Formats the cost. An unknown cost is distinguished from a cost of zero.
    ///
    /// ```
    /// use rhae_protocol::EvalUsage;
    ///
    /// let usage = EvalUsage { cost_usd: 0.25, ..EvalUsage::default() };
    /// assert_eq!(usage.cost(), "0.2500 USD");
    /// assert_eq!(EvalUsage { unpriced: 1, ..usage }.cost(), "at least 0.2500 USD");
    /// let killed = EvalUsage { possibly_paid_usd: 0.5, ..usage };
    /// assert_eq!(killed.cost(), "0.2500 USD (possibly paid: up to 0.5000 USD more)");
    /// ```
    pub fn cost(&self) -> String {
        let known = match (self.unpriced, self.cost_usd) {
            (0, usd) => format!("{usd:.4} USD"),
            (_, 0.0) => "cost not known".to_owned(),
            (_, usd) => format!("at least {usd:.4} USD"),
        };
        match self.possibly_paid_usd {
            0.0 => known,
            usd => format!("{known} (possibly paid: up to {usd:.4} USD more)"),
        }
    }

    /// Adds the usage of another request. Counts saturate instead of overflowing.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self
            .cache_write_tokens
            .saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.cost_usd += other.cost_usd;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.unmeasured = self.unmeasured.saturating_add(other.unmeasured);
        self.possibly_paid_usd += other.possibly_paid_usd;
        self.possibly_used_tokens = self
            .possibly_used_tokens
            .saturating_add(other.possibly_used_tokens);
    }
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_zero_cost(number: &f64) -> bool {
    *number == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_lines_are_flat_and_round_trip() {
        let target = EvalTarget {
            set: "s".to_owned(),
            task: "aa".to_owned(),
            tests: vec![0],
            attempts: vec![1],
        };
        let answer = EvalAnswer {
            text: Some("[[1]]".to_owned()),
            ..EvalAnswer::default()
        };
        let spent = EvalUsage {
            input_tokens: 7,
            output_tokens: 3,
            cost_usd: 0.5,
            ..EvalUsage::default()
        };
        let line = EvalLine::Answered {
            request: 4,
            at_ms: 9,
            ms: 2,
            target,
            answer,
            spent,
        };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(
            text,
            r#"{"event":"answered","request":4,"at_ms":9,"ms":2,"set":"s","task":"aa","tests":[0],"attempts":[1],"answer":{"text":"[[1]]"},"input_tokens":7,"output_tokens":3,"cost_usd":0.5}"#
        );
        assert_eq!(serde_json::from_str::<EvalLine>(&text).unwrap(), line);
    }

    #[test]
    fn unknown_cost_differs_from_zero_cost() {
        let mut spent = EvalUsage {
            input_tokens: 7,
            ..EvalUsage::default()
        };
        assert_eq!(spent.cost(), "0.0000 USD");
        spent.add(&EvalUsage {
            unpriced: 1,
            ..EvalUsage::default()
        });
        assert_eq!(spent.cost(), "cost not known");
        spent.add(&EvalUsage {
            cost_usd: 0.25,
            ..EvalUsage::default()
        });
        assert_eq!(spent.cost(), "at least 0.2500 USD");
    }
}
