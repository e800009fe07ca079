//! The geometry of folding: which cells of a sheet lie on top of each other.
//!
//! A fold turns outer lines (rows or columns) of the folded sheet over onto the lines next to them.
//! It turns over at most half of the sheet. The folded sheet therefore stays within the outline of
//! the flat one, and cells that were not turned over keep their position. This module does not
//! handle the marks on the sheet.

use rhae_engine::{Direction, Packer, Unpacker};
use serde::{Deserialize, Serialize};

/// The maximum side of a sheet, so that a set of cells fits into 64 bits.
pub(super) const MAX_SIDE: u8 = 8;
/// The maximum number of folds.
pub(super) const MAX_FOLDS: usize = 3;
/// The maximum number of layers at one place.
pub(super) const MAX_LAYERS: usize = 1 << MAX_FOLDS;

/// A set of cells of the flat sheet, or of places on the table: bit `8 y + x` is column `x`, row
/// `y`.
pub(super) type Cells = u64;

/// Returns the set that contains only this cell.
pub(super) const fn cell(x: u8, y: u8) -> Cells {
    1 << (y * MAX_SIDE + x)
}

/// Iterates over the cells of a set as (column, row).
pub(super) fn cells_of(mut set: Cells) -> impl Iterator<Item = (u8, u8)> {
    std::iter::from_fn(move || {
        let first = u8::try_from(set.trailing_zeros()).expect("a set has 64 bits");
        let found = (set != 0).then_some((first % MAX_SIDE, first / MAX_SIDE));
        set &= set.wrapping_sub(1);
        found
    })
}

/// A fold: `depth` outer lines are turned over in the direction `toward`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Fold {
    pub(super) toward: Direction,
    pub(super) depth: u8,
}

/// The rectangle that a sheet covers, given by its four edges. The number of an edge is the number
/// of rows or columns before it.
///
/// Each edge is one byte, in the order of the directions that move it: a fold up moves the bottom
/// edge, and so on. Folding then needs no branches, which matters because every frame computes
/// several folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hull {
    edges: u32,
}

impl Hull {
    /// Returns the hull of a flat square sheet.
    pub(super) const fn flat(size: u8) -> Self {
        Self {
            edges: u32::from_le_bytes([size, 0, size, 0]),
        }
    }

    /// Returns the edge that a fold in this direction moves.
    const fn edge(self, toward: Direction) -> u8 {
        (self.edges >> (8 * toward as u32)) as u8
    }

    pub(super) const fn left(self) -> u8 {
        self.edge(Direction::Right)
    }

    pub(super) const fn top(self) -> u8 {
        self.edge(Direction::Down)
    }

    /// Returns the edge to the right of the last column.
    pub(super) const fn right(self) -> u8 {
        self.edge(Direction::Left)
    }

    /// Returns the edge below the last row.
    pub(super) const fn bottom(self) -> u8 {
        self.edge(Direction::Up)
    }

    /// Returns the number of columns for a sideways direction, otherwise the number of rows.
    const fn span(self, toward: Direction) -> u8 {
        if toward.is_sideways() {
            self.right() - self.left()
        } else {
            self.bottom() - self.top()
        }
    }

    /// Returns the crease of a fold: the new position of the edge that the fold moves.
    pub(super) const fn crease(self, fold: Fold) -> u8 {
        self.folded(fold).edge(fold.toward)
    }

    /// Returns the hull after a fold.
    pub(super) const fn folded(self, fold: Fold) -> Self {
        let lines = (fold.depth as u32) << (8 * fold.toward as u32);
        let grows = fold.toward as u32 & 1;
        Self {
            edges: self.edges + 2 * grows * lines - lines,
        }
    }

    pub(super) const fn contains(self, x: u8, y: u8) -> bool {
        x >= self.left() && x < self.right() && y >= self.top() && y < self.bottom()
    }

