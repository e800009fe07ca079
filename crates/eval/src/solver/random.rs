//! A solver that guesses: grids of the most likely size with random cells.

use rhae_engine::Rng;
use rhae_protocol::{EvalAnswer, EvalGrid};
use rhae_tasks::Task;
use sha2::{Digest, Sha256};

use super::{Outcome, Question, RequestContext, Solver, Unit};

/// A solver that guesses.
///
/// The size is the common size of all training outputs or, if they differ, the size of the test
/// input. The cells are drawn from the colours of the training outputs, with their frequencies. A
/// guess depends only on the seed, the task, the test and the attempt.
#[derive(Clone, Copy, Debug)]
pub struct RandomSolver {
    pub seed: u64,
}

impl Solver for RandomSolver {
    fn unit(&self) -> Unit {
        Unit::Attempt
    }

    fn answer(&self, question: &Question<'_>, _context: &RequestContext<'_>) -> Outcome {
        let mut grids = Vec::new();
        for &test in question.tests {
            for &attempt in question.attempts {
                let key = format!(
                    "{}\n{}\n{}\n{test}\n{attempt}",
                    Rng::NAME,
                    self.seed,
                    question.id
                );
                let hash: [u8; 32] = Sha256::digest(key).into();
                let word = |index: usize| {
                    hash[8 * index..8 * index + 8]
                        .iter()
                        .fold(0, |word, &byte| word << 8 | u64::from(byte))
                };
                let grid = guess(question.task, test, &mut Rng::new(word(0), word(1)));
                grids.push(EvalGrid {
                    test,
                    attempt,
                    grid: Some(grid),
                    note: None,
                });
            }
        }
        Outcome::free(EvalAnswer {
            grids,
            ..EvalAnswer::default()
        })
    }
}

fn guess(task: &Task, test: usize, rng: &mut Rng) -> Vec<Vec<u8>> {
    let input = &task.test[test].input;
    let first = &task.train[0].output;
    let size_template = if task.train.iter().all(|pair| pair.output.same_size(first)) {
        first
    } else {
        input
    };
    let colors: Vec<u8> = task
        .train
        .iter()
        .flat_map(|pair| pair.output.cells().to_vec())
        .collect();
    let count = u32::try_from(colors.len()).expect("a few grids of at most 900 cells");
    let mut row = || {
        (0..size_template.width())
            .map(|_| colors[rng.below(count) as usize])
            .collect()
    };
    (0..size_template.height()).map(|_| row()).collect()
}
