//! Images: rectangles of cells with a position, the values that programs work on.
//!
//! The cell value 0 is the *ground* (the background). It is transparent when images are laid over
//! each other. The module `roles` decides which colour of a task becomes the ground.
//!
//! Invariant: `cells.len() == w * h`, and both sides are between 1 and [`MAX_IMAGE_SIDE`].

use rhae_tasks::Grid;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The maximum width and height of an image.
pub(crate) const MAX_IMAGE_SIDE: usize = 60;

/// A rectangle of cells whose top left corner is at (`x`, `y`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) x: i16,
    pub(crate) y: i16,
    pub(crate) w: usize,
    pub(crate) h: usize,
    pub(crate) cells: Vec<u8>,
}

/// The value that a program works on: an image or a list of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    One(Image),
    Many(Vec<Image>),
}

impl Image {
    /// Creates an image of one colour at the origin.
    pub(crate) fn filled(w: usize, h: usize, color: u8) -> Self {
        Self {
            x: 0,
            y: 0,
            w,
            h,
            cells: vec![color; w * h],
        }
    }

    /// Returns an image of the same position and size with `change` applied to each cell.
    pub(crate) fn map(&self, change: impl Fn(u8) -> u8) -> Self {
        Self {
            cells: self.cells.iter().map(|&cell| change(cell)).collect(),
            ..*self
        }
    }

    /// Returns an image of the same position and size with other cells.
    pub(crate) fn with_cells(&self, cells: Vec<u8>) -> Self {
        debug_assert_eq!(cells.len(), self.cells.len());
        Self { cells, ..*self }
    }

