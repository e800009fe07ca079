//! Transformations of pictures: rotation, mirroring, scaling and recolouring.
//!
//! Each function returns a new picture. The rules are those of the official engine 0.9.3.

use std::mem;

use crate::picture::check_size;
use crate::{Picture, Rotation, SpriteError, TRANSPARENT};

impl Picture {
    /// Returns the picture rotated, then mirrored top to bottom, then mirrored left to right.
    pub fn oriented(&self, rotation: Rotation, mirror_ud: bool, mirror_lr: bool) -> Self {
        let (width, height) = match rotation {
            Rotation::R0 | Rotation::R180 => (self.width(), self.height()),
            Rotation::R90 | Rotation::R270 => (self.height(), self.width()),
        };
        if width == 0 || height == 0 {
            return Self::of(width, height, Vec::new());
        }
        // Every orientation reads the source cells with constant strides: it starts at a corner,
        // advances by one stride along each new row and by another stride from row to row.
        let (source_width, last) = (self.width(), self.cells().len() - 1);
        let (mut corner, mut along, mut down) = match rotation {
            Rotation::R0 => (0, Stride::forward(1), Stride::forward(source_width)),
            Rotation::R90 => (
                last + 1 - source_width,
                Stride::backward(source_width),
                Stride::forward(1),
            ),
            Rotation::R180 => (last, Stride::backward(1), Stride::backward(source_width)),
            Rotation::R270 => (
                source_width - 1,
                Stride::forward(source_width),
                Stride::backward(1),
            ),
        };
        if mirror_ud {
            corner = down.advance(corner, height - 1);
            down.reverse();
        }
        if mirror_lr {
            corner = along.advance(corner, width - 1);
            along.reverse();
        }
        let mut cells = Vec::with_capacity(self.cells().len());
        for row in 0..height {
            let start = down.advance(corner, row);
            cells.extend((0..width).map(|column| self.cells()[along.advance(start, column)]));
        }
        Self::of(width, height, cells)
    }

    /// Returns the picture with every cell replaced by a square of `factor` × `factor` cells.
    ///
    /// # Errors
    ///
    /// Returns an error if `factor` is 0 or the result would have more than 2²⁴ cells.
    pub fn enlarged(&self, factor: usize) -> Result<Self, SpriteError> {
        if factor == 0 {
            return Err(SpriteError::ZeroScale);
        }
        let (width, height) = (
            self.width().saturating_mul(factor),
            self.height().saturating_mul(factor),
        );
        check_size(width, height)?;
        let mut cells = Vec::with_capacity(width * height);
        for row in self.rows() {
            let start = cells.len();
            for &cell in row {
                cells.resize(cells.len() + factor, cell);
            }
            for _ in 1..factor {
                cells.extend_from_within(start..start + width);
            }
        }
        Ok(Self::of(width, height, cells))
    }

    /// Returns the picture with every square of `factor` × `factor` cells replaced by one cell.
    ///
    /// A square becomes transparent if it has more cells without a colour (below 0) than cells that
    /// are not transparent (other than −1). Otherwise it takes its most frequent colour; if several
    /// colours are equally frequent, it takes the highest of them.
    ///
    /// # Errors
    ///
    /// Returns an error if `factor` is 0 or does not divide both sides, or if a square that does
    /// not become transparent contains a cell below −1.
    pub fn reduced(&self, factor: usize) -> Result<Self, SpriteError> {
        self.check_divisible(factor)?;
        let (width, height) = (self.width() / factor, self.height() / factor);
        let mut cells = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                let start = row * factor * self.width() + column * factor;
                let lines = self.cells()[start..]
                    .chunks(self.width().max(1))
                    .take(factor);
                cells.push(majority(lines.flat_map(|line| &line[..factor]).copied())?);
            }
        }
        Ok(Self::of(width, height, cells))
    }

    /// Checks that the picture can be divided into squares of `factor` × `factor` cells.
    pub(crate) fn check_divisible(&self, factor: usize) -> Result<(), SpriteError> {
        let (width, height) = (self.width(), self.height());
        if factor == 0 {
            Err(SpriteError::ZeroScale)
        } else if !width.is_multiple_of(factor) || !height.is_multiple_of(factor) {
            Err(SpriteError::Indivisible {
                width,
                height,
                factor,
            })
        } else {
            Ok(())
        }
    }

    /// Returns the picture with the cells of value `old`, or of every colour if `old` is `None`,
    /// replaced by `new`.
    pub fn recolored(&self, old: Option<i8>, new: i8) -> Self {
        let replaced = |cell: i8| old.map_or(cell >= 0, |old| cell == old);
        let cells = self
            .cells()
            .iter()
            .map(|&cell| if replaced(cell) { new } else { cell })
            .collect();
        Self::of(self.width(), self.height(), cells)
    }
}

