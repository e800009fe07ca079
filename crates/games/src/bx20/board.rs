//! The plants on the cells of the room. Each cell of a plant stores the direction back to the pot.

use serde::{Deserialize, Serialize};

/// The number of cells along one side of the room.
pub(super) const SIDE: u8 = 9;
/// The maximum number of plants in a level.
pub(super) const MAX_PLANTS: usize = 3;
/// Marks "no cell" and "no direction".
pub(super) const NONE: u8 = u8::MAX;

const AREA: usize = SIDE as usize * SIDE as usize;

// A number denotes a direction, and also the wall of a window: 0 up, 1 right, 2 down, 3 left. `^ 2`
// yields the opposite direction.
static NEIGHBOURS: [[u8; AREA]; 4] = neighbours();

/// For each direction and cell, the cells between this cell and the wall in that direction.
pub(super) static RAYS: [[u128; AREA]; 4] = rays();

/// The rocks, and the data of the plants that does not change while a level is played.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) rocks: u128,
    pub(super) count: usize,
    pub(super) pots: [u8; MAX_PLANTS],
    /// The cell in which each plant must flower.
    pub(super) bloom_cells: [u8; MAX_PLANTS],
    /// Whether each plant grows away from the light.
    pub(super) shy: [bool; MAX_PLANTS],
}

/// All plants.
///
/// **Invariant:** the direction bits of a cell without a plant are 0, so boards that look the same
/// compare equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    /// The cells occupied by plants, including pots.
    pub(super) plants: u128,
    /// The direction from each plant cell towards its pot: the low bits of all directions, then the
    /// high bits.
    back: [u128; 2],
    /// The last cell of each plant; its pot if it has not grown.
    pub(super) tips: [u8; MAX_PLANTS],
}

impl Board {
    /// Creates the board at the start of a level, on which every plant consists only of its pot.
    pub(super) fn of(layout: &Layout) -> Self {
        let pots = layout.pots[..layout.count]
            .iter()
            .fold(0, |cells, &pot| cells | bit(pot));
        Self {
            plants: pots,
            back: [0; 2],
            tips: layout.pots,
        }
    }

    /// Moves a tip into a free neighbouring cell.
    pub(super) fn grow(&mut self, plant: usize, into: u8, direction: u8) {
        let back = u128::from(direction ^ 2);
        self.plants |= bit(into);
        self.back[0] |= (back & 1) << into;
        self.back[1] |= (back >> 1) << into;
        self.tips[plant] = into;
    }

    /// Removes the cell at the end of every plant that has grown.
    pub(super) fn shrink(&mut self, layout: &Layout) {
        for plant in 0..layout.count {
            let tip = self.tips[plant];
            if tip != layout.pots[plant] {
                self.tips[plant] = neighbour(tip, self.direction_back(tip));
                let rest = !bit(tip);
                self.plants &= rest;
                self.back = self.back.map(|plane| plane & rest);
            }
        }
    }

    /// Iterates over the cells of a plant from its tip to its pot, each with the direction of the
    /// next cell. For the pot, the direction is `NONE`.
    pub(super) fn walk(&self, layout: &Layout, plant: usize) -> impl Iterator<Item = (u8, u8)> {
        let pot = layout.pots[plant];
        let mut cell = self.tips[plant];
        std::iter::from_fn(move || {
            let here = (cell != NONE).then_some(cell)?;
            let way = if here == pot {
                NONE
            } else {
                self.direction_back(here)
            };
            cell = if here == pot {
                NONE
            } else {
                neighbour(here, way)
            };
            Some((here, way))
        })
    }

    pub(super) fn all_in_flower(&self, layout: &Layout) -> bool {
        (0..layout.count).all(|plant| layout.bloom_cells[plant] == self.tips[plant])
    }

    #[inline]
    fn direction_back(&self, cell: u8) -> u8 {
        (self.back[0] >> cell & 1 | (self.back[1] >> cell & 1) << 1) as u8
    }
}

/// Returns the set that contains only this cell.
#[inline]
pub(super) const fn bit(cell: u8) -> u128 {
    1 << cell
}

/// Returns the next cell in a direction, or `NONE` at the wall.
#[inline]
pub(super) const fn neighbour(cell: u8, direction: u8) -> u8 {
    NEIGHBOURS[direction as usize][cell as usize]
}

const fn neighbours() -> [[u8; AREA]; 4] {
    let mut table = [[NONE; AREA]; 4];
    let mut cell = 0;
    while cell < AREA as u8 {
        let (x, y) = (cell % SIDE, cell / SIDE);
        let at = cell as usize;
        if y > 0 {
            table[0][at] = cell - SIDE;
        }
        if x + 1 < SIDE {
            table[1][at] = cell + 1;
        }
        if y + 1 < SIDE {
            table[2][at] = cell + SIDE;
        }
        if x > 0 {
            table[3][at] = cell - 1;
        }
        cell += 1;
    }
    table
}

const fn rays() -> [[u128; AREA]; 4] {
    let mut table = [[0; AREA]; 4];
    let mut direction = 0;
    while direction < 4 {
        let mut cell = 0;
        while cell < AREA {
            let mut next = NEIGHBOURS[direction][cell];
            while next != NONE {
                table[direction][cell] |= bit(next);
                next = NEIGHBOURS[direction][next as usize];
            }
            cell += 1;
        }
        direction += 1;
    }
    table
}
