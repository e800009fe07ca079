//! The geometry of folding: which cells of a sheet lie on top of each other.
//!
//! A fold turns the outer lines of the folded sheet over onto their neighbours, at most half of it, so whatever is folded
//! stays within the outline of the flat sheet and what has not been turned lies where it always lay. This module does not
//! know what is printed on the sheet.

use rhae_engine::{Direction, Packer, Unpacker};
use serde::{Deserialize, Serialize};

/// The longest side of a sheet: a set of cells fits into 64 bits.
pub(super) const LONGEST: u8 = 8;
/// How many folds a sheet holds at a time, the one being made included.
pub(super) const MOST_FOLDS: usize = 3;
/// The most layers that this many folds can put on one place.
pub(super) const MOST_LAYERS: usize = 1 << MOST_FOLDS;

/// A set of cells of the flat sheet, or of places on the table: bit `8 y + x` is column `x`, row `y`.
pub(super) type Cells = u64;

/// The set of one cell.
pub(super) const fn cell(x: u8, y: u8) -> Cells {
    1 << (y * LONGEST + x)
}

/// The cells of a set as (column, row).
pub(super) fn cells_of(mut set: Cells) -> impl Iterator<Item = (u8, u8)> {
    std::iter::from_fn(move || {
        let first = u8::try_from(set.trailing_zeros()).expect("a set has 64 bits");
        let found = (set != 0).then_some((first % LONGEST, first / LONGEST));
        set &= set.wrapping_sub(1);
        found
    })
}

/// One fold: so many outer lines are turned over in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Fold {
    pub(super) toward: Direction,
    pub(super) depth: u8,
}

/// The rectangle that a sheet covers, by its four edges as lines between cells.
///
/// Each edge is a byte, in the order of the directions that take lines from it: a fold up moves the bottom edge, and so on. So
/// folding is a little arithmetic without branches, which matters because every picture asks for it several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hull {
    edges: u32,
}

impl Hull {
    /// A flat square sheet.
    pub(super) const fn flat(size: u8) -> Self {
        Self {
            edges: u32::from_le_bytes([size, 0, size, 0]),
        }
    }

    /// The edge that a fold in this direction moves.
    const fn edge(self, toward: Direction) -> u8 {
        (self.edges >> (8 * toward as u32)) as u8
    }

    pub(super) const fn left(self) -> u8 {
        self.edge(Direction::Right)
    }

    pub(super) const fn top(self) -> u8 {
        self.edge(Direction::Down)
    }

    /// The line just right of the last column.
    pub(super) const fn right(self) -> u8 {
        self.edge(Direction::Left)
    }

    /// The line just below the last row.
    pub(super) const fn bottom(self) -> u8 {
        self.edge(Direction::Up)
    }

    /// How many lines can be folded along a direction.
    const fn span(self, toward: Direction) -> u8 {
        if toward.is_sideways() {
            self.right() - self.left()
        } else {
            self.bottom() - self.top()
        }
    }

    /// The line between cells about which a fold turns.
    pub(super) const fn crease(self, fold: Fold) -> u8 {
        self.folded(fold).edge(fold.toward)
    }

    /// What is still covered after a fold.
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

    /// Its cells as a set. There is always at least one row.
    pub(super) const fn cells(self) -> Cells {
        let row = (1_u64 << self.right()) - (1 << self.left());
        let above = (1_u64 << (self.top() * LONGEST)) - 1;
        let down_to_bottom = u64::MAX >> (64 - self.bottom() * LONGEST);
        (row * 0x0101_0101_0101_0101) & down_to_bottom & !above
    }
}

/// Why a key cannot fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Half of what lies there is turned over already.
    HalfIsTurned,
    /// The sheet holds no further fold.
    TooManyFolds,
}

/// The folds of a sheet in the order in which they were made.
///
/// Entries that are not in use turn nothing over and are kept equal, so that equal folds are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Folds {
    list: [Fold; MOST_FOLDS],
    count: u8,
    /// Whether the last fold can still be rolled on and back; a pressed one can only be unfolded.
    live: bool,
}

impl Folds {
    const UNUSED: Fold = Fold {
        toward: Direction::Up,
        depth: 0,
    };
    /// The flat sheet.
    pub(super) const NONE: Self = Self {
        list: [Self::UNUSED; MOST_FOLDS],
        count: 0,
        live: false,
    };

    /// The folds, oldest first.
    pub(super) fn list(&self) -> &[Fold] {
        &self.list[..usize::from(self.count)]
    }

    /// Adds all of it: 21 bits. A depth is at most half the longest side.
    #[inline]
    pub(super) fn pack(&self, packer: &mut Packer) {
        let folds = self.list.iter().rev().fold(0, |folds, fold| {
            folds << 6 | u64::from(fold.depth) << 2 | fold.toward as u64
        });
        packer.put(
            folds << 3 | u64::from(self.live) << 2 | u64::from(self.count),
            21,
        );
    }

    /// Takes what [`pack`](Self::pack) added.
    #[inline]
    pub(super) fn unpack(fields: &mut Unpacker) -> Self {
        let folds = fields.take(21);
        let fold = |bits: u64| Fold {
            toward: Direction::ALL[bits as usize & 3],
            depth: (bits >> 2) as u8 & 15,
        };
        Self {
            list: [fold(folds >> 3), fold(folds >> 9), fold(folds >> 15)],
            count: folds as u8 & 3,
            live: folds & 4 != 0,
        }
    }

