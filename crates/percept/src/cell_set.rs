//! A set of cells of a frame, one bit per cell.

use rhae_engine::{CELLS, SIZE};

use crate::Bounds;

/// A set of cells, stored as one 64-bit word per row. Bit `x` of word `y` is the cell in column `x`,
/// row `y`.
///
/// # Examples
///
/// ```
/// use rhae_percept::CellSet;
///
/// let mut cells = CellSet::EMPTY;
/// cells.insert(3, 5);
/// cells.insert(4, 5);
/// assert!(cells.contains(4, 5));
/// assert_eq!(cells.iter().collect::<Vec<_>>(), [(3, 5), (4, 5)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellSet {
    rows: [u64; SIZE],
}

impl Default for CellSet {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl CellSet {
    /// The set without cells.
    pub const EMPTY: Self = Self { rows: [0; SIZE] };

    /// Creates a set from its rows.
    pub const fn from_rows(rows: [u64; SIZE]) -> Self {
        Self { rows }
    }

    /// Returns the rows from top to bottom.
    pub const fn rows(&self) -> &[u64; SIZE] {
        &self.rows
    }

    /// Adds the cell in column `x`, row `y`.
    ///
    /// # Panics
    ///
    /// Panics if `y` is above 63.
    #[inline]
    pub const fn insert(&mut self, x: u8, y: u8) {
        self.rows[y as usize] |= 1 << (x & 63);
    }

    /// Adds all cells of a rectangle.
    pub fn insert_bounds(&mut self, bounds: Bounds) {
        let row = span(bounds.left, bounds.right);
        for y in bounds.top..=bounds.bottom {
            self.rows[usize::from(y)] |= row;
        }
    }

    /// Returns whether the cell in column `x`, row `y` is in the set.
    #[inline]
    pub const fn contains(&self, x: u8, y: u8) -> bool {
        self.rows[y as usize & 63] >> (x & 63) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|&row| row == 0)
    }

    /// Returns the number of cells.
    pub fn len(&self) -> u32 {
        self.rows.iter().map(|row| row.count_ones()).sum()
    }

    /// Adds all cells of another set.
    pub fn union(&mut self, other: &Self) {
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            *row |= other;
        }
    }

    /// Removes all cells of another set.
    pub fn subtract(&mut self, other: &Self) {
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            *row &= !other;
        }
    }

    /// Returns the number of cells that both sets contain.
    pub fn overlap(&self, other: &Self) -> u32 {
        let rows = self.rows.iter().zip(&other.rows);
        rows.map(|(row, other)| (row & other).count_ones()).sum()
    }

    /// Returns the smallest rectangle that contains all cells, `None` if the set is empty.
    pub fn bounds(&self) -> Option<Bounds> {
        let top = self.rows.iter().position(|&row| row != 0)?;
        let bottom = self.rows.iter().rposition(|&row| row != 0)?;
        let columns = self.rows[top..=bottom].iter().fold(0, |all, row| all | row);
        Some(Bounds {
            left: columns.trailing_zeros() as u8,
            top: top as u8,
            right: 63 - columns.leading_zeros() as u8,
            bottom: bottom as u8,
        })
    }

    /// Returns the cells row by row, as columns and rows.
    pub fn iter(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        self.rows.iter().enumerate().flat_map(|(y, &row)| {
            let mut rest = row;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let x = rest.trailing_zeros() as u8;
                    rest &= rest - 1;
                    (x, y as u8)
                })
            })
        })
    }

    /// Returns the cells that differ between two frames.
    pub fn difference(before: &[u8; CELLS], after: &[u8; CELLS]) -> Self {
        let mut set = Self::EMPTY;
        for (y, row) in set.rows.iter_mut().enumerate() {
            let range = y * SIZE..(y + 1) * SIZE;
            let (old, new) = (&before[range.clone()], &after[range]);
            if old != new {
                for (x, (old, new)) in old.iter().zip(new).enumerate() {
                    *row |= u64::from(old != new) << x;
                }
            }
        }
        set
    }

    /// Returns the set grown by one cell in all eight directions.
    #[must_use]
    pub fn dilated(&self) -> Self {
        let wide = self.rows.map(|row| row | row << 1 | row >> 1);
        let mut rows = wide;
        for y in 0..SIZE {
            let above = if y > 0 { wide[y - 1] } else { 0 };
            let below = if y + 1 < SIZE { wide[y + 1] } else { 0 };
            rows[y] |= above | below;
        }
        Self { rows }
    }

    /// Returns the cells that are 8-connected within this set with a cell of `seed`.
    #[must_use]
    pub fn reachable_from(&self, seed: &Self) -> Self {
        let mut reached = *seed;
        for (row, allowed) in reached.rows.iter_mut().zip(&self.rows) {
            *row &= allowed;
        }
        loop {
            let mut changed = false;
            for order in [false, true] {
                for step in 0..SIZE {
                    let y = if order { SIZE - 1 - step } else { step };
                    let above = if y > 0 { reached.rows[y - 1] } else { 0 };
                    let below = if y + 1 < SIZE { reached.rows[y + 1] } else { 0 };
                    let near = above | below | reached.rows[y];
                    let next = spread((near | near << 1 | near >> 1) & self.rows[y], self.rows[y]);
                    changed |= next != reached.rows[y];
                    reached.rows[y] |= next;
                }
            }
            if !changed {
                return reached;
            }
        }
    }
}

