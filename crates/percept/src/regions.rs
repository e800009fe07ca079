//! Connected areas: labelling a frame, and the areas that an object encloses.

use rhae_engine::{CELLS, Frame, SIZE};

use crate::cell_set::span;
use crate::{Bounds, CellSet};

/// Labels each cell with the number of its 4-connected area of one colour, and returns the number
/// of areas. Areas are numbered by their first cells, row by row.
pub(crate) fn label(frame: &Frame, labels: &mut [u16; CELLS]) -> usize {
    let cells = frame.cells();
    // First, each label is the index of a cell of the same area that is not later. A root refers to
    // itself and is the first cell of its area.
    for cell in 0..CELLS {
        let color = cells[cell];
        let left = (!cell.is_multiple_of(SIZE) && cells[cell - 1] == color).then(|| cell - 1);
        let above = (cell >= SIZE && cells[cell - SIZE] == color).then(|| cell - SIZE);
        labels[cell] = match (left, above) {
            (None, None) => cell as u16,
            (Some(one), None) | (None, Some(one)) => root(labels, one),
            (Some(left), Some(above)) => {
                let (left, above) = (root(labels, left), root(labels, above));
                let (first, second) = (left.min(above), left.max(above));
                labels[usize::from(second)] = first;
                first
            }
        };
    }
    // A root precedes its cells, so one pass replaces all references by numbers.
    let mut count = 0;
    for cell in 0..CELLS {
        let parent = usize::from(labels[cell]);
        labels[cell] = if parent == cell {
            count += 1;
            count - 1
        } else {
            labels[parent]
        };
    }
    usize::from(count)
}

/// Returns the root of a cell and shortens the path to it.
fn root(labels: &mut [u16; CELLS], cell: usize) -> u16 {
    let mut cell = cell;
    while usize::from(labels[cell]) != cell {
        let parent = usize::from(labels[cell]);
        labels[cell] = labels[parent];
        cell = parent;
    }
    cell as u16
}

/// Returns the cells that an object encloses: those that no path of steps in eight directions
/// connects with the outside of its bounding rectangle. Returns `None` if it encloses no cells.
pub(crate) fn enclosed(object: &CellSet, bounds: Bounds) -> Option<CellSet> {
    let mut free = [0; SIZE];
    let mut seed = [0; SIZE];
    let whole = span(bounds.left, bounds.right);
    let sides = 1 << bounds.left | 1 << bounds.right;
    for y in bounds.top..=bounds.bottom {
        let row = usize::from(y);
        free[row] = whole & !object.rows()[row];
        let is_edge = y == bounds.top || y == bounds.bottom;
        seed[row] = free[row] & if is_edge { whole } else { sides };
    }
    let outside = CellSet::from_rows(free).reachable_from(&CellSet::from_rows(seed));
    let mut inside = CellSet::from_rows(free);
    inside.subtract(&outside);
    (!inside.is_empty()).then_some(inside)
}

/// Returns the number of 8-connected areas of a set.
pub(crate) fn count_connected(cells: &CellSet) -> u16 {
    let mut rest = *cells;
    let mut count = 0;
    while let Some((x, y)) = { rest.iter().next() } {
        let mut seed = CellSet::EMPTY;
        seed.insert(x, y);
        let area = rest.reachable_from(&seed);
        rest.subtract(&area);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels by flood fill, as a second implementation.
    fn label_slowly(frame: &Frame) -> (Vec<u16>, usize) {
        let mut labels = vec![u16::MAX; CELLS];
        let mut count = 0;
        for start in 0..CELLS {
            if labels[start] != u16::MAX {
                continue;
            }
            let mut stack = vec![start];
            labels[start] = count;
            while let Some(cell) = stack.pop() {
                let (x, y) = (cell % SIZE, cell / SIZE);
                let near = [
                    (x > 0).then(|| cell - 1),
                    (x < 63).then_some(cell + 1),
                    (y > 0).then(|| cell - SIZE),
                    (y < 63).then_some(cell + SIZE),
                ];
                for next in near.into_iter().flatten() {
                    if labels[next] == u16::MAX && frame.cells()[next] == frame.cells()[start] {
                        labels[next] = count;
                        stack.push(next);
                    }
                }
            }
            count += 1;
        }
        (labels, usize::from(count))
    }

    #[test]
    fn labels_equal_those_of_a_flood_fill() {
        for seed in 0..40 {
            let mut rng = rhae_engine::Rng::new(seed, 0);
            let colors = 1 + rng.below(5);
            let mut frame = Frame::filled(0);
            for cell in frame.cells_mut() {
                *cell = rng.below(colors) as u8;
            }
            let mut labels = [0; CELLS];
            let count = label(&frame, &mut labels);
            assert_eq!(
                (labels.to_vec(), count),
                label_slowly(&frame),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn a_frame_of_one_colour_per_cell_has_4096_areas() {
        let mut frame = Frame::filled(0);
        for (cell, color) in frame.cells_mut().iter_mut().enumerate() {
            *color = ((cell % SIZE + cell / SIZE) % 2) as u8;
        }
        assert_eq!(label(&frame, &mut [0; CELLS]), CELLS);
    }
}
