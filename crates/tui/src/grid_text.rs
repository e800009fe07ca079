//! Grids, tasks and attempts as coloured text or as digits.
//!
//! A cell takes two columns, so that it looks square. Texts from files are sanitised.

use rhae_report::{TASK_COLORS, plain, wrong_cells};
use rhae_solve::{Candidate, Solution};
use rhae_tasks::{Grid, Task, TaskId};

use crate::ColorDepth;

/// An attempt to show.
pub struct ShownAttempt<'a> {
    /// The index of the test, from 0.
    pub test: usize,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// The grid, or the kind of the failure and a message.
    pub grid: Result<&'a Grid, (&'a str, &'a str)>,
    /// How the grid was found.
    pub how: Option<&'a str>,
}

/// Formats a grid, in colours or, without a colour depth, as digits.
pub fn grid_text(grid: &Grid, depth: Option<ColorDepth>) -> String {
    grid.rows()
        .map(|row| line(row, depth, |_| false).trim_end().to_owned() + "\n")
        .collect()
}

/// Formats a task. Input and output are shown side by side if they fit into `width` columns.
pub fn task_text(id: &TaskId, task: &Task, depth: Option<ColorDepth>, width: usize) -> String {
    let size = |grid: &Grid| format!("{} x {}", grid.height(), grid.width());
    let mut text = format!(
        "{id}: {} training pairs, {} tests\n",
        task.train.len(),
        task.test.len()
    );
    let train = task
        .train
        .iter()
        .map(|pair| ("pair", &pair.input, Some(&pair.output)));
    let tests = task
        .test
        .iter()
        .map(|test| ("test", &test.input, test.output.as_ref()));
    let numbers = (1..=task.train.len()).chain(1..);
    for (number, (kind, input, output)) in numbers.zip(train.chain(tests)) {
        let sizes = output.map_or_else(
            || format!("{} -> ?", size(input)),
            |output| format!("{} -> {}", size(input), size(output)),
        );
        text += &format!("\n{kind} {number}, {sizes}\n");
        match output {
            Some(output) if 2 * (input.width() + output.width()) + 4 <= width => {
                text += &side_by_side(input, output, depth);
            }
            Some(output) => {
                text += &format!("{}\n{}", grid_text(input, depth), grid_text(output, depth));
            }
            None => text += &grid_text(input, depth),
        }
    }
    text
}

