//! The physics of a heap: which grains a step moves and which are stuck.
//!
//! A set of cells is one number with one bit for each cell, row by row, eleven to a row.
//!
//! **Invariant:** no set has a bit beyond the last row, and no grain leaves the room, because a
//! grain at the border is stuck against it.

use rhae_engine::Direction;
use serde::{Deserialize, Serialize};

/// The number of columns and rows of a room.
pub(super) const SIDE: usize = 11;

pub(super) type CellSet = u128;

const FIRST_COLUMN: CellSet = column(0);
const LAST_COLUMN: CellSet = column(SIDE - 1);
/// All cells of the room.
pub(super) const ROOM: CellSet = (1 << (SIDE * SIDE)) - 1;

const fn column(x: usize) -> CellSet {
    let (mut places, mut y) = (0, 0);
    while y < SIDE {
        places |= cell(x, y);
        y += 1;
    }
    places
}

/// Returns the set that contains only this cell.
pub(super) const fn cell(x: usize, y: usize) -> CellSet {
    1 << (y * SIDE + x)
}

/// Iterates over the column and row of every cell in a set.
pub(super) fn cells(mut set: CellSet) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            (index % SIDE, index / SIDE)
        })
    })
}

/// Returns the set moved by one step. It must not contain cells at the border in that direction.
#[inline]
pub(super) const fn shifted(set: CellSet, direction: Direction) -> CellSet {
    match direction {
        Direction::Up => set >> SIDE,
        Direction::Down => set << SIDE,
        Direction::Left => set >> 1,
        Direction::Right => set << 1,
    }
}

/// Returns the set together with the four neighbours of each of its cells.
#[inline]
const fn with_neighbours(set: CellSet) -> CellSet {
    let row = set | (set & !LAST_COLUMN) << 1 | (set & !FIRST_COLUMN) >> 1;
    (row | set << SIDE | set >> SIDE) & ROOM
}

/// Returns which of the eight neighbours of a cell are in a set, one bit for each: up, down, left,
/// right, then the corners row by row.
#[inline]
pub(super) const fn around(set: CellSet, x: usize, y: usize) -> usize {
    // Shift the set so that the upper left neighbour comes first. The masks remove neighbours
    // outside the room.
    let index = y * SIDE + x;
    let moved = if index > SIDE {
        set >> (index - SIDE - 1)
    } else {
        set << (SIDE + 1 - index)
    };
    let columns = if x == 0 {
        0b110
    } else if x == SIDE - 1 {
        0b011
    } else {
        0b111
    };
    let above = if y == 0 { 0 } else { moved as usize & columns };
    let same_row = (moved >> SIDE) as usize & columns;
    let below = (moved >> (2 * SIDE)) as usize & columns;
    (above >> 1 & 1)
        | (below & 0b010)
        | (same_row & 1) << 2
        | (same_row & 0b100) << 1
        | (above & 1) << 4
        | (above & 0b100) << 3
        | (below & 1) << 6
        | (below & 0b100) << 5
}

/// The walls and the glue of a room.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    /// For each direction, the cells from which a step meets a wall or the border.
    stops: [CellSet; 4],
    /// The cells in which a loose grain is held.
    glue: CellSet,
}

impl Ground {
    pub(super) fn new(walls: CellSet, glue: CellSet) -> Self {
        let rim = [
            (1 << SIDE) - 1,
            ROOM & !(ROOM >> SIDE),
            FIRST_COLUMN,
            LAST_COLUMN,
        ];
        let before = |direction: Direction| shifted(walls, direction.opposite()) & ROOM;
        // A sideways shift may wrap a wall to the opposite border, but only onto cells in which the
        // border stops every grain anyway.
        let stops = Direction::ALL.map(|direction| before(direction) | rim[direction as usize]);
        Self { stops, glue }
    }

    #[inline]
    pub(super) const fn glue(&self) -> CellSet {
        self.glue
    }

    /// Returns the grains that a wall or the border stops.
    #[inline]
    pub(super) const fn stopped(&self, heap: &Heap, direction: Direction) -> CellSet {
        heap.all() & self.stops[direction as usize]
    }

