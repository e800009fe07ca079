//! What there is to click: connected areas of one colour.

use rhae_engine::{CELLS, Frame, SIZE};

/// How an object looks, wherever it stands: colour and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look {
    color: u8,
    area: u16,
}

impl Look {
    /// Its colour.
    pub(super) const fn color(self) -> u8 {
        self.color
    }

    /// How many cells it has.
    pub(super) const fn area(self) -> u16 {
        self.area
    }

    /// How much an object stands out: neither a speck nor the ground.
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

/// An object with a cell of it to click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) look: Look,
    pub(super) x: u8,
    pub(super) y: u8,
    /// Whether it is a frame around something else rather than a solid thing.
    pub(super) hollow: bool,
}

/// All objects of a picture, row by row.
pub(super) fn objects(picture: &Frame) -> Vec<Object> {
    let mut seen = [false; CELLS];
    let mut found = Vec::new();
    for start in 0..CELLS {
        if !seen[start] {
            let cells = area_around(picture, start, &mut seen);
            found.push(object(picture.cells()[start], &cells));
        }
    }
    found
}

/// The look of the object at a cell.
pub(super) fn look_at(picture: &Frame, x: u8, y: u8) -> Look {
    let start = usize::from(y) * SIZE + usize::from(x);
    let cells = area_around(picture, start, &mut [false; CELLS]);
    object(picture.cells()[start], &cells).look
}

/// The object of these cells, to be clicked at the one nearest to its middle.
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
        let (least, most) = cells.iter().fold((SIZE, 0), |(least, most), &cell| {
            (least.min(along(cell)), most.max(along(cell)))
        });
        most + 1 - least
    };
    let (width, height) = (extent(|cell| cell % SIZE), extent(|cell| cell / SIZE));
    let hollow = width.min(height) >= 4 && count * 10 < width * height * 7;
    Object {
        look: Look { color, area },
        x: (middle % SIZE) as u8,
        y: (middle / SIZE) as u8,
        hollow,
    }
}

/// The cells of one colour connected with a cell by their sides.
fn area_around(picture: &Frame, start: usize, seen: &mut [bool; CELLS]) -> Vec<usize> {
    let cells = picture.cells();
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
    fn objects_are_connected_areas_with_a_cell_inside() {
        let mut picture = Frame::filled(0);
        picture.rect(10, 10, 4, 4, 9);
        picture.rect(11, 11, 2, 2, 3);
        picture.rect(30, 30, 1, 1, 9);
        let found = objects(&picture);
        assert_eq!(found.len(), 4);
        for object in &found {
            assert_eq!(
                picture.get(object.x.into(), object.y.into()),
                object.look.color
            );
            assert_eq!(look_at(&picture, object.x, object.y), object.look);
        }
        assert_eq!(
            found
                .iter()
                .map(|object| object.look.area)
                .collect::<Vec<_>>(),
            [4096 - 17, 12, 4, 1]
        );
    }
}
