//! One breath: which pieces double or halve their distance from a cell, and what stops the others.
//!
//! **Invariant:** pieces are on different cells of the board that are not rocks.

use serde::{Deserialize, Serialize};

/// The number of columns and rows of the board.
pub(super) const SIDE: i8 = 9;
/// The maximum number of pieces of a level.
pub(super) const MAX_PIECES: usize = 3;
/// The place of a piece that the level does not have.
pub(super) const NOWHERE: Cell = Cell { x: 15, y: 15 };

/// One bit for each cell, row by row.
pub(super) type CellSet = u128;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) x: i8,
    pub(super) y: i8,
}

impl Cell {
    pub(super) const fn set(self) -> CellSet {
        1 << (self.y as u32 * SIDE as u32 + self.x as u32)
    }

    const fn is_on_board(self) -> bool {
        0 <= self.x && self.x < SIDE && 0 <= self.y && self.y < SIDE
    }
}

/// Iterates over the cells of a set.
pub(super) fn cells(mut set: CellSet) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros() as i8;
        (set != 0).then(|| {
            set &= set - 1;
            Cell {
                x: index % SIDE,
                y: index / SIDE,
            }
        })
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Breath {
    /// Doubles the distance of every piece from the centre.
    Out,
    /// Halves the distance of every piece from the centre.
    In,
}

impl Breath {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// What a breath does to a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Moves(Cell),
    /// The piece is on the clicked cell, and its distance stays 0.
    Centre,
    /// The piece would land between cells.
    Half,
    /// The piece would leave the board.
    Rim,
    /// A rock is on the cell to which the piece would go.
    Rock(Cell),
    /// A piece that stays is on the cell to which the piece would go.
    Piece(Cell),
}

pub(super) type Pieces = [Cell; MAX_PIECES];

/// Returns what a breath about a cell does to each piece. Only the first `count` fates have a
/// meaning.
pub(super) fn breathe(
    rocks: CellSet,
    pieces: &Pieces,
    count: usize,
    breath: Breath,
    centre: Cell,
) -> [Fate; MAX_PIECES] {
    let mut fates = pieces.map(|piece| alone(rocks, piece, breath, centre));
    // A piece that stays may stop others, so this repeats until no further piece is stopped.
    loop {
        let known = fates;
        for fate in &mut fates[..count] {
            if let Fate::Moves(goal) = *fate
                && stays(pieces, &known[..count], goal)
            {
                *fate = Fate::Piece(goal);
            }
        }
        if fates == known {
            return fates;
        }
    }
}

/// Returns whether a piece is on a cell and does not leave it.
fn stays(pieces: &Pieces, fates: &[Fate], cell: Cell) -> bool {
    pieces
        .iter()
        .zip(fates)
        .any(|(&piece, fate)| piece == cell && !matches!(fate, Fate::Moves(_)))
}

/// Returns what would happen to a piece if there were no others.
fn alone(rocks: CellSet, piece: Cell, breath: Breath, centre: Cell) -> Fate {
    let (dx, dy) = (piece.x - centre.x, piece.y - centre.y);
    if (dx, dy) == (0, 0) {
        return Fate::Centre;
    }
    let goal = match breath {
        Breath::Out => Cell {
            x: piece.x + dx,
            y: piece.y + dy,
        },
        Breath::In if dx % 2 != 0 || dy % 2 != 0 => return Fate::Half,
        Breath::In => Cell {
            x: centre.x + dx / 2,
            y: centre.y + dy / 2,
        },
    };
    if !goal.is_on_board() {
        Fate::Rim
    } else if rocks & goal.set() != 0 {
        Fate::Rock(goal)
    } else {
        Fate::Moves(goal)
    }
}
