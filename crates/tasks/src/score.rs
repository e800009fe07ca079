//! Scores: how many tests and tasks a submission solves.
//!
//! Invariant: every denominator comes from the data set. Every task counts exactly once, even if it
//! is missing from the submission, damaged or duplicated, and an answer counts for one test only.
//! Parts of a submission that are ignored are reported as a [`Warning`].

mod scorer;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::Parser;
use crate::error::TasksError;
use crate::set::{Selection, TaskSet};
use crate::share_interval::Interval;
use crate::submission::Submission;
use crate::task::TaskId;

pub(crate) use scorer::align;

/// The scoring rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The number of attempts at a test that are scored.
    pub attempts: usize,
    /// The parser for text answers. It also determines which JSON values are accepted as cells.
    pub parser: Parser,
}

impl Default for Rules {
    /// Two attempts, as in the ARC Prize, and the lenient parser.
    fn default() -> Self {
        Self {
            attempts: 2,
            parser: Parser::Lenient,
        }
    }
}

/// The score of a submission.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The name of the data set.
    pub set: String,
    /// The revision of the complete data set, before any selection.
    pub revision: String,
    /// The name of the parser.
    pub parser: &'static str,
    /// The number of attempts per test that are scored.
    pub attempts: usize,
    /// The number of selected tasks.
    pub tasks: usize,
    /// The number of selected tests.
    pub test_inputs: usize,
    /// The main score: the mean over tasks of the share of solved tests.
    pub mean_task_score: Measure,
    /// The share of tasks with all tests solved.
    pub tasks_solved: Measure,
    /// The share of solved tests.
    pub test_inputs_solved: Measure,
    /// The mean over tasks of the share of tests that the first attempt solved.
    pub pass_at_1: Measure,
    /// The reasons why tests were not solved, most frequent first.
    pub failures: Vec<FailureShare>,
    /// Irregularities of the submission that may affect the score.
    pub warnings: Vec<Warning>,
    /// The scores of the tasks, ordered by id.
    pub results: Vec<TaskScore>,
}

/// A share with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// The share, from 0 to 1.
    pub value: f64,
    /// The numerator, if the share is a ratio of counts; `None` for a mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The denominator: the number of tasks or tests.
    pub of: usize,
    /// The 95 % confidence interval.
    pub interval: Interval,
}

/// The number of tests that failed for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureShare {
    /// The [name](TestOutcome::name) of the outcome.
    pub reason: &'static str,
    /// The number of tests.
    pub count: usize,
    /// The share of all tests.
    pub share: f64,
}

/// An irregularity of a submission, such as a missing task or a duplicate answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// A stable name, for example `missing-task`.
    pub kind: &'static str,
    /// The task, if the warning concerns a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    pub message: String,
}

/// The score of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskScore {
    pub task: TaskId,
    /// The share of the selected tests that were solved.
    pub score: f64,
    /// The share of the selected tests that the first attempt solved.
    pub first_attempt: f64,
    /// Whether all selected tests were solved.
    pub solved: bool,
    /// The outcomes of the selected tests.
    pub tests: Vec<TestScore>,
}

/// The outcome of one test of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestScore {
    /// The index of the test, from 0.
    pub test: usize,
    #[serde(flatten)]
    pub outcome: TestOutcome,
}

/// The outcome of a test.
///
/// If all attempts fail, the outcome is that of the attempt closest to the solution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum TestOutcome {
    /// An attempt equals the solution.
    Solved {
        /// The number of the first such attempt, from 1.
        attempt: usize,
    },
    /// The grid has the right size, but wrong cells.
    WrongCells {
        /// The number of wrong cells.
        cells: usize,
    },
    /// The grid has another size than the solution.
    WrongSize,
    /// The answer contains no grid.
    Unreadable {
        /// The kind of the error, for example `ragged`.
        reason: &'static str,
    },
    /// There is no attempt.
    NoAnswer,
    /// The submission does not contain the task.
    MissingTask,
    /// The entry of the task cannot be read.
    Damaged,
}

impl TestOutcome {
    pub const fn is_solved(&self) -> bool {
        matches!(self, Self::Solved { .. })
    }

    /// Returns the name in tables; for [`Unreadable`](Self::Unreadable), the kind of the error.
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

    /// Returns whether the test has no readable grid at all. In Nejumi's hard mode, an evaluation
    /// stops at the first such test.
    pub const fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. } | Self::NoAnswer | Self::MissingTask | Self::Damaged
        )
    }
}

/// Scores a submission on the selected tests of a set.
///
/// A test is solved if one of the first `rules.attempts` attempts equals its solution in every
/// cell. Tests without a usable answer count as not solved.
///
/// # Errors
///
/// Returns [`TasksError::NoSolution`] if a selected test has no known solution,
/// [`TasksError::NoSuchTask`] if a selected task does not exist, and [`TasksError::NoTasks`] if the
/// selection is empty.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{Rules, SourceFile, Submission, TestOutcome, load, score};
///
/// let file = |name: &str, text: &str| SourceFile { name: name.to_owned(), text: text.to_owned() };
/// let data = r#"{
///     "aa": {"train": [{"input": [[1]], "output": [[2]]}],
///            "test": [{"input": [[3]], "output": [[4]]}, {"input": [[5]], "output": [[6]]}]},
///     "bb": {"train": [{"input": [[1]], "output": [[2]]}],
///            "test": [{"input": [[3]], "output": [[4, 4]]}]}
/// }"#;
/// let set = load(&[file("demo.json", data)])?.sets.remove(0);
/// let answers = r#"{"aa": [{"attempt_1": [[4]]}, {"attempt_1": [[7]], "attempt_2": [[8]]}]}"#;
/// let submission = Submission::read(&[file("submission.json", answers)])?;
///
/// let score = score(&set, &set.all_tests(), &submission, Rules::default())?;
/// // Half of `aa` is solved, and the missing task `bb` counts as 0.
/// assert_eq!(score.mean_task_score.value, 0.25);
/// assert_eq!(score.test_inputs_solved.count, Some(1));
/// assert_eq!(score.results[0].tests[1].outcome, TestOutcome::WrongCells { cells: 1 });
/// assert_eq!(score.warnings[0].kind, "missing-task");
/// # Ok::<(), rhae_tasks::TasksError>(())
/// ```
pub fn score(
    set: &TaskSet,
    selection: &Selection,
    submission: &Submission,
    rules: Rules,
) -> Result<Score, TasksError> {
    let (results, warnings) = scorer::score_tasks(set, selection, submission, rules)?;
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
            interval: Interval::of_mean(value, tasks),
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
            interval: Interval::of_count(solved, tasks),
        },
        test_inputs_solved: Measure {
            value: share,
            count: Some(inputs),
            of: tests,
            interval: Interval::of_tests(share, results.iter().map(|result| result.tests.len())),
        },
        pass_at_1: mean(|result| result.first_attempt),
        failures,
        warnings,
        results,
    })
}

#[cfg(test)]
mod tests;
