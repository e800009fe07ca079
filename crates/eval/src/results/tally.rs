//! What is solved so far, while a run is under way.

use std::collections::BTreeMap;

use rhae_protocol::{EvalAnswer, EvalAsked, EvalLine};
use rhae_tasks::{Grid, Parser, parse_whole};

use crate::ledger::{Given, Ledger};
use crate::plan::Plan;

/// The tasks of a run and how many of their attempts and tests are done.
pub(crate) struct Tally {
    parser: Parser,
    tasks: BTreeMap<(String, String), Standing>,
}

struct Standing {
    /// For each test that counts its solution, where it is known, and whether an attempt equals it.
    tests: BTreeMap<usize, (Option<Grid>, bool)>,
    /// Attempts that are still open.
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
                    Standing { tests, open },
                );
            }
        }
        let mut tally = Self { parser, tasks };
        for record in ledger.requests.values() {
            match &record.given {
                Some(Given::Answer(answer)) => {
                    tally.answer(&record.asked, answer);
                }
                Some(Given::Failure(_, _, true)) => tally.close(&record.asked),
                _ => {}
            }
        }
        tally
    }

    /// Counts a line. False if it is an answer, or the lack of one, without a grid.
    pub(crate) fn add(&mut self, line: &EvalLine) -> bool {
        match line {
            EvalLine::Answered { asked, answer, .. } => self.answer(asked, answer),
            EvalLine::Failed { asked, lasting, .. } => {
                if *lasting {
                    self.close(asked);
                }
                !lasting
            }
            _ => true,
        }
    }

    /// Tasks without open attempts, and tasks with all tests solved.
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

    fn answer(&mut self, asked: &EvalAsked, answer: &EvalAnswer) -> bool {
        let mut grids: Vec<(usize, Grid)> = answer
            .grids
            .iter()
            .filter_map(|given| Some((given.test, Grid::new(given.grid.as_ref()?).ok()?)))
            .collect();
        if let Some(text) = &answer.text
            && let Ok(parsed) = parse_whole(self.parser, text, asked.tests.len())
        {
            grids.extend(asked.tests.iter().copied().zip(parsed.grids));
        }
        let readable = asked
            .tests
            .iter()
            .all(|test| grids.iter().any(|(found, _)| found == test));
        if let Some(task) = self.tasks.get_mut(&(asked.set.clone(), asked.task.clone())) {
            for (test, grid) in &grids {
                if let Some((Some(solution), solved)) = task.tests.get_mut(test) {
                    *solved |= solution == grid;
                }
            }
        }
        self.close(asked);
        readable
    }

    fn close(&mut self, asked: &EvalAsked) {
        if let Some(task) = self.tasks.get_mut(&(asked.set.clone(), asked.task.clone())) {
            task.open = task
                .open
                .saturating_sub(asked.tests.len() * asked.attempts.len());
        }
    }
}
