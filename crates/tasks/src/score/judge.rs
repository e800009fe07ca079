//! What became of each test, and what was ignored on the way.

use crate::answer::{parse, parse_whole};
use crate::error::TasksError;
use crate::grid::Grid;
use crate::set::{Selection, TaskSet};
use crate::submission::{Answers, Reply, Submission, TestAnswers};
use crate::task::{Task, TaskId};

use super::{Outcome, Rules, TaskScore, TestScore, Warning};

/// Answers put to the tests they are for.
pub(crate) struct Aligned<'a> {
    /// One place for each test.
    pub(crate) slots: Vec<Option<&'a TestAnswers>>,
    /// Answers to a test that has one already.
    doubled: usize,
    /// Answers to tests that do not exist.
    beyond: usize,
    /// Whether the file's order is not that of the tests.
    moved: bool,
}

/// Puts answers to tests: to the test that an answer names, else to the one at its position. The first answer to a test counts.
pub(crate) fn aligned(answers: &[TestAnswers], tests: usize) -> Aligned<'_> {
    let mut aligned = Aligned {
        slots: vec![None; tests],
        doubled: 0,
        beyond: 0,
        moved: false,
    };
    for (position, answer) in answers.iter().enumerate() {
        let index = answer.pair_index.unwrap_or(position);
        match aligned.slots.get_mut(index) {
            None => aligned.beyond += 1,
            Some(slot @ None) => {
                *slot = Some(answer);
                aligned.moved |= index != position;
            }
            Some(_) => aligned.doubled += 1,
        }
    }
    aligned
}

pub(super) fn judge(
    set: &TaskSet,
    selection: &Selection,
    submission: &Submission,
    rules: Rules,
) -> Result<(Vec<TaskScore>, Vec<Warning>), TasksError> {
    let mut judge = Judge {
        rules,
        warnings: Vec::new(),
        other_counts: 0,
        identical: 0,
    };
    let mut results = Vec::new();
    for (id, tests) in selection.iter().filter(|(_, tests)| !tests.is_empty()) {
        let task = set.task(id)?;
        let solutions = tests.iter().map(|&test| {
            let output = task.test.get(test).and_then(|test| test.output.as_ref());
            let missing = || TasksError::NoSolution {
                set: set.name.clone(),
                task: id.to_string(),
                test: test + 1,
            };
            output.map(|output| (test, output)).ok_or_else(missing)
        });
        let solutions: Vec<(usize, &Grid)> = solutions.collect::<Result<_, _>>()?;
        results.push(judge.task(id, task, &solutions, submission.tasks.get(id)));
    }
    let unknown: Vec<&TaskId> = submission
        .tasks
        .keys()
        .filter(|id| !set.tasks.contains_key(*id))
        .collect();
    judge.whole(set, submission, &unknown);
    Ok((results, judge.warnings))
}

struct Judge {
    rules: Rules,
    warnings: Vec<Warning>,
    /// Tasks with another number of answers than tests.
    other_counts: usize,
    /// Tests whose attempts are all the same.
    identical: usize,
}

impl Judge {
    fn warn(&mut self, kind: &'static str, task: Option<&TaskId>, message: impl Into<String>) {
        self.warnings.push(Warning {
            kind,
            task: task.cloned(),
            message: message.into(),
        });
    }

    fn task(
        &mut self,
        id: &TaskId,
        task: &Task,
        solutions: &[(usize, &Grid)],
        answers: Option<&Answers>,
    ) -> TaskScore {
        let all = |outcome: Outcome| vec![(outcome, false); solutions.len()];
        let outcomes = match answers {
            None => {
                self.warn(
                    "missing-task",
                    Some(id),
                    "not in the submission; it counts as not solved",
                );
                all(Outcome::MissingTask)
            }
            Some(Answers::Damaged(reason)) => {
                self.warn(
                    "damaged",
                    Some(id),
                    format!("it counts as not solved: {reason}"),
                );
                all(Outcome::Damaged)
            }
            Some(Answers::Whole(text)) => {
                match parse_whole(self.rules.parser, text, task.test.len()) {
                    Ok(answer) => solutions
                        .iter()
                        .map(|&(test, solution)| {
                            let outcome = compare(&answer.grids[test], solution, 1);
                            let first = outcome.is_solved();
                            (outcome, first)
                        })
                        .collect(),
                    Err(reason) => all(Outcome::Unreadable {
                        reason: reason.kind(),
                    }),
                }
            }
            Some(Answers::Tests(answers)) => self.tests(id, task, solutions, answers),
        };
        let count = |wanted: fn(&(Outcome, bool)) -> bool| {
            outcomes.iter().filter(|outcome| wanted(outcome)).count()
        };
        let (solved, first, of) = (
            count(|outcome| outcome.0.is_solved()),
            count(|outcome| outcome.1),
            outcomes.len(),
        );
        let tests = solutions
            .iter()
            .zip(outcomes)
            .map(|(&(test, _), (outcome, _))| TestScore { test, outcome })
            .collect();
        TaskScore {
            task: id.clone(),
            score: solved as f64 / of as f64,
            first_attempt: first as f64 / of as f64,
            solved: solved == of,
            tests,
        }
    }