    /// Returns the cells of the hull. It always has at least one row.
    pub(super) const fn cells(self) -> Cells {
        let row = (1_u64 << self.right()) - (1 << self.left());
        let above = (1_u64 << (self.top() * MAX_SIDE)) - 1;
        let down_to_bottom = u64::MAX >> (64 - self.bottom() * MAX_SIDE);
        (row * 0x0101_0101_0101_0101) & down_to_bottom & !above
    }
}

/// The reason why a key cannot fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Half of the sheet is already turned over.
    HalfIsTurned,
    /// The sheet already has [`MAX_FOLDS`] folds.
    TooManyFolds,
}

/// The folds of a sheet, oldest first.
///
/// Unused entries have depth 0 and the same direction, so that identical foldings compare equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Folds {
    list: [Fold; MAX_FOLDS],
    count: u8,
}

impl Folds {
    const UNUSED: Fold = Fold {
        toward: Direction::Up,
        depth: 0,
    };
    /// The flat sheet.
    pub(super) const NONE: Self = Self {
        list: [Self::UNUSED; MAX_FOLDS],
        count: 0,
    };

    /// Returns the folds, oldest first.
    pub(super) fn list(&self) -> &[Fold] {
        &self.list[..usize::from(self.count)]
    }

    /// Adds all folds in 20 bits. A depth is at most half of [`MAX_SIDE`].
    #[inline]
    pub(super) fn pack(&self, packer: &mut Packer) {
        let folds = self.list.iter().rev().fold(0, |folds, fold| {
            folds << 6 | u64::from(fold.depth) << 2 | fold.toward as u64
        });
        packer.put(folds << 2 | u64::from(self.count), 20);
    }

    /// Takes the folds that [`pack`](Self::pack) added.
    #[inline]
    pub(super) fn unpack(fields: &mut Unpacker) -> Self {
        let folds = fields.take(20);
        let fold = |bits: u64| Fold {
            toward: Direction::ALL[bits as usize & 3],
            depth: (bits >> 2) as u8 & 15,
        };
        Self {
            list: [fold(folds >> 2), fold(folds >> 8), fold(folds >> 14)],
            count: folds as u8 & 3,
        }
    }

    /// Returns the folds without the last one.
    pub(super) fn unfolded(mut self) -> Self {
        if let Some(last) = usize::from(self.count).checked_sub(1) {
            self.list[last] = Self::UNUSED;
            self.count -= 1;
        }
        self
    }

    /// Returns the hull of the folded sheet.
    pub(super) fn hull(&self, size: u8) -> Hull {
        self.list
            .iter()
            .fold(Hull::flat(size), |hull, &fold| hull.folded(fold))
    }

    /// Applies an arrow key: it rolls the last fold further if that fold has the same direction,
    /// and starts a new fold otherwise.
    pub(super) fn rolled(mut self, toward: Direction, size: u8) -> Result<Self, Refusal> {
        let count = usize::from(self.count);
        if let Some(last) = self.list().last()
            && last.toward == toward
        {
            let deeper = last.depth + 1;
            if deeper * 2 > self.unfolded().hull(size).span(toward) {
                return Err(Refusal::HalfIsTurned);
            }
            self.list[count - 1].depth = deeper;
            return Ok(self);
        }
        if count == MAX_FOLDS {
            return Err(Refusal::TooManyFolds);
        }
        if self.hull(size).span(toward) < 2 {
            return Err(Refusal::HalfIsTurned);
        }
        self.list[count] = Fold { toward, depth: 1 };
        self.count += 1;
        Ok(self)
    }

    /// Applies ACTION5: it opens the last fold. Returns `None` for a flat sheet.
    pub(super) fn opened(self) -> Option<Self> {
        (self.count > 0).then(|| self.unfolded())
    }

