//! Where the plants are: a grid of cells, each of which knows the way back to its pot.

use serde::{Deserialize, Serialize};

/// Cells along one side of the room.
pub(super) const SIDE: u8 = 9;
/// The most plants a level has.
pub(super) const PLANTS: usize = 3;
/// No cell, no direction.
pub(super) const NOWHERE: u8 = u8::MAX;

const AREA: usize = SIDE as usize * SIDE as usize;

// Directions are also the sides on which windows are: 0 up, 1 right, 2 down, 3 left, so `^ 2` is the opposite.
static NEIGHBOURS: [[u8; AREA]; 4] = neighbours();

/// For each direction and cell, the cells between it and the wall on that side.
pub(super) static RAYS: [[u128; AREA]; 4] = rays();

/// What of the plants does not change while a level is played.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) rocks: u128,
    pub(super) count: usize,
    pub(super) pots: [u8; PLANTS],
    /// Where each plant is to flower.
    pub(super) places: [u8; PLANTS],
    /// Whether each plant grows away from the light.
    pub(super) shy: [bool; PLANTS],
}

/// All plants as they stand.
///
/// **Invariant:** the way back of a cell that no plant holds is 0, so equal pictures are equal boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    /// The cells that plants hold, pots included.
    pub(super) plants: u128,
    /// The direction towards the pot from each cell, its low and its high bit.
    back: [u128; 2],
    /// The end of each plant.
    pub(super) tips: [u8; PLANTS],
}

impl Board {
    /// Nothing but pots.
    pub(super) fn of(plan: &Plan) -> Self {
        let pots = plan.pots[..plan.count]
            .iter()
            .fold(0, |cells, &pot| cells | bit(pot));
        Self {
            plants: pots,
            back: [0; 2],
            tips: plan.pots,
        }
    }

    /// Moves a tip into the free cell next to it.
    pub(super) fn grow(&mut self, plant: usize, into: u8, direction: u8) {
        let back = u128::from(direction ^ 2);
        self.plants |= bit(into);
        self.back[0] |= (back & 1) << into;
        self.back[1] |= (back >> 1) << into;
        self.tips[plant] = into;
    }

    /// Takes one cell from the end of every plant that has grown.
    pub(super) fn shrink(&mut self, plan: &Plan) {
        for plant in 0..plan.count {
            let tip = self.tips[plant];
            if tip != plan.pots[plant] {
                self.tips[plant] = beyond(tip, self.way_back(tip));
                let rest = !bit(tip);
                self.plants &= rest;
                self.back = self.back.map(|plane| plane & rest);
            }
        }
    }

    /// The cells of a plant from its tip to its pot, each with the direction of the next; the pot's is `NOWHERE`.
    pub(super) fn walk(&self, plan: &Plan, plant: usize) -> impl Iterator<Item = (u8, u8)> {
        let pot = plan.pots[plant];
        let mut cell = self.tips[plant];
        std::iter::from_fn(move || {
            let here = (cell != NOWHERE).then_some(cell)?;
            let way = if here == pot {
                NOWHERE
            } else {
                self.way_back(here)
            };
            cell = if here == pot {
                NOWHERE
            } else {
                beyond(here, way)
            };
            Some((here, way))
        })
    }

    /// Whether every bloom place is in flower.
    pub(super) fn all_in_flower(&self, plan: &Plan) -> bool {
        (0..plan.count).all(|plant| plan.places[plant] == self.tips[plant])
    }

    #[inline]
    fn way_back(&self, cell: u8) -> u8 {
        (self.back[0] >> cell & 1 | (self.back[1] >> cell & 1) << 1) as u8
    }
}

/// The set of one cell.
#[inline]
pub(super) const fn bit(cell: u8) -> u128 {
    1 << cell
}

/// The next cell in a direction, or `NOWHERE` at the wall.
#[inline]
pub(super) const fn beyond(cell: u8, direction: u8) -> u8 {
    NEIGHBOURS[direction as usize][cell as usize]
}

const fn neighbours() -> [[u8; AREA]; 4] {
    let mut table = [[NOWHERE; AREA]; 4];
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
            while next != NOWHERE {
                table[direction][cell] |= bit(next);
                next = NEIGHBOURS[direction][next as usize];
            }
            cell += 1;
        }
        direction += 1;
    }
    table
}
