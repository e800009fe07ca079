//! A task with its training pairs, tests and attempts as rows of grids, from which pictures are
//! drawn.

use rhae_tasks::{Grid, Task};

/// A row of grids: a training pair, or a test with its attempts.
#[derive(Clone, Debug)]
pub struct SceneRow<'a> {
    pub is_test: bool,
    pub title: String,
    /// The grids from left to right.
    pub panels: Vec<Panel<'a>>,
}

/// A grid with its title.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    pub title: String,
    /// The grid; `None` for an attempt without a grid.
    pub grid: Option<&'a Grid>,
    /// The solution with which an attempt is compared.
    pub expected: Option<&'a Grid>,
}

/// An attempt at a test.
#[derive(Clone, Copy, Debug)]
pub struct SceneAttempt<'a> {
    /// The index of the test, from 0.
    pub test: usize,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// The grid, or the kind of failure.
    pub grid: Result<&'a Grid, &'a str>,
}

/// Returns the rows of a task: training pairs, then tests, each with its solution if known and with
/// the attempts.
///
/// ```
/// use rhae_report::{SceneAttempt, scene_svg, task_scene};
/// use rhae_tasks::{Grid, Task, Test};
///
/// let grid = |cell: u8| Grid::new(&[vec![cell]]).unwrap();
/// let task = Task { train: vec![], test: vec![Test { input: grid(1), output: Some(grid(2)) }] };
/// let answer = grid(3);
/// let rows = task_scene(&task, &[SceneAttempt { test: 0, attempt: 1, grid: Ok(&answer) }]);
/// assert_eq!(rows[0].panels[2].title, "attempt 1, 1 × 1, 1 wrong cell");
/// assert!(scene_svg(&rows, 16).contains("1 wrong cell"));
/// ```
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

/// Describes how an attempt compares with the solution.
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

/// Returns the column and row of each cell that differs, within the area that both grids cover.
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