    /// Returns the set of sheet cells at a place of the table: the columns that lie on its column,
    /// in the rows that lie on its row.
    #[inline]
    pub(super) fn cells_at(&self, size: u8, x: u8, y: u8) -> Cells {
        // Each fold moves one edge and turns over the lines between the old edge and the new one.
        let mut edges = [(0, 0); MAX_FOLDS];
        let mut hull = Hull::flat(size);
        for (pair, &fold) in edges.iter_mut().zip(&self.list) {
            let edge = hull.edge(fold.toward);
            hull = hull.folded(fold);
            *pair = (edge, hull.edge(fold.toward));
        }
        if !hull.contains(x, y) {
            return 0;
        }
        // A set of rows and a set of columns, with one byte for each line, so that swapping the
        // bytes of a set mirrors it.
        let mut lines = [1_u64 << (y * MAX_SIDE), 1 << (x * MAX_SIDE)];
        for (fold, &(edge, crease)) in self.list.iter().zip(&edges).rev() {
            let lines = &mut lines[usize::from(fold.toward.is_sideways())];
            let flap = ((1_u64 << (edge.abs_diff(crease) * MAX_SIDE)) - 1)
                << (edge.min(crease) * MAX_SIDE % 64);
            // Lines that the flap does not cover are mirrored to lines outside the flap, which the
            // mask removes.
            *lines |= mirrored::<false>(*lines, crease) & flap;
        }
        let [rows, columns] = lines;
        // Gather the lowest bits of eight bytes.
        let columns = columns.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        rows * columns
    }

    /// Returns the sheet cells at a place of the table, from the top layer to the lowest.
    pub(super) fn stack(&self, size: u8, x: u8, y: u8) -> Stack {
        let mut hulls = [Hull::flat(size); MAX_FOLDS + 1];
        for (index, &fold) in self.list().iter().enumerate() {
            hulls[index + 1] = hulls[index].folded(fold);
        }
        let mut stack = Stack {
            layers: [(0, 0); MAX_LAYERS],
            count: 0,
        };
        if hulls[self.list().len()].contains(x, y) {
            pile(self.list(), &hulls, (x, y), false, &mut stack);
        }
        stack
    }
}

/// The layers at one place.
pub(super) struct Stack {
    layers: [(u8, u8); MAX_LAYERS],
    count: usize,
}

impl Stack {
    /// Returns the sheet cells from the top layer to the lowest.
    pub(super) fn layers(&self) -> &[(u8, u8)] {
        &self.layers[..self.count]
    }
}

/// Adds the layers that lie at a place after the given folds, from the top, or from the bottom if
/// `upside_down`. The last fold laid its flap upside down on the earlier layers.
fn pile(folds: &[Fold], hulls: &[Hull], place: (u8, u8), upside_down: bool, stack: &mut Stack) {
    let Some((&fold, earlier)) = folds.split_last() else {
        stack.layers[stack.count] = place;
        stack.count += 1;
        return;
    };
    let before = hulls[earlier.len()];
    let twice = 2 * before.crease(fold) - 1;
    let turned = if fold.toward.is_sideways() {
        (twice.wrapping_sub(place.0), place.1)
    } else {
        (place.0, twice.wrapping_sub(place.1))
    };
    let covered = before.contains(turned.0, turned.1);
    if covered && !upside_down {
        pile(earlier, hulls, turned, true, stack);
    }
    pile(earlier, hulls, place, upside_down, stack);
    if covered && upside_down {
        pile(earlier, hulls, turned, false, stack);
    }
}

/// Mirrors a set about a crease. Mirroring is a reversal of bits followed by a rotation. Cells that
/// would leave the board wrap around to columns or rows that no cell on the board is mirrored to.
#[inline]
pub(super) const fn mirrored<const SIDEWAYS: bool>(set: Cells, crease: u8) -> Cells {
    let shift = (2 * crease).wrapping_sub(MAX_SIDE) as u32;
    if !SIDEWAYS {
        return set.swap_bytes().rotate_left((shift * 8) & 63);
    }
    let pairs = (set >> 1 & 0x5555_5555_5555_5555) | (set & 0x5555_5555_5555_5555) << 1;
    let fours = (pairs >> 2 & 0x3333_3333_3333_3333) | (pairs & 0x3333_3333_3333_3333) << 2;
    let eights = (fours >> 4 & 0x0F0F_0F0F_0F0F_0F0F) | (fours & 0x0F0F_0F0F_0F0F_0F0F) << 4;
    eights.rotate_left(shift & 63)
}