    /// Creates an image from a function of column and row; `None` if the size is not allowed.
    pub(crate) fn build(
        w: usize,
        h: usize,
        mut cell: impl FnMut(usize, usize) -> u8,
    ) -> Option<Self> {
        if w == 0 || h == 0 || w > MAX_IMAGE_SIDE || h > MAX_IMAGE_SIDE {
            return None;
        }
        let mut cells = Vec::with_capacity(w * h);
        for y in 0..h {
            for x in 0..w {
                cells.push(cell(x, y));
            }
        }
        Some(Self {
            x: 0,
            y: 0,
            w,
            h,
            cells,
        })
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> u8 {
        self.cells[y * self.w + x]
    }

    /// Returns the cell at a position relative to the top left corner, or ground outside the image.
    pub(crate) fn get(&self, x: i32, y: i32) -> u8 {
        if x >= 0 && y >= 0 && (x as usize) < self.w && (y as usize) < self.h {
            self.cells[y as usize * self.w + x as usize]
        } else {
            0
        }
    }

    pub(crate) fn contains(&self, x: i32, y: i32) -> bool {
        x >= 0 && y >= 0 && (x as usize) < self.w && (y as usize) < self.h
    }

    pub(crate) fn moved_to(mut self, x: i16, y: i16) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    pub(crate) fn size(&self) -> (usize, usize) {
        (self.w, self.h)
    }

    /// Returns the number of cells that are not ground.
    pub(crate) fn count(&self) -> usize {
        self.cells.iter().filter(|&&cell| cell != 0).count()
    }

    /// Returns the number of cells of each colour.
    pub(crate) fn histogram(&self) -> [usize; 16] {
        let mut counts = [0; 16];
        for &cell in &self.cells {
            counts[usize::from(cell & 15)] += 1;
        }
        counts
    }

    /// Returns the number of colours other than ground.
    pub(crate) fn colors(&self) -> usize {
        self.histogram()[1..]
            .iter()
            .filter(|&&count| count > 0)
            .count()
    }

    /// Returns the most frequent colour other than ground, or 0 if all cells are ground. On a tie,
    /// the smallest colour is returned.
    pub(crate) fn majority(&self) -> u8 {
        let counts = self.histogram();
        (1..16)
            .rev()
            .max_by_key(|&color| counts[color])
            .filter(|&color| counts[color] > 0)
            .unwrap_or(0) as u8
    }

    /// Returns the least frequent of the colours other than ground that occur, or 0 if all cells
    /// are ground. On a tie, the smallest colour is returned.
    pub(crate) fn minority(&self) -> u8 {
        let counts = self.histogram();
        (1..16)
            .filter(|&color| counts[color] > 0)
            .min_by_key(|&color| counts[color])
            .unwrap_or(0) as u8
    }

    /// Returns the bounding box of all cells that are not ground: left, top, right, bottom, the
    /// last two exclusive. `None` if all cells are ground.
    pub(crate) fn bounds(&self) -> Option<(usize, usize, usize, usize)> {
        let (mut left, mut top, mut right, mut bottom) = (usize::MAX, usize::MAX, 0, 0);
        for (y, row) in self.cells.chunks_exact(self.w).enumerate() {
            for (x, &cell) in row.iter().enumerate() {
                if cell != 0 {
                    left = left.min(x);
                    right = right.max(x + 1);
                    top = top.min(y);
                    bottom = y + 1;
                }
            }
        }
        (right > 0).then_some((left, top, right, bottom))
    }

    /// Returns a part of the image, which keeps its absolute position.
    pub(crate) fn part(&self, left: usize, top: usize, w: usize, h: usize) -> Self {
        let mut cells = Vec::with_capacity(w * h);
        for y in top..top + h {
            cells.extend_from_slice(&self.cells[y * self.w + left..y * self.w + left + w]);
        }
        Self {
            x: self.x + left as i16,
            y: self.y + top as i16,
            w,
            h,
            cells,
        }
    }

    /// Crops the image to its [`bounds`](Self::bounds).
    pub(crate) fn cropped(&self) -> Option<Self> {
        let (left, top, right, bottom) = self.bounds()?;
        Some(self.part(left, top, right - left, bottom - top))
    }

    pub(crate) fn transposed(&self) -> Self {
        let mut cells = Vec::with_capacity(self.cells.len());
        for x in 0..self.w {
            for y in 0..self.h {
                cells.push(self.cells[y * self.w + x]);
            }
        }
        Self {
            x: self.y,
            y: self.x,
            w: self.h,
            h: self.w,
            cells,
        }
    }

    pub(crate) fn flipped_horizontally(&self) -> Self {
        let mut cells = self.cells.clone();
        cells.chunks_exact_mut(self.w).for_each(<[u8]>::reverse);
        self.with_cells(cells)
    }

    pub(crate) fn flipped_vertically(&self) -> Self {
        let cells = self
            .cells
            .chunks_exact(self.w)
            .rev()
            .flatten()
            .copied()
            .collect();
        self.with_cells(cells)
    }

    /// Applies one of the eight symmetries of the square without moving the top left corner: bit 0
    /// mirrors left to right, then bit 1 top to bottom, then bit 2 transposes.
    pub(crate) fn symmetry(&self, which: u8) -> Self {
        let mut image = if which & 1 != 0 {
            self.flipped_horizontally()
        } else {
            self.clone()
        };
        if which & 2 != 0 {
            image = image.flipped_vertically();
        }
        if which & 4 != 0 {
            image = image.transposed();
        }
        image.moved_to(self.x, self.y)
    }

    /// Returns whether this symmetry of the square maps the image onto itself.
    pub(crate) fn is_symmetric(&self, which: u8) -> bool {
        let (w, h) = self.size();
        let partner = |x: usize, y: usize| {
            let (x, y) = if which & 4 != 0 { (y, x) } else { (x, y) };
            (
                if which & 1 != 0 { w - 1 - x } else { x },
                if which & 2 != 0 { h - 1 - y } else { y },
            )
        };
        let is_like = |x: usize, y: usize| {
            let (x_there, y_there) = partner(x, y);
            self.at(x, y) == self.at(x_there, y_there)
        };
        (which & 4 == 0 || w == h) && (0..h).all(|y| (0..w).all(|x| is_like(x, y)))
    }

    /// Paints another image over this one at its absolute position. Cells outside this image are
    /// dropped.
    pub(crate) fn paint(&mut self, over: &Self) {
        let (dx, dy) = (
            i32::from(over.x) - i32::from(self.x),
            i32::from(over.y) - i32::from(self.y),
        );
        for y in 0..over.h as i32 {
            for x in 0..over.w as i32 {
                let cell = over.cells[y as usize * over.w + x as usize];
                if cell != 0 && self.contains(x + dx, y + dy) {
                    self.cells[(y + dy) as usize * self.w + (x + dx) as usize] = cell;
                }
            }
        }
    }

    /// Converts the image to a grid; `None` if it is too large or has a colour above 9.
    pub(crate) fn to_grid(&self) -> Option<Grid> {
        let rows: Vec<Vec<u8>> = self
            .cells
            .chunks_exact(self.w)
            .map(<[u8]>::to_vec)
            .collect();
        Grid::new(&rows).ok()
    }
}

impl From<&Grid> for Image {
    fn from(grid: &Grid) -> Self {
        Self {
            x: 0,
            y: 0,
            w: grid.width(),
            h: grid.height(),
            cells: grid.cells().to_vec(),
        }
    }
}

impl Value {
    pub(crate) fn images(&self) -> &[Image] {
        match self {
            Self::One(image) => std::slice::from_ref(image),
            Self::Many(images) => images,
        }
    }

