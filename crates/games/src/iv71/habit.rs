//! One turn of all creatures: which creatures move, what stops the others, and which habits they
//! take over.
//!
//! **Invariant:** creatures stand on different cells that are not walls.

use rhae_engine::Direction;
use serde::{Deserialize, Serialize};

pub(super) const WIDTH: usize = 7;
pub(super) const HEIGHT: usize = 6;
/// The maximum number of creatures on a field.
pub(super) const MAX_CREATURES: usize = 3;
/// The cell of a creature that the level does not have.
pub(super) const NOWHERE: Cell = 63;

pub(super) type Cell = u8;
/// One bit for each cell, row by row.
pub(super) type CellSet = u64;

pub(super) const fn bit(cell: Cell) -> CellSet {
    1 << cell
}

/// The two moves between which a creature alternates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Habit {
    pub(super) next: Direction,
    pub(super) then: Direction,
}

impl Habit {
    /// Returns the habit in the following turn.
    const fn advanced(self) -> Self {
        Self {
            next: self.then,
            then: self.next,
        }
    }
}

/// The cells and habits of all creatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Creatures {
    pub(super) cells: [Cell; MAX_CREATURES],
    pub(super) habits: [Habit; MAX_CREATURES],
}

/// What happens to one creature in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Moves,
    /// A wall or the rim is in the way.
    Wall,
    /// Another creature tries to enter the same free cell.
    Contested,
    /// This creature is in the way and stays, or the two creatures try to exchange places.
    Creature(usize),
}

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) steps: [Step; MAX_CREATURES],
    pub(super) after: Creatures,
}

/// Returns the neighbouring cell in a direction, or `None` at the rim.
pub(super) fn neighbour(cell: Cell, direction: Direction) -> Option<Cell> {
    let (x, y) = (usize::from(cell) % WIDTH, usize::from(cell) / WIDTH);
    let (dx, dy) = direction.delta();
    let x = x.checked_add_signed(dx).filter(|&x| x < WIDTH)?;
    let y = y.checked_add_signed(dy).filter(|&y| y < HEIGHT)?;
    Some((y * WIDTH + x) as Cell)
}

/// Moves all creatures at once. `before` already holds the move that the player chose.
pub(super) fn turn(walls: CellSet, count: usize, before: &Creatures) -> Turn {
    let goals: [Option<Cell>; MAX_CREATURES] = std::array::from_fn(|creature| {
        let goal = neighbour(before.cells[creature], before.habits[creature].next)?;
        (creature < count && walls & bit(goal) == 0).then_some(goal)
    });
    let mut turn = Turn {
        steps: [Step::Moves; MAX_CREATURES],
        after: *before,
    };
    // A stopped creature may stop others, so this repeats until no further creature is stopped.
    // Each round reads only the result of the previous round, so the order of creatures does not
    // matter.
    loop {
        let known = turn.steps;
        for creature in 0..count {
            if known[creature] == Step::Moves {
                turn.steps[creature] = step(before, &goals, &known, creature, count);
            }
        }
        if turn.steps == known {
            break;
        }
    }
    for (creature, &goal) in goals.iter().enumerate().take(count) {
        turn.after.habits[creature] = before.habits[creature].advanced();
        if let (Step::Moves, Some(goal)) = (turn.steps[creature], goal) {
            turn.after.cells[creature] = goal;
        }
    }
    let advanced = turn.after.habits;
    for creature in 0..count {
        if let Step::Creature(model) = turn.steps[creature] {
            turn.after.habits[creature] = advanced[model];
        }
    }
    turn
}

/// Returns what happens to a creature, given the steps of all creatures after the previous round.
fn step(
    before: &Creatures,
    goals: &[Option<Cell>; MAX_CREATURES],
    known: &[Step; MAX_CREATURES],
    creature: usize,
    count: usize,
) -> Step {
    let Some(goal) = goals[creature] else {
        return Step::Wall;
    };
    let mut others = (0..count).filter(|&other| other != creature);
    let in_the_way = others.clone().find(|&other| {
        let exchanges = goals[other] == Some(before.cells[creature]);
        before.cells[other] == goal && (known[other] != Step::Moves || exchanges)
    });
    if let Some(other) = in_the_way {
        return Step::Creature(other);
    }
    if others.any(|other| goals[other] == Some(goal) && known[other] == Step::Moves) {
        return Step::Contested;
    }
    Step::Moves
}
