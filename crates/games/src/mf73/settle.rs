//! The physics of the drops: which of them a temperature lets move, and where they stop.
//!
//! The cells of a room are numbered row by row, and a set of cells is one number with one bit for
//! each cell. Drops settle in ticks, in each of which every drop moves by at most one cell.
//!
//! **Invariant:** a room is closed except for its vents, and settling stops when a drop enters a
//! vent. No drop therefore leaves the grid.

use std::cmp::Reverse;

/// The number of columns of a room.
pub(super) const WIDTH: usize = 11;
/// The maximum number of drops in a room.
pub(super) const MAX_DROPS: usize = 3;
/// The cell of a drop that the level does not have. No room is so large that it has this cell.
pub(super) const NOWHERE: Cell = 127;

pub(super) type Cell = u8;
/// The cell of each drop.
pub(super) type Drops = [Cell; MAX_DROPS];
pub(super) type CellSet = u128;

/// Returns the set that contains only this cell.
pub(super) const fn bit(cell: Cell) -> CellSet {
    1 << cell
}

/// The way in which the box leans while the drops settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lean {
    None,
    Left,
    Right,
}

impl Lean {
    /// Returns the cell next to another one on the low side; `None` if the box is level.
    const fn beside(self, cell: Cell) -> Option<Cell> {
        match self {
            Self::None => None,
            Self::Left => Some(cell - 1),
            Self::Right => Some(cell + 1),
        }
    }

    /// Returns a number that is smaller for columns farther on the low side. A level box counts as
    /// leaning to the left.
    const fn rank(self, cell: Cell) -> usize {
        let column = cell as usize % WIDTH;
        if matches!(self, Self::Right) {
            WIDTH - column
        } else {
            column
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Solid,
    Liquid,
    Gas,
}

/// The temperatures at which a substance melts and boils.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Points {
    pub(super) melts: u8,
    pub(super) boils: u8,
}

impl Points {
    pub(super) const fn phase(self, temperature: u8) -> Phase {
        if temperature < self.melts {
            Phase::Solid
        } else if temperature < self.boils {
            Phase::Liquid
        } else {
            Phase::Gas
        }
    }
}

/// The walls of a room and the kinds of its drops.
#[derive(Clone)]
pub(super) struct Room {
    pub(super) rocks: CellSet,
    /// Cells that a gas can enter and a liquid cannot.
    pub(super) grates: CellSet,
    /// Openings in the border, through which drops are lost.
    pub(super) vents: CellSet,
    pub(super) drop_count: usize,
    /// The substance of each drop.
    pub(super) substances: [usize; MAX_DROPS],
    /// The melting and boiling points of each substance.
    pub(super) points: [Points; MAX_DROPS],
}

impl Room {
    pub(super) fn phase(&self, drop: usize, temperature: u8) -> Phase {
        self.points[self.substances[drop]].phase(temperature)
    }
}

/// Moves the drops until they rest or one of them enters a vent, and returns the lost drop. Calls
/// `before_tick` with the positions before each tick in which something moves.
pub(super) fn settle(
    room: &Room,
    drops: &mut Drops,
    temperature: u8,
    lean: Lean,
    mut before_tick: impl FnMut(&Drops),
) -> Option<usize> {
    loop {
        let before = *drops;
        tick(room, drops, temperature, lean);
        if *drops == before {
            return None;
        }
        before_tick(&before);
        let lost = (0..room.drop_count).find(|&drop| room.vents & bit(drops[drop]) != 0);
        if lost.is_some() {
            return lost;
        }
    }
}

/// Moves every drop that can move by one cell: first the liquids from the lowest row upwards, then
/// the gases from the highest row downwards.
fn tick(room: &Room, drops: &mut Drops, temperature: u8, lean: Lean) {
    let phase = |drop: usize| room.phase(drop, temperature);
    let row = |cell: Cell| usize::from(cell) / WIDTH;
    let mut order = [0, 1, 2];
    let mut exchanged = [false; MAX_DROPS];
    order.sort_unstable_by_key(|&drop| (Reverse(row(drops[drop])), lean.rank(drops[drop])));
    for drop in order.into_iter().filter(|&drop| drop < room.drop_count) {
        if phase(drop) != Phase::Liquid {
            continue;
        }
        let below = drops[drop] + WIDTH as Cell;
        if is_free(room, drops, below, room.grates) {
            drops[drop] = below;
        } else if let Some(gas) = drop_at(drops, below)
            && phase(gas) == Phase::Gas
            && room.grates & bit(below) == 0
        {
            drops.swap(drop, gas);
            exchanged[gas] = true;
        } else if let Some(beside) = lean.beside(drops[drop])
            && is_free(room, drops, beside, room.grates)
        {
            drops[drop] = beside;
        }
    }
    order.sort_unstable_by_key(|&drop| (row(drops[drop]), lean.rank(drops[drop])));
    for drop in order.into_iter().filter(|&drop| drop < room.drop_count) {
        if phase(drop) != Phase::Gas || exchanged[drop] {
            continue;
        }
        let above = drops[drop] - WIDTH as Cell;
        if is_free(room, drops, above, 0) {
            drops[drop] = above;
        } else if let Some(beside) = lean.beside(drops[drop])
            && is_free(room, drops, beside, 0)
        {
            drops[drop] = beside;
        }
    }
}

/// Returns whether a drop can enter a cell. `closed` are the cells, other than rock, that it cannot
/// enter.
fn is_free(room: &Room, drops: &Drops, cell: Cell, closed: CellSet) -> bool {
    (room.rocks | closed) & bit(cell) == 0 && !drops.contains(&cell)
}

fn drop_at(drops: &Drops, cell: Cell) -> Option<usize> {
    drops.iter().position(|&other| other == cell)
}