    pub(super) const fn is_live(&self) -> bool {
        self.live
    }

    /// Without the last fold.
    pub(super) fn unfolded(mut self) -> Self {
        if let Some(last) = usize::from(self.count).checked_sub(1) {
            self.list[last] = Self::UNUSED;
            self.count -= 1;
        }
        self.live = false;
        self
    }

    /// What the folded sheet covers.
    pub(super) fn hull(&self, size: u8) -> Hull {
        self.list
            .iter()
            .fold(Hull::flat(size), |hull, &fold| hull.folded(fold))
    }

    /// An arrow key: begins a fold, or rolls the live one on or back. A live fold is pressed when another is begun across it.
    pub(super) fn rolled(mut self, toward: Direction, size: u8) -> Result<Self, Refusal> {
        let count = usize::from(self.count);
        if self.live {
            let last = self.list[count - 1];
            if last.toward == toward.opposite() {
                if last.depth == 1 {
                    return Ok(self.unfolded());
                }
                self.list[count - 1].depth -= 1;
                return Ok(self);
            }
            if last.toward == toward {
                let deeper = last.depth + 1;
                if deeper * 2 > self.unfolded().hull(size).span(toward) {
                    return Err(Refusal::HalfIsTurned);
                }
                self.list[count - 1].depth = deeper;
                return Ok(self);
            }
        }
        if count == MOST_FOLDS {
            return Err(Refusal::TooManyFolds);
        }
        if self.hull(size).span(toward) < 2 {
            return Err(Refusal::HalfIsTurned);
        }
        self.list[count] = Fold { toward, depth: 1 };
        self.count += 1;
        self.live = true;
        Ok(self)
    }

    /// The further key: presses the live fold flat, or opens the last pressed one. On a flat sheet it does nothing.
    pub(super) fn pressed_or_opened(mut self) -> Option<Self> {
        if self.live {
            self.live = false;
            return Some(self);
        }
        (self.count > 0).then(|| self.unfolded())
    }

    /// The sheet cells that lie on a place of the table, in whatever order: the columns that lie on its column, in the rows that lie on
    /// its row.
    #[inline]
    pub(super) fn lying_on(&self, size: u8, x: u8, y: u8) -> Cells {
        // Each fold moves one edge, and what it turns over lies between the old edge and the new one.
        let mut edges = [(0, 0); MOST_FOLDS];
        let mut hull = Hull::flat(size);
        for (pair, &fold) in edges.iter_mut().zip(&self.list) {
            let edge = hull.edge(fold.toward);
            hull = hull.folded(fold);
            *pair = (edge, hull.edge(fold.toward));
        }
        if !hull.contains(x, y) {
            return 0;
        }
        // Lines as bytes, of rows first and then of columns: those are turned round by swapping.
        let mut lines = [1_u64 << (y * LONGEST), 1 << (x * LONGEST)];
        for (fold, &(edge, crease)) in self.list.iter().zip(&edges).rev() {
            let lines = &mut lines[usize::from(fold.toward.is_sideways())];
            let flap = ((1_u64 << (edge.abs_diff(crease) * LONGEST)) - 1)
                << (edge.min(crease) * LONGEST % 64);
            // What was not under the flap is turned to lines that the flap does not have.
            *lines |= mirrored::<false>(*lines, crease) & flap;
        }
        let [rows, columns] = lines;
        // The lowest bits of eight bytes, moved next to each other.
        let columns = columns.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        rows * columns
    }

    /// The sheet cells that lie on a place of the table, from the top layer to the lowest.
    pub(super) fn stack(&self, size: u8, x: u8, y: u8) -> Stack {
        let mut hulls = [Hull::flat(size); MOST_FOLDS + 1];
        for (index, &fold) in self.list().iter().enumerate() {
            hulls[index + 1] = hulls[index].folded(fold);
        }
        let mut stack = Stack {
            layers: [(0, 0); MOST_LAYERS],
            count: 0,
        };
        if hulls[self.list().len()].contains(x, y) {
            pile(self.list(), &hulls, (x, y), false, &mut stack);
        }
        stack
    }
}

/// The layers on one place.
pub(super) struct Stack {
    layers: [(u8, u8); MOST_LAYERS],
    count: usize,
}

impl Stack {
    /// The sheet cells from the top layer to the lowest.
    pub(super) fn layers(&self) -> &[(u8, u8)] {
        &self.layers[..self.count]
    }
}

/// Adds the layers of a place under the given folds. The last fold laid its flap, upside down, on what was there before.
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

/// Mirrors a set about a crease. Cells that land on the board are right, because turning bits round is shifting them; others go to
/// columns or rows to which none of those is turned.
#[inline]
pub(super) const fn mirrored<const SIDEWAYS: bool>(set: Cells, crease: u8) -> Cells {
    let shift = (2 * crease).wrapping_sub(LONGEST) as u32;
    if !SIDEWAYS {
        return set.swap_bytes().rotate_left((shift * 8) & 63);
    }
    let pairs = (set >> 1 & 0x5555_5555_5555_5555) | (set & 0x5555_5555_5555_5555) << 1;
    let fours = (pairs >> 2 & 0x3333_3333_3333_3333) | (pairs & 0x3333_3333_3333_3333) << 2;
    let eights = (fours >> 4 & 0x0F0F_0F0F_0F0F_0F0F) | (fours & 0x0F0F_0F0F_0F0F_0F0F) << 4;
    eights.rotate_left(shift & 63)
}
