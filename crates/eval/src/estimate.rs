//! What a run will send, before it starts.

use crate::plan::Plan;
use crate::solver::{Foreseen, Question, Solver};

/// What is open, from the real lengths of what is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Requests.
    pub requests: usize,
    /// Attempts that they are for.
    pub attempts: usize,
    /// What they cost at least; absent for solvers that send nothing.
    pub foreseen: Option<Foreseen>,
}

/// Adds up the requests that a journal leaves open. A model that thinks uses many more tokens than its answer needs: what is
/// foreseen is the floor.
pub fn estimate(
    plan: &Plan,
    solver: &dyn Solver,
    ledger: &crate::Ledger,
    retry_failed: bool,
) -> Estimate {
    let mut sum = Estimate::default();
    for job in plan.open(ledger, retry_failed) {
        sum.requests += 1;
        sum.attempts += job.asked.tests.len() * job.asked.attempts.len();
        let task = plan.task(&job);
        let question = Question {
            set: &job.asked.set,
            id: &job.id,
            task,
            tests: &job.asked.tests,
            attempts: &job.asked.attempts,
        };
        if let Some(one) = solver.foresee(&question) {
            sum.foreseen = Some(sum.foreseen.map_or(one, |all| all.and(&one)));
        }
    }
    sum
}