/// Returns a row with the bits from `left` to `right`, both included.
pub(crate) const fn span(left: u8, right: u8) -> u64 {
    (u64::MAX >> (63 - right)) & (u64::MAX << left)
}

/// Returns the runs of `allowed` that contain a bit of `seed`.
pub(crate) const fn spread(seed: u64, allowed: u64) -> u64 {
    let seed = seed & allowed;
    // An addition carries through a run of ones, and changes exactly the bits from the seed to the
    // end of its run. The same on the mirrored row reaches the other end.
    let up = (allowed.wrapping_add(seed) ^ allowed) & allowed | seed;
    let (mirrored, mirrored_seed) = (allowed.reverse_bits(), up.reverse_bits());
    let down = (mirrored.wrapping_add(mirrored_seed) ^ mirrored) & mirrored | mirrored_seed;
    down.reverse_bits() & allowed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spread_slowly(seed: u64, allowed: u64) -> u64 {
        let mut reached = seed & allowed;
        loop {
            let next = (reached | reached << 1 | reached >> 1) & allowed;
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    proptest! {
        #[test]
        fn spread_fills_whole_runs(seed: u64, allowed: u64, sparse: u64) {
            for seed in [seed, seed & sparse, seed & sparse & allowed.rotate_left(7)] {
                prop_assert_eq!(spread(seed, allowed), spread_slowly(seed, allowed));
            }
        }
    }

    #[test]
    fn reachable_cells_follow_diagonals_and_stop_at_gaps() {
        let mut area = CellSet::EMPTY;
        for (x, y) in [(0, 0), (1, 1), (2, 0), (5, 5), (63, 63)] {
            area.insert(x, y);
        }
        let mut seed = CellSet::EMPTY;
        seed.insert(2, 0);
        assert_eq!(
            area.reachable_from(&seed).iter().collect::<Vec<_>>(),
            [(0, 0), (2, 0), (1, 1)]
        );
    }

    #[test]
    fn bounds_contain_all_cells() {
        assert_eq!(CellSet::EMPTY.bounds(), None);
        let mut cells = CellSet::EMPTY;
        cells.insert(63, 2);
        cells.insert(7, 40);
        let bounds = cells.bounds().unwrap();
        assert_eq!(
            (bounds.left, bounds.top, bounds.right, bounds.bottom),
            (7, 2, 63, 40)
        );
        assert_eq!(cells.len(), 2);
    }
}
