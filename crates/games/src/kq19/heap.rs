//! The physics of a heap: which grains a step in one direction carries along, and which are stuck.
//!
//! A place is a bit; a set of places is one number, row by row, eleven to a row. **Invariant:** no set holds a bit beyond
//! the last row, and what moves never leaves the room, because whatever stands at a rim is stuck against it.

use rhae_engine::Direction;
use serde::{Deserialize, Serialize};

/// Columns and rows of a room.
pub(super) const SIDE: usize = 11;

/// A set of places.
pub(super) type Places = u128;

const FIRST_COLUMN: Places = column(0);
const LAST_COLUMN: Places = column(SIDE - 1);
/// Every place.
pub(super) const ROOM: Places = (1 << (SIDE * SIDE)) - 1;

const fn column(x: usize) -> Places {
    let (mut places, mut y) = (0, 0);
    while y < SIDE {
        places |= place(x, y);
        y += 1;
    }
    places
}

/// The set of one place.
pub(super) const fn place(x: usize, y: usize) -> Places {
    1 << (y * SIDE + x)
}

/// The column and row of every place in a set.
pub(super) fn places(mut set: Places) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            (index % SIDE, index / SIDE)
        })
    })
}

/// The places one step on. What stands at the rim towards which it goes must not be in the set.
#[inline]
pub(super) const fn shifted(set: Places, direction: Direction) -> Places {
    match direction {
        Direction::Up => set >> SIDE,
        Direction::Down => set << SIDE,
        Direction::Left => set >> 1,
        Direction::Right => set << 1,
    }
}

/// The set and the eight places around each of its places.
#[inline]
const fn with_neighbours(set: Places) -> Places {
    let row = set | (set & !LAST_COLUMN) << 1 | (set & !FIRST_COLUMN) >> 1;
    (row | row << SIDE | row >> SIDE) & ROOM
}

/// Which of the eight places around one are in a set: bits for up, down, left, right, then for the corners row by row.
#[inline]
pub(super) const fn around(set: Places, x: usize, y: usize) -> usize {
    // The set moved so that the place up and to the left comes first; a rim of empty places is cut off by the masks.
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
    let beside = (moved >> SIDE) as usize & columns;
    let below = (moved >> (2 * SIDE)) as usize & columns;
    (above >> 1 & 1)
        | (below & 0b010)
        | (beside & 1) << 2
        | (beside & 0b100) << 1
        | (above & 1) << 4
        | (above & 0b100) << 3
        | (below & 1) << 6
        | (below & 0b100) << 5
}

/// The part of a room that acts on grains.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    /// For each direction, the places from which a step meets a wall.
    stops: [Places; 4],
    /// Where a loose grain is held.
    glue: Places,
}

impl Ground {
    pub(super) fn new(walls: Places, glue: Places) -> Self {
        let rim = [
            (1 << SIDE) - 1,
            ROOM & !(ROOM >> SIDE),
            FIRST_COLUMN,
            LAST_COLUMN,
        ];
        let before = |direction: Direction| shifted(walls, direction.opposite()) & ROOM;
        // Shifting a wall sideways may wrap to the other rim, but only onto places that the rim stops anyway.
        let stops = Direction::ALL.map(|direction| before(direction) | rim[direction as usize]);
        Self { stops, glue }
    }

    /// The places covered with glue.
    #[inline]
    pub(super) const fn glue(&self) -> Places {
        self.glue
    }

    /// The grains that a wall keeps from a step.
    #[inline]
    pub(super) const fn stopped(&self, heap: &Heap, direction: Direction) -> Places {
        heap.all() & self.stops[direction as usize]
    }

    /// The grains that glue holds, whatever the direction.
    #[inline]
    pub(super) const fn caught(&self, heap: &Heap) -> Places {
        if heap.hard { 0 } else { heap.all() & self.glue }
    }

    /// The grains that a step leaves where they are. Being stuck spreads: among loose grains to those that push against
    /// one that stays, in a hard heap to all that touch, corners included.
    #[inline]
    pub(super) fn stuck(&self, heap: &Heap, direction: Direction) -> Places {
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

/// The grains of both kinds, and whether those that touch are one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Heap {
    /// Where the grains of each kind are.
    pub(super) grains: [Places; 2],
    /// Whether touching grains move as one.
    pub(super) hard: bool,
}

impl Heap {
    /// The grains of both kinds.
    #[inline]
    pub(super) const fn all(&self) -> Places {
        self.grains[0] | self.grains[1]
    }

    /// Moves all grains but the stuck ones by one step.
    #[inline]
    pub(super) fn shift(&mut self, stuck: Places, direction: Direction) {
        self.grains = self
            .grains
            .map(|kind| kind & stuck | shifted(kind & !stuck, direction));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of places in the middle of the room, from the letters of a text.
    fn row(text: &str, wanted: char) -> Places {
        text.chars()
            .enumerate()
            .filter(|&(_, letter)| letter == wanted)
            .fold(0, |set, (x, _)| set | place(x, 5))
    }

    /// Steps to the right in a room of one row: `#` wall, `~` glue, `o` a grain, `@` a grain on glue.
    fn right(text: &str, hard: bool) -> Places {
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
    fn loose_grains_queue_up_behind_one_that_is_stopped() {
        assert_eq!(right(".o.oo#.o...", false), row("..ooo#..o..", 'o'));
        assert_eq!(right("........ooo", false), row("........ooo", 'o'));
    }

    #[test]
    fn glue_holds_loose_grains_and_lets_hard_ones_go() {
        assert_eq!(right(".o@o.......", false), row(".oo.o......", 'o'));
        assert_eq!(right(".o@o.......", true), row("..ooo......", 'o'));
    }

    #[test]
    fn a_corner_is_enough_to_hold_a_hard_body_back() {
        let ground = Ground::new(place(4, 5), 0);
        let heap = Heap {
            grains: [place(3, 5) | place(2, 4), place(6, 6)],
            hard: true,
        };
        assert_eq!(
            ground.stuck(&heap, Direction::Right),
            place(3, 5) | place(2, 4)
        );
        assert_eq!(
            ground.stuck(
                &Heap {
                    hard: false,
                    ..heap
                },
                Direction::Right
            ),
            place(3, 5)
        );
    }

    #[test]
    fn rims_do_not_touch_each_other() {
        let (left, right) = (place(0, 5), place(SIDE - 1, 4));
        assert_eq!(around(left | right, 0, 5), 0);
        assert_eq!(around(left | right, SIDE - 1, 4), 0);
        assert_eq!(with_neighbours(left) & right, 0);
        assert_eq!(around(ROOM, 0, 0), 0b1000_1010);
        assert_eq!(around(ROOM, 5, 5), 0xFF);
    }
}
