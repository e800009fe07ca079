//! Rays: functions that extend, move or connect cells along lines.

use super::region::NEIGHBOR_OFFSETS;
use crate::image::Image;

/// Sets of directions. Bit i of a set stands for the direction `NEIGHBOR_OFFSETS[i]`. Without the
/// last two sets, the list is closed under the symmetries of the square.
pub(crate) const DIRECTIONS: [u8; 17] = [
    0b0000_0001,
    0b0000_0010,
    0b0000_0100,
    0b0000_1000,
    0b0000_0101,
    0b0000_1010,
    0b0000_1111,
    0b0001_0000,
    0b0010_0000,
    0b0100_0000,
    0b1000_0000,
    0b0101_0000,
    0b1010_0000,
    0b1111_0000,
    0b1111_1111,
    0b0000_0011,
    0b0000_1100,
];

/// Extends the colour of every cell over the adjacent ground in the directions of a set, up to the
/// next cell that is not ground or the border. `set` is an index of [`DIRECTIONS`].
pub(crate) fn smear(image: &Image, set: u8) -> Image {
    let mut result = image.clone();
    for (bit, &(dx, dy)) in NEIGHBOR_OFFSETS.iter().enumerate() {
        if DIRECTIONS[usize::from(set)] >> bit & 1 == 0 {
            continue;
        }
        // The scan moves in the direction of the ray, so that newly filled cells pass their colour
        // on.
        let mut way = image.clone();
        let rows: Vec<i32> = if dy < 0 {
            (0..image.h as i32).rev().collect()
        } else {
            (0..image.h as i32).collect()
        };
        for y in rows {
            for step in 0..image.w as i32 {
                let x = if dx < 0 {
                    image.w as i32 - 1 - step
                } else {
                    step
                };
                let index = y as usize * image.w + x as usize;
                if way.cells[index] == 0 {
                    way.cells[index] = way.get(x - dx, y - dy);
                }
                if result.cells[index] == 0 {
                    result.cells[index] = way.cells[index];
                }
            }
        }
    }
    result
}

/// Moves every cell towards the border until the cells are packed without gaps. The directions from
/// 0 are right, down, left, up.
pub(crate) fn gravity(image: &Image, direction: u8) -> Image {
    let mut cells = vec![0; image.cells.len()];
    let (lines, length) = if direction.is_multiple_of(2) {
        (image.h, image.w)
    } else {
        (image.w, image.h)
    };
    for line in 0..lines {
        let place = |step: usize| {
            let step = if direction < 2 {
                length - 1 - step
            } else {
                step
            };
            if direction.is_multiple_of(2) {
                line * image.w + step
            } else {
                step * image.w + line
            }
        };
        let mut next = 0;
        for step in 0..length {
            let cell = image.cells[place(step)];
            if cell != 0 {
                cells[place(next)] = cell;
                next += 1;
            }
        }
    }
    image.with_cells(cells)
}

/// Returns only the ground cells that lie on a line between two cells of the same colour, painted
/// in that colour. The bits of `lines` are: horizontal (0), vertical (1), the diagonals (2 and 3).
/// The two cells are not part of the result.
pub(crate) fn connect(image: &Image, lines: u8) -> Image {
    let mut result = image.map(|_| 0);
    let ways = [(1, 0), (0, 1), (1, 1), (-1, 1)];
    for (_, (dx, dy)) in ways
        .into_iter()
        .enumerate()
        .filter(|(bit, _)| lines >> bit & 1 == 1)
    {
        for (index, &color) in image
            .cells
            .iter()
            .enumerate()
            .filter(|(_, color)| **color != 0)
        {
            let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
            let mut length = 1;
            while image.contains(x + dx * length, y + dy * length)
                && image.get(x + dx * length, y + dy * length) == 0
            {
                length += 1;
            }
            if image.get(x + dx * length, y + dy * length) == color {
                for step in 1..length {
                    result.cells[(y + dy * step) as usize * image.w + (x + dx * step) as usize] =
                        color;
                }
            }
        }
    }
    result
}

