//! Determines the outcome of each test and collects warnings about ignored parts of a submission.

use crate::answer::{parse, parse_whole_task};
use crate::error::TasksError;
use crate::grid::Grid;
use crate::set::{Selection, TaskSet};
use crate::submission::{Answers, AttemptAnswer, Submission, TestAnswers};
use crate::task::{Task, TaskId};

use super::{Rules, TaskScore, TestOutcome, TestScore, Warning};

/// The answers to a task, assigned to its tests.
pub(crate) struct AlignedAnswers<'a> {
    /// One slot for each test.
    pub(crate) slots: Vec<Option<&'a TestAnswers>>,
    /// The number of answers to a test that already has one.
    duplicates: usize,
    /// The number of answers to tests that do not exist.
    surplus: usize,
    /// Whether the answers are not in the order of the tests.
    reordered: bool,
}

/// Assigns each answer to the test that it names or, if it names none, to the test at its position.
/// If a test gets several answers, the first one is used.
pub(crate) fn align(answers: &[TestAnswers], tests: usize) -> AlignedAnswers<'_> {
    let mut align = AlignedAnswers {
        slots: vec![None; tests],
        duplicates: 0,
        surplus: 0,
        reordered: false,
    };
    for (position, answer) in answers.iter().enumerate() {
        let index = answer.pair_index.unwrap_or(position);
        match align.slots.get_mut(index) {
            None => align.surplus += 1,
            Some(slot @ None) => {
                *slot = Some(answer);
                align.reordered |= index != position;
            }
            Some(_) => align.duplicates += 1,
        }
    }
    align
}

/// Scores the selected tasks. Returns the results in the order of the ids, and the warnings.
pub(super) fn score_tasks(
    set: &TaskSet,
    selection: &Selection,
    submission: &Submission,
    rules: Rules,
) -> Result<(Vec<TaskScore>, Vec<Warning>), TasksError> {
    let mut scorer = Scorer {
        rules,
        warnings: Vec::new(),
        count_mismatches: 0,
        identical_attempts: 0,
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
        results.push(scorer.task(id, task, &solutions, submission.tasks.get(id)));
    }
    let unknown: Vec<&TaskId> = submission
        .tasks
        .keys()
        .filter(|id| !set.tasks.contains_key(*id))
        .collect();
    scorer.warn_about_submission(set, submission, &unknown);
    Ok((results, scorer.warnings))
}

struct Scorer {
    rules: Rules,
    warnings: Vec<Warning>,
    /// The number of tasks whose number of answers differs from their number of tests.
    count_mismatches: usize,
    /// The number of tests whose attempts are identical.
    identical_attempts: usize,
}

impl Scorer {
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
        let all = |outcome: TestOutcome| vec![(outcome, false); solutions.len()];
        let outcomes = match answers {
            None => {
                self.warn(
                    "missing-task",
                    Some(id),
                    "not in the submission; it counts as not solved",
                );
                all(TestOutcome::MissingTask)
            }
            Some(Answers::Damaged(reason)) => {
                self.warn(
                    "damaged",
                    Some(id),
                    format!("it counts as not solved: {reason}"),
                );
                all(TestOutcome::Damaged)
            }
            Some(Answers::WholeTask(text)) => {
                match parse_whole_task(self.rules.parser, text, task.test.len()) {
                    Ok(answer) => solutions
                        .iter()
                        .map(|&(test, solution)| {
                            let outcome = compare(&answer.grids[test], solution, 1);
                            let first = outcome.is_solved();
                            (outcome, first)
                        })
                        .collect(),
                    Err(reason) => all(TestOutcome::Unreadable {
                        reason: reason.kind(),
                    }),
                }
            }
            Some(Answers::Tests(answers)) => self.tests(id, task, solutions, answers),
        };
        let count = |wanted: fn(&(TestOutcome, bool)) -> bool| {
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
    ) -> Vec<(TestOutcome, bool)> {
        // A submission for a sample may contain answers to the sampled tests only.
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
        let found = align(answers, expected);
        if answers.len() != expected {
            self.count_mismatches += 1;
        }
        if found.duplicates > 0 {
            let message = format!(
                "a test is answered {} times; the first answer counts",
                found.duplicates + 1
            );
            self.warn("duplicate-answer", Some(id), message);
        }
        if found.surplus > 0 {
            let (many, noun) = (found.surplus, if expected == 1 { "test" } else { "tests" });
            self.warn(
                "extra-answers",
                Some(id),
                format!("{many} answers beyond the {expected} {noun} were ignored"),
            );
        }
        if found.reordered {
            self.warn("order", Some(id), "the answers are not in the order of the tests; each was assigned to the test that it names");
        }
        let max_attempts = answers
            .iter()
            .map(|answer| answer.attempts.len())
            .max()
            .unwrap_or(0);
        if max_attempts > self.rules.attempts {
            let message = format!(
                "{max_attempts} attempts, of which the first {} count",
                self.rules.attempts
            );
            self.warn("too-many-attempts", Some(id), message);
        }
        let outcomes = solutions
            .iter()
            .enumerate()
            .map(|(position, &(test, solution))| {
                let slot = found.slots[if sampled { position } else { test }];
                self.test(solution, slot.map_or(&[], |answers| &answers.attempts))
            });
        outcomes.collect()
    }

