//! Static tasks as PNG pictures: a line for each pair, the input on the left, the output on the right.
//!
//! Invariant: a cell is a square of whole pixels in exactly its colour; what stands between grids is in no cell's colour.

use rhae_tasks::{Grid, Task};

use crate::picture::{GAP, PictureError, encode};

/// For each colour of a static task the entry of the sixteen-colour palette that looks the same: all ten are among the sixteen.
pub const TASK_COLORS: [u8; 10] = [5, 9, 8, 14, 11, 2, 6, 12, 10, 13];

/// A PNG of a task, each cell `zoom` pixels wide; tests that have no solution show their input alone.
pub fn task_picture(task: &Task, zoom: usize) -> Result<Vec<u8>, PictureError> {
    let zoom = zoom.clamp(1, 64);
    let train = task.train.iter().map(|pair| (&pair.input, Some(&pair.output)));
    let lines: Vec<(&Grid, Option<&Grid>)> =
        train.chain(task.test.iter().map(|test| (&test.input, test.output.as_ref()))).collect();
    if lines.is_empty() {
        return Err(PictureError::Empty);
    }
    let height_of = |(input, output): &(&Grid, Option<&Grid>)| input.height().max(output.map_or(0, Grid::height));
    let left = lines.iter().map(|(input, _)| input.width()).max().unwrap_or(0);
    let right = lines.iter().filter_map(|(_, output)| output.map(Grid::width)).max().unwrap_or(0);
    // A cell's width around everything, two between input and output, one more above the tests.
    let width = (1 + left + if right > 0 { 2 + right } else { 0 } + 1) * zoom;
    let height = (lines.iter().map(|line| height_of(line) + 1).sum::<usize>() + 2) * zoom;
    let mut canvas = Canvas { pixels: vec![GAP; width * height], width, zoom };
    let mut top = 1;
    for (index, line) in lines.iter().enumerate() {
        if index == task.train.len() {
            top += 1;
        }
        canvas.draw(line.0, 1, top);
        if let Some(output) = line.1 {
            canvas.draw(output, 1 + left + 2, top);
        }
        top += height_of(line) + 1;
    }
    encode(&canvas.pixels, width, height)
}

struct Canvas {
    pixels: Vec<u8>,
    width: usize,
    zoom: usize,
}

impl Canvas {
    /// Draws a grid with its corner at a place counted in cells.
    fn draw(&mut self, grid: &Grid, left: usize, top: usize) {
        for (y, row) in grid.rows().enumerate() {
            for line in (top + y) * self.zoom..(top + y + 1) * self.zoom {
                for (x, &cell) in row.iter().enumerate() {
                    let first = line * self.width + (left + x) * self.zoom;
                    self.pixels[first..first + self.zoom].fill(TASK_COLORS[usize::from(cell)]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rhae_tasks::{Pair, Test};

    use super::*;

    #[test]
    fn every_cell_is_where_it_belongs() {
        let grid = |rows: &[&[u8]]| Grid::new(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap();
        let task = Task {
            train: vec![Pair { input: grid(&[&[1, 2]]), output: grid(&[&[3], &[4]]) }],
            test: vec![Test { input: grid(&[&[9]]), output: None }],
        };
        let file = task_picture(&task, 2).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        // One, two, two and one cells across; below the margin two, a gap of two, one, and the margin.
        assert_eq!((info.width, info.height), (2 * 7, 2 * 7));
        let cell = |x: usize, y: usize| pixels[2 * y * 14 + 2 * x];
        assert_eq!([cell(1, 1), cell(2, 1), cell(5, 1), cell(5, 2), cell(1, 5)], [1, 2, 3, 4, 9].map(|color| TASK_COLORS[color]));
        assert_eq!([cell(0, 0), cell(3, 1), cell(1, 2), cell(5, 5)], [GAP; 4]);
    }
}
