//! Scores: how many tests, and tasks, a submission solves.
//!
//! Invariant: every denominator comes from the data set. A task that is missing, damaged or doubled counts once, and an answer counts
//! for one test only. What was ignored is a [`Warning`].

mod judge;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::Parser;
use crate::error::TasksError;
use crate::interval::{Interval, clopper_pearson_95, wilson_95, wilson_clustered_95};
use crate::set::{Selection, TaskSet};
use crate::submission::Submission;
use crate::task::TaskId;

pub(crate) use judge::aligned;

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How many attempts at a test count.
    pub attempts: usize,
    /// How answers that are texts are read, and which values are cells.
    pub parser: Parser,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            attempts: 2,
            parser: Parser::Lenient,
        }
    }
}

/// A submission's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The data set's name.
    pub set: String,
    /// The data set's revision, before any selection.
    pub revision: String,
    /// How answers were read.
    pub parser: &'static str,
    /// How many attempts counted.
    pub attempts: usize,
    /// Tasks that count.
    pub tasks: usize,
    /// Tests that count.
    pub test_inputs: usize,
    /// The headline: the mean over tasks of the share of tests solved.
    pub mean_task_score: Measure,
    /// Tasks with all tests solved.
    pub tasks_solved: Measure,
    /// Tests solved.
    pub test_inputs_solved: Measure,
    /// The mean over tasks of the share of tests that the first attempt solved.
    pub pass_at_1: Measure,
    /// Why tests were not solved, most frequent first.
    pub failures: Vec<FailureShare>,
    /// What a reader of the score must know.
    pub warnings: Vec<Warning>,
    /// Task by task.
    pub results: Vec<TaskScore>,
}

/// A share with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// The share, from 0 to 1.
    pub value: f64,
    /// The count behind it, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Of how many.
    pub of: usize,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// How many tests failed for a reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureShare {
    /// The reason.
    pub reason: &'static str,
    /// Tests.
    pub count: usize,
    /// Their share of all tests.
    pub share: f64,
}

/// Something that a reader of the score must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What kind of thing.
    pub kind: &'static str,
    /// Which task, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// What it is.
    pub message: String,
}

/// A task's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskScore {
    /// The task.
    pub task: TaskId,
    /// The share of its tests that were solved.
    pub score: f64,
    /// The share of its tests that the first attempt solved.
    pub first_attempt: f64,
    /// Whether all tests were solved.
    pub solved: bool,
    /// Test by test.
    pub tests: Vec<TestScore>,
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestScore {
    /// The test, from 0.
    pub test: usize,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What became of a test; of several failed attempts the one that came nearest tells why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// An attempt equals the solution.
    Solved {
        /// The first that does, from 1.
        attempt: usize,
    },
    /// Of the right size, with wrong cells.
    WrongCells {
        /// How many.
        cells: usize,
    },
    /// Of another size.
    WrongSize,
    /// An answer without a grid.
    Unreadable {
        /// The kind of fault.
        reason: &'static str,
    },
    /// No attempt.
    NoAnswer,
    /// The submission does not have the task.
    MissingTask,
    /// The task's entry cannot be read.
    Damaged,
}

impl Outcome {
    /// Whether the test was solved.
    pub const fn is_solved(&self) -> bool {
        matches!(self, Self::Solved { .. })
    }

    /// The name in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Solved { .. } => "solved",
            Self::WrongCells { .. } => "wrong-cells",
            Self::WrongSize => "wrong-size",
            Self::Unreadable { reason } => reason,
            Self::NoAnswer => "no-answer",
            Self::MissingTask => "missing-task",
            Self::Damaged => "damaged",
        }
    }

    /// Whether there was no usable answer at all, which Nejumi's hard mode stops at.
    pub const fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. } | Self::NoAnswer | Self::MissingTask | Self::Damaged
        )
    }
}

/// Scores a submission on the selected tests of a set.
pub fn score(
    set: &TaskSet,
    selection: &Selection,
    submission: &Submission,
    rules: Rules,
) -> Result<Score, TasksError> {
    let (results, warnings) = judge::judge(set, selection, submission, rules)?;
    if results.is_empty() {
        return Err(TasksError::NoTasks);
    }
    let tasks = results.len();
    let tests: usize = results.iter().map(|result| result.tests.len()).sum();
    let mean = |value: fn(&TaskScore) -> f64| {
        let value = results.iter().map(value).sum::<f64>() / tasks as f64;
        Measure {
            value,
            count: None,
            of: tasks,
            interval: wilson_95(value, tasks as f64),
        }
    };
    let solved = results.iter().filter(|result| result.solved).count();
    let outcomes = || {
        results
            .iter()
            .flat_map(|result| &result.tests)
            .map(|test| &test.outcome)
    };
    let inputs = outcomes().filter(|outcome| outcome.is_solved()).count();
    let share = inputs as f64 / tests as f64;
    let mut reasons: BTreeMap<&'static str, usize> = BTreeMap::new();
    for outcome in outcomes().filter(|outcome| !outcome.is_solved()) {
        *reasons.entry(outcome.name()).or_default() += 1;
    }
    let mut failures: Vec<FailureShare> = reasons
        .into_iter()
        .map(|(reason, count)| FailureShare {
            reason,
            count,
            share: count as f64 / tests as f64,
        })
        .collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    Ok(Score {
        set: set.name.clone(),
        revision: set.revision(),
        parser: rules.parser.name(),
        attempts: rules.attempts,
        tasks,
        test_inputs: tests,
        mean_task_score: mean(|result| result.score),
        tasks_solved: Measure {
            value: solved as f64 / tasks as f64,
            count: Some(solved),
            of: tasks,
            interval: clopper_pearson_95(solved, tasks),
        },
        test_inputs_solved: Measure {
            value: share,
            count: Some(inputs),
            of: tests,
            interval: wilson_clustered_95(share, results.iter().map(|result| result.tests.len())),
        },
        pass_at_1: mean(|result| result.first_attempt),
        failures,
        warnings,
        results,
    })
}

#[cfg(test)]
mod tests;