    /// Returns the outcome of a test, and whether the first attempt solved it.
    fn test(&mut self, solution: &Grid, attempts: &[AttemptAnswer]) -> (TestOutcome, bool) {
        let counted = &attempts[..attempts.len().min(self.rules.attempts)];
        if counted.len() > 1
            && !matches!(counted[0], AttemptAnswer::Empty | AttemptAnswer::Failed(_))
            && counted.iter().all(|reply| *reply == counted[0])
        {
            self.identical_attempts += 1;
        }
        let outcomes: Vec<TestOutcome> = counted
            .iter()
            .enumerate()
            .map(|(index, reply)| self.attempt(solution, reply, index + 1))
            .collect();
        let first = outcomes.first().is_some_and(TestOutcome::is_solved);
        (
            outcomes
                .into_iter()
                .min_by_key(distance)
                .unwrap_or(TestOutcome::NoAnswer),
            first,
        )
    }

    fn attempt(&self, solution: &Grid, reply: &AttemptAnswer, attempt: usize) -> TestOutcome {
        let grid = match reply {
            AttemptAnswer::Empty => return TestOutcome::NoAnswer,
            AttemptAnswer::Failed(reason) => Err(*reason),
            AttemptAnswer::Json(value) => {
                Grid::from_json(value, self.rules.parser.cells()).map_err(|fault| fault.kind())
            }
            AttemptAnswer::Text(text) => match parse(self.rules.parser, text) {
                Ok(answer) => answer.grids.into_iter().next().ok_or("empty"),
                Err(reason) => Err(reason.kind()),
            },
        };
        match grid {
            Ok(grid) => compare(&grid, solution, attempt),
            Err(reason) => TestOutcome::Unreadable { reason },
        }
    }

    /// Adds the warnings that concern the submission as a whole.
    fn warn_about_submission(
        &mut self,
        set: &TaskSet,
        submission: &Submission,
        unknown: &[&TaskId],
    ) {
        for id in &submission.duplicates {
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
        if self.identical_attempts > 0 {
            let message = format!(
                "the attempts at {} tests are identical, so the later attempts cannot help",
                self.identical_attempts
            );
            self.warn("identical-attempts", None, message);
        }
        if self.count_mismatches > 0 || !unknown.is_empty() {
            let message = format!(
                "the submission seems to belong to another revision of the data than {}: in {} tasks the number of answers differs from the number of tests, and {} tasks are unknown; \
                 scores of different revisions are not comparable",
                &set.revision()[..12],
                self.count_mismatches,
                unknown.len()
            );
            self.warn("other-revision", None, message);
        }
        for note in &submission.notes {
            self.warn("left-out", None, note.clone());
        }
    }
}

fn compare(grid: &Grid, solution: &Grid, attempt: usize) -> TestOutcome {
    if grid == solution {
        return TestOutcome::Solved { attempt };
    }
    if !grid.same_size(solution) {
        return TestOutcome::WrongSize;
    }
    TestOutcome::WrongCells {
        cells: grid
            .cells()
            .iter()
            .zip(solution.cells())
            .filter(|(cell, right)| cell != right)
            .count(),
    }
}

/// Returns a sort key. The smaller the key, the closer the attempt is to the solution.
fn distance(outcome: &TestOutcome) -> (u8, usize) {
    match outcome {
        TestOutcome::Solved { attempt } => (0, *attempt),
        TestOutcome::WrongCells { cells } => (1, *cells),
        TestOutcome::WrongSize => (2, 0),
        TestOutcome::Unreadable { .. } => (3, 0),
        TestOutcome::NoAnswer | TestOutcome::MissingTask | TestOutcome::Damaged => (4, 0),
    }
}
