//! The serialised forms of results: of parsing an answer, of checking data or a submission, of
//! scores under a protocol, and of a comparison.

use serde::Serialize;
use serde_json::Value;

use crate::answer::{ParseError, Parser, parse_whole_task};
use crate::compare::{Comparison, compare};
use crate::error::TasksError;
use crate::grid::Grid;
use crate::load::Loaded;
use crate::protocol::Protocol;
use crate::score::{Measure, Rules, Score, Warning, score};
use crate::set::{Selection, TaskSet};
use crate::submission::Submission;

/// The grids in an answer, or the reason why it contains none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum AnswerReport {
    Grids {
        parser: &'static str,
        grids: Vec<Grid>,
        /// How the grids were found.
        how: &'static str,
        /// Byte range in the text; the end is exclusive.
        span: [usize; 2],
        /// A sentence about how the grids were found.
        #[serde(skip)]
        description: String,
    },
    NoGrid {
        parser: &'static str,
        /// A stable name of the reason.
        reason: &'static str,
        message: String,
    },
}

impl AnswerReport {
    /// Parses an answer that covers `tests` tests.
    pub fn new(parser: Parser, text: &str, tests: usize) -> Self {
        match parse_whole_task(parser, text, tests) {
            Ok(answer) => Self::Grids {
                parser: parser.name(),
                grids: answer.grids,
                how: answer.source.name(),
                span: [answer.span.start, answer.span.end],
                description: answer.source.to_string(),
            },
            Err(error) => Self::no_grid(parser, &error),
        }
    }

    fn no_grid(parser: Parser, error: &ParseError) -> Self {
        Self::NoGrid {
            parser: parser.name(),
            reason: error.kind(),
            message: error.to_string(),
        }
    }
}

/// The sizes of all sets of the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataReport {
    pub sets: Vec<SetSummary>,
    pub notes: Vec<String>,
}

/// The size of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetSummary {
    pub set: String,
    pub revision: String,
    pub tasks: usize,
    pub training_pairs: usize,
    pub test_inputs: usize,
    /// Number of tests with a known solution.
    pub solutions: usize,
}

impl DataReport {
    /// Counts the tasks of loaded data.
    pub fn new(loaded: &Loaded) -> Self {
        Self {
            sets: loaded.sets.iter().map(SetSummary::new).collect(),
            notes: loaded.notes.clone(),
        }
    }
}

impl SetSummary {
    fn new(set: &TaskSet) -> Self {
        let (training_pairs, test_inputs) = set.counts();
        let tests = set.tasks.values().flat_map(|task| &task.test);
        Self {
            set: set.name.clone(),
            revision: set.revision(),
            tasks: set.tasks.len(),
            training_pairs,
            test_inputs,
            solutions: tests.filter(|test| test.output.is_some()).count(),
        }
    }
}

/// The result of [`check_submission`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubmissionReport {
    pub set: String,
    pub revision: String,
    pub valid: bool,
    /// Number of tests without a readable answer.
    pub failed_test_inputs: usize,
    pub warnings: Vec<Warning>,
    /// Number of tasks that were checked.
    #[serde(skip)]
    pub tasks: usize,
    /// Number of tests that were checked.
    #[serde(skip)]
    pub test_inputs: usize,
}

/// Checks whether a submission contains every selected task, every test and every attempt that
/// counts, and whether each attempt is a grid. Solutions are not required.
///
/// # Errors
///
/// Returns an error if the selection does not fit the set.
pub fn check_submission(
    set: &TaskSet,
    selection: &Selection,
    submission: &Submission,
    rules: Rules,
) -> Result<SubmissionReport, TasksError> {
    let revision = set.revision();
    // Whether an answer is readable does not depend on the solution, but scoring requires one.
    // Tests without a known solution therefore get a placeholder.
    let placeholder = Grid::new(&[vec![0]]).expect("a grid of one cell is valid");
    let mut set = set.clone();
    for test in set.tasks.values_mut().flat_map(|task| &mut task.test) {
        test.output.get_or_insert_with(|| placeholder.clone());
    }
    let score = score(&set, selection, submission, rules)?;
    let mut warnings = score.warnings;
    let before = warnings.len();
    for result in &score.results {
        let failed = result.tests.iter().filter(|test| test.outcome.is_failure());
        warnings.extend(failed.map(|test| Warning {
            kind: "no-grid",
            task: Some(result.task.clone()),
            message: format!(
                "test {} has no grid: {}",
                test.test + 1,
                test.outcome.name()
            ),
        }));
    }
    Ok(SubmissionReport {
        set: score.set,
        revision,
        // Two identical attempts waste one of them, but the submission is still valid.
        valid: warnings
            .iter()
            .all(|warning| warning.kind == "identical-attempts"),
        failed_test_inputs: warnings.len() - before,
        warnings,
        tasks: score.tasks,
        test_inputs: score.test_inputs,
    })
}

/// Scores under a protocol. One score is flattened into the document; several are listed with their
/// average.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ScoreReport {
    One {
        protocol: &'static str,
        headline: &'static str,
        #[serde(flatten)]
        score: Value,
    },
    Several {
        protocol: &'static str,
        headline: &'static str,
        average: f64,
        scores: Vec<Value>,
    },
}

impl ScoreReport {
    /// Converts scores. Under the protocol `plan`, tasks have that harness's ids, which start with
    /// `arc-`.
    ///
    /// # Errors
    ///
    /// Returns an error if a score cannot be serialised, which a score of [`score()`] always can.
    pub fn new(protocol: Protocol, scores: &[Score]) -> Result<Self, serde_json::Error> {
        let mut values = Vec::new();
        for score in scores {
            let mut value = serde_json::to_value(score)?;
            if protocol == Protocol::Plan
                && let Some(results) = value["results"].as_array_mut()
            {
                for (result, task) in results.iter_mut().zip(&score.results) {
                    result["task"] = Value::from(task.task.problem_id());
                }
            }
            values.push(value);
        }
        let (headline, name) = (protocol.headline(), protocol.name());
        Ok(match values.len() {
            1 => Self::One {
                protocol: name,
                headline,
                score: values.remove(0),
            },
            _ => Self::Several {
                protocol: name,
                headline,
                average: average(protocol, scores),
                scores: values,
            },
        })
    }
}

/// Returns the mean of the headline measures, or NaN if there are no scores.
pub fn average(protocol: Protocol, scores: &[Score]) -> f64 {
    let values = scores.iter().map(|score| protocol.measure(score).value);
    values.sum::<f64>() / scores.len() as f64
}

/// The comparison of two submissions, with their scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonReport {
    pub set: String,
    pub revision: String,
    pub tasks_compared: usize,
    pub first: Measure,
    pub second: Measure,
    #[serde(flatten)]
    pub comparison: Comparison,
}

impl ComparisonReport {
    /// Compares two scores of the same tests.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`compare()`].
    pub fn new(first: &Score, second: &Score) -> Result<Self, TasksError> {
        Ok(Self {
            set: first.set.clone(),
            revision: first.revision.clone(),
            tasks_compared: first.tasks,
            first: first.mean_task_score,
            second: second.mean_task_score,
            comparison: compare(first, second)?,
        })
    }
}
