//! Solving a single task by program search, and the serialised form of the answers.

use std::thread;

use rhae_solve::{Budget, Candidate, Solution, solve_test};
use rhae_tasks::{Grid, Task, TaskId};
use serde::Serialize;

/// Solves all tests of a task, each in its own thread, in batches of as many tests as there are
/// cores.
pub fn solve_task(task: &Task, budget: &Budget) -> Vec<Solution> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let tests: Vec<usize> = (0..task.test.len()).collect();
    let mut solutions = Vec::new();
    for batch in tests.chunks(cores) {
        thread::scope(|scope| {
            let running: Vec<_> = batch
                .iter()
                .map(|&test| scope.spawn(move || solve_test(task, test, budget, &|| false)))
                .collect();
            solutions.extend(
                running
                    .into_iter()
                    .map(|thread| thread.join().expect("the solver does not panic")),
            );
        });
    }
    solutions
}

/// The answers to all tests of a task.
#[derive(Debug, Serialize)]
pub struct SolveReport<'a> {
    task: &'a TaskId,
    work_per_test: u64,
    tests: Vec<TestReport<'a>>,
}

#[derive(Debug, Serialize)]
struct TestReport<'a> {
    work: u64,
    attempts: Vec<AttemptReport<'a>>,
}

#[derive(Debug, Serialize)]
struct AttemptReport<'a> {
    answer: &'a Grid,
    method: &'static str,
    program: &'a str,
    pairs_fitted: usize,
    pairs: usize,
    confidence: f64,
    /// Whether the answer equals the solution; `None` if the solution is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<bool>,
    layers: Vec<LayerReport<'a>>,
}

#[derive(Debug, Serialize)]
struct LayerReport<'a> {
    program: &'a str,
    used: &'a str,
    cells_decided: usize,
    painted: &'a Grid,
}

impl<'a> SolveReport<'a> {
    /// Creates the report of the solutions of [`solve_task`], with two attempts for each test.
    pub fn new(id: &'a TaskId, task: &'a Task, budget: &Budget, solutions: &'a [Solution]) -> Self {
        let tests = task.test.iter().zip(solutions);
        Self {
            task: id,
            work_per_test: budget.work,
            tests: tests
                .map(|(test, solution)| TestReport {
                    work: solution.work,
                    attempts: solution
                        .attempts(2)
                        .iter()
                        .map(|answer| AttemptReport::new(answer, test.output.as_ref()))
                        .collect(),
                })
                .collect(),
        }
    }
}

impl<'a> AttemptReport<'a> {
    fn new(answer: &'a Candidate, truth: Option<&Grid>) -> Self {
        let layers = answer.layers.iter().map(|layer| LayerReport {
            program: &layer.program,
            used: &layer.used,
            cells_decided: layer.decided,
            painted: &layer.painted,
        });
        Self {
            answer: &answer.grid,
            method: answer.method.name(),
            program: &answer.program,
            pairs_fitted: answer.fits,
            pairs: answer.pairs,
            confidence: answer.confidence(),
            right: truth.map(|truth| *truth == answer.grid),
            layers: layers.collect(),
        }
    }
}
