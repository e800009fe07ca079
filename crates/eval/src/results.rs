//! From a journal to results: the grids in the answers, the scores, the costs.
//!
//! Invariant: results depend on data, journal and parser alone. Every attempt that was asked for is there, answered or not.

mod tally;

use std::collections::BTreeMap;

use rhae_protocol::{EvalConfig, EvalSpent};
use rhae_tasks::{
    Answers, Grid, Parser, Reply, Rules, Score, Submission, SubmissionForm, TaskId, TestAnswers,
    parse_whole, score,
};
use serde::Serialize;

use crate::EvalError;
use crate::ledger::{Given, Ledger};
use crate::plan::PlannedSet;
use crate::solver::FailureKind;

pub(crate) use tally::Tally;

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub struct EvalResults {
    /// The run's id.
    pub run_id: String,
    /// What made it.
    pub software: String,
    /// The solver.
    pub solver: String,
    /// Whose rules.
    pub protocol: String,
    /// Attempts at each test.
    pub attempts: usize,
    /// How answers were read.
    pub parser: &'static str,
    /// Whether every attempt has an answer or a lasting failure.
    pub finished: bool,
    /// Why the last process ended; absent if it was killed.
    pub ended: Option<String>,
    /// Seconds that processes were at work.
    pub seconds: f64,
    /// The longest and the mean time of a task: the sum of its requests' seconds, as if they were made one after the other.
    pub task_seconds: TaskSeconds,
    /// How many processes worked on it.
    pub processes: usize,
    /// Requests that have ended.
    pub requests: usize,
    /// Requests that were in flight when a process was killed; what they cost is not known.
    pub lost_in_flight: usize,
    /// Tokens and money.
    #[serde(flatten)]
    pub spent: EvalSpent,
    /// Set by set.
    pub sets: Vec<SetResult>,
    /// Every attempt, in order.
    #[serde(skip)]
    pub tries: Vec<AttemptResult>,
}

/// How long tasks took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TaskSeconds {
    /// The mean.
    pub mean: f64,
    /// The middle one.
    pub median: f64,
    /// The longest.
    pub most: f64,
}

/// A set's part of the results.
#[derive(Clone, Debug, Serialize)]
pub struct SetResult {
    /// The set.
    pub set: String,
    /// Its revision.
    pub revision: String,
    /// Tasks that count.
    pub tasks: usize,
    /// Tests that count.
    pub test_inputs: usize,
    /// The score; absent if solutions are not known.
    pub score: Option<Score>,
    /// Kaggle's form of the answers.
    #[serde(skip)]
    pub submission: serde_json::Value,
}

/// One attempt at one test.
#[derive(Clone, Debug)]
pub struct AttemptResult {
    /// The set.
    pub set: String,
    /// The task.
    pub task: TaskId,
    /// The test, from 0.
    pub test: usize,
    /// The attempt, from 1.
    pub attempt: usize,
    /// The request that decided it; absent if there is none yet.
    pub request: Option<u64>,
    /// The grid, or the kind of fault and what is known about it.
    pub grid: Result<Grid, (&'static str, String)>,
    /// How the grid was found in a text, or how the solver came to it.
    pub how: Option<String>,
    /// The text, where the answer was one.
    pub text: Option<String>,
    /// The thoughts that came with it.
    pub reasoning: Option<String>,
    /// Whether it is right, where the solution is known.
    pub right: Option<bool>,
    /// How long the request took, in milliseconds.
    pub ms: u64,
    /// What the request cost; nothing for all but the first attempt that it decided.
    pub spent: EvalSpent,
}

impl EvalResults {
    /// The mean of the sets' headlines, where all are scored.
    pub fn average(&self) -> Option<f64> {
        let plan = self.protocol == "plan";
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

/// Makes the results of a run.
pub fn assemble(
    config: &EvalConfig,
    sets: &[PlannedSet],
    ledger: &Ledger,
    parser: Parser,
) -> Result<EvalResults, EvalError> {
    let mut tries = Vec::new();
    let mut results = Vec::new();
    for planned in sets {
        let first = tries.len();
        collect(planned, config.attempts, ledger, parser, &mut tries);
        let submission = submission(planned, &tries[first..], config.attempts);
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
    let finished = tries.iter().all(|attempt| attempt.request.is_some());
    Ok(EvalResults {
        run_id: config.run_id.clone(),
        software: config.software.clone(),
        solver: config.solver.clone(),
        protocol: config.protocol.clone(),
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
            .filter(|record| record.given.is_some())
            .count(),
        lost_in_flight: ledger.in_flight().count(),
        spent: ledger.spent(),
        sets: results,
        tries,
    })
}

fn task_seconds(ledger: &Ledger) -> TaskSeconds {
    let mut by_task: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for record in ledger.requests.values() {
        *by_task
            .entry((&record.asked.set, &record.asked.task))
            .or_default() += record.ms;
    }
    let mut all: Vec<f64> = by_task.into_values().map(|ms| ms as f64 / 1000.0).collect();
    all.sort_by(f64::total_cmp);
    let Some(&most) = all.last() else {
        return TaskSeconds::default();
    };
    TaskSeconds {
        mean: all.iter().sum::<f64>() / all.len() as f64,
        median: all[all.len() / 2],
        most,
    }
}

/// Every attempt of a set that counts, with its grid.
fn collect(
    planned: &PlannedSet,
    attempts: usize,
    ledger: &Ledger,
    parser: Parser,
    tries: &mut Vec<AttemptResult>,
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
                let slot = ledger
                    .slots
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
                    grid: Err(("not-asked", "the run ended before it was asked".to_owned())),
                    how: None,
                    text: None,
                    reasoning: None,
                    right: None,
                    ms: 0,
                    spent: EvalSpent::default(),
                };
                if let Some((number, record)) = record {
                    result.ms = record.ms;
                    if counted.insert(number) {
                        result.spent = record.spent;
                    }
                    read(&mut result, record, parser);
                }
                result.right = solution
                    .map(|solution| result.grid.as_ref().is_ok_and(|grid| grid == solution));
                tries.push(result);
            }
        }
    }
}

