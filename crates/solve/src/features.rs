//! Features of cells: the numbers that describe a cell to a decision tree.
//!
//! Invariant: every image has the same features in the same order. Values are clamped to `i8`.

use crate::image::Image;
use crate::op::region::{
    Connectivity, NEIGHBOR_OFFSETS, Regions, enclosed_mask, label, regions, split,
};
use crate::property::form;

/// Returns the features of all cells of an image: one column per feature, one value per cell.
pub(crate) fn features(image: &Image) -> Vec<Vec<i8>> {
    let mut table = FeatureTable {
        image,
        columns: Vec::new(),
    };
    table.neighbourhood();
    table.place();
    table.rays();
    table.lines();
    table.counts();
    table.objects();
    table.columns
}

/// The number of features that an object passes on to its cells.
const OBJECT_FEATURE_COUNT: usize = 22;

struct FeatureTable<'a> {
    image: &'a Image,
    columns: Vec<Vec<i8>>,
}

fn clamp_to_i8(number: i32) -> i8 {
    number.clamp(-128, 127) as i8
}

impl FeatureTable<'_> {
    fn add(&mut self, value: impl Fn(i32, i32) -> i32) {
        let (w, h) = (self.image.w as i32, self.image.h as i32);
        self.columns.push(
            (0..w * h)
                .map(|index| clamp_to_i8(value(index % w, index / w)))
                .collect(),
        );
    }

    fn neighbourhood(&mut self) {
        let image = self.image;
        let cell = |x: i32, y: i32| {
            if image.contains(x, y) {
                i32::from(image.get(x, y))
            } else {
                -1
            }
        };
        self.add(cell);
        self.add(|x, y| i32::from(cell(x, y) == 0));
        for (dx, dy) in NEIGHBOR_OFFSETS {
            self.add(|x, y| cell(x + dx, y + dy));
        }
        for dy in -2..=2_i32 {
            for dx in -2..=2_i32 {
                if dx.abs().max(dy.abs()) == 2 {
                    self.add(|x, y| cell(x + dx, y + dy));
                }
            }
        }
        let (w, h) = (image.w as i32, image.h as i32);
        self.add(|x, y| cell(w - 1 - x, y));
        self.add(|x, y| cell(x, h - 1 - y));
        self.add(|x, y| cell(w - 1 - x, h - 1 - y));
        self.add(|x, y| cell(y, x));
        self.add(|x, y| cell(h - 1 - y, w - 1 - x));
        let around = |x: i32, y: i32, sides: usize| {
            NEIGHBOR_OFFSETS[..sides]
                .iter()
                .filter(|(dx, dy)| cell(x + dx, y + dy) > 0)
                .count() as i32
        };
        self.add(|x, y| around(x, y, 4));
        self.add(|x, y| around(x, y, 8));
        self.add(|x, y| around(x, y, 8) - around(x, y, 4));
        self.add(|x, y| {
            NEIGHBOR_OFFSETS
                .iter()
                .filter(|(dx, dy)| cell(x + dx, y + dy) == cell(x, y))
                .count() as i32
        });
        self.add(|x, y| {
            NEIGHBOR_OFFSETS[..4]
                .iter()
                .filter(|(dx, dy)| cell(x + dx, y + dy) == cell(x, y))
                .count() as i32
        });
        self.add(|x, y| {
            NEIGHBOR_OFFSETS
                .iter()
                .map(|(dx, dy)| cell(x + dx, y + dy))
                .max()
                .unwrap_or(0)
        });
        self.add(|x, y| {
            NEIGHBOR_OFFSETS[..4]
                .iter()
                .map(|(dx, dy)| cell(x + dx, y + dy))
                .max()
                .unwrap_or(0)
        });
        self.add(|x, y| {
            NEIGHBOR_OFFSETS[4..]
                .iter()
                .map(|(dx, dy)| cell(x + dx, y + dy))
                .max()
                .unwrap_or(0)
        });
    }

    fn place(&mut self) {
        let (w, h) = (self.image.w as i32, self.image.h as i32);
        self.add(|x, y| x.min(y).min(w - 1 - x).min(h - 1 - y));
        self.add(|x, _| x);
        self.add(|_, y| y);
        self.add(|x, _| w - 1 - x);
        self.add(|_, y| h - 1 - y);
        self.add(|x, _| x.min(w - 1 - x));
        self.add(|_, y| y.min(h - 1 - y));
        for modulus in [2, 3] {
            self.add(|x, _| x % modulus);
            self.add(|_, y| y % modulus);
            self.add(|x, y| (x + y) % modulus);
            self.add(|x, y| (x - y).rem_euclid(modulus));
            self.add(|x, _| (w - 1 - x) % modulus);
            self.add(|_, y| (h - 1 - y) % modulus);
            self.add(|x, y| x.min(y).min(w - 1 - x).min(h - 1 - y) % modulus);
        }
        self.add(|x, y| x - y);
        self.add(|x, y| x + y - w.min(h) + 1);
        self.add(|x, y| (x - y).abs().min((x + y - w + 1).abs()));
    }

    /// Adds, for each of the eight directions, the colour and the distance of the first cell that
    /// is not ground.
    fn rays(&mut self) {
        let image = self.image;
        let (w, h) = (image.w as i32, image.h as i32);
        let mut seen: Vec<Vec<(i8, i8)>> = Vec::new();
        for (dx, dy) in NEIGHBOR_OFFSETS {
            let look = |index: i32| {
                let (mut x, mut y, mut steps) = (index % w + dx, index / w + dy, 1);
                while image.contains(x, y) {
                    let cell = image.get(x, y);
                    if cell != 0 {
                        return (cell as i8, steps);
                    }
                    (x, y, steps) = (x + dx, y + dy, steps + 1);
                }
                (0, 99)
            };
            seen.push((0..w * h).map(look).collect());
        }
        for ray in &seen {
            self.columns
                .push(ray.iter().map(|(color, _)| *color).collect());
        }
        for (one, other) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
            let agree =
                |(one, other): (&(i8, i8), &(i8, i8))| if one.0 == other.0 { one.0 } else { 0 };
            self.columns
                .push(seen[one].iter().zip(&seen[other]).map(agree).collect());
        }
        let hits = |rays: std::ops::Range<usize>, cell: usize| {
            rays.filter(|&ray| seen[ray][cell].0 != 0).count() as i8
        };
        let cells = (w * h) as usize;
        self.columns
            .push((0..cells).map(|cell| hits(0..4, cell)).collect());
        self.columns
            .push((0..cells).map(|cell| hits(4..8, cell)).collect());
        for ray in &seen {
            self.columns
                .push(ray.iter().map(|(_, steps)| *steps).collect());
        }
        let nearest = |cell: usize| {
            seen[..4]
                .iter()
                .map(|ray| ray[cell])
                .min_by_key(|(_, steps)| *steps)
                .map_or(0, |(color, _)| color)
        };
        self.columns.push((0..cells).map(nearest).collect());
        self.columns.push(
            (0..cells)
                .map(|cell| seen[..4].iter().map(|ray| ray[cell].1).min().unwrap_or(99))
                .collect(),
        );
    }

    /// Adds statistics of the row and the column of a cell.
    fn lines(&mut self) {
        let image = self.image;
        let line = |length: usize, at: &dyn Fn(usize) -> u8| {
            let cells: Vec<u8> = (0..length).map(at).collect();
            let part = Image {
                x: 0,
                y: 0,
                w: length,
                h: 1,
                cells,
            };
            let first = part
                .cells
                .iter()
                .copied()
                .find(|&cell| cell != 0)
                .unwrap_or(0);
            let last = part
                .cells
                .iter()
                .rev()
                .copied()
                .find(|&cell| cell != 0)
                .unwrap_or(0);
            let uniform = part.cells.iter().all(|&cell| cell == part.cells[0]);
            let ends = if part.cells[0] == part.cells[length - 1] {
                part.cells[0]
            } else {
                0
            };
            [
                part.count() as i32,
                i32::from(uniform),
                i32::from(part.majority()),
                i32::from(first),
                i32::from(last),
                i32::from(ends),
                i32::from(part.cells[0]),
                i32::from(part.cells[length - 1]),
                part.colors() as i32,
            ]
        };
        let rows: Vec<[i32; 9]> = (0..image.h)
            .map(|y| line(image.w, &|x| image.at(x, y)))
            .collect();
        let columns: Vec<[i32; 9]> = (0..image.w)
            .map(|x| line(image.h, &|y| image.at(x, y)))
            .collect();
        for number in 0..9 {
            self.add(|_, y| rows[y as usize][number]);
            self.add(|x, _| columns[x as usize][number]);
            if number < 2 {
                self.add(|x, y| rows[y as usize][number].max(columns[x as usize][number]));
                self.add(|x, y| rows[y as usize][number].min(columns[x as usize][number]));
            }
        }
        let most = |lines: &[[i32; 9]]| lines.iter().map(|line| line[0]).max().unwrap_or(0);
        let least = |lines: &[[i32; 9]]| lines.iter().map(|line| line[0]).min().unwrap_or(0);
        let (row_most, column_most, row_least, column_least) =
            (most(&rows), most(&columns), least(&rows), least(&columns));
        self.add(|_, y| i32::from(rows[y as usize][0] == row_most));
        self.add(|x, _| i32::from(columns[x as usize][0] == column_most));
        self.add(|_, y| i32::from(rows[y as usize][0] == row_least));
        self.add(|x, _| i32::from(columns[x as usize][0] == column_least));
    }

    fn counts(&mut self) {
        let image = self.image;
        let (majority, minority, colors) =
            (image.majority(), image.minority(), image.colors() as i32);
        let histogram = image.histogram();
        let cell = |x: i32, y: i32| image.get(x, y);
        self.add(|x, y| i32::from(cell(x, y) == majority));
        self.add(|x, y| i32::from(cell(x, y) == minority));
        self.add(|_, _| i32::from(majority));
        self.add(|_, _| i32::from(minority));
        self.add(|_, _| colors);
        self.add(|x, y| {
            histogram
                .iter()
                .filter(|&&count| count > histogram[usize::from(cell(x, y))])
                .count() as i32
        });
        for corners in [false, true] {
            let inside = enclosed_mask(image, corners);
            self.columns
                .push(inside.into_iter().map(i8::from).collect());
        }
    }

    /// Adds features of the object that contains the cell, for four definitions of an object. In
    /// the first, connected ground is an object too.
    fn objects(&mut self) {
        let image = self.image;
        let everything = image.map(|cell| cell + 1);
        let ground = label(
            image.w,
            image.h,
            &NEIGHBOR_OFFSETS[..4],
            |_| true,
            |one, other| image.cells[one] == image.cells[other],
        );
        self.object_features(
            &everything,
            &ground,
            &split(&everything, Connectivity::Color4),
        );
        for join in [Connectivity::Color8, Connectivity::Any8, Connectivity::Any4] {
            self.object_features(image, &regions(image, join), &split(image, join));
        }
        let boxes = split(image, Connectivity::Any8);
        let enclosing = |x: i32, y: i32| -> Vec<&Image> {
            let inside = |object: &&Image| {
                let (left, top) = (i32::from(object.x), i32::from(object.y));
                x >= left && y >= top && x < left + object.w as i32 && y < top + object.h as i32
            };
            boxes.iter().filter(inside).collect()
        };
        self.add(|x, y| enclosing(x, y).len() as i32);
        self.add(|x, y| {
            enclosing(x, y)
                .iter()
                .min_by_key(|object| object.w * object.h)
                .map_or(0, |object| i32::from(object.majority()))
        });
        let hulls = split(image, Connectivity::Color8);
        self.add(|x, y| {
            let inside = |object: &&Image| {
                let (left, top) = (i32::from(object.x), i32::from(object.y));
                x >= left && y >= top && x < left + object.w as i32 && y < top + object.h as i32
            };
            hulls
                .iter()
                .filter(inside)
                .min_by_key(|object| object.w * object.h)
                .map_or(0, |object| i32::from(object.majority()))
        });
    }

    fn object_features(&mut self, image: &Image, found: &Regions, objects: &[Image]) {
        let forms: Vec<(usize, Vec<u8>)> = objects.iter().map(form).collect();
        let counts: Vec<usize> = objects.iter().map(Image::count).collect();
        let real = |object: &Image| image.colors() == 0 || object.count() > 0;
        let (largest, smallest) = (
            counts.iter().max().copied().unwrap_or(0),
            counts.iter().min().copied().unwrap_or(0),
        );
        let rank = |count: usize| counts.iter().filter(|&&other| other > count).count() as i32;
        let table: Vec<[i32; OBJECT_FEATURE_COUNT]> = objects
            .iter()
            .enumerate()
            .map(|(index, object)| {
                let count = counts[index];
                let (right, bottom) = (object.x as usize + object.w, object.y as usize + object.h);
                let sides = [
                    object.x == 0,
                    object.y == 0,
                    right == self.image.w,
                    bottom == self.image.h,
                ];
                let symmetric = |which: u8| object.symmetry(which).cells == object.cells;
                [
                    count as i32,
                    i32::from(count == largest && real(object)),
                    i32::from(count == smallest),
                    rank(count),
                    sides.iter().filter(|side| **side).count() as i32,
                    holes(object),
                    i32::from(count == object.w * object.h),
                    forms.iter().filter(|other| **other == forms[index]).count() as i32,
                    object.h as i32,
                    object.w as i32,
                    object.h.max(object.w) as i32,
                    object.h.min(object.w) as i32,
                    (object.h as i32 - object.w as i32).signum(),
                    (count % 2) as i32,
                    object.colors() as i32,
                    i32::from(object.majority()),
                    i32::from(object.minority()),
                    i32::from(symmetric(1)),
                    i32::from(symmetric(2)),
                    (0..8).filter(|&which| symmetric(which)).count() as i32,
                    objects
                        .iter()
                        .filter(|other| other.x == object.x && other.w == object.w)
                        .count() as i32,
                    objects.len() as i32,
                ]
            })
            .collect();
        let w = self.image.w as i32;
        let own = |x: i32, y: i32| usize::from(found.label[(y * w + x) as usize]);
        (0..OBJECT_FEATURE_COUNT).for_each(|number| {
            self.add(|x, y| {
                own(x, y)
                    .checked_sub(1)
                    .map_or(-1, |object| table[object][number])
            });
        });
        self.box_features(found, objects);
    }

    /// Adds features of the position within the bounding box of the object.
    fn box_features(&mut self, found: &Regions, objects: &[Image]) {
        let w = self.image.w as i32;
        let own = |x: i32, y: i32| usize::from(found.label[(y * w + x) as usize]);
        let within = |x: i32, y: i32| -> Option<(i32, i32, i32, i32)> {
            let object = &objects[own(x, y).checked_sub(1)?];
            let (dx, dy) = (x - i32::from(object.x), y - i32::from(object.y));
            Some((dx, dy, object.w as i32 - 1 - dx, object.h as i32 - 1 - dy))
        };
        self.add(|x, y| {
            within(x, y).map_or(-1, |(left, top, right, bottom)| {
                left.min(top).min(right).min(bottom)
            })
        });
        self.add(|x, y| within(x, y).map_or(-1, |(left, _, _, _)| left));
        self.add(|x, y| within(x, y).map_or(-1, |(_, top, _, _)| top));
        self.add(|x, y| within(x, y).map_or(-1, |(_, _, right, _)| right));
        self.add(|x, y| within(x, y).map_or(-1, |(_, _, _, bottom)| bottom));
        self.add(|x, y| within(x, y).map_or(-1, |(left, top, _, _)| (left + top) % 2));
        self.add(|x, y| {
            within(x, y).map_or(-1, |(left, top, right, bottom)| {
                i32::from(left == right) + 2 * i32::from(top == bottom)
            })
        });
    }
}

/// Counts the holes of an object.
fn holes(object: &Image) -> i32 {
    let inside = enclosed_mask(object, false);
    let found = label(
        object.w,
        object.h,
        &NEIGHBOR_OFFSETS[..4],
        |cell| inside[cell],
        |_, _| true,
    );
    found.count as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn all_images_have_the_same_features() {
        let one = features(&image(&["1.2", "...", "33."]));
        let other = features(&image(&["."]));
        assert_eq!(one.len(), other.len());
        assert!(one.len() > 200);
        assert!(one.iter().all(|column| column.len() == 9));
        assert_eq!(one[0], [1, 0, 2, 0, 0, 0, 3, 3, 0]);
    }
}
