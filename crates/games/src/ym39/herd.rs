//! The creatures and the effect of a call: which creatures see the called one, how far they walk,
//! and which sleepers wake.
//!
//! A creature sees the first creature on its line of sight. Rocks block sight and movement, water
//! only movement. The kinds behave as follows:
//!
//! * Plain and coloured creatures walk up to the called creature, as far as the way is free, and
//!   adopt its gaze.
//! * A shy creature backs away instead, as far as the way is free, and keeps its gaze.
//! * A restless creature that is called turns by a quarter to the right after the others have
//!   adopted its gaze.
//! * A sleeping creature sees nothing, and a creature that walks up to it keeps its own gaze. The
//!   sleeper wakes when another creature arrives next to it, and then looks at that creature.
//!
//! The module `reference` states the same rules one creature after the other; a test compares both.
//!
//! **Invariant:** no two creatures share a cell, and none is on a rock. This module does not handle
//! frames, clicks or the end of a level.

use rhae_engine::{Packer, Unpacker};
use serde::{Deserialize, Serialize};

/// The number of cells along each side of the square land.
pub(super) const SIDE: u8 = 9;
/// The maximum number of creatures in a level.
pub(super) const MAX_CREATURES: usize = 8;

/// A cell of the land: its row in the upper four bits, its column in the lower four. A step in any
/// direction is the addition of a constant.
pub(super) type Cell = u8;
/// A table with an entry for every cell.
pub(super) type Cells<T> = [T; 256];

/// Returns the cell in a column and a row.
#[inline]
pub(super) const fn cell(column: u8, row: u8) -> Cell {
    row << 4 | column
}

/// Iterates over all cells of the land, row by row from the top left.
pub(super) fn all_cells() -> impl Iterator<Item = Cell> {
    (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| cell(column, row)))
}

/// Returns whether a cell is part of the land.
pub(super) const fn is_land(cell: Cell) -> bool {
    cell & 15 < SIDE && cell >> 4 < SIDE
}

/// Returns the number of steps between two cells in the same row or column.
#[inline]
const fn distance(one: Cell, other: Cell) -> u8 {
    let difference = one.abs_diff(other);
    // One of the two summands is zero.
    (difference & 15) + (difference >> 4)
}

/// The kind of a creature, which is constant within a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Walks to a called creature; has no nest.
    Plain,
    /// Walks to a called creature; has a nest.
    First,
    /// Walks to a called creature; has a nest of another colour.
    Second,
    /// Backs away from a called creature; has a nest.
    Shy,
    /// Walks to a called creature, has no nest, and turns by a quarter each time it is called
    /// itself.
    Restless,
}

/// The direction in which a creature looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Gaze {
    Up,
    Right,
    Down,
    Left,
    /// The creature sleeps until another one arrives next to it.
    Asleep,
}

impl Gaze {
    /// The four directions, in the order in which a waking sleeper prefers them.
    pub(super) const DIRECTIONS: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// Returns the gaze after a quarter turn to the right. A table avoids unpredictable branches,
    /// here and in the functions below.
    #[inline]
    const fn turned(self) -> Self {
        const TURNED: [Gaze; 5] = [Gaze::Right, Gaze::Down, Gaze::Left, Gaze::Up, Gaze::Asleep];
        TURNED[self as usize]
    }

    /// Returns the cell that is `steps` steps away in the direction of this gaze, which must not be
    /// `Asleep`.
    #[inline]
    pub(super) const fn from(self, cell: Cell, steps: u8) -> Cell {
        cell.wrapping_add((STRIDES[self.byte() as usize % 8] as u8).wrapping_mul(steps))
    }

    /// Returns the byte of the gaze in a herd: a bit for vertical directions, one for horizontal
    /// ones, one for directions that lead to lower cells (up and left), and one for asleep.
    #[inline]
    const fn byte(self) -> u8 {
        const BYTES: [u8; 5] = [
            VERTICAL | BACK,
            HORIZONTAL,
            VERTICAL,
            HORIZONTAL | BACK,
            ASLEEP,
        ];
        BYTES[self as usize]
    }

    #[inline]
    const fn of_byte(byte: u8) -> Self {
        const GAZES: [Gaze; 8] = [
            Gaze::Asleep,
            Gaze::Down,
            Gaze::Right,
            Gaze::Asleep,
            Gaze::Asleep,
            Gaze::Up,
            Gaze::Left,
            Gaze::Asleep,
        ];
        GAZES[(byte % ASLEEP) as usize]
    }
}

/// The bits of a gaze; see [`Gaze::byte`].
const VERTICAL: u8 = 1;
const HORIZONTAL: u8 = 2;
const BACK: u8 = 4;
const ASLEEP: u8 = 8;

