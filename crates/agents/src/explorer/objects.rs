//! The objects of a frame: connected areas of one colour.

use rhae_engine::{CELLS, Frame, SIZE};

/// The properties of an object that do not depend on its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Appearance {
    color: u8,
    area: u16,
}

impl Appearance {
    pub(super) const fn color(self) -> u8 {
        self.color
    }

    /// Returns the number of cells.
    pub(super) const fn area(self) -> u16 {
        self.area
    }

    /// Returns how much an object stands out, from 0 to 1. Single cells and large backgrounds have
    /// a low salience.
    pub(super) const fn salience(self) -> f64 {
        match self.area {
            0..=1 => 0.4,
            2..=3 => 0.6,
            4..=150 => 1.0,
            151..=600 => 0.6,
            _ => 0.2,
        }
    }
}

/// An object and the cell at which to click it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) appearance: Appearance,
    pub(super) x: u8,
    pub(super) y: u8,
    /// Whether the object is an outline rather than a solid area.
    pub(super) hollow: bool,
}

/// Returns all objects of a frame, in the order of their first cells, row by row.
pub(super) fn objects(frame: &Frame) -> Vec<Object> {
    let mut seen = [false; CELLS];
    let mut found = Vec::new();
    for start in 0..CELLS {
        if !seen[start] {
            let cells = area_around(frame, start, &mut seen);
            found.push(object(frame.cells()[start], &cells));
        }
    }
    found
}

/// Returns the appearance of the object that covers a cell.
pub(super) fn appearance_at(frame: &Frame, x: u8, y: u8) -> Appearance {
    let start = usize::from(y) * SIZE + usize::from(x);
    let cells = area_around(frame, start, &mut [false; CELLS]);
    object(frame.cells()[start], &cells).appearance
}

/// Creates an object from its cells. Its click position is the cell nearest to its centre of mass.
fn object(color: u8, cells: &[usize]) -> Object {
    let count = cells.len();
    let sum = cells.iter().fold((0, 0), |sum, cell| {
        (sum.0 + cell % SIZE, sum.1 + cell / SIZE)
    });
    let distance =
        |cell: usize| (cell % SIZE * count).abs_diff(sum.0) + (cell / SIZE * count).abs_diff(sum.1);
    let middle = cells
        .iter()
        .copied()
        .min_by_key(|&cell| distance(cell))
        .unwrap_or(0);
    let area = u16::try_from(count).unwrap_or(u16::MAX);
    let extent = |along: fn(usize) -> usize| {
        let (min, max) = cells.iter().fold((SIZE, 0), |(min, max), &cell| {
            (min.min(along(cell)), max.max(along(cell)))
        });
        max + 1 - min
    };
    let (width, height) = (extent(|cell| cell % SIZE), extent(|cell| cell / SIZE));
    let hollow = width.min(height) >= 4 && count * 10 < width * height * 7;
    Object {
        appearance: Appearance { color, area },
        x: (middle % SIZE) as u8,
        y: (middle / SIZE) as u8,
        hollow,
    }
}

/// Returns the cells of one colour that are 4-connected with `start`, and marks them as seen.
fn area_around(frame: &Frame, start: usize, seen: &mut [bool; CELLS]) -> Vec<usize> {
    let cells = frame.cells();
    let mut area = vec![start];
    let mut next = 0;
    seen[start] = true;
    while let Some(&cell) = area.get(next) {
        next += 1;
        let (x, y) = (cell % SIZE, cell / SIZE);
        let neighbours = [
            (x > 0, cell.wrapping_sub(1)),
            (x + 1 < SIZE, cell + 1),
            (y > 0, cell.wrapping_sub(SIZE)),
            (y + 1 < SIZE, cell + SIZE),
        ];
        for (inside, neighbour) in neighbours {
            if inside && !seen[neighbour] && cells[neighbour] == cells[start] {
                seen[neighbour] = true;
                area.push(neighbour);
            }
        }
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_connected_areas_clicked_inside() {
        let mut frame = Frame::filled(0);
        frame.rect(10, 10, 4, 4, 9);
        frame.rect(11, 11, 2, 2, 3);
        frame.rect(30, 30, 1, 1, 9);
        let found = objects(&frame);
        assert_eq!(found.len(), 4);
        for object in &found {
            assert_eq!(
                frame.get(object.x.into(), object.y.into()),
                object.appearance.color
            );
            assert_eq!(appearance_at(&frame, object.x, object.y), object.appearance);
        }
        assert_eq!(
            found
                .iter()
                .map(|object| object.appearance.area)
                .collect::<Vec<_>>(),
            [4096 - 17, 12, 4, 1]
        );
    }
}