/// Fills every ground cell with the colour of the nearest cell that is not ground. Distances are
/// counted in steps between cells that share a side. On a tie the smaller colour wins.
pub(crate) fn spread(image: &Image) -> Image {
    let mut now = image.clone();
    loop {
        let cell = |index: usize| {
            if now.cells[index] != 0 {
                return now.cells[index];
            }
            let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
            NEIGHBOR_OFFSETS[..4]
                .iter()
                .map(|(dx, dy)| now.get(x + dx, y + dy))
                .filter(|&color| color != 0)
                .min()
                .unwrap_or(0)
        };
        let cells: Vec<u8> = (0..now.cells.len()).map(cell).collect();
        if cells == now.cells {
            return now;
        }
        now.cells = cells;
    }
}

/// Moves each object until it touches the border or another object. The directions from 0 are
/// right, down, left, up.
pub(crate) fn slide(image: &Image, direction: u8, objects: &[Image]) -> Image {
    let (dx, dy) = NEIGHBOR_OFFSETS[usize::from(direction)];
    let mut order: Vec<&Image> = objects.iter().collect();
    // The objects that are farthest in the direction of movement move first.
    order.sort_by_key(|object| match direction {
        0 => -i32::from(object.x) - object.w as i32,
        1 => -i32::from(object.y) - object.h as i32,
        2 => i32::from(object.x),
        _ => i32::from(object.y),
    });
    let mut result = image.map(|_| 0);
    for object in order {
        let free = |steps: i32| {
            (0..object.cells.len())
                .filter(|&cell| object.cells[cell] != 0)
                .all(|cell| {
                    let x = i32::from(object.x - image.x) + (cell % object.w) as i32 + dx * steps;
                    let y = i32::from(object.y - image.y) + (cell / object.w) as i32 + dy * steps;
                    image.contains(x, y) && result.get(x, y) == 0
                })
        };
        let steps = (1..60).find(|&steps| !free(steps)).unwrap_or(1) - 1;
        let moved = object.clone().moved_to(
            object.x + (dx * steps) as i16,
            object.y + (dy * steps) as i16,
        );
        result.paint(&moved);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn rays_stop_at_other_cells() {
        let picture = image(&["1..2.", ".....", "..3.."]);
        assert_eq!(smear(&picture, 0), image(&["11122", ".....", "..333"]));
        assert_eq!(smear(&picture, 3), image(&["1.32.", "..3..", "..3.."]));
        assert_eq!(smear(&picture, 7), image(&["1..2.", ".1..2", "..3.."]));
    }

    #[test]
    fn gravity_moves_cells_to_the_border() {
        let picture = image(&["12.", ".2.", "..3"]);
        assert_eq!(gravity(&picture, 1), image(&["...", ".2.", "123"]));
        assert_eq!(gravity(&picture, 0), image(&[".12", "..2", "..3"]));
        assert_eq!(gravity(&picture, 3), image(&["123", ".2.", "..."]));
    }

    #[test]
    fn only_equal_cells_connect() {
        let picture = image(&["1..1", "2..1", "...."]);
        assert_eq!(connect(&picture, 1), image(&[".11.", "....", "...."]));
        assert_eq!(
            connect(&image(&["4..", "...", "..4"]), 4),
            image(&["...", ".4.", "..."])
        );
    }

    #[test]
    fn ground_takes_the_nearest_color() {
        assert_eq!(spread(&image(&["1....2"])), image(&["111222"]));
    }

    #[test]
    fn objects_slide_as_a_unit() {
        let picture = image(&["11..", "1...", "..2."]);
        let objects = crate::op::region::split(&picture, crate::op::region::Connectivity::Color4);
        assert_eq!(
            slide(&picture, 1, &objects),
            image(&["....", "11..", "1.2."])
        );
        assert_eq!(
            slide(&picture, 0, &objects),
            image(&["..11", "..1.", "...2"])
        );
    }
}
