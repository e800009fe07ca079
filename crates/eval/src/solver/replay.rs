//! A solver that repeats the answers of another run or of a submission.

use std::collections::BTreeMap;

use rhae_protocol::{EvalAnswer, EvalFailureKind, EvalGrid, EvalLine};
use rhae_tasks::{Answers, AttemptAnswer, Grid, Parser, Submission};

use super::{Outcome, Question, RequestContext, Solver, Unit};
use crate::ledger::{Ledger, RequestOutcome};

/// A solver that repeats recorded answers. It reports no usage, whatever the answers cost
/// originally.
#[derive(Debug)]
pub struct ReplaySolver {
    /// The answers by task, test and attempt. The name of the set is ignored, because it may have
    /// changed.
    answers: BTreeMap<(String, usize, usize), EvalAnswer>,
    unit: Unit,
}

impl ReplaySolver {
    /// Creates a solver from the lines of a journal.
    pub fn from_journal(lines: &[EvalLine]) -> Self {
        let ledger = Ledger::from_lines(lines);
        let mut answers = BTreeMap::new();
        let mut answers_whole_tasks = false;
        for ((_, task, test, attempt), closed) in &ledger.closed_attempts {
            let Some(record) = ledger.requests.get(&closed.request) else {
                continue;
            };
            let Some(RequestOutcome::Answer(answer)) = &record.outcome else {
                continue;
            };
            answers_whole_tasks |= answer.text.is_some() && record.target.tests.len() > 1;
            let mut answer = answer.clone();
            answer
                .grids
                .retain(|grid| grid.test == *test && grid.attempt == *attempt);
            answers.insert((task.clone(), *test, *attempt), answer);
        }
        Self {
            answers,
            unit: if answers_whole_tasks {
                Unit::Task
            } else {
                Unit::Attempt
            },
        }
    }

    /// Adds the answers of another recording, for example of another shard. If both answer an
    /// attempt, the first recording counts.
    pub fn join(&mut self, other: Self) {
        for (key, answer) in other.answers {
            self.answers.entry(key).or_insert(answer);
        }
        if other.unit == Unit::Task {
            self.unit = Unit::Task;
        }
    }

    /// Creates a solver from a submission.
    pub fn from_submission(submission: &Submission) -> Self {
        let mut answers = BTreeMap::new();
        let mut unit = Unit::Attempt;
        for (id, given) in &submission.tasks {
            match given {
                Answers::WholeTask(text) => {
                    unit = Unit::Task;
                    let answer = EvalAnswer {
                        text: Some(text.clone()),
                        ..EvalAnswer::default()
                    };
                    answers.insert((id.to_string(), 0, 1), answer);
                }
                Answers::Tests(tests) => {
                    for (position, test) in tests.iter().enumerate() {
                        let index = test.pair_index.unwrap_or(position);
                        for (attempt, reply) in test.attempts.iter().enumerate() {
                            if let Some(answer) = recorded(reply, index, attempt + 1) {
                                answers
                                    .entry((id.to_string(), index, attempt + 1))
                                    .or_insert(answer);
                            }
                        }
                    }
                }
                Answers::Damaged(_) => {}
            }
        }
        Self { answers, unit }
    }
}

fn recorded(reply: &AttemptAnswer, test: usize, attempt: usize) -> Option<EvalAnswer> {
    match reply {
        AttemptAnswer::Empty | AttemptAnswer::Failed(_) => None,
        AttemptAnswer::Text(text) => Some(EvalAnswer {
            text: Some(text.clone()),
            ..EvalAnswer::default()
        }),
        AttemptAnswer::Json(value) => match Grid::from_json(value, Parser::Lenient.cells()) {
            Ok(grid) => {
                let grid = Some(grid.rows().map(<[u8]>::to_vec).collect());
                Some(EvalAnswer {
                    grids: vec![EvalGrid {
                        test,
                        attempt,
                        grid,
                        note: None,
                    }],
                    ..EvalAnswer::default()
                })
            }
            // A value that is not a grid becomes a text, which the parser rejects.
            Err(_) => Some(EvalAnswer {
                text: Some(value.to_string()),
                ..EvalAnswer::default()
            }),
        },
    }
}

impl Solver for ReplaySolver {
    fn unit(&self) -> Unit {
        self.unit
    }

    fn answer(&self, question: &Question<'_>, _context: &RequestContext<'_>) -> Outcome {
        let (test, attempt) = (question.tests[0], question.attempts[0]);
        let key = (question.id.to_string(), test, attempt);
        match self.answers.get(&key) {
            Some(answer) => Outcome::free(answer.clone()),
            None => Outcome::failure(
                EvalFailureKind::NotRecorded,
                format!(
                    "the recording has no attempt {attempt} at test {} of `{}`",
                    test + 1,
                    question.id
                ),
            ),
        }
    }
}
