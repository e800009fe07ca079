//! A task with its pairs, its tests and the attempts at them, as rows of grids: what pictures of every kind are made from.

use rhae_tasks::{Grid, Task};

/// A row of grids.
#[derive(Clone, Debug)]
pub struct SceneRow<'a> {
    /// Whether it is a test.
    pub is_test: bool,
    /// What stands above it.
    pub title: String,
    /// The grids from the left.
    pub panels: Vec<Panel<'a>>,
}

/// A grid with its title.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// What it is.
    pub title: String,
    /// The grid; absent if there is none to show.
    pub grid: Option<&'a Grid>,
    /// What it should be, for attempts.
    pub expected: Option<&'a Grid>,
}

/// An attempt at a test.
#[derive(Clone, Copy, Debug)]
pub struct SceneAttempt<'a> {
    /// The test, from 0.
    pub test: usize,
    /// The attempt, from 1.
    pub attempt: usize,
    /// Its grid, or the kind of fault.
    pub grid: Result<&'a Grid, &'a str>,
}

/// The rows of a task: training pairs, then tests, each with its solution where that is known and with the attempts.
pub fn task_scene<'a>(task: &'a Task, attempts: &[SceneAttempt<'a>]) -> Vec<SceneRow<'a>> {
    let panel = |title: &str, grid: &'a Grid| Panel {
        title: titled(title, grid),
        grid: Some(grid),
        expected: None,
    };
    let pair = |(index, pair): (usize, &'a rhae_tasks::Pair)| SceneRow {
        is_test: false,
        title: format!("pair {}", index + 1),
        panels: vec![panel("input", &pair.input), panel("output", &pair.output)],
    };
    let mut rows: Vec<SceneRow<'a>> = task.train.iter().enumerate().map(pair).collect();
    for (index, test) in task.test.iter().enumerate() {
        let mut panels = vec![panel("input", &test.input)];
        panels.extend(test.output.as_ref().map(|output| panel("expected", output)));
        for one in attempts.iter().filter(|one| one.test == index) {
            panels.push(match one.grid {
                Ok(grid) => {
                    let verdict = test.output.as_ref().map_or(String::new(), |output| {
                        format!(", {}", verdict(grid, output))
                    });
                    let title = format!(
                        "attempt {}, {} × {}{verdict}",
                        one.attempt,
                        grid.height(),
                        grid.width()
                    );
                    Panel {
                        title,
                        grid: Some(grid),
                        expected: test.output.as_ref(),
                    }
                }
                Err(reason) => Panel {
                    title: format!("attempt {}: no grid ({reason})", one.attempt),
                    grid: None,
                    expected: None,
                },
            });
        }
        rows.push(SceneRow {
            is_test: true,
            title: format!("test {}", index + 1),
            panels,
        });
    }
    rows
}

fn titled(title: &str, grid: &Grid) -> String {
    format!("{title}, {} × {}", grid.height(), grid.width())
}

/// How an attempt compares with the solution, in words.
pub(crate) fn verdict(grid: &Grid, expected: &Grid) -> String {
    if grid == expected {
        return "right".to_owned();
    }
    if !grid.same_size(expected) {
        return format!(
            "wrong size, {} × {} expected",
            expected.height(),
            expected.width()
        );
    }
    match wrong_cells(grid, expected).len() {
        1 => "1 wrong cell".to_owned(),
        many => format!("{many} wrong cells"),
    }
}

/// The cells, as column and row, of the part that both grids have in which they differ.
pub fn wrong_cells(grid: &Grid, expected: &Grid) -> Vec<(usize, usize)> {
    let rows = grid.rows().zip(expected.rows()).enumerate();
    let differ = rows.flat_map(|(y, (row, other))| {
        row.iter()
            .zip(other)
            .enumerate()
            .filter(|(_, (cell, right))| cell != right)
            .map(move |(x, _)| (x, y))
    });
    differ.collect()
}