/// A distance between cells, forward or backward.
#[derive(Clone, Copy)]
struct Stride {
    forward: usize,
    backward: usize,
}

impl Stride {
    const fn forward(cells: usize) -> Self {
        Self {
            forward: cells,
            backward: 0,
        }
    }

    const fn backward(cells: usize) -> Self {
        Self {
            forward: 0,
            backward: cells,
        }
    }

    const fn advance(self, from: usize, steps: usize) -> usize {
        from + self.forward * steps - self.backward * steps
    }

    const fn reverse(&mut self) {
        mem::swap(&mut self.forward, &mut self.backward);
    }
}

/// Returns the cell that represents a block of cells.
///
/// The block becomes transparent if it has more cells without a colour (below 0) than cells that
/// collide (other than −1). A cell below −1 counts in both groups. If the block does not become
/// transparent, such a cell makes the reduction fail, as in the official engine.
fn majority(block: impl Iterator<Item = i8>) -> Result<i8, SpriteError> {
    let mut counts = [0_usize; 128];
    let (mut uncolored, mut colliding) = (0, 0);
    let mut solid = None;
    for cell in block {
        uncolored += usize::from(cell < 0);
        colliding += usize::from(cell != TRANSPARENT);
        match usize::try_from(cell) {
            Ok(color) => counts[color] += 1,
            Err(_) if cell != TRANSPARENT => solid = Some(cell),
            Err(_) => {}
        }
    }
    if uncolored > colliding {
        return Ok(TRANSPARENT);
    }
    if let Some(cell) = solid {
        return Err(SpriteError::Colorless(cell));
    }
    // `max_by_key` returns the last of equal maxima, which is the highest colour.
    Ok((0_i8..)
        .zip(counts)
        .max_by_key(|&(_, count)| count)
        .map_or(TRANSPARENT, |(color, _)| color))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arbitrary::{picture, plain_picture, rotation};

    fn rows<const W: usize, const H: usize>(rows: [[i8; W]; H]) -> Picture {
        Picture::from_rows(&rows).unwrap()
    }

    /// Expected values from the official engine 0.9.3, for the rows 123 and 456.
    #[test]
    fn rotation_is_applied_before_mirroring() {
        use Rotation::{R0, R90, R180, R270};
        let source = rows([[1, 2, 3], [4, 5, 6]]);
        let table = [
            (R0, false, false, "123 456"),
            (R0, false, true, "321 654"),
            (R0, true, false, "456 123"),
            (R0, true, true, "654 321"),
            (R90, false, false, "41 52 63"),
            (R90, false, true, "14 25 36"),
            (R90, true, false, "63 52 41"),
            (R90, true, true, "36 25 14"),
            (R180, false, false, "654 321"),
            (R180, false, true, "456 123"),
            (R180, true, false, "321 654"),
            (R180, true, true, "123 456"),
            (R270, false, false, "36 25 14"),
            (R270, false, true, "63 52 41"),
            (R270, true, false, "14 25 36"),
            (R270, true, true, "41 52 63"),
        ];
        for (rotation, ud, lr, expected) in table {
            let shown = format!("{:?}", source.oriented(rotation, ud, lr))
                .lines()
                .skip(1)
                .collect::<Vec<_>>()
                .join(" ");
            assert_eq!(shown, expected, "{rotation:?} {ud} {lr}");
        }
    }

    /// Expected values from the official engine 0.9.3. Where it raises an error, this engine
    /// returns one.
    #[test]
    fn block_is_reduced_to_its_majority() {
        let table = [
            ([[-1, -1], [3, 4]], Ok(4)),
            ([[-1, -1], [-1, 4]], Ok(-1)),
            ([[-1, -1], [-1, -1]], Ok(-1)),
            ([[1, 2], [3, 4]], Ok(4)),
            ([[1, 1], [2, 2]], Ok(2)),
            ([[0, 0], [0, 15]], Ok(0)),
            ([[127, 127], [1, 2]], Ok(127)),
            ([[-1, -2], [-1, -1]], Ok(-1)),
            ([[-2, 1], [1, 1]], Err(-2)),
            ([[-2, -2], [-2, -2]], Err(-2)),
            ([[-2, -2], [-1, 5]], Err(-2)),
            ([[-2, -1], [5, 5]], Err(-2)),
            ([[-3, -1], [5, 5]], Err(-3)),
        ];
        for (block, expected) in table {
            let found = rows(block).reduced(2).map(|picture| picture.cells()[0]);
            assert_eq!(found, expected.map_err(SpriteError::Colorless), "{block:?}");
        }
        for (block, expected) in [
            ([[1, 1, 2], [2, 3, 3], [-1, -1, -1]], 3),
            ([[1, -1, -1], [-1, 2, -1], [-1, 3, -1]], -1),
            ([[1, -1, -1], [-1, 2, 2], [-1, 3, 3]], 3),
        ] {
            assert_eq!(
                rows(block).reduced(3).unwrap().cells(),
                [expected],
                "{block:?}"
            );
        }
    }

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn factor_must_divide_both_sides() {
        let error = rows([[1, 1, 2], [2, 3, 3]]).reduced(2).unwrap_err();
        assert_eq!(
            error,
            SpriteError::Indivisible {
                width: 3,
                height: 2,
                factor: 2
            }
        );
        let empty = rows::<0, 2>([[], []]);
        assert_eq!(empty.reduced(2).unwrap().height(), 1);
        assert_eq!(empty.enlarged(3).unwrap().height(), 6);
        assert_eq!(empty.oriented(Rotation::R90, true, true).width(), 2);
    }

    #[test]
    fn enlarging_is_limited() {
        let error = rows([[1, 2]]).enlarged(usize::MAX / 2).unwrap_err();
        assert!(matches!(error, SpriteError::TooLarge { .. }));
        assert_eq!(rows([[1]]).enlarged(0), Err(SpriteError::ZeroScale));
    }

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn recolouring_without_old_value_skips_cells_without_colour() {
        let source = rows([[1, -1], [-2, 0]]);
        assert_eq!(source.recolored(None, 7), rows([[7, -1], [-2, 7]]));
        assert_eq!(source.recolored(Some(-1), 7), rows([[1, 7], [-2, 0]]));
        assert_eq!(source.recolored(Some(1), -1), rows([[-1, -1], [-2, 0]]));
    }

    proptest! {
        #[test]
        fn four_quarter_turns_are_the_identity(source in picture(1..20, 1..20)) {
            let turned = (0..4).fold(source.clone(), |picture, _| picture.oriented(Rotation::R90, false, false));
            prop_assert_eq!(turned, source);
        }

        #[test]
        fn rotations_compose(source in picture(1..20, 1..20), first in rotation(), second in rotation()) {
            let twice = source.oriented(first, false, false).oriented(second, false, false);
            prop_assert_eq!(twice, source.oriented(first.then(second), false, false));
        }

        #[test]
        fn mirroring_twice_is_the_identity(source in picture(1..20, 1..20), ud in any::<bool>(), lr in any::<bool>()) {
            let twice = source.oriented(Rotation::R0, ud, lr).oriented(Rotation::R0, ud, lr);
            prop_assert_eq!(twice, source);
        }

        #[test]
        fn mirroring_both_ways_is_a_half_turn(source in picture(1..20, 1..20)) {
            prop_assert_eq!(source.oriented(Rotation::R0, true, true), source.oriented(Rotation::R180, false, false));
        }

        #[test]
        fn reducing_undoes_enlarging(source in plain_picture(1..12, 1..12), factor in 1_usize..6) {
            prop_assert_eq!(source.enlarged(factor).unwrap().reduced(factor).unwrap(), source);
        }

        #[test]
        fn scaling_and_orientation_commute(
            source in plain_picture(1..8, 1..8), spread in 1_usize..4, factor in 1_usize..4,
            rotation in rotation(), ud in any::<bool>(), lr in any::<bool>(),
        ) {
            let grown = source.enlarged(factor).unwrap();
            prop_assert_eq!(
                grown.oriented(rotation, ud, lr), source.oriented(rotation, ud, lr).enlarged(factor).unwrap()
            );
            // A shift by one column mixes the cells of neighbouring blocks.
            let mut cells = source.enlarged(spread * factor).unwrap().cells().to_vec();
            cells.rotate_right(1);
            let mixed = Picture::of(source.width() * spread * factor, source.height() * spread * factor, cells);
            prop_assert_eq!(
                mixed.reduced(factor).unwrap().oriented(rotation, ud, lr),
                mixed.oriented(rotation, ud, lr).reduced(factor).unwrap()
            );
        }

        #[test]
        fn recolouring_is_idempotent(
            source in picture(1..9, 1..9), old in prop::option::of(-2_i8..16), new in 0_i8..16,
        ) {
            let once = source.recolored(old, new);
            prop_assert_eq!(once.recolored(old, new), once);
        }
    }
}