    /// Returns the grains that glue holds, whatever the direction of the step. Glue does not hold a
    /// hard heap.
    #[inline]
    pub(super) const fn caught(&self, heap: &Heap) -> CellSet {
        if heap.hard { 0 } else { heap.all() & self.glue }
    }

    /// Returns the grains that a step does not move. A stuck grain makes others stuck: in a loose
    /// heap the grain that would move into its cell, in a hard heap all grains that share an edge
    /// with it.
    #[inline]
    pub(super) fn stuck(&self, heap: &Heap, direction: Direction) -> CellSet {
        let all = heap.all();
        let mut stuck = self.stopped(heap, direction) | self.caught(heap);
        loop {
            let reached = if heap.hard {
                with_neighbours(stuck)
            } else {
                stuck | shifted(stuck, direction.opposite())
            };
            let more = stuck | reached & all;
            if more == stuck {
                return stuck;
            }
            stuck = more;
        }
    }
}

/// The grains of both kinds and the state of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Heap {
    /// The cells of the grains of each kind.
    pub(super) grains: [CellSet; 2],
    /// Whether touching grains move as one body.
    pub(super) hard: bool,
}

impl Heap {
    /// Returns the grains of both kinds.
    #[inline]
    pub(super) const fn all(&self) -> CellSet {
        self.grains[0] | self.grains[1]
    }

    /// Moves all grains except the stuck ones by one step.
    #[inline]
    pub(super) fn shift(&mut self, stuck: CellSet, direction: Direction) {
        self.grains = self
            .grains
            .map(|kind| kind & stuck | shifted(kind & !stuck, direction));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cells in the middle row of the room at which the text has the letter `wanted`.
    fn row(text: &str, wanted: char) -> CellSet {
        text.chars()
            .enumerate()
            .filter(|&(_, letter)| letter == wanted)
            .fold(0, |set, (x, _)| set | cell(x, 5))
    }

    /// Steps to the right in a room of one row: `#` wall, `~` glue, `o` a grain, `@` a grain on
    /// glue.
    fn right(text: &str, hard: bool) -> CellSet {
        let ground = Ground::new(row(text, '#'), row(text, '~') | row(text, '@'));
        let mut heap = Heap {
            grains: [row(text, 'o') | row(text, '@'), 0],
            hard,
        };
        let stuck = ground.stuck(&heap, Direction::Right);
        heap.shift(stuck, Direction::Right);
        heap.all()
    }

    #[test]
    fn loose_grains_stop_behind_a_stuck_grain() {
        assert_eq!(right(".o.oo#.o...", false), row("..ooo#..o..", 'o'));
        assert_eq!(right("........ooo", false), row("........ooo", 'o'));
    }

    #[test]
    fn glue_holds_loose_grains_only() {
        assert_eq!(right(".o@o.......", false), row(".oo.o......", 'o'));
        assert_eq!(right(".o@o.......", true), row("..ooo......", 'o'));
    }

    #[test]
    fn hard_grains_are_connected_by_edges_only() {
        let ground = Ground::new(cell(4, 5), 0);
        let heap = Heap {
            grains: [cell(3, 5) | cell(3, 4), cell(2, 3)],
            hard: true,
        };
        assert_eq!(
            ground.stuck(&heap, Direction::Right),
            cell(3, 5) | cell(3, 4)
        );
        assert_eq!(
            ground.stuck(
                &Heap {
                    hard: false,
                    ..heap
                },
                Direction::Right
            ),
            cell(3, 5)
        );
    }

    #[test]
    fn opposite_borders_are_not_neighbours() {
        let (left, right) = (cell(0, 5), cell(SIDE - 1, 4));
        assert_eq!(around(left | right, 0, 5), 0);
        assert_eq!(around(left | right, SIDE - 1, 4), 0);
        assert_eq!(with_neighbours(left) & right, 0);
        assert_eq!(around(ROOM, 0, 0), 0b1000_1010);
        assert_eq!(around(ROOM, 5, 5), 0xFF);
    }
}
