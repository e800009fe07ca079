//! The pulls of passengers, and how far they move the raft.
//!
//! **Invariant:** the raft is never on a rock. The blindfolded passenger is aboard.

use rhae_engine::Direction;
use serde::{Deserialize, Serialize};

pub(super) const WIDTH: usize = 11;
pub(super) const HEIGHT: usize = 9;
pub(super) const MAX_PASSENGERS: usize = 5;
/// The value of `blindfolded` if no passenger is blindfolded.
pub(super) const NO_PASSENGER: u8 = 7;

pub(super) type Cell = u8;
/// One bit for each cell, row by row.
pub(super) type CellSet = u128;

pub(super) const fn bit(cell: Cell) -> CellSet {
    1 << cell
}

/// How a passenger decides where to pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Towards its home, with one horizontal and one vertical pull.
    Plain,
    /// Towards its home, with twice as many pulls.
    Big,
    /// In the direction of the player's vote, with one pull.
    Echo,
    /// Against the player's vote, with two pulls.
    Contrarian,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passenger {
    pub(super) home: Cell,
    pub(super) kind: Kind,
}

/// The parts of a level that never change.
#[derive(Clone, Debug)]
pub(super) struct Sea {
    pub(super) rocks: CellSet,
    pub(super) holes: CellSet,
    pub(super) passengers: Vec<Passenger>,
}

/// The parts of a level that actions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    pub(super) raft: Cell,
    /// One bit for each passenger.
    pub(super) aboard: u8,
    /// The blindfolded passenger, or [`NO_PASSENGER`].
    pub(super) blindfolded: u8,
}

impl Board {
    pub(super) const fn is_aboard(&self, passenger: usize) -> bool {
        self.aboard >> passenger & 1 == 1
    }

    pub(super) fn is_blindfolded(&self, passenger: usize) -> bool {
        usize::from(self.blindfolded) == passenger
    }
}

/// The number of pulls in each direction, indexed by [`Direction`].
pub(super) type Pulls = [u8; 4];

/// The end of a run of the raft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Several directions have the most pulls, or there are no pulls. The raft does not move.
    Tie,
    /// This rock is in the way. The raft does not move.
    Blocked(Cell),
    Ended,
    /// The raft is over a hole.
    Lost,
}

/// Returns the pulls of one passenger.
pub(super) fn pulls_of(
    sea: &Sea,
    board: &Board,
    passenger: usize,
    vote: Option<Direction>,
) -> Pulls {
    let mut pulls = [0; 4];
    if !board.is_aboard(passenger) || board.is_blindfolded(passenger) {
        return pulls;
    }
    let Passenger { home, kind } = sea.passengers[passenger];
    let strength = if kind == Kind::Plain { 1 } else { 2 };
    match kind {
        Kind::Plain | Kind::Big => {
            for direction in towards(board.raft, home).into_iter().flatten() {
                pulls[direction as usize] = strength;
            }
        }
        Kind::Echo => {
            if let Some(vote) = vote {
                pulls[vote as usize] = 1;
            }
        }
        Kind::Contrarian => {
            if let Some(vote) = vote {
                pulls[vote.opposite() as usize] = strength;
            }
        }
    }
    pulls
}

/// Returns the horizontal and the vertical direction from one cell towards another.
fn towards(from: Cell, to: Cell) -> [Option<Direction>; 2] {
    let place = |cell: Cell| (usize::from(cell) % WIDTH, usize::from(cell) / WIDTH);
    let ((x, y), (to_x, to_y)) = (place(from), place(to));
    let choose = |from: usize, to: usize, back: Direction, forth: Direction| {
        (from != to).then_some(if to < from { back } else { forth })
    };
    [
        choose(x, to_x, Direction::Left, Direction::Right),
        choose(y, to_y, Direction::Up, Direction::Down),
    ]
}

/// Returns the pulls of all passengers plus the player's vote.
pub(super) fn all_pulls(sea: &Sea, board: &Board, vote: Option<Direction>) -> Pulls {
    let mut sum = [0; 4];
    if let Some(vote) = vote {
        sum[vote as usize] += 1;
    }
    for passenger in 0..sea.passengers.len() {
        let pulls = pulls_of(sea, board, passenger, vote);
        sum.iter_mut()
            .zip(pulls)
            .for_each(|(sum, pull)| *sum += pull);
    }
    sum
}

/// Returns the direction with the most pulls, or `None` if there is a tie or there are no pulls.
fn majority(pulls: &Pulls) -> Option<Direction> {
    let highest = *pulls.iter().max().filter(|&&pull| pull > 0)?;
    let mut leading = Direction::ALL
        .into_iter()
        .filter(|&direction| pulls[direction as usize] == highest);
    let first = leading.next();
    first.filter(|_| leading.next().is_none())
}

/// Moves the raft in the direction with the most pulls. The run ends when this direction changes,
/// where a passenger gets off, in front of a rock, and in a hole. Calls `show` after every cell.
pub(super) fn run(
    sea: &Sea,
    board: &mut Board,
    vote: Option<Direction>,
    mut show: impl FnMut(&Board),
) -> Run {
    let Some(direction) = majority(&all_pulls(sea, board, vote)) else {
        return Run::Tie;
    };
    let ahead = neighbour(board.raft, direction);
    if sea.rocks & bit(ahead) != 0 {
        return Run::Blocked(ahead);
    }
    loop {
        board.raft = neighbour(board.raft, direction);
        show(board);
        if sea.holes & bit(board.raft) != 0 {
            return Run::Lost;
        }
        let leaving = leaving(sea, board);
        if leaving != 0 {
            board.aboard &= !leaving;
            return Run::Ended;
        }
        let continues = majority(&all_pulls(sea, board, vote)) == Some(direction);
        if !continues || sea.rocks & bit(neighbour(board.raft, direction)) != 0 {
            return Run::Ended;
        }
    }
}

/// Returns the passengers that get off: all passengers at home, except a blindfolded one.
fn leaving(sea: &Sea, board: &Board) -> u8 {
    let is_leaving = |&passenger: &usize| {
        board.is_aboard(passenger)
            && !board.is_blindfolded(passenger)
            && sea.passengers[passenger].home == board.raft
    };
    (0..sea.passengers.len())
        .filter(is_leaving)
        .fold(0, |set, passenger| set | 1 << passenger)
}

/// Returns the next cell. Rocks surround the sea, so the raft always has a next cell.
const fn neighbour(cell: Cell, direction: Direction) -> Cell {
    match direction {
        Direction::Up => cell - WIDTH as Cell,
        Direction::Down => cell + WIDTH as Cell,
        Direction::Left => cell - 1,
        Direction::Right => cell + 1,
    }
}
