//! The estimate of a run's cost before it starts.

use crate::plan::Plan;
use crate::solver::{CostEstimate, Question, Solver};

/// The open requests of a run and a lower bound of their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    pub requests: usize,
    pub attempts: usize,
    /// A lower bound of the cost; `None` for solvers that send no requests.
    pub min_cost: Option<CostEstimate>,
}

/// Estimates, from the actual prompts, the cost of the requests that are still open according to
/// the journal. The estimate is a lower bound: a reasoning model generates many more tokens than
/// its answer contains.
pub fn estimate(
    plan: &Plan,
    solver: &dyn Solver,
    ledger: &crate::Ledger,
    retry_failed: bool,
) -> Estimate {
    let mut sum = Estimate::default();
    for job in plan.open(ledger, retry_failed) {
        sum.requests += 1;
        sum.attempts += job.target.tests.len() * job.target.attempts.len();
        let task = plan.task(&job);
        let question = Question {
            set: &job.target.set,
            id: &job.id,
            task,
            tests: &job.target.tests,
            attempts: &job.target.attempts,
        };
        if let Some(one) = solver.estimate_cost(&question) {
            sum.min_cost = Some(sum.min_cost.map_or(one, |all| all.and(&one)));
        }
    }
    sum
}
