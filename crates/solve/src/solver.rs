//! The solver: for each test two answers, within a budget.

use rhae_tasks::{Grid, Task};

use crate::candidate::{Candidate, Method, add, choose};
use crate::image::Image;
use crate::layers::{Limits, search, sizes};
use crate::meter::Meter;
use crate::objects::decisions;
use crate::roles::{Renamed, Roles};
use crate::rules::rules;

/// How much a search may do for one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Work, counted in cells that functions touch.
    pub work: u64,
    /// Cells that are kept in memory at a time.
    pub cells: usize,
}

impl Default for Budget {
    /// About a second of one core for most tests, and a few seconds at most.
    fn default() -> Self {
        Self {
            work: 200_000_000,
            cells: 80_000_000,
        }
    }
}

impl Solution {
    /// The answers that count with so many attempts.
    pub fn attempts(&self, most: usize) -> &[Candidate] {
        &self.answers[..self.answers.len().min(most)]
    }
}

/// The answers to one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Different answers, at least one, the best first: the first two are the attempts.
    pub answers: Vec<Candidate>,
    /// The work that was done.
    pub work: u64,
}

/// More training pairs than this are not looked at.
const MOST_PAIRS: usize = 12;

/// An answer that fits all pairs and costs no more than this ends the search.
const GOOD: f64 = 2.6;

/// The most ways of renaming colours that are tried.
const MOST_VARIANTS: usize = 3;

/// Solves the test with this index. The same task and budget always give the same answers, unless `cancel` says that it is enough.
pub fn solve_test(
    task: &Task,
    test: usize,
    budget: &Budget,
    cancel: &(dyn Fn() -> bool + Sync),
) -> Solution {
    let train = &task.train[..task.train.len().min(MOST_PAIRS)];
    let outputs: Vec<Image> = train.iter().map(|pair| Image::from(&pair.output)).collect();
    let mut inputs: Vec<Image> = train.iter().map(|pair| Image::from(&pair.input)).collect();
    inputs.push(Image::from(&task.test[test].input));
    let mut meter = Meter::new(budget.work, cancel);
    let mut found = Vec::new();
    whole_rules(&inputs, &outputs, &mut found);
    let variants = Roles::variants(&inputs, &outputs);
    for (number, roles) in variants.iter().take(MOST_VARIANTS).enumerate() {
        let renamed = Renamed::new(&inputs, &outputs, roles);
        object_rules(&renamed, &mut found);
        // Later variants share what is left, so that one that finds nothing leaves something to the next.
        let mut part = meter.share(if number == 0 { 60 } else { 70 });
        let sizes = sizes(&renamed, 1, &mut part);
        let limits = Limits {
            depth: 2,
            cells: budget.cells,
        };
        search(&renamed, &sizes, limits, &mut part, &mut found);
        meter.settle(&part);
        if meter.is_over()
            || found
                .iter()
                .any(|candidate| candidate.fits == outputs.len() && candidate.cost <= GOOD)
        {
            break;
        }
    }
    let good = |candidate: &Candidate| candidate.fits == outputs.len() && candidate.cost <= GOOD;
    if let Some(roles) = variants.first()
        && !meter.is_over()
        && !found.iter().any(good)
    {
        let renamed = Renamed::new(&inputs, &outputs, roles);
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
        answers.push(guess(task, test));
    }
    Solution {
        answers,
        work: meter.spent(),
    }
}

fn whole_rules(inputs: &[Image], outputs: &[Image], found: &mut Vec<Candidate>) {
    for answer in rules(inputs, outputs) {
        let Some(grid) = answer.image.to_grid() else {
            continue;
        };
        let pairs = outputs.len();
        add(
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

fn object_rules(task: &Renamed<'_>, found: &mut Vec<Candidate>) {
    for answer in decisions(&task.before, &task.after) {
        let Some(grid) = task.grid(&answer.image) else {
            continue;
        };
        let pairs = task.after.len();
        let cost =
            0.8 + 2.5 * (1.0 - answer.foreseen as f64 / pairs as f64) + 0.1 * answer.tests as f64;
        let program = format!(
            "{}, {} tests, right in {} of {pairs} pairs left out",
            answer.name, answer.tests, answer.foreseen
        );
        add(
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

/// Something that is at least a grid: the input.
fn guess(task: &Task, test: usize) -> Candidate {
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