    /// Returns the number of cells of all images, in which memory and work are measured.
    pub(crate) fn weight(&self) -> usize {
        self.images().iter().map(|image| image.cells.len()).sum()
    }

    pub(crate) fn hash(&self) -> u64 {
        self.images()
            .iter()
            .fold(u64::from(matches!(self, Self::Many(_))), |hash, image| {
                let ([x, x_high], [y, y_high]) = (image.x.to_le_bytes(), image.y.to_le_bytes());
                let place =
                    u64::from_le_bytes([x, x_high, y, y_high, image.w as u8, image.h as u8, 0, 0]);
                xxh3_64_with_seed(
                    &image.cells,
                    hash.rotate_left(1) ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15),
                )
            })
    }
}

/// Creates an image from rows of digits for tests; `.` is ground.
#[cfg(test)]
pub(crate) fn image(rows: &[&str]) -> Image {
    let cells = rows
        .iter()
        .flat_map(|row| {
            row.bytes()
                .map(|byte| if byte == b'.' { 0 } else { byte - b'0' })
        })
        .collect();
    Image {
        x: 0,
        y: 0,
        w: rows[0].len(),
        h: rows.len(),
        cells,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn any_image() -> impl Strategy<Value = Image> {
        (1_usize..8, 1_usize..8).prop_flat_map(|(w, h)| {
            proptest::collection::vec(0_u8..4, w * h).prop_map(move |cells| Image {
                x: 0,
                y: 0,
                w,
                h,
                cells,
            })
        })
    }

    proptest! {
        #[test]
        fn symmetries_have_inverses(image in any_image()) {
            for which in 0..4 {
                prop_assert_eq!(&image.symmetry(which).symmetry(which), &image);
            }
            prop_assert_eq!(&image.symmetry(4).symmetry(4), &image);
            prop_assert_eq!(&image.symmetry(5).symmetry(6), &image);
            prop_assert_eq!(&image.symmetry(7).symmetry(7), &image);
        }

        #[test]
        fn is_symmetric_agrees_with_symmetry(image in any_image()) {
            for which in 0..8 {
                let turned = image.symmetry(which);
                prop_assert_eq!(image.is_symmetric(which), turned == image);
                let mut twice = image.clone();
                twice.paint(&turned);
                prop_assert_eq!(twice.is_symmetric(which), twice.symmetry(which) == twice);
            }
        }

        #[test]
        fn cropping_keeps_all_content(image in any_image()) {
            match image.cropped() {
                None => prop_assert!(image.count() == 0),
                Some(part) => {
                    prop_assert_eq!(part.count(), image.count());
                    let mut canvas = Image::filled(image.w, image.h, 0);
                    canvas.paint(&part);
                    prop_assert_eq!(canvas, image);
                }
            }
        }
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let one = image(&["12", ".3"]);
        assert_eq!(
            Value::One(one.clone()).hash(),
            Value::One(one.clone()).hash()
        );
        assert_ne!(
            Value::One(one.clone()).hash(),
            Value::Many(vec![one.clone()]).hash()
        );
        assert_ne!(
            Value::One(one.clone()).hash(),
            Value::One(one.moved_to(1, 0)).hash()
        );
    }
}
