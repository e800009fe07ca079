//! Answers that were given before: those of another run, or of a submission.

use std::collections::BTreeMap;

use rhae_protocol::{EvalAnswer, EvalGrid, EvalLine};
use rhae_tasks::{Answers, Grid, Parser, Reply, Submission};

use super::{FailureKind, Outcome, Question, Solver, Unit, Watch};
use crate::ledger::{Given, Ledger};

/// Gives recorded answers again. It spends nothing, whatever they once cost.
#[derive(Debug)]
pub struct Replay {
    /// By task, test and attempt. Sets may have got other names, so they do not count.
    answers: BTreeMap<(String, usize, usize), EvalAnswer>,
    unit: Unit,
}

impl Replay {
    /// The answers of a journal.
    pub fn of_journal(lines: &[EvalLine]) -> Self {
        let ledger = Ledger::of_lines(lines);
        let mut answers = BTreeMap::new();
        let mut whole = false;
        for ((_, task, test, attempt), slot) in &ledger.slots {
            let Some(record) = ledger.requests.get(&slot.request) else {
                continue;
            };
            let Some(Given::Answer(answer)) = &record.given else {
                continue;
            };
            whole |= answer.text.is_some() && record.asked.tests.len() > 1;
            let mut answer = answer.clone();
            answer
                .grids
                .retain(|grid| grid.test == *test && grid.attempt == *attempt);
            answers.insert((task.clone(), *test, *attempt), answer);
        }
        Self {
            answers,
            unit: if whole { Unit::Task } else { Unit::Attempt },
        }
    }

    /// Adds the answers of another recording, as of another part of the tasks. Where both have one, the first counts.
    pub fn join(&mut self, other: Self) {
        for (key, answer) in other.answers {
            self.answers.entry(key).or_insert(answer);
        }
        if other.unit == Unit::Task {
            self.unit = Unit::Task;
        }
    }

    /// The answers of a submission.
    pub fn of_submission(submission: &Submission) -> Self {
        let mut answers = BTreeMap::new();
        let mut unit = Unit::Attempt;
        for (id, given) in &submission.tasks {
            match given {
                Answers::Whole(text) => {
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

fn recorded(reply: &Reply, test: usize, attempt: usize) -> Option<EvalAnswer> {
    match reply {
        Reply::Nothing | Reply::Failed(_) => None,
        Reply::Text(text) => Some(EvalAnswer {
            text: Some(text.clone()),
            ..EvalAnswer::default()
        }),
        Reply::Json(value) => match Grid::from_json(value, Parser::Lenient.cells()) {
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
            // What is no grid is read, and refused, as a text.
            Err(_) => Some(EvalAnswer {
                text: Some(value.to_string()),
                ..EvalAnswer::default()
            }),
        },
    }
}

impl Solver for Replay {
    fn unit(&self) -> Unit {
        self.unit
    }

    fn answer(&self, question: &Question<'_>, _watch: &Watch<'_>) -> Outcome {
        let (test, attempt) = (question.tests[0], question.attempts[0]);
        let key = (question.id.to_string(), test, attempt);
        match self.answers.get(&key) {
            Some(answer) => Outcome::free(answer.clone()),
            None => Outcome::failure(
                FailureKind::NotRecorded,
                format!(
                    "the recording has no attempt {attempt} at test {} of `{}`",
                    test + 1,
                    question.id
                ),
            ),
        }
    }
}
