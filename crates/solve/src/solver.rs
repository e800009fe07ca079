//! The entry point: runs the methods on a test within a budget and ranks their answers.

use rhae_tasks::{Grid, Task};

use crate::candidate::{Candidate, Method, add_candidate, choose};
use crate::image::Image;
use crate::layers::{Limits, search, sizes};
use crate::meter::Meter;
use crate::objects::object_answers;
use crate::roles::{RoleTask, Roles};
use crate::rules::rules;

/// The limits of a search for one test.
///
/// Work is counted in processed cells, not in time, so that results do not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The maximum work, counted in grid cells processed by the functions that the search applies.
    /// The last step of the search may exceed it.
    pub work: u64,
    /// The maximum number of cells that are kept in memory at a time.
    pub cells: usize,
}

impl Default for Budget {
    /// Allows about one second of one core for most tests, and at most a few seconds.
    fn default() -> Self {
        Self {
            work: 200_000_000,
            cells: 80_000_000,
        }
    }
}

/// The answers to one test, returned by [`solve_test`].
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Distinct answers, at least one, best first. If no method finds an answer, the only answer is
    /// the input of the test.
    pub answers: Vec<Candidate>,
    /// The work that the search has used.
    pub work: u64,
}

impl Solution {
    /// Returns the best `limit` answers, or all if there are fewer.
    pub fn attempts(&self, limit: usize) -> &[Candidate] {
        &self.answers[..self.answers.len().min(limit)]
    }
}

/// The maximum number of training pairs; further pairs are ignored.
const MAX_PAIRS: usize = 12;

/// Once an answer fits all pairs at this cost or less, no further variant and no deeper search is
/// started.
const GOOD_COST: f64 = 2.6;

/// The maximum number of colour-to-role assignments that are tried.
const MAX_VARIANTS: usize = 3;

/// Searches for answers to one test of a task.
///
/// `test` is the index of the test, from 0. The search calls `cancel` from time to time and ends
/// early, with the answers found so far, once it returns `true`. Without a cancellation the same
/// task and budget always give the same solution. The function uses only the calling thread;
/// callers can solve several tests in parallel.
///
/// # Panics
///
/// Panics if the task has no test with this index.
///
/// # Examples
///
/// Colour 1 becomes 3 and colour 2 becomes 4:
///
/// ```
/// use rhae_solve::{Budget, solve_test};
/// use rhae_tasks::{Grid, Pair, Task, Test};
///
/// let grid = |rows: [[u8; 2]; 2]| Grid::new(&rows.map(|row| row.to_vec())).unwrap();
/// let task = Task {
///     train: vec![
///         Pair { input: grid([[1, 0], [2, 1]]), output: grid([[3, 0], [4, 3]]) },
///         Pair { input: grid([[0, 1], [2, 2]]), output: grid([[0, 3], [4, 4]]) },
///     ],
///     test: vec![Test { input: grid([[2, 1], [1, 0]]), output: None }],
/// };
///
/// let budget = Budget { work: 10_000_000, ..Budget::default() };
/// let solution = solve_test(&task, 0, &budget, &|| false);
/// assert_eq!(solution.answers[0].grid, grid([[4, 3], [3, 0]]));
/// assert_eq!(solution.answers[0].program, "recolor");
/// assert!(solution.attempts(2).len() <= 2);
///
/// // A cancelled search still returns an answer.
/// assert!(!solve_test(&task, 0, &budget, &|| true).answers.is_empty());
/// ```
pub fn solve_test(
    task: &Task,
    test: usize,
    budget: &Budget,
    cancel: &(dyn Fn() -> bool + Sync),
) -> Solution {
    let train = &task.train[..task.train.len().min(MAX_PAIRS)];
    let outputs: Vec<Image> = train.iter().map(|pair| Image::from(&pair.output)).collect();
    let mut inputs: Vec<Image> = train.iter().map(|pair| Image::from(&pair.input)).collect();
    inputs.push(Image::from(&task.test[test].input));
    let mut meter = Meter::new(budget.work, cancel);
    let mut found = Vec::new();
    add_rule_answers(&inputs, &outputs, &mut found);
    let variants = Roles::variants(&inputs, &outputs);
    for (number, roles) in variants.iter().take(MAX_VARIANTS).enumerate() {
        let renamed = RoleTask::new(&inputs, &outputs, roles);
        add_object_answers(&renamed, &mut found);
        // A variant may use only part of the remaining budget, so that some is left for later
        // variants.
        let mut part = meter.share(if number == 0 { 60 } else { 70 });
        let sizes = sizes(&renamed, 1, &mut part);
        let limits = Limits {
            depth: 2,
            cells: budget.cells,
        };
        search(&renamed, &sizes, limits, &mut part, &mut found);
        meter.absorb(&part);
        if meter.is_exhausted()
            || found
                .iter()
                .any(|candidate| candidate.fits == outputs.len() && candidate.cost <= GOOD_COST)
        {
            break;
        }
    }
    let good =
        |candidate: &Candidate| candidate.fits == outputs.len() && candidate.cost <= GOOD_COST;
    if let Some(roles) = variants.first()
        && !meter.is_exhausted()
        && !found.iter().any(good)
    {
        let renamed = RoleTask::new(&inputs, &outputs, roles);
        let sizes = sizes(&renamed, 1, &mut meter);
        search(
            &renamed,
            &sizes,
            Limits {
                depth: 3,
                cells: budget.cells,
            },
            &mut meter,
            &mut found,
        );
    }
    let mut answers = choose(&found);
    if answers.is_empty() {
        answers.push(fallback_answer(task, test));
    }
    Solution {
        answers,
        work: meter.spent(),
    }
}

fn add_rule_answers(inputs: &[Image], outputs: &[Image], found: &mut Vec<Candidate>) {
    for answer in rules(inputs, outputs) {
        let Some(grid) = answer.image.to_grid() else {
            continue;
        };
        let pairs = outputs.len();
        add_candidate(
            found,
            Candidate {
                grid,
                method: Method::Rule,
                program: answer.name,
                fits: pairs,
                pairs,
                cost: 0.9,
                layers: Vec::new(),
            },
        );
    }
}

fn add_object_answers(task: &RoleTask<'_>, found: &mut Vec<Candidate>) {
    for answer in object_answers(&task.before, &task.after) {
        let Some(grid) = task.grid(&answer.image) else {
            continue;
        };
        let pairs = task.after.len();
        let cost = 0.8
            + 2.5 * (1.0 - answer.held_out_hits as f64 / pairs as f64)
            + 0.1 * answer.splits as f64;
        let program = format!(
            "{}, {} tests, right in {} of {pairs} pairs left out",
            answer.name, answer.splits, answer.held_out_hits
        );
        add_candidate(
            found,
            Candidate {
                grid,
                method: Method::Objects,
                program,
                fits: answer.fits,
                pairs,
                cost,
                layers: Vec::new(),
            },
        );
    }
}

/// Returns the input of the test as an answer, for tests to which no method found one.
fn fallback_answer(task: &Task, test: usize) -> Candidate {
    let grid: Grid = task.test[test].input.clone();
    Candidate {
        grid,
        method: Method::Guess,
        program: "the input".into(),
        fits: 0,
        pairs: task.train.len(),
        cost: 99.0,
        layers: Vec::new(),
    }
}
