//! The results of a run, computed from its journal: grids, scores and costs.
//!
//! **Invariant:** results depend only on the configuration, the data, the journal and the parser.
//! They contain every planned attempt, whether it was answered or not.

mod attempt_failure;
mod tally;
mod task_shape;

use std::collections::BTreeMap;

use rhae_protocol::{EvalConfig, EvalEnd, EvalProtocol, EvalUsage, RunIdentity};
use rhae_tasks::{
    Answers, AttemptAnswer, Grid, ParseError, Parser, Rules, Score, Submission, SubmissionForm,
    TaskId, TestAnswers, parse_whole_task, score,
};
use serde::Serialize;

use crate::EvalError;
use crate::ledger::{Ledger, RequestOutcome};
use crate::plan::PlannedSet;

pub use attempt_failure::{AttemptFailure, FailureReason};
pub(crate) use tally::Tally;
pub use task_shape::TaskShape;

/// The results of a run.
#[derive(Clone, Debug, Serialize)]
pub struct EvalResults {
    pub run_id: String,
    /// The name and version of the software that made the run.
    pub software: String,
    pub solver: String,
    pub protocol: EvalProtocol,
    /// The number of attempts at each test.
    pub attempts: usize,
    /// The name of the parser of answers.
    pub parser: &'static str,
    /// Whether every attempt is answered or has failed permanently.
    pub finished: bool,
    /// The reason why the last process ended; absent if it was killed.
    pub ended: Option<EvalEnd>,
    /// The total working time of all processes.
    pub seconds: f64,
    /// The durations of tasks. The duration of a task is the sum of the durations of its requests.
    pub task_seconds: TaskSeconds,
    /// The number of processes that worked on the run.
    pub processes: usize,
    /// The number of requests that have ended.
    pub requests: usize,
    /// The number of requests that were in flight when a process was killed. They count at their
    /// worst case as possibly paid.
    pub lost_in_flight: usize,
    #[serde(flatten)]
    pub spent: EvalUsage,
    /// The start of the first process and the last line of the journal, as Unix times in
    /// milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    #[serde(flatten)]
    pub identity: RunIdentity,
    pub sets: Vec<SetResult>,
    /// The sizes of all tasks.
    pub task_shapes: Vec<TaskShape>,
    /// All attempts, ordered by set, task, test and attempt.
    #[serde(skip)]
    pub attempt_results: Vec<AttemptResult>,
}

/// The distribution of the durations of tasks, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TaskSeconds {
    pub mean: f64,
    pub median: f64,
    #[serde(rename = "most")]
    pub max: f64,
}

/// The results of one set.
#[derive(Clone, Debug, Serialize)]
pub struct SetResult {
    pub set: String,
    pub revision: String,
    /// The number of selected tasks.
    pub tasks: usize,
    /// The number of selected tests.
    pub test_inputs: usize,
    /// The score; absent if the solutions are unknown.
    pub score: Option<Score>,
    /// The answers in the Kaggle format.
    #[serde(skip)]
    pub submission: serde_json::Value,
}

/// One attempt at one test.
#[derive(Clone, Debug)]
pub struct AttemptResult {
    pub set: String,
    pub task: TaskId,
    /// The index of the test, from 0.
    pub test: usize,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// The number of the request that closed the attempt; `None` if it is open.
    pub request: Option<u64>,
    pub grid: Result<Grid, AttemptFailure>,
    /// The way in which the parser found the grid, or the solver's note about it.
    pub how: Option<String>,
    /// The text of the answer, if it is a text.
    pub text: Option<String>,
    pub reasoning: Option<String>,
    /// Whether the grid matches the solution; `None` if the solution is unknown.
    pub right: Option<bool>,
    /// The duration of the request in milliseconds.
    pub ms: u64,
    /// The usage of the request. If a request closed several attempts, only the first of them
    /// carries the usage, so that it is not counted twice.
    pub spent: EvalUsage,
}