/// The difference of cells for one step, indexed by the lower bits of a gaze.
const STRIDES: [i8; 8] = [0, 16, 1, 0, 0, -16, -1, 0];

/// The position and gaze of one creature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Creature {
    pub(super) cell: Cell,
    pub(super) gaze: Gaze,
}

/// All creatures, in the order of the level's kinds. Each creature has one byte in each number, the
/// first one in the lowest byte. All creatures can thus be compared at once, and the two numbers
/// are already a packed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Herd {
    cells: u64,
    gazes: u64,
}

/// A set of creatures of a herd: the highest bit of a byte is set if the creature with that byte is
/// a member.
pub(super) type CreatureSet = u64;

/// The cell of unused entries in a herd with fewer than [`MAX_CREATURES`] creatures. It is in no
/// row and no column of the land.
const OFF_LAND: Cell = 255;
/// Masks that select, in each byte, the lowest bit, the lower four bits and the highest bit.
const EACH: u64 = 0x0101_0101_0101_0101;
const LOWER: u64 = 0x0F0F_0F0F_0F0F_0F0F;
const TOPS: u64 = 0x8080_8080_8080_8080;

impl Herd {
    /// A herd without creatures.
    pub(super) const EMPTY: Self = Self {
        cells: EACH * OFF_LAND as u64,
        gazes: 0,
    };

    #[inline]
    pub(super) const fn get(&self, index: usize) -> Creature {
        Creature {
            cell: byte(self.cells, index),
            gaze: Gaze::of_byte(byte(self.gazes, index)),
        }
    }

    #[inline]
    pub(super) const fn set(&mut self, index: usize, creature: Creature) {
        self.cells = with_byte(self.cells, index, creature.cell);
        self.gazes = with_byte(self.gazes, index, creature.gaze.byte());
    }

    /// Iterates over the first `count` creatures.
    #[inline]
    pub(super) fn first(&self, count: usize) -> impl Iterator<Item = Creature> {
        (0..count).map(|index| self.get(index))
    }

    /// Returns the set of creatures in a cell, which has at most one member.
    #[inline]
    pub(super) const fn creatures_at(&self, cell: Cell) -> CreatureSet {
        let others = self.cells ^ (EACH * cell as u64);
        // Adding 127 to the lower seven bits sets the highest bit unless they are zero.
        !(((others & !TOPS) + !TOPS) | others) & TOPS
    }

    /// Returns the creatures in the column of a cell and those in its row. A creature in the cell
    /// itself is in both sets.
    #[inline]
    const fn lines(&self, cell: Cell) -> (CreatureSet, CreatureSet) {
        let others = self.cells ^ (EACH * cell as u64);
        (
            !((others & LOWER) + !TOPS) & TOPS,
            !((others >> 4 & LOWER) + !TOPS) & TOPS,
        )
    }

    /// Returns the creatures in a cell and in all cells after it, row by row.
    #[inline]
    const fn from(&self, cell: Cell) -> CreatureSet {
        let first = EACH * cell as u64;
        // Subtraction clears the highest bit, which is set first, if the lower bits are smaller
        // than those of the cell. The result decides the comparison where the highest bits are
        // equal.
        let rest = (self.cells | TOPS) - (first & !TOPS);
        (self.cells & !first | !(self.cells ^ first) & rest) & TOPS
    }

    /// Returns the creatures on the line of a gaze from a cell, ignoring obstacles and other
    /// creatures in between.
    #[inline]
    const fn ahead(&self, cell: Cell, gaze: u8) -> CreatureSet {
        let ((column, row), from) = (self.lines(cell), self.from(cell));
        let line = if gaze & VERTICAL != 0 {
            column & !row
        } else {
            row & !column
        };
        let side = if gaze & BACK != 0 { !from } else { from };
        line & side
    }

    /// Returns the number of steps from a cell to the nearest creature of `some`. The set must not
    /// be empty, and its members must be in the row or column of the cell.
    #[inline]
    const fn steps_to(&self, mut some: CreatureSet, cell: Cell) -> u8 {
        let mut least = u8::MAX;
        while some != 0 {
            let steps = distance(byte(self.cells, first_of(some)), cell);
            least = if steps < least { steps } else { least };
            some &= some - 1;
        }
        least
    }

    /// Returns the creatures whose gaze byte has this bit set.
    #[inline]
    const fn gazing(&self, bit: u8) -> CreatureSet {
        self.gazes << bit.leading_zeros() & TOPS
    }

    #[inline]
    pub(super) const fn pack(&self, packer: &mut Packer) {
        packer.put(self.gazes, 62);
        packer.put(self.cells, 64);
    }

    #[inline]
    pub(super) const fn unpack(fields: &mut Unpacker) -> Self {
        Self {
            cells: fields.take(64),
            gazes: fields.take(62),
        }
    }
}

