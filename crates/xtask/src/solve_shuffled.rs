//! `cargo xtask solve-shuffled`: checks that the solver has not memorised tasks.
//!
//! Every task is solved as it is, and again with permuted colours and rotated or mirrored grids. A
//! solver with stored answers or with rules for particular tasks solves fewer of the changed tasks.
//! A solver that treats all colours and directions alike solves about as many as before.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_solve::{Budget, solve_test};
use rhae_tasks::{Grid, Pair, SourceFile, Task, Test, load};

use crate::{root, test};

#[derive(Args)]
pub(crate) struct ShuffledArgs {
    /// Challenges file with its solutions in the same folder [default: ../shared/data/arc]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Number of tasks, evenly spaced over the set [default: all]
    #[arg(long)]
    tasks: Option<usize>,
    /// Seed of the shuffle
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The number of tasks in the suite of `cargo xtask test`.
const SUITE_TASKS: usize = 40;

pub(crate) fn run(args: &ShuffledArgs) -> Result<()> {
    let path = args.data.clone().unwrap_or_else(default_data);
    compare(&path, args.tasks, args.seed)
}

/// Compares a part of the public tasks, as a suite of `cargo xtask test`.
pub(crate) fn suite(context: &test::Context) -> Result<()> {
    let path = default_data();
    if path.is_file() {
        compare(&path, Some(SUITE_TASKS), 1)
    } else {
        context.skip_without_data("shuffled tasks", "no public data in ../shared/data/arc")
    }
}

fn default_data() -> PathBuf {
    root().join("../shared/data/arc/arc-agi-1_training_challenges.json")
}

/// Solves evenly spaced tasks of a file, unchanged and shuffled.
fn compare(path: &Path, tasks: Option<usize>, seed: u64) -> Result<()> {
    let all = read(path)?;
    let count = tasks.unwrap_or(all.len()).clamp(1, all.len());
    let tasks: Vec<&Task> = (0..count)
        .map(|index| &all[index * all.len() / count])
        .collect();
    let shuffled_tasks: Vec<Task> = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| shuffle(task, seed + index as u64))
        .collect();
    let plain = score(&tasks);
    let shuffled = score(&shuffled_tasks.iter().collect::<Vec<&Task>>());
    println!(
        "{count} tasks: {plain} solved unchanged, {shuffled} with permuted colours and rotated grids"
    );
    ensure!(
        shuffled * 10 >= plain * 9,
        "more than a tenth of the score is lost: the solver depends on colours or directions"
    );
    Ok(())
}

/// Reads the tasks of a challenges file, with the solutions from the same folder.
fn read(path: &Path) -> Result<Vec<Task>> {
    let source = |path: &Path| -> Result<SourceFile> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Ok(SourceFile {
            name: path.display().to_string(),
            text,
        })
    };
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let solutions = path.with_file_name(name.replace("challenges", "solutions"));
    let loaded = load(&[source(path)?, source(&solutions)?])?;
    let set = loaded
        .sets
        .into_iter()
        .next()
        .context("the file has no tasks")?;
    Ok(set.tasks.into_values().collect())
}

/// Counts the tasks whose tests are all solved, using all cores.
fn score(tasks: &[&Task]) -> usize {
    let next = AtomicUsize::new(0);
    let solved = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let right = |(index, test): (usize, &Test)| {
                        let solution = solve_test(task, index, &Budget::default(), &|| false);
                        solution
                            .attempts(2)
                            .iter()
                            .any(|answer| Some(&answer.grid) == test.output.as_ref())
                    };
                    let all = task.test.iter().enumerate().all(right);
                    *solved.lock().expect("no thread panics while it counts") += usize::from(all);
                }
            });
        }
    });
    solved
        .into_inner()
        .expect("no thread panics while it counts")
}

/// Permutes the colours of a task, including the background, and changes its orientation. The seed
/// determines both.
fn shuffle(task: &Task, seed: u64) -> Task {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    let mut colors: Vec<u8> = (0..10).collect();
    for last in (1..10).rev() {
        colors.swap(last, next(last as u64 + 1) as usize);
    }
    let symmetry = 1 + next(7);
    let grid = |grid: &Grid| transform(grid, symmetry, &colors);
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

/// Recolours a grid and applies one of the eight symmetries of the square: bit 0 mirrors
/// horizontally, bit 1 mirrors vertically, bit 2 transposes.
fn transform(grid: &Grid, symmetry: u64, colors: &[u8]) -> Grid {
    let mut rows: Vec<Vec<u8>> = grid
        .rows()
        .map(|row| row.iter().map(|&cell| colors[usize::from(cell)]).collect())
        .collect();
    if symmetry & 1 != 0 {
        rows.iter_mut().for_each(|row| row.reverse());
    }
    if symmetry & 2 != 0 {
        rows.reverse();
    }
    if symmetry & 4 != 0 {
        rows = (0..grid.width())
            .map(|x| rows.iter().map(|row| row[x]).collect())
            .collect();
    }
    Grid::new(&rows).expect("a symmetry preserves the validity of a grid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_permutes_colours_and_cells() {
        let grid = Grid::new(&[vec![1, 2, 3], vec![4, 5, 6]]).unwrap();
        let task = Task {
            train: vec![Pair {
                input: grid.clone(),
                output: grid.clone(),
            }],
            test: vec![Test {
                input: grid,
                output: None,
            }],
        };
        let mut seen: Vec<String> = (0..40)
            .map(|seed| shuffle(&task, seed).test[0].input.to_string())
            .collect();
        for text in &seen {
            let mut cells: Vec<char> = text.chars().filter(char::is_ascii_digit).collect();
            cells.sort_unstable();
            cells.dedup();
            assert_eq!(cells.len(), 6);
        }
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 35);
    }
}
