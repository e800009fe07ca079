//! Representative clicks: a few cells that stand for all cells of a frame.

use crate::{CELLS, Frame, SIZE};

/// Returns one cell for each sprite and for each connected component of a frame.
///
/// A component is a set of cells of one colour that are connected horizontally or vertically.
/// `sprites` holds one cell per sprite; it is empty if the sprites are unknown. The result lists
/// these cells first, without duplicates, and then the first cell, row by row, of each component
/// that contains none of them.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Frame, representative_clicks};
///
/// let mut frame = Frame::filled(0);
/// frame.set(10, 5, 8);
/// frame.set(11, 5, 8);
/// assert_eq!(representative_clicks(&frame, &[]), [(0, 0), (10, 5)]);
/// assert_eq!(representative_clicks(&frame, &[(11, 5)]), [(11, 5), (0, 0)]);
/// ```
pub fn representative_clicks(frame: &Frame, sprites: &[(u8, u8)]) -> Vec<(u8, u8)> {
    let cells = frame.cells();
    let mut visited = [false; CELLS];
    let mut stack = Vec::new();
    let mut clicks: Vec<(u8, u8)> = Vec::new();
    let mut is_new_component = |start: usize| {
        if visited[start] {
            return false;
        }
        visited[start] = true;
        stack.push(start);
        while let Some(cell) = stack.pop() {
            let (x, y) = (cell % SIZE, cell / SIZE);
            let neighbours = [
                (x > 0).then(|| cell - 1),
                (x + 1 < SIZE).then(|| cell + 1),
                (y > 0).then(|| cell - SIZE),
                (y + 1 < SIZE).then(|| cell + SIZE),
            ];
            for next in neighbours.into_iter().flatten() {
                if !visited[next] && cells[next] == cells[cell] {
                    visited[next] = true;
                    stack.push(next);
                }
            }
        }
        true
    };
    for &(x, y) in sprites {
        let inside = usize::from(x) < SIZE && usize::from(y) < SIZE;
        if inside && !clicks.contains(&(x, y)) {
            is_new_component(usize::from(y) * SIZE + usize::from(x));
            clicks.push((x, y));
        }
    }
    for start in 0..CELLS {
        if is_new_component(start) {
            clicks.push(((start % SIZE) as u8, (start / SIZE) as u8));
        }
    }
    clicks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_and_every_sprite_has_one_cell() {
        let mut frame = Frame::filled(1);
        // Two cells that touch only at a corner are two components.
        frame.set(3, 3, 9);
        frame.set(4, 4, 9);
        assert_eq!(representative_clicks(&frame, &[]), [(0, 0), (3, 3), (4, 4)]);
        // Two sprites of one colour that touch are one component with two cells to click.
        frame.set(4, 3, 9);
        let clicks = representative_clicks(&frame, &[(4, 4), (3, 3), (4, 4), (64, 0)]);
        assert_eq!(clicks, [(4, 4), (3, 3), (0, 0)]);
    }
}
