//! Tasks with permuted colours, to find out whether a solver has seen them before.

use sha2::{Digest, Sha256};

use crate::grid::Grid;
use crate::set::TaskSet;
use crate::task::{Pair, Task, TaskId, Test};

/// The number of colours, 0 to 9.
const COLORS: usize = 10;

impl TaskSet {
    /// Returns the set with the colours 1 to 9 of each task permuted. Each task has its own
    /// permutation, which depends on the seed and on its id. Colour 0 stays, because it is usually the
    /// background.
    ///
    /// The rules of the tasks stay the same, so a solver that derives them from the examples solves as
    /// many tasks as before. One that remembers tasks does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_tasks::{Grid, Pair, Task, TaskSet, Test};
    ///
    /// let grid = |cells: &[u8]| Grid::new(&[cells.to_vec()]).unwrap();
    /// let task = Task {
    ///     train: vec![Pair { input: grid(&[0, 1]), output: grid(&[1, 0]) }],
    ///     test: vec![Test { input: grid(&[0, 1, 1]), output: None }],
    /// };
    /// let set = TaskSet { name: "tiny".to_owned(), tasks: [("t1".parse()?, task)].into() };
    ///
    /// let permuted = &set.permute_colors(2).tasks[&"t1".parse()?];
    /// let [zero, color] = permuted.train[0].input.cells() else { unreachable!() };
    /// assert_eq!((*zero, permuted.train[0].output.cells()), (0, &[*color, 0][..]));
    /// # Ok::<(), rhae_tasks::TasksError>(())
    /// ```
    #[must_use]
    pub fn permute_colors(&self, seed: u64) -> Self {
        let recolored = |(id, task): (&TaskId, &Task)| {
            let colors = permutation(seed, id);
            (id.clone(), recolor(task, &colors))
        };
        Self {
            name: self.name.clone(),
            tasks: self.tasks.iter().map(recolored).collect(),
        }
    }
}

fn recolor(task: &Task, colors: &[u8; COLORS]) -> Task {
    let grid = |grid: &Grid| {
        let rows: Vec<Vec<u8>> = grid
            .rows()
            .map(|row| row.iter().map(|&cell| colors[usize::from(cell)]).collect())
            .collect();
        Grid::new(&rows).expect("a grid with other colours has the same size")
    };
    Task {
        train: task
            .train
            .iter()
            .map(|pair| Pair {
                input: grid(&pair.input),
                output: grid(&pair.output),
            })
            .collect(),
        test: task
            .test
            .iter()
            .map(|test| Test {
                input: grid(&test.input),
                output: test.output.as_ref().map(grid),
            })
            .collect(),
    }
}

/// Shuffles the colours 1 to 9 with numbers from a SHA-256 hash of the seed and the id.
fn permutation(seed: u64, id: &TaskId) -> [u8; COLORS] {
    let mut colors: [u8; COLORS] = std::array::from_fn(|color| color as u8);
    let digest = Sha256::digest(format!("permute colors {seed} {id}"));
    // Four bytes for each step leave a bias below 1e-8.
    let numbers = digest
        .chunks_exact(4)
        .map(|bytes| u32::from_be_bytes(bytes.try_into().expect("chunks of four bytes")));
    for (last, number) in (2..COLORS).rev().zip(numbers) {
        colors.swap(last, 1 + number as usize % last);
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_uniform_and_keep_zero() {
        let mut counts = [[0_u32; COLORS]; COLORS];
        for seed in 0..9000 {
            let id = "007bbfb7".parse().unwrap();
            let colors = permutation(seed, &id);
            let mut sorted = colors;
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..10));
            assert_eq!(colors[0], 0);
            for (color, &target) in colors.iter().enumerate() {
                counts[color][usize::from(target)] += 1;
            }
        }
        for row in &counts[1..] {
            for &count in &row[1..] {
                // 1,000 expected, with a standard deviation of 30.
                assert!((850..1150).contains(&count), "{counts:?}");
            }
        }
    }

    #[test]
    fn each_task_has_its_own_permutation() {
        let of = |seed, id: &str| permutation(seed, &id.parse().unwrap());
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
        assert_ne!(of(1, "a"), of(2, "a"));
    }
}