/// Finds the grid of an attempt in what came of its request.
fn read(result: &mut AttemptResult, record: &crate::RequestRecord, parser: Parser) {
    match &record.given {
        Some(Given::Answer(answer)) => {
            result.reasoning.clone_from(&answer.reasoning);
            let found = answer
                .grids
                .iter()
                .find(|grid| (grid.test, grid.attempt) == (result.test, result.attempt));
            if let Some(found) = found {
                result.how.clone_from(&found.note);
                result.grid = match &found.grid {
                    Some(rows) => {
                        Grid::new(rows).map_err(|fault| (fault.kind(), fault.to_string()))
                    }
                    None => Err(("no-answer", "the solver has no further answer".to_owned())),
                };
            } else if let Some(text) = &answer.text {
                result.text = Some(text.clone());
                let position = record
                    .asked
                    .tests
                    .iter()
                    .position(|&test| test == result.test)
                    .unwrap_or(0);
                result.grid = match parse_whole(parser, text, record.asked.tests.len()) {
                    Ok(parsed) => {
                        let (start, end) = (parsed.span.start, parsed.span.end);
                        result.how = Some(format!("{}, bytes {start} to {end}", parsed.how));
                        parsed
                            .grids
                            .into_iter()
                            .nth(position)
                            .ok_or_else(|| ("wrong-count", "a grid is missing".to_owned()))
                    }
                    Err(reason) => Err(match &answer.finish {
                        Some(finish) => (
                            reason.kind(),
                            format!("{reason} (the answer ended with: {finish})"),
                        ),
                        None => (reason.kind(), reason.to_string()),
                    }),
                };
            } else {
                result.grid = Err(("no-answer", "the solver has no answer".to_owned()));
            }
        }
        Some(Given::Failure(kind, message, _)) => {
            result.grid = Err((FailureKind::known(kind), message.clone()))
        }
        None => {}
    }
}

/// The attempts as a submission of the whole set's tests.
fn submission(planned: &PlannedSet, tries: &[AttemptResult], attempts: usize) -> Submission {
    let mut tasks: BTreeMap<TaskId, Answers> = BTreeMap::new();
    for id in planned.selection.keys() {
        let tests = planned.set.tasks.get(id).map_or(0, |task| task.test.len());
        let empty = |index| TestAnswers {
            attempts: vec![Reply::Nothing; attempts],
            pair_index: Some(index),
        };
        let mut answers: Vec<TestAnswers> = (0..tests).map(empty).collect();
        for attempt in tries.iter().filter(|attempt| attempt.task == *id) {
            answers[attempt.test].attempts[attempt.attempt - 1] = match &attempt.grid {
                Ok(grid) => Reply::Json(grid.to_json()),
                Err(("no-answer", _)) => Reply::Nothing,
                Err((kind, _)) => Reply::Failed(kind),
            };
        }
        tasks.insert(id.clone(), Answers::Tests(answers));
    }
    Submission {
        form: SubmissionForm::Kaggle,
        tasks,
        doubled: Vec::new(),
        notes: Vec::new(),
    }
}

/// Kaggle's form of the selected tests.
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
