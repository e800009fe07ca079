//! The program search of the crate `solve`.

use std::time::Instant;

use rhae_protocol::{EvalAnswer, EvalGrid};
use rhae_solve::{Budget, solve_test};

use super::{FailureKind, Outcome, Question, Solver, Unit, Watch};

/// Searches for programs. A search that a limit cuts off answers with the best it has.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// How much to do for each test.
    pub budget: Budget,
}

impl Solver for Search {
    fn unit(&self) -> Unit {
        Unit::Test
    }

    fn answer(&self, question: &Question<'_>, watch: &Watch<'_>) -> Outcome {
        let mut grids = Vec::new();
        for &test in question.tests {
            let started = Instant::now();
            let solution = solve_test(question.task, test, &self.budget, &|| {
                watch.over().is_some()
            });
            match watch.over() {
                // What depends on the moment of an interruption is not kept: the next process searches again.
                Some(kind @ (FailureKind::Stopped | FailureKind::RunTime)) => {
                    return Outcome::failure(kind, "the search was interrupted");
                }
                cut => {
                    let cut = cut.map_or_else(String::new, |_| {
                        format!(", cut off after {:.1} s", started.elapsed().as_secs_f64())
                    });
                    for &attempt in question.attempts {
                        let answer = solution.answers.get(attempt - 1);
                        grids.push(EvalGrid {
                            test,
                            attempt,
                            grid: answer
                                .map(|answer| answer.grid.rows().map(<[u8]>::to_vec).collect()),
                            note: answer.map(|answer| {
                                let (method, fits, pairs) =
                                    (answer.method.name(), answer.fits, answer.pairs);
                                format!(
                                    "{method}, fits {fits} of {pairs} pairs{cut}: {}",
                                    answer.program
                                )
                            }),
                        });
                    }
                }
            }
        }
        Outcome::free(EvalAnswer {
            grids,
            ..EvalAnswer::default()
        })
    }
}