#[inline]
const fn first_of(some: CreatureSet) -> usize {
    some.trailing_zeros() as usize / 8
}

#[inline]
const fn byte(bytes: u64, number: usize) -> u8 {
    (bytes >> (8 * number)) as u8
}

#[inline]
const fn with_byte(bytes: u64, number: usize, byte: u8) -> u64 {
    bytes & !(0xFF << (8 * number)) | (byte as u64) << (8 * number)
}

/// A table with an entry for every direction from every cell, indexed by the lower bits of a gaze.
type Reach = [Cells<u8>; 8];

/// The data that does not change within a level: the land, and the kinds of its creatures.
#[derive(Clone, Debug)]
pub(super) struct Land {
    /// The number of cells in a direction up to the first rock or the border (`sights`), and up to
    /// the first rock, water or the border (`paths`).
    sights: Reach,
    paths: Reach,
    pub(super) kinds: [Kind; MAX_CREATURES],
    /// The number of creatures.
    pub(super) count: usize,
    /// The creatures of each kind.
    by_kind: [CreatureSet; 5],
}

impl Land {
    /// Creates the land from its rocks, which block sight and movement, and its water, which blocks
    /// movement only.
    pub(super) fn new(
        rocks: &Cells<bool>,
        water: &Cells<bool>,
        kinds: [Kind; MAX_CREATURES],
        count: usize,
    ) -> Self {
        let (mut sights, mut paths) = ([[0; 256]; 8], [[0; 256]; 8]);
        for (cell, direction) in
            all_cells().flat_map(|cell| Gaze::DIRECTIONS.map(|direction| (cell, direction)))
        {
            let line = || (1..).map(|steps| usize::from(direction.from(cell, steps)));
            let free = |stops: &dyn Fn(usize) -> bool| {
                line()
                    .take_while(|&next| is_land(next as u8) && !stops(next))
                    .count() as u8
            };
            sights[usize::from(direction.byte())][usize::from(cell)] = free(&|next| rocks[next]);
            paths[usize::from(direction.byte())][usize::from(cell)] =
                free(&|next| rocks[next] || water[next]);
        }
        let mut by_kind = [0; 5];
        (0..count).for_each(|index| by_kind[kinds[index] as usize] |= 0x80 << (8 * index));
        Self {
            sights,
            paths,
            kinds,
            count,
            by_kind,
        }
    }

    #[inline]
    pub(super) const fn creatures_of(&self, kind: Kind) -> CreatureSet {
        self.by_kind[kind as usize]
    }
}

/// The walk of one creature in response to a call: a number of steps along a line, possibly zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    index: u8,
    heading: Gaze,
    steps: u8,
}

/// The responses to one call. At most one creature responds from each of the four directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responses {
    /// The number of responses.
    count: usize,
    /// The walks; filled only if they will be drawn.
    walks: [Walk; 4],
    /// The creatures whose position changes.
    moved: CreatureSet,
    /// The herd after all walks, with adopted gazes.
    pub(super) arrived: Herd,
}

impl Walk {
    #[inline]
    pub(super) const fn index(&self) -> usize {
        self.index as usize
    }
}

impl Responses {
    /// Creates an empty list of responses.
    #[inline]
    const fn none(herd: &Herd) -> Self {
        Self {
            walks: [Walk {
                index: 0,
                heading: Gaze::Up,
                steps: 0,
            }; 4],
            count: 0,
            moved: 0,
            arrived: *herd,
        }
    }

    #[inline]
    pub(super) fn walks(&self) -> &[Walk] {
        &self.walks[..self.count]
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of steps of the longest walk.
    pub(super) fn longest(&self) -> u8 {
        self.walks()
            .iter()
            .map(|walk| walk.steps)
            .max()
            .unwrap_or(0)
    }
}

/// Iterates over the cells between a creature and the first object on its line of sight.
pub(super) fn line_of_sight(land: &Land, herd: &Herd, index: usize) -> impl Iterator<Item = Cell> {
    let Creature { cell, gaze } = herd.get(index);
    let count = if gaze == Gaze::Asleep {
        0
    } else {
        free(&land.sights, herd, cell, gaze.byte())
    };
    (1..=count).map(move |steps| gaze.from(cell, steps))
}

/// Returns the number of free cells in a direction, up to the next obstacle or creature.
#[inline]
fn free(reach: &Reach, herd: &Herd, cell: Cell, gaze: u8) -> u8 {
    let reach = reach[gaze as usize % 8][usize::from(cell)];
    match herd.ahead(cell, gaze) {
        0 => reach,
        ahead => reach.min(herd.steps_to(ahead, cell) - 1),
    }
}

/// A call: the clicked cell, and the creatures in its row and column before any of them moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) cell: Cell,
    /// The called creature; empty if the cell has none.
    pub(super) called: CreatureSet,
    column: CreatureSet,
    row: CreatureSet,
    /// The creatures in the cell and in all cells after it.
    from: CreatureSet,
    /// The creatures that look along a line towards the cell. Their view may be blocked.
    turned: CreatureSet,
    /// The called creature if it is restless and awake; it turns even if no creature responds.
    pub(super) turning: CreatureSet,
}