/// Formats attempts at the tests of a task. Without colours, a wrong cell has a `!` after its digit;
/// with colours, it contains `><`.
pub fn attempts_text(
    task: &Task,
    attempts: &[ShownAttempt<'_>],
    depth: Option<ColorDepth>,
) -> String {
    let mut text = String::new();
    for attempt in attempts {
        let expected = task
            .test
            .get(attempt.test)
            .and_then(|test| test.output.as_ref());
        let head = format!("test {}, attempt {}", attempt.test + 1, attempt.attempt);
        match attempt.grid {
            Ok(grid) => {
                let wrong = expected.map_or_else(Vec::new, |expected| wrong_cells(grid, expected));
                text += &format!("{head}{}\n", verdict(grid, expected, wrong.len()));
                for (y, row) in grid.rows().enumerate() {
                    text += line(row, depth, |x| wrong.contains(&(x, y))).trim_end();
                    text.push('\n');
                }
            }
            Err((kind, reason)) => {
                text += &format!("{head}: no grid ({kind}): {}\n", plain(reason));
            }
        }
        if let Some(how) = attempt.how {
            text += &format!("  {}\n", plain(how).replace('\n', " "));
        }
        text.push('\n');
    }
    text
}

/// Formats the answers of the program search for each test of a task. With `explain`, the layers of
/// each program are shown too.
pub fn solutions_text(
    id: &TaskId,
    task: &Task,
    solutions: &[Solution],
    explain: bool,
    depth: Option<ColorDepth>,
) -> String {
    let mut text = format!("{id}\n");
    for (number, (test, solution)) in task.test.iter().zip(solutions).enumerate() {
        text += &format!(
            "\ntest {}, {} million cells examined\n{}",
            number + 1,
            solution.work / 1_000_000,
            grid_text(&test.input, depth)
        );
        for (number, answer) in solution.attempts(2).iter().enumerate() {
            let right = match &test.output {
                Some(truth) if *truth == answer.grid => ", right",
                Some(_) => ", wrong",
                None => "",
            };
            text += &format!(
                "\nattempt {}: {}, fits {} of {} pairs, confidence {:.2}{right}\n  {}\n{}",
                number + 1,
                answer.method.name(),
                answer.fits,
                answer.pairs,
                answer.confidence(),
                answer.program,
                grid_text(&answer.grid, depth)
            );
            if explain {
                text += &layers_text(answer, depth);
            }
        }
    }
    text
}

/// Formats the layers of an answer in order of precedence: each cell is painted by the first layer
/// that decides it.
fn layers_text(answer: &Candidate, depth: Option<ColorDepth>) -> String {
    let mut text = String::new();
    for (number, layer) in answer.layers.iter().enumerate() {
        text += &format!(
            "\n  layer {} of {}: {} of `{}`, decides {} cells of the training outputs\n{}",
            number + 1,
            answer.layers.len(),
            layer.used,
            layer.program,
            layer.decided,
            grid_text(&layer.painted, depth)
        );
    }
    text
}

fn verdict(grid: &Grid, expected: Option<&Grid>, wrong: usize) -> String {
    match expected {
        Some(expected) if expected == grid => ", right".to_owned(),
        Some(expected) if !expected.same_size(grid) => format!(
            ", wrong size: {} x {}, expected {} x {}",
            grid.height(),
            grid.width(),
            expected.height(),
            expected.width()
        ),
        Some(_) if wrong == 1 => ", 1 wrong cell".to_owned(),
        Some(_) => format!(", {wrong} wrong cells"),
        None => String::new(),
    }
}

fn side_by_side(left: &Grid, right: &Grid, depth: Option<ColorDepth>) -> String {
    let mut text = String::new();
    let (mut rows, mut others) = (left.rows(), right.rows());
    for _ in 0..left.height().max(right.height()) {
        let row = rows.next().map_or_else(
            || " ".repeat(2 * left.width()),
            |row| line(row, depth, |_| false),
        );
        let other = others
            .next()
            .map_or_else(String::new, |row| line(row, depth, |_| false));
        text += (row + "    " + &other).trim_end();
        text.push('\n');
    }
    text
}

/// Formats a row with two columns per cell. `wrong` tells which cells to mark.
fn line(row: &[u8], depth: Option<ColorDepth>, wrong: impl Fn(usize) -> bool) -> String {
    let cell = |(x, cell): (usize, &u8)| match depth {
        None => format!("{cell}{}", if wrong(x) { '!' } else { ' ' }),
        Some(depth) => {
            let mark = if wrong(x) { "><" } else { "  " };
            format!(
                "\x1b[{}m{mark}",
                depth.parameters(TASK_COLORS[usize::from(*cell)], true)
            )
        }
    };
    let end = if depth.is_some() { "\x1b[0m" } else { "" };
    row.iter().enumerate().map(cell).collect::<String>() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: &[&[u8]]) -> Grid {
        let rows: Vec<Vec<u8>> = rows.iter().map(|row| row.to_vec()).collect();
        Grid::new(&rows).unwrap()
    }

    #[test]
    fn cells_take_two_columns_and_wrong_ones_are_marked() {
        assert_eq!(grid_text(&grid(&[&[1, 2], &[3, 4]]), None), "1 2\n3 4\n");
        assert_eq!(
            grid_text(&grid(&[&[1]]), Some(ColorDepth::Ansi)),
            format!(
                "\x1b[{}m  \x1b[0m\n",
                ColorDepth::Ansi.parameters(TASK_COLORS[1], true)
            )
        );
        assert_eq!(line(&[1, 2], None, |x| x == 1), "1 2!");
    }

    #[test]
    fn verdict_names_the_kind_of_mistake() {
        let expected = grid(&[&[1, 2]]);
        assert_eq!(verdict(&expected, Some(&expected), 0), ", right");
        assert_eq!(
            verdict(&grid(&[&[1]]), Some(&expected), 0),
            ", wrong size: 1 x 1, expected 1 x 2"
        );
        assert_eq!(
            verdict(&grid(&[&[1, 3]]), Some(&expected), 1),
            ", 1 wrong cell"
        );
        assert_eq!(verdict(&expected, None, 0), "");
    }
}