    fn tests(
        &mut self,
        id: &TaskId,
        task: &Task,
        solutions: &[(usize, &Grid)],
        answers: &[TestAnswers],
    ) -> Vec<(Outcome, bool)> {
        // Who was given a sample answers its tests alone.
        let sampled = solutions.len() < task.test.len()
            && answers.len() == solutions.len()
            && answers.iter().all(|answer| {
                answer
                    .pair_index
                    .is_none_or(|index| index < solutions.len())
            });
        let expected = if sampled {
            solutions.len()
        } else {
            task.test.len()
        };
        let found = aligned(answers, expected);
        if answers.len() != expected {
            self.other_counts += 1;
        }
        if found.doubled > 0 {
            let message = format!(
                "a test is answered {} times; the first answer counts",
                found.doubled + 1
            );
            self.warn("duplicate-answer", Some(id), message);
        }
        if found.beyond > 0 {
            let (many, noun) = (found.beyond, if expected == 1 { "test" } else { "tests" });
            self.warn(
                "extra-answers",
                Some(id),
                format!("{many} more answers than the {expected} {noun}; they were ignored"),
            );
        }
        if found.moved {
            self.warn("order", Some(id), "the answers are not in the order of the tests; each was put to the test that it names");
        }
        let most = answers
            .iter()
            .map(|answer| answer.attempts.len())
            .max()
            .unwrap_or(0);
        if most > self.rules.attempts {
            let message = format!(
                "{most} attempts, of which the first {} count",
                self.rules.attempts
            );
            self.warn("too-many-attempts", Some(id), message);
        }
        let judged = solutions
            .iter()
            .enumerate()
            .map(|(position, &(test, solution))| {
                let slot = found.slots[if sampled { position } else { test }];
                self.test(solution, slot.map_or(&[], |answers| &answers.attempts))
            });
        judged.collect()
    }

    /// What became of a test, and whether the first attempt solved it.
    fn test(&mut self, solution: &Grid, attempts: &[Reply]) -> (Outcome, bool) {
        let counted = &attempts[..attempts.len().min(self.rules.attempts)];
        if counted.len() > 1
            && !matches!(counted[0], Reply::Nothing | Reply::Failed(_))
            && counted.iter().all(|reply| *reply == counted[0])
        {
            self.identical += 1;
        }
        let outcomes: Vec<Outcome> = counted
            .iter()
            .enumerate()
            .map(|(index, reply)| self.attempt(solution, reply, index + 1))
            .collect();
        let first = outcomes.first().is_some_and(Outcome::is_solved);
        (
            outcomes
                .into_iter()
                .min_by_key(distance)
                .unwrap_or(Outcome::NoAnswer),
            first,
        )
    }

    fn attempt(&self, solution: &Grid, reply: &Reply, attempt: usize) -> Outcome {
        let grid = match reply {
            Reply::Nothing => return Outcome::NoAnswer,
            Reply::Failed(reason) => Err(*reason),
            Reply::Json(value) => {
                Grid::from_json(value, self.rules.parser.cells()).map_err(|fault| fault.kind())
            }
            Reply::Text(text) => match parse(self.rules.parser, text) {
                Ok(answer) => answer.grids.into_iter().next().ok_or("empty"),
                Err(reason) => Err(reason.kind()),
            },
        };
        match grid {
            Ok(grid) => compare(&grid, solution, attempt),
            Err(reason) => Outcome::Unreadable { reason },
        }
    }

    /// What is to be said of the submission as a whole.
    fn whole(&mut self, set: &TaskSet, submission: &Submission, unknown: &[&TaskId]) {
        for id in &submission.doubled {
            self.warn(
                "duplicate-task",
                Some(id),
                "the submission has the task twice; the last entry counts",
            );
        }
        for id in unknown {
            self.warn(
                "unknown-task",
                Some(id),
                format!(
                    "`{}` does not have the task; its answers were ignored",
                    set.name
                ),
            );
        }
        if self.identical > 0 {
            let message = format!(
                "the attempts at {} tests are all the same, so the second was given away",
                self.identical
            );
            self.warn("identical-attempts", None, message);
        }
        if self.other_counts > 0 || !unknown.is_empty() {
            let message = format!(
                "the submission seems to be of another revision than the data ({}): {} tasks have another number of answers than tests, and {} tasks are unknown; \
                 scores of different revisions cannot be compared",
                &set.revision()[..12],
                self.other_counts,
                unknown.len()
            );
            self.warn("other-revision", None, message);
        }
        for note in &submission.notes {
            self.warn("left-out", None, note.clone());
        }
    }
}

fn compare(grid: &Grid, solution: &Grid, attempt: usize) -> Outcome {
    if grid == solution {
        return Outcome::Solved { attempt };
    }
    if !grid.same_size(solution) {
        return Outcome::WrongSize;
    }
    Outcome::WrongCells {
        cells: grid
            .cells()
            .iter()
            .zip(solution.cells())
            .filter(|(cell, right)| cell != right)
            .count(),
    }
}

/// How far an outcome is from a solution, for choosing the attempt that came nearest.
fn distance(outcome: &Outcome) -> (u8, usize) {
    match outcome {
        Outcome::Solved { attempt } => (0, *attempt),
        Outcome::WrongCells { cells } => (1, *cells),
        Outcome::WrongSize => (2, 0),
        Outcome::Unreadable { .. } => (3, 0),
        Outcome::NoAnswer | Outcome::MissingTask | Outcome::Damaged => (4, 0),
    }
}
