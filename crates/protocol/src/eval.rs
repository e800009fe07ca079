//! What the folder of an evaluation on static tasks holds: the effective configuration and the journal.
//!
//! Answers are kept as they came. What grid is in a text is found when results are made, so that a journal can be read again with
//! another parser.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of both forms.
pub const EVAL_VERSION: u32 = 1;

/// What was asked for, after defaults: written first, read by `--resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalConfig {
    /// Version of this file's form.
    pub version: u32,
    /// What made the run.
    pub software: String,
    /// The run's id.
    pub run_id: String,
    /// The solver as it was named: `search`, `random`, `replay:FILE`, `model:NAME`.
    pub solver: String,
    /// What its answers depend on: budgets, seeds, a model's settings, hashes of prompts and files.
    pub solver_settings: BTreeMap<String, Value>,
    /// Whose rules: `standard`, `official`, `nejumi` or `plan`.
    pub protocol: String,
    /// Attempts at each test.
    pub attempts: usize,
    /// How answers are read.
    pub parser: String,
    /// Whether the first attempt without a grid ends the run.
    pub stop_at_failure: bool,
    /// Which part of the tasks this run does, as `[part, parts]`, from 1; absent if all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<[usize; 2]>,
    /// The paths that the tasks were loaded from, absolute, each with the name it gives to its set.
    pub data: Vec<String>,
    /// The sets and the tests that count.
    pub sets: Vec<EvalSet>,
    /// Limits at the beginning; a resumed run may have others.
    pub limits: EvalLimits,
}

/// A set and the tests of it that count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalSet {
    /// Its name.
    pub name: String,
    /// Its revision, before any selection.
    pub revision: String,
    /// For each task its tests, from 0.
    pub tests: BTreeMap<String, Vec<usize>>,
}

/// What ends or slows a run; what is absent is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalLimits {
    /// Requests at a time.
    pub concurrency: usize,
    /// Requests begun in a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<f64>,
    /// Seconds for one request, its repetitions included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_seconds: Option<f64>,
    /// Seconds for a task from its first request on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_seconds: Option<f64>,
    /// Seconds for the run, those before an interruption included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_seconds: Option<f64>,
    /// Tokens of the whole run, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Measured spend of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EvalLine {
    /// A process began to work.
    Begun {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// Whether it went on with what others began.
        resumed: bool,
        /// Its limits.
        limits: EvalLimits,
    },
    /// A request is about to be sent. Without a later line of the same number it was in flight when the process ended.
    Sent {
        /// Its number, unique within the run.
        request: u64,
        /// When.
        at_ms: u64,
        /// What it asks for.
        #[serde(flatten)]
        asked: EvalAsked,
    },
    /// One of a request's transmissions is about to go out.
    Try {
        /// The request's number.
        request: u64,
        /// Its own id, which the receiver gets to see as well.
        id: String,
        /// When.
        at_ms: u64,
    },
    /// A transmission that did not lead to an answer. Without this line and without an end of its request it was in flight.
    TryFailed {
        /// The request's number.
        request: u64,
        /// The transmission's id.
        id: String,
        /// When.
        at_ms: u64,
        /// What is known about it.
        message: String,
        /// Tokens and money; they are part of what the request's end says.
        #[serde(flatten)]
        spent: EvalSpent,
    },
    /// The answer to a request.
    Answered {
        /// The request's number.
        request: u64,
        /// When.
        at_ms: u64,
        /// How long it took.
        ms: u64,
        /// What it asked for.
        #[serde(flatten)]
        asked: EvalAsked,
        /// What came back.
        answer: EvalAnswer,
        /// Tokens and money.
        #[serde(flatten)]
        spent: EvalSpent,
    },
    /// A request that gave no answer.
    Failed {
        /// The request's number.
        request: u64,
        /// When.
        at_ms: u64,
        /// How long it took.
        ms: u64,
        /// What it asked for.
        #[serde(flatten)]
        asked: EvalAsked,
        /// The kind of failure, for counts.
        kind: String,
        /// What is known about it.
        message: String,
        /// Whether it counts as an answer that is missing; otherwise the attempts are still open.
        lasting: bool,
        /// Tokens and money, which a failed request costs as well.
        #[serde(flatten)]
        spent: EvalSpent,
    },
    /// The process ended in order.
    Ended {
        /// When.
        at_ms: u64,
        /// Why: `finished`, or what stopped it.
        reason: String,
    },
}

/// What a request asks for: some tests of a task, and one or more attempts at each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EvalAsked {
    /// The set's name.
    pub set: String,
    /// The task.
    pub task: String,
    /// Its tests, from 0.
    pub tests: Vec<usize>,
    /// The attempts, from 1.
    pub attempts: Vec<usize>,
}

/// What came back: a text for all that was asked, or grids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalAnswer {
    /// The text; for several tests it holds a list of grids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Grids of solvers that give grids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grids: Vec<EvalGrid>,
    /// The thoughts that came with the text, where a model shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the text ended, if not because all was said: `length`, or what was said about a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
}

/// A grid as the answer to one attempt at a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalGrid {
    /// The test, from 0.
    pub test: usize,
    /// The attempt, from 1.
    pub attempt: usize,
    /// The rows; absent if there is no answer to this attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Vec<Vec<u8>>>,
    /// How it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Tokens and money of a request, all its repetitions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalSpent {
    /// Tokens in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub input_tokens: u64,
    /// Of these, read from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Of these, written to a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Tokens out, thinking included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_tokens: u64,
    /// Of these, thinking.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Money, by the prices in the model's settings or as the provider reports it, as far as that is known.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub cost_usd: f64,
    /// Repetitions whose tokens are known, but not what they cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced: u64,
    /// Repetitions whose tokens are not known because the connection broke before they came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unmeasured: u64,
}

impl EvalSpent {
    /// Tokens in and out.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The cost in words, which tell what is not known from what costs nothing.
    pub fn cost(&self) -> String {
        match (self.unpriced, self.cost_usd) {
            (0, usd) => format!("{usd:.4} USD"),
            (_, 0.0) => "cost not known".to_owned(),
            (_, usd) => format!("at least {usd:.4} USD"),
        }
    }

    /// Adds what another request spent.
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
    }
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_nothing(number: &f64) -> bool {
    *number == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_flat_and_come_back() {
        let asked = EvalAsked {
            set: "s".to_owned(),
            task: "aa".to_owned(),
            tests: vec![0],
            attempts: vec![1],
        };
        let answer = EvalAnswer {
            text: Some("[[1]]".to_owned()),
            ..EvalAnswer::default()
        };
        let spent = EvalSpent {
            input_tokens: 7,
            output_tokens: 3,
            cost_usd: 0.5,
            ..EvalSpent::default()
        };
        let line = EvalLine::Answered {
            request: 4,
            at_ms: 9,
            ms: 2,
            asked,
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
    fn an_unknown_cost_is_not_nothing() {
        let mut spent = EvalSpent {
            input_tokens: 7,
            ..EvalSpent::default()
        };
        assert_eq!(spent.cost(), "0.0000 USD");
        spent.add(&EvalSpent {
            unpriced: 1,
            ..EvalSpent::default()
        });
        assert_eq!(spent.cost(), "cost not known");
        spent.add(&EvalSpent {
            cost_usd: 0.25,
            ..EvalSpent::default()
        });
        assert_eq!(spent.cost(), "at least 0.2500 USD");
    }
}
