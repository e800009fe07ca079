//! One beat: which creatures a key calls, which of them can move, and how the lights advance.
//!
//! **Invariant:** creatures stand on different cells that are not walls.

use rhae_engine::Direction;
use serde::{Deserialize, Serialize};

/// The number of columns of the grid in which cells are numbered. Fields may be narrower.
pub(super) const WIDTH: usize = 6;
pub(super) const MAX_CREATURES: usize = 3;
/// The number of lamps on each side, one for each interval except silence.
pub(super) const LAMPS: u8 = 3;
/// The cell of a creature that the level does not have.
pub(super) const NOWHERE: Cell = 63;

pub(super) type Cell = u8;
/// One bit for each cell, row by row.
pub(super) type CellSet = u64;

pub(super) const fn bit(cell: Cell) -> CellSet {
    1 << cell
}

/// An interval to which a creature listens: the number of beats since the previous press of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Interval {
    /// More beats than there are lamps, or no previous press.
    Silence,
    One,
    Two,
    Three,
}

impl Interval {
    pub(super) const ALL: [Self; 4] = [Self::Silence, Self::One, Self::Two, Self::Three];

    /// Returns the interval that a lit lamp stands for; 0 means that no lamp is lit.
    const fn of_lamp(lamp: u8) -> Self {
        Self::ALL[lamp as usize]
    }
}

/// The lit lamp on each side, counted from 1 at the field outwards, or 0. Indexed by [`Direction`].
pub(super) type Lights = [u8; 4];

/// Returns the lights after a beat. `None` is a beat without an arrow key.
pub(super) fn advanced(lights: &Lights, key: Option<Direction>) -> Lights {
    let mut after = lights.map(|lamp| {
        if lamp == 0 || lamp == LAMPS {
            0
        } else {
            lamp + 1
        }
    });
    if let Some(key) = key {
        after[key as usize] = 1;
    }
    after
}

/// The field, which does not change.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) walls: CellSet,
    pub(super) pits: CellSet,
    /// The interval to which a creature listens after it has stepped on a cell.
    pub(super) tuners: [Option<Interval>; 64],
    /// The number of creatures.
    pub(super) count: usize,
}

/// The cells of the creatures, and the intervals to which they listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Creatures {
    pub(super) cells: [Cell; MAX_CREATURES],
    pub(super) intervals: [Interval; MAX_CREATURES],
}

/// What a beat does to a creature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// The creature does not listen to this interval.
    None,
    Moves(Cell),
    /// The creature is called but cannot move.
    Stopped,
}

/// Returns what a key does to each creature, given the lights before the key is pressed.
pub(super) fn calls(
    field: &Field,
    lights: &Lights,
    creatures: &Creatures,
    key: Direction,
) -> [Call; MAX_CREATURES] {
    let called = Interval::of_lamp(lights[key as usize]);
    let mut calls = [Call::None; MAX_CREATURES];
    for (creature, call) in calls.iter_mut().enumerate().take(field.count) {
        if creatures.intervals[creature] == called {
            let goal = field.neighbour(creatures.cells[creature], key);
            *call = match goal.filter(|&goal| field.walls & bit(goal) == 0) {
                Some(goal) => Call::Moves(goal),
                None => Call::Stopped,
            };
        }
    }
    // A stopped creature may stop others, so this repeats until nothing changes.
    loop {
        let known = calls;
        for creature in 0..field.count {
            let Call::Moves(goal) = known[creature] else {
                continue;
            };
            let is_taken = (0..field.count).any(|other| {
                creatures.cells[other] == goal && !matches!(known[other], Call::Moves(_))
            });
            if is_taken {
                calls[creature] = Call::Stopped;
            }
        }
        if calls == known {
            return calls;
        }
    }
}

impl Field {
    fn neighbour(&self, cell: Cell, direction: Direction) -> Option<Cell> {
        let (x, y) = (usize::from(cell) % WIDTH, usize::from(cell) / WIDTH);
        let (dx, dy) = direction.delta();
        let x = x.checked_add_signed(dx).filter(|&x| x < self.columns)?;
        let y = y.checked_add_signed(dy).filter(|&y| y < self.rows)?;
        Some((y * WIDTH + x) as Cell)
    }

    /// Moves the called creatures. A creature that steps on a tuner listens to another interval
    /// from then on.
    pub(super) fn apply(&self, creatures: &mut Creatures, calls: &[Call; MAX_CREATURES]) {
        for (creature, call) in calls.iter().enumerate() {
            if let Call::Moves(goal) = *call {
                creatures.cells[creature] = goal;
                if let Some(interval) = self.tuners[usize::from(goal)] {
                    creatures.intervals[creature] = interval;
                }
            }
        }
    }
}
