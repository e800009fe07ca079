//! The shape of an object: which cells of its bounding rectangle it covers.

use rhae_engine::SIZE;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Bounds, CellSet};

/// A rotation or reflection of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Symmetry {
    /// No change.
    Identity,
    /// A quarter turn clockwise.
    QuarterTurn,
    /// A half turn.
    HalfTurn,
    /// A quarter turn counterclockwise.
    ThreeQuarterTurn,
    /// Left and right exchanged.
    MirrorColumns,
    /// Top and bottom exchanged.
    MirrorRows,
    /// Rows and columns exchanged.
    Transpose,
    /// Rows and columns exchanged, then both mirrored.
    AntiTranspose,
}

impl Symmetry {
    /// All symmetries, the identity first.
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::QuarterTurn,
        Self::HalfTurn,
        Self::ThreeQuarterTurn,
        Self::MirrorColumns,
        Self::MirrorRows,
        Self::Transpose,
        Self::AntiTranspose,
    ];
}

/// The cells of an object relative to the upper left corner of its bounding rectangle, without
/// colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    width: u8,
    height: u8,
    rows: [u64; SIZE],
}

/// The hash of a [`Shape`]. Equal shapes have equal ids; different shapes collide with a
/// probability of about 2⁻⁶⁴ per pair. Ids must not be stored in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShapeId(pub u64);

impl Shape {
    /// Returns the shape of the cells inside a rectangle.
    pub fn new(cells: &CellSet, bounds: Bounds) -> Self {
        let mut rows = [0; SIZE];
        let inside = cells.rows()[bounds.top.into()..=bounds.bottom.into()].iter();
        for (row, cells) in rows.iter_mut().zip(inside) {
            *row = cells >> bounds.left & (u64::MAX >> (64 - bounds.width()));
        }
        Self {
            width: bounds.width(),
            height: bounds.height(),
            rows,
        }
    }

    /// Returns the number of columns.
    pub const fn width(&self) -> u8 {
        self.width
    }

    /// Returns the number of rows.
    pub const fn height(&self) -> u8 {
        self.height
    }

    /// Returns whether the shape covers its column `x`, row `y`.
    pub const fn covers(&self, x: u8, y: u8) -> bool {
        x < self.width && y < self.height && self.rows[y as usize] >> x & 1 == 1
    }

    /// Returns the id of this shape in this orientation.
    pub fn id(&self) -> ShapeId {
        let mut bytes = [0; 8 * SIZE + 2];
        let end = 8 * usize::from(self.height);
        for (chunk, row) in bytes
            .chunks_exact_mut(8)
            .zip(&self.rows[..self.height.into()])
        {
            chunk.copy_from_slice(&row.to_le_bytes());
        }
        bytes[end] = self.width;
        bytes[end + 1] = self.height;
        ShapeId(xxh3_64(&bytes[..end + 2]))
    }

    /// Returns the id that all rotations and reflections of this shape share.
    pub fn canonical_id(&self) -> ShapeId {
        // Mirroring is cheap and transposing is not, so the four mirrored forms are computed from
        // the shape and from its transpose.
        let transposed = self.transposed();
        let mut least = ShapeId(u64::MAX);
        for base in [*self, transposed] {
            let columns = base.mirrored_columns();
            for form in [base, columns, base.mirrored_rows(), columns.mirrored_rows()] {
                least = least.min(form.id());
            }
        }
        least
    }

    /// Returns the shape after a rotation or reflection.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Self {
        match symmetry {
            Symmetry::Identity => *self,
            Symmetry::QuarterTurn => self.transposed().mirrored_columns(),
            Symmetry::HalfTurn => self.mirrored_rows().mirrored_columns(),
            Symmetry::ThreeQuarterTurn => self.transposed().mirrored_rows(),
            Symmetry::MirrorColumns => self.mirrored_columns(),
            Symmetry::MirrorRows => self.mirrored_rows(),
            Symmetry::Transpose => self.transposed(),
            Symmetry::AntiTranspose => self.transposed().mirrored_rows().mirrored_columns(),
        }
    }

    /// Returns the first of [`Symmetry::ALL`] that turns this shape into another one.
    pub fn symmetry_to(&self, other: &Self) -> Option<Symmetry> {
        let mut all = Symmetry::ALL.into_iter();
        all.find(|&symmetry| self.transformed(symmetry) == *other)
    }

    fn mirrored_columns(mut self) -> Self {
        let shift = 64 - self.width;
        for row in &mut self.rows[..self.height.into()] {
            *row = row.reverse_bits() >> shift;
        }
        self
    }

    fn mirrored_rows(mut self) -> Self {
        self.rows[..self.height.into()].reverse();
        self
    }

    fn transposed(&self) -> Self {
        let mut rows = [0; SIZE];
        for (y, &row) in self.rows[..self.height.into()].iter().enumerate() {
            let mut rest = row;
            while rest != 0 {
                rows[rest.trailing_zeros() as usize] |= 1 << y;
                rest &= rest - 1;
            }
        }
        Self {
            width: self.height,
            height: self.width,
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(rows: &[&str]) -> Shape {
        let mut cells = CellSet::EMPTY;
        for (y, row) in rows.iter().enumerate() {
            for (x, letter) in row.bytes().enumerate() {
                if letter == b'#' {
                    cells.insert(20 + x as u8, 30 + y as u8);
                }
            }
        }
        Shape::new(&cells, cells.bounds().unwrap())
    }

    #[test]
    fn turns_are_clockwise() {
        let corner = shape(&["###", "#.."]);
        assert_eq!(
            corner.transformed(Symmetry::QuarterTurn),
            shape(&["##", ".#", ".#"])
        );
        assert_eq!(
            corner.transformed(Symmetry::ThreeQuarterTurn),
            shape(&["#.", "#.", "##"])
        );
        assert_eq!(
            corner.transformed(Symmetry::AntiTranspose),
            shape(&[".#", ".#", "##"])
        );
        assert_eq!(
            corner.symmetry_to(&shape(&["###", "..#"])),
            Some(Symmetry::MirrorColumns)
        );
        assert_eq!(corner.symmetry_to(&shape(&["##", "##"])), None);
    }

    #[test]
    fn position_is_not_part_of_a_shape_but_size_is() {
        assert_eq!(
            shape(&["##", "#."]).id(),
            shape(&["...", ".##", ".#."]).id()
        );
        assert_ne!(shape(&["##"]).id(), shape(&["##", "##"]).id());
    }

    proptest! {
        #[test]
        fn all_orientations_share_one_canonical_id(bits in prop::collection::vec(any::<u64>(), 1..20)) {
            let mut rows = [0; SIZE];
            for (row, bits) in rows[4..].iter_mut().zip(&bits) {
                *row = bits & 0x00ff_ff00;
            }
            let cells = CellSet::from_rows(rows);
            if let Some(bounds) = cells.bounds() {
                let shape = Shape::new(&cells, bounds);
                for symmetry in Symmetry::ALL {
                    let turned = shape.transformed(symmetry);
                    prop_assert_eq!(turned.canonical_id(), shape.canonical_id());
                    let back = shape.symmetry_to(&turned).unwrap();
                    prop_assert_eq!(shape.transformed(back), turned);
                }
            }
        }
    }
}