impl Call {
    #[inline]
    pub(super) const fn new(land: &Land, herd: &Herd, cell: Cell) -> Self {
        let ((column, row), from) = (herd.lines(cell), herd.from(cell));
        let called = column & row;
        let turned = (column & herd.gazing(VERTICAL) | row & herd.gazing(HORIZONTAL))
            & !(herd.gazing(BACK) ^ from);
        let turning = called & land.creatures_of(Kind::Restless) & !herd.gazing(ASLEEP);
        Self {
            cell,
            called,
            column,
            row,
            from,
            turned: turned & !called,
            turning,
        }
    }

    /// Returns whether it is certain that the call has no effect. If it is not certain, obstacles
    /// may still block the view of every creature that looks towards the cell.
    #[inline]
    pub(super) const fn is_idle(&self) -> bool {
        self.called == 0 || self.turned | self.turning == 0
    }
}

/// Computes which creatures approach or back away. The walks are recorded only if they will be
/// `shown`.
#[inline]
pub(super) fn respond(land: &Land, herd: &Herd, call: &Call, shown: bool) -> Responses {
    let mut responses = Responses::none(herd);
    let looks = byte(herd.gazes, first_of(call.called));
    let mut turned = call.turned;
    while turned != 0 {
        let (index, this) = (first_of(turned), turned & turned.wrapping_neg());
        turned &= turned - 1;
        let (cell, gaze) = (byte(herd.cells, index), byte(herd.gazes, index));
        // A creature is between the two if it is after one of them and before the other.
        let line = if call.column & this != 0 {
            call.column
        } else {
            call.row
        };
        let between = line & (call.from ^ herd.from(cell)) & !(call.called | this);
        let free = distance(cell, call.cell) - 1;
        let reach = |reach: &Reach| reach[gaze as usize % 8][usize::from(cell)];
        if (between != 0) | (free > reach(&land.sights)) {
            continue;
        }
        let comes = land.creatures_of(Kind::Shy) & this == 0;
        let (heading, steps) = if comes {
            (gaze, reach(&land.paths).min(free))
        } else {
            (
                gaze ^ BACK,
                self::free(&land.paths, herd, cell, gaze ^ BACK),
            )
        };
        if shown {
            responses.walks[responses.count % 4] = Walk {
                index: index as u8,
                heading: Gaze::of_byte(heading),
                steps,
            };
        }
        responses.count += 1;
        responses.moved |= if steps > 0 { this } else { 0 };
        // A creature stays on the land, so its byte does not overflow into the neighbouring ones.
        let way = i64::from(STRIDES[heading as usize % 8]) * i64::from(steps);
        responses.arrived.cells = responses
            .arrived
            .cells
            .wrapping_add_signed(way << (8 * index));
        if comes && looks != ASLEEP {
            responses.arrived.gazes ^= u64::from(gaze ^ looks) << (8 * index);
        }
    }
    responses
}

/// Returns the herd after every responding creature has walked at most `steps` cells.
pub(super) fn walked(herd: &Herd, responses: &Responses, steps: u8) -> Herd {
    let mut walked = *herd;
    for walk in responses.walks() {
        let cell = walk
            .heading
            .from(byte(herd.cells, walk.index()), steps.min(walk.steps));
        walked.cells = with_byte(walked.cells, walk.index(), cell);
    }
    walked
}

/// Turns a creature by a quarter to the right.
#[inline]
pub(super) const fn turn(herd: &mut Herd, this: CreatureSet) {
    let index = first_of(this);
    let Creature { cell, gaze } = herd.get(index);
    herd.set(
        index,
        Creature {
            cell,
            gaze: gaze.turned(),
        },
    );
}

/// Wakes the sleepers next to which a creature has just arrived; they look at it.
#[inline]
pub(super) fn wake(herd: &mut Herd, responses: &Responses) {
    let mut asleep = herd.gazing(ASLEEP);
    while asleep != 0 {
        let index = first_of(asleep);
        asleep &= asleep - 1;
        let cell = byte(herd.cells, index);
        let is_reached_from =
            |side: Gaze| herd.creatures_at(side.from(cell, 1)) & responses.moved != 0;
        if let Some(gaze) = Gaze::DIRECTIONS
            .into_iter()
            .find(|&side| is_reached_from(side))
        {
            herd.set(index, Creature { cell, gaze });
        }
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
