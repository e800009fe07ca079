//! A solver that uses the program search of the crate `rhae-solve`.

use std::time::Instant;

use rhae_protocol::{EvalAnswer, EvalFailureKind, EvalGrid};
use rhae_solve::{Budget, solve_test};

use super::{Outcome, Question, RequestContext, Solver, Unit};

/// A solver that searches for programs. A search that exceeds a time limit answers with the best
/// programs found so far.
#[derive(Clone, Copy, Debug)]
pub struct SearchSolver {
    /// The budget of the search for each test.
    pub budget: Budget,
}

impl Solver for SearchSolver {
    fn unit(&self) -> Unit {
        Unit::Test
    }

    fn answer(&self, question: &Question<'_>, context: &RequestContext<'_>) -> Outcome {
        let mut grids = Vec::new();
        for &test in question.tests {
            let started = Instant::now();
            let solution = solve_test(question.task, test, &self.budget, &|| {
                context.expired().is_some()
            });
            match context.expired() {
                // The result would depend on the time of the interruption, so it is discarded. The
                // next process repeats the search.
                Some(kind @ (EvalFailureKind::Stopped | EvalFailureKind::RunTimeout)) => {
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
