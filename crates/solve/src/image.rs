//! Images: small rectangles of cells with a place, the values that programs work on.
//!
//! 0 is the ground: transparent where images are laid over each other. Which colour of the task that is, `roles` decides. Invariant:
//! `cells.len() == w * h`, both sides at least 1 and at most [`LARGEST_SIDE`].

use rhae_tasks::Grid;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// No function makes anything longer than this.
pub(crate) const LARGEST_SIDE: usize = 60;

/// A rectangle of cells whose top left corner is at a place of the plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) x: i16,
    pub(crate) y: i16,
    pub(crate) w: usize,
    pub(crate) h: usize,
    pub(crate) cells: Vec<u8>,
}

/// What a program has in its hand: an image, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    One(Image),
    Many(Vec<Image>),
}

impl Image {
    /// An image of one colour at the origin.
    pub(crate) fn filled(w: usize, h: usize, color: u8) -> Self {
        Self {
            x: 0,
            y: 0,
            w,
            h,
            cells: vec![color; w * h],
        }
    }

    /// An image of the same place and size, made cell by cell.
    pub(crate) fn map(&self, change: impl Fn(u8) -> u8) -> Self {
        Self {
            cells: self.cells.iter().map(|&cell| change(cell)).collect(),
            ..*self
        }
    }

    /// An image of the same place and size whose cells are given.
    pub(crate) fn with(&self, cells: Vec<u8>) -> Self {
        debug_assert_eq!(cells.len(), self.cells.len());
        Self { cells, ..*self }
    }

    /// An image of another size, made from a function of column and row; nothing if it would be too large.
    pub(crate) fn build(
        w: usize,
        h: usize,
        mut cell: impl FnMut(usize, usize) -> u8,
    ) -> Option<Self> {
        if w == 0 || h == 0 || w > LARGEST_SIDE || h > LARGEST_SIDE {
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

    /// The cell at a place of the image's own frame, or the ground outside of it.
    pub(crate) fn get(&self, x: i32, y: i32) -> u8 {
        if x >= 0 && y >= 0 && (x as usize) < self.w && (y as usize) < self.h {
            self.cells[y as usize * self.w + x as usize]
        } else {
            0
        }
    }

    pub(crate) fn inside(&self, x: i32, y: i32) -> bool {
        x >= 0 && y >= 0 && (x as usize) < self.w && (y as usize) < self.h
    }

    pub(crate) fn moved_to(mut self, x: i16, y: i16) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    pub(crate) fn size(&self) -> (usize, usize) {
        (self.w, self.h)
    }

    /// How many cells are not ground.
    pub(crate) fn count(&self) -> usize {
        self.cells.iter().filter(|&&cell| cell != 0).count()
    }

    /// How many cells each colour has.
    pub(crate) fn histogram(&self) -> [usize; 16] {
        let mut counts = [0; 16];
        for &cell in &self.cells {
            counts[usize::from(cell & 15)] += 1;
        }
        counts
    }

    /// How many colours there are beside the ground.
    pub(crate) fn colors(&self) -> usize {
        self.histogram()[1..]
            .iter()
            .filter(|&&count| count > 0)
            .count()
    }

    /// The most frequent colour beside the ground, the smaller number on a tie; 0 if there is none.
    pub(crate) fn majority(&self) -> u8 {
        let counts = self.histogram();
        (1..16)
            .rev()
            .max_by_key(|&color| counts[color])
            .filter(|&color| counts[color] > 0)
            .unwrap_or(0) as u8
    }

    /// The least frequent colour that is there, beside the ground.
    pub(crate) fn minority(&self) -> u8 {
        let counts = self.histogram();
        (1..16)
            .filter(|&color| counts[color] > 0)
            .min_by_key(|&color| counts[color])
            .unwrap_or(0) as u8
    }

    /// The smallest box around all that is not ground: left, top, right, bottom, the last two exclusive.
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

    /// A part, which keeps its place on the plane.
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

    /// The part that holds everything but ground.
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

    pub(crate) fn flipped(&self) -> Self {
        let mut cells = self.cells.clone();
        cells.chunks_exact_mut(self.w).for_each(<[u8]>::reverse);
        self.with(cells)
    }

    pub(crate) fn upended(&self) -> Self {
        let cells = self
            .cells
            .chunks_exact(self.w)
            .rev()
            .flatten()
            .copied()
            .collect();
        self.with(cells)
    }

    /// One of the eight symmetries of the square, in place: bit 0 mirrors left and right, bit 1 top and bottom, bit 2 transposes last.
    pub(crate) fn symmetry(&self, which: u8) -> Self {
        let mut image = if which & 1 != 0 {
            self.flipped()
        } else {
            self.clone()
        };
        if which & 2 != 0 {
            image = image.upended();
        }
        if which & 4 != 0 {
            image = image.transposed();
        }
        image.moved_to(self.x, self.y)
    }

    /// Whether one of the symmetries of the square maps it onto itself.
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

    /// Lays another image over this one, both at their places; what lies outside of this one is lost.
    pub(crate) fn paint(&mut self, over: &Self) {
        let (dx, dy) = (
            i32::from(over.x) - i32::from(self.x),
            i32::from(over.y) - i32::from(self.y),
        );
        for y in 0..over.h as i32 {
            for x in 0..over.w as i32 {
                let cell = over.cells[y as usize * over.w + x as usize];
                if cell != 0 && self.inside(x + dx, y + dy) {
                    self.cells[(y + dy) as usize * self.w + (x + dx) as usize] = cell;
                }
            }
        }
    }

    /// As a grid, where it is one.
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

    /// How many cells it has: what storing it and working on it costs.
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

/// An image from rows of digits, for tests.
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
        fn what_is_symmetric_looks_the_same_when_it_is_turned(image in any_image()) {
            for which in 0..8 {
                let turned = image.symmetry(which);
                prop_assert_eq!(image.is_symmetric(which), turned == image);
                let mut twice = image.clone();
                twice.paint(&turned);
                prop_assert_eq!(twice.is_symmetric(which), twice.symmetry(which) == twice);
            }
        }

        #[test]
        fn cropping_keeps_what_is_there(image in any_image()) {
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
    fn equal_values_hash_alike() {
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
