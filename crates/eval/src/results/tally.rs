//! Counts the solved and the completed tasks while a run is in progress.

use std::collections::BTreeMap;

use rhae_protocol::{EvalAnswer, EvalLine, EvalTarget};
use rhae_tasks::{Grid, Parser, parse_whole_task};

use crate::ledger::{Ledger, RequestOutcome};
use crate::plan::Plan;

/// The progress of all tasks of a run.
pub(crate) struct Tally {
    parser: Parser,
    tasks: BTreeMap<(String, String), TaskProgress>,
}

struct TaskProgress {
    /// For each selected test, its solution if known, and whether the grid of an attempt matches
    /// it.
    tests: BTreeMap<usize, (Option<Grid>, bool)>,
    /// The number of attempts, over all selected tests, without a final outcome.
    open: usize,
}

impl Tally {
    pub(crate) fn new(plan: &Plan, parser: Parser, ledger: &Ledger) -> Self {
        let mut tasks = BTreeMap::new();
        for planned in &plan.sets {
            for (id, tests) in &planned.selection {
                let solution = |test: usize| {
                    planned
                        .set
                        .tasks
                        .get(id)
                        .and_then(|task| task.test.get(test)?.output.clone())
                };
                let tests: BTreeMap<_, _> = tests
                    .iter()
                    .map(|&test| (test, (solution(test), false)))
                    .collect();
                let open = tests.len() * plan.attempts;
                tasks.insert(
                    (planned.set.name.clone(), id.to_string()),
                    TaskProgress { tests, open },
                );
            }
        }
        let mut tally = Self { parser, tasks };
        for record in ledger.requests.values() {
            match &record.outcome {
                Some(RequestOutcome::Answer(answer)) => {
                    tally.answer(&record.target, answer);
                }
                Some(RequestOutcome::Failure(_, _, true)) => tally.close(&record.target),
                _ => {}
            }
        }
        tally
    }

    /// Applies a journal line. Returns false if it closes attempts and at least one test has no
    /// readable grid.
    pub(crate) fn add(&mut self, line: &EvalLine) -> bool {
        match line {
            EvalLine::Answered { target, answer, .. } => self.answer(target, answer),
            EvalLine::Failed {
                target,
                lasting: is_final,
                ..
            } => {
                if *is_final {
                    self.close(target);
                }
                !is_final
            }
            _ => true,
        }
    }

    /// Returns the number of tasks without open attempts and the number of solved tasks.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let done = self.tasks.values().filter(|task| task.open == 0).count();
        (
            done,
            self.tasks
                .values()
                .filter(|task| task.tests.values().all(|(_, solved)| *solved))
                .count(),
        )
    }

    fn answer(&mut self, target: &EvalTarget, answer: &EvalAnswer) -> bool {
        let mut grids: Vec<(usize, Grid)> = answer
            .grids
            .iter()
            .filter_map(|given| Some((given.test, Grid::new(given.grid.as_ref()?).ok()?)))
            .collect();
        if let Some(text) = &answer.text
            && let Ok(parsed) = parse_whole_task(self.parser, text, target.tests.len())
        {
            grids.extend(target.tests.iter().copied().zip(parsed.grids));
        }
        let readable = target
            .tests
            .iter()
            .all(|test| grids.iter().any(|(found, _)| found == test));
        if let Some(task) = self
            .tasks
            .get_mut(&(target.set.clone(), target.task.clone()))
        {
            for (test, grid) in &grids {
                if let Some((Some(solution), solved)) = task.tests.get_mut(test) {
                    *solved |= solution == grid;
                }
            }
        }
        self.close(target);
        readable
    }

    fn close(&mut self, target: &EvalTarget) {
        if let Some(task) = self
            .tasks
            .get_mut(&(target.set.clone(), target.task.clone()))
        {
            task.open = task
                .open
                .saturating_sub(target.tests.len() * target.attempts.len());
        }
    }
}
