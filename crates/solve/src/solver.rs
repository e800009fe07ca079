//! The solver: for each test two answers, within a budget.

use rhae_tasks::{Grid, Task};

use crate::candidate::{Candidate, Method, choose};
use crate::image::Image;
use crate::layers::{Limits, search, sizes};
use crate::meter::Meter;
use crate::roles::Roles;

/// How much a search may do for one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Work, counted in cells that functions touch.
    pub work: u64,
    /// Cells that are kept in memory at a time.
    pub cells: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { work: 400_000_000, cells: 80_000_000 }
    }
}

/// The answers to one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// One or two different answers, the better first.
    pub answers: Vec<Candidate>,
    /// The work that was done.
    pub work: u64,
}

/// More training pairs than this are not looked at.
const MOST_PAIRS: usize = 12;

/// Solves the test with this index. The same task and budget always give the same answers, unless `cancel` says that it is enough.
pub fn solve_test(task: &Task, test: usize, budget: &Budget, cancel: &(dyn Fn() -> bool + Sync)) -> Solution {
    let train = &task.train[..task.train.len().min(MOST_PAIRS)];
    let outputs: Vec<Image> = train.iter().map(|pair| Image::from(&pair.output)).collect();
    let mut inputs: Vec<Image> = train.iter().map(|pair| Image::from(&pair.input)).collect();
    inputs.push(Image::from(&task.test[test].input));
    let mut meter = Meter::new(budget.work, cancel);
    let mut found = Vec::new();
    let variants = Roles::variants(&inputs, &outputs);
    for roles in variants.iter().take(2) {
        let sizes = sizes(&inputs, &outputs, roles, 1, &mut meter);
        let limits = Limits { depth: 2, cells: budget.cells };
        search(&inputs, &outputs, roles, &sizes, limits, &mut meter, &mut found);
        if found.iter().any(|candidate| candidate.fits == outputs.len()) {
            break;
        }
    }
    let mut answers = choose(found);
    if answers.is_empty() {
        answers.push(guess(task, test));
    }
    Solution { answers, work: meter.spent() }
}

/// Something that is at least a grid: the input.
fn guess(task: &Task, test: usize) -> Candidate {
    let grid: Grid = task.test[test].input.clone();
    Candidate { grid, method: Method::Guess, program: "the input".into(), fits: 0, pairs: task.train.len(), cost: 99.0, layers: Vec::new() }
}