impl EvalResults {
    /// Returns the mean of the headline scores of all sets, or `None` if a set is not scored. The
    /// headline is the share of solved tasks under the protocol `plan`, and the mean task score
    /// otherwise.
    pub fn average(&self) -> Option<f64> {
        let plan = self.protocol == EvalProtocol::Plan;
        let headline = |score: &Score| {
            if plan {
                score.tasks_solved.value
            } else {
                score.mean_task_score.value
            }
        };
        let values: Option<Vec<f64>> = self
            .sets
            .iter()
            .map(|set| set.score.as_ref().map(headline))
            .collect();
        values
            .filter(|values| !values.is_empty())
            .map(|values| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// Computes the results of a run from its ledger.
///
/// # Errors
///
/// Returns an error if the selection does not match the set.
pub fn assemble(
    config: &EvalConfig,
    sets: &[PlannedSet],
    ledger: &Ledger,
    parser: Parser,
) -> Result<EvalResults, EvalError> {
    let mut attempt_results = Vec::new();
    let mut results = Vec::new();
    for planned in sets {
        let first = attempt_results.len();
        collect(
            planned,
            config.attempts,
            ledger,
            parser,
            &mut attempt_results,
        );
        let submission = submission(planned, &attempt_results[first..], config.attempts);
        let rules = Rules {
            attempts: config.attempts,
            parser,
        };
        let score = if planned.is_solved() && !planned.selection.is_empty() {
            Some(score(&planned.set, &planned.selection, &submission, rules)?)
        } else {
            None
        };
        let selected = planned.set.select(&planned.selection)?;
        results.push(SetResult {
            set: planned.set.name.clone(),
            revision: planned.set.revision(),
            tasks: planned.selection.len(),
            test_inputs: planned.tests(),
            score,
            submission: submission_of(&selected, planned, &submission, rules),
        });
    }
    let finished = attempt_results
        .iter()
        .all(|attempt| attempt.request.is_some());
    Ok(EvalResults {
        run_id: config.run_id.clone(),
        software: config.software.clone(),
        solver: config.solver.clone(),
        protocol: config.protocol,
        attempts: config.attempts,
        parser: parser.name(),
        finished,
        ended: ledger.ended.clone(),
        seconds: ledger.seconds(),
        task_seconds: task_seconds(ledger),
        processes: ledger.processes,
        requests: ledger
            .requests
            .values()
            .filter(|record| record.outcome.is_some())
            .count(),
        lost_in_flight: ledger.in_flight().count(),
        spent: ledger.spent(),
        started_ms: ledger.started_ms,
        ended_ms: ledger.last_ms,
        identity: config.identity.clone(),
        sets: results,
        task_shapes: sets.iter().flat_map(task_shape::task_shapes).collect(),
        attempt_results,
    })
}

fn task_seconds(ledger: &Ledger) -> TaskSeconds {
    let mut by_task: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for record in ledger.requests.values() {
        *by_task
            .entry((&record.target.set, &record.target.task))
            .or_default() += record.ms;
    }
    let mut all: Vec<f64> = by_task.into_values().map(|ms| ms as f64 / 1000.0).collect();
    all.sort_by(f64::total_cmp);
    let Some(&max) = all.last() else {
        return TaskSeconds::default();
    };
    TaskSeconds {
        mean: all.iter().sum::<f64>() / all.len() as f64,
        median: all[all.len() / 2],
        max,
    }
}

/// Appends all attempts of a set with their grids to `attempt_results`.
fn collect(
    planned: &PlannedSet,
    attempts: usize,
    ledger: &Ledger,
    parser: Parser,
    attempt_results: &mut Vec<AttemptResult>,
) {
    let name = &planned.set.name;
    let mut counted: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    for (id, tests) in &planned.selection {
        for &test in tests {
            let solution = planned
                .set
                .tasks
                .get(id)
                .and_then(|task| task.test.get(test)?.output.as_ref());
            for attempt in 1..=attempts {
                let slot =
                    ledger
                        .closed_attempts
                        .get(&(name.clone(), id.to_string(), test, attempt));
                let record = slot.and_then(|slot| {
                    ledger
                        .requests
                        .get(&slot.request)
                        .map(|record| (slot.request, record))
                });
                let mut result = AttemptResult {
                    set: name.clone(),
                    task: id.clone(),
                    test,
                    attempt,
                    request: record.map(|(number, _)| number),
                    grid: Err(AttemptFailure::new(
                        FailureReason::NotAsked,
                        "the run ended before the request was sent",
                    )),
                    how: None,
                    text: None,
                    reasoning: None,
                    right: None,
                    ms: 0,
                    spent: EvalUsage::default(),
                };
                if let Some((number, record)) = record {
                    result.ms = record.ms;
                    if counted.insert(number) {
                        result.spent = record.spent;
                    }
                    read_grid(&mut result, record, parser);
                }
                result.right = solution
                    .map(|solution| result.grid.as_ref().is_ok_and(|grid| grid == solution));
                attempt_results.push(result);
            }
        }
    }
}

/// Extracts the grid of an attempt from the outcome of its request.
fn read_grid(result: &mut AttemptResult, record: &crate::RequestRecord, parser: Parser) {
    match &record.outcome {
        Some(RequestOutcome::Answer(answer)) => {
            result.reasoning.clone_from(&answer.reasoning);
            let found = answer
                .grids
                .iter()
                .find(|grid| (grid.test, grid.attempt) == (result.test, result.attempt));
            if let Some(found) = found {
                result.how.clone_from(&found.note);
                result.grid = match &found.grid {
                    Some(rows) => Grid::new(rows).map_err(AttemptFailure::from),
                    None => Err(AttemptFailure::new(
                        FailureReason::NoAnswer,
                        "the solver has no further answer",
                    )),
                };
            } else if let Some(text) = &answer.text {
                result.text = Some(text.clone());
                let position = record
                    .target
                    .tests
                    .iter()
                    .position(|&test| test == result.test)
                    .unwrap_or(0);
                result.grid = match parse_whole_task(parser, text, record.target.tests.len()) {
                    Ok(parsed) => {
                        let (start, end) = (parsed.span.start, parsed.span.end);
                        result.how = Some(format!("{}, bytes {start} to {end}", parsed.source));
                        let found = parsed.grids.len();
                        parsed.grids.into_iter().nth(position).ok_or_else(|| {
                            let expected = record.target.tests.len();
                            let error = ParseError::Count { found, expected };
                            AttemptFailure::unreadable(error, None)
                        })
                    }
                    Err(error) => Err(AttemptFailure::unreadable(error, answer.finish.as_deref())),
                };
            } else {
                let reason = match &answer.finish {
                    Some(finish) => format!("the solver has no answer: {finish}"),
                    None => "the solver has no answer".to_owned(),
                };
                result.grid = Err(AttemptFailure::new(FailureReason::NoAnswer, reason));
            }
        }
        Some(RequestOutcome::Failure(kind, message, _)) => {
            let reason = FailureReason::Request(*kind);
            result.grid = Err(AttemptFailure::new(reason, message));
        }
        None => {}
    }
}

/// Creates a submission for all tests of a set from the attempts.
fn submission(
    planned: &PlannedSet,
    attempt_results: &[AttemptResult],
    attempts: usize,
) -> Submission {
    let mut tasks: BTreeMap<TaskId, Answers> = BTreeMap::new();
    for id in planned.selection.keys() {
        let tests = planned.set.tasks.get(id).map_or(0, |task| task.test.len());
        let empty = |index| TestAnswers {
            attempts: vec![AttemptAnswer::Empty; attempts],
            pair_index: Some(index),
        };
        let mut answers: Vec<TestAnswers> = (0..tests).map(empty).collect();
        for attempt in attempt_results.iter().filter(|attempt| attempt.task == *id) {
            answers[attempt.test].attempts[attempt.attempt - 1] = match &attempt.grid {
                Ok(grid) => AttemptAnswer::Json(grid.to_json()),
                Err(failure) => match &failure.reason {
                    FailureReason::NoAnswer => AttemptAnswer::Empty,
                    reason => AttemptAnswer::Failed(reason.name()),
                },
            };
        }
        tasks.insert(id.clone(), Answers::Tests(answers));
    }
    Submission {
        form: SubmissionForm::Kaggle,
        tasks,
        duplicates: Vec::new(),
        notes: Vec::new(),
    }
}

/// Returns the answers to the selected tests in the Kaggle format.
fn submission_of(
    selected: &rhae_tasks::TaskSet,
    planned: &PlannedSet,
    submission: &Submission,
    rules: Rules,
) -> serde_json::Value {
    let mut part = submission.clone();
    for (id, answers) in &mut part.tasks {
        if let (Answers::Tests(answers), Some(tests)) = (answers, planned.selection.get(id)) {
            answers.retain(|answer| answer.pair_index.is_some_and(|test| tests.contains(&test)));
            for (index, answer) in answers.iter_mut().enumerate() {
                answer.pair_index = Some(index);
            }
        }
    }
    part.to_kaggle(selected, rules)
}
