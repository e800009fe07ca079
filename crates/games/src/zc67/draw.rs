//! The drawing code.
//!
//! Rocks surround the sea. Every pull is a square in the colour of the pulling passenger, on the
//! rocks of the side to which the pull goes. The side with the most squares wins. The player's vote
//! is white. The passengers aboard are shown below the sea; their homes in the sea have the same
//! colours. On the right of the passengers is the rack of the only blindfold.

#[cfg(test)]
mod things;

use rhae_engine::{Direction, Frame};

use super::Level;
use super::crew::{
    Board, Cell, HEIGHT, Kind, MAX_PASSENGERS, NO_PASSENGER, Pulls, WIDTH, all_pulls, bit, pulls_of,
};

/// The width and height of a cell in pixels.
const CELL: usize = 5;
/// The upper left corner of the sea.
const LEFT: usize = 4;
const TOP: usize = 2;
/// The distance between squares that stand for pulls.
const PULL_PITCH: usize = 4;
/// The panel with the passengers.
const PANEL_LEFT: usize = 2;
const PANEL_TOP: usize = 51;
/// The width and height of a seat, and the distance from one seat to the next.
const SEAT: usize = 8;
const SEAT_PITCH: usize = 11;
/// The left edge and the width of the rack in which the blindfold lies while no passenger wears it.
const RACK_LEFT: usize = 57;
const RACK: usize = 5;

const OUTSIDE: u8 = 5;
const WATER: u8 = 10;
const WAVE: u8 = 9;
const ROCK: u8 = 4;
const HOLE: u8 = 5;
const HOLE_RIM: u8 = 13;
const RAFT: u8 = 0;
const RAFT_MIDDLE: u8 = 4;
const SEAT_FLOOR: u8 = 3;
const CORE_ECHO: u8 = 0;
const CORE_CONTRARIAN: u8 = 5;
const BLINDFOLD: u8 = 5;
const VOTE: u8 = 0;
const PASSENGERS: [u8; MAX_PASSENGERS] = [15, 14, 12, 11, 6];
/// The colour of refusals and losses. Nothing else has it.
const ALERT: u8 = 8;

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The rims of all seats: the click hit no passenger, or there is nothing to undo.
    Panel,
    /// The pulls in the directions that are tied for the first place.
    Tie,
    /// The rock ahead, or the hole under the raft.
    Cell(Cell),
    Homes,
}

/// Returns the upper left pixel of a cell.
const fn corner(cell: Cell) -> (usize, usize) {
    let cell = cell as usize;
    (LEFT + cell % WIDTH * CELL, TOP + cell / WIDTH * CELL)
}

const fn seat_left(passenger: usize) -> usize {
    PANEL_LEFT + passenger * SEAT_PITCH
}

pub(super) const fn seat_middle(passenger: usize) -> (u8, u8) {
    (
        (seat_left(passenger) + SEAT / 2) as u8,
        (PANEL_TOP + SEAT / 2) as u8,
    )
}

/// Returns the passenger whose seat is under a pixel.
pub(super) fn passenger_at(level: &Level, x: u8, y: u8) -> Option<usize> {
    let across = usize::from(x).checked_sub(PANEL_LEFT)?;
    let passenger = across / SEAT_PITCH;
    let is_in_seat =
        across % SEAT_PITCH < SEAT && (PANEL_TOP..PANEL_TOP + SEAT).contains(&usize::from(y));
    (is_in_seat && passenger < level.sea.passengers.len()).then_some(passenger)
}

/// Draws everything that does not change until a passenger gets off.
pub(super) fn background(level: &Level) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    for cell in 0..(WIDTH * HEIGHT) as Cell {
        let (x, y) = corner(cell);
        if level.sea.rocks & bit(cell) != 0 {
            frame.block::<CELL, CELL>(x, y, ROCK);
        } else if level.sea.holes & bit(cell) != 0 {
            frame.block::<CELL, CELL>(x, y, HOLE_RIM);
            frame.block::<3, 3>(x + 1, y + 1, HOLE);
        } else {
            frame.block::<CELL, CELL>(x, y, WATER);
            frame.set(x, y, WAVE);
        }
    }
    for passenger in 0..level.sea.passengers.len() {
        frame.block::<SEAT, SEAT>(seat_left(passenger), PANEL_TOP, SEAT_FLOOR);
    }
    for (passenger, &color) in PASSENGERS
        .iter()
        .enumerate()
        .take(level.sea.passengers.len())
    {
        let (x, y) = corner(level.sea.passengers[passenger].home);
        frame.block::<CELL, CELL>(x, y, color);
        frame.block::<3, 3>(x + 1, y + 1, WATER);
        draw_passenger(level, passenger, color, &mut frame);
    }
    frame.block::<RACK, SEAT>(RACK_LEFT, PANEL_TOP, SEAT_FLOOR);
    frame
}

/// Draws a state at rest, with the pulls that do not depend on the player's vote.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    voting(level, board, None, frame);
}

/// Draws a state while a vote is counted. A home is filled and its seat empty when the passenger
/// has got off.
pub(super) fn voting(level: &Level, board: &Board, vote: Option<Direction>, frame: &mut Frame) {
    frame.copy_from(&level.background);
    for (passenger, &color) in PASSENGERS
        .iter()
        .enumerate()
        .take(level.sea.passengers.len())
    {
        if !board.is_aboard(passenger) {
            let (x, y) = corner(level.sea.passengers[passenger].home);
            frame.block::<CELL, CELL>(x, y, color);
            frame.block::<SEAT, SEAT>(seat_left(passenger), PANEL_TOP, SEAT_FLOOR);
        } else if board.is_blindfolded(passenger) {
            frame.block::<SEAT, 2>(seat_left(passenger), PANEL_TOP + 3, BLINDFOLD);
        }
    }
    if board.blindfolded == NO_PASSENGER {
        frame.block::<3, 2>(RACK_LEFT + 1, PANEL_TOP + 3, BLINDFOLD);
    }
    let (x, y) = corner(board.raft);
    frame.block::<CELL, CELL>(x, y, RAFT);
    frame.block::<3, 3>(x + 1, y + 1, RAFT_MIDDLE);
    draw_pulls(level, board, vote, frame);
}

/// Draws a passenger in its seat.
fn draw_passenger(level: &Level, passenger: usize, color: u8, frame: &mut Frame) {
    let left = seat_left(passenger);
    let kind = level.sea.passengers[passenger].kind;
    if kind == Kind::Big {
        frame.block::<SEAT, SEAT>(left, PANEL_TOP, color);
    } else {
        frame.block::<4, 4>(left + 2, PANEL_TOP + 2, color);
    }
    match kind {
        Kind::Echo => frame.block::<2, 2>(left + 3, PANEL_TOP + 3, CORE_ECHO),
        Kind::Contrarian => frame.block::<2, 2>(left + 3, PANEL_TOP + 3, CORE_CONTRARIAN),
        Kind::Plain | Kind::Big => {}
    }
}

/// Draws all pulls as squares on the rocks around the sea.
fn draw_pulls(level: &Level, board: &Board, vote: Option<Direction>, frame: &mut Frame) {
    let totals = all_pulls(&level.sea, board, vote);
    let mut drawn: Pulls = [0; 4];
    let mut draw = |direction: Direction, color: u8| {
        let (x, y) = pull_corner(direction, drawn[direction as usize], &totals);
        frame.block::<3, 3>(x, y, color);
        drawn[direction as usize] += 1;
    };
    for (passenger, &color) in PASSENGERS
        .iter()
        .enumerate()
        .take(level.sea.passengers.len())
    {
        let pulls = pulls_of(&level.sea, board, passenger, vote);
        for direction in Direction::ALL {
            for _ in 0..pulls[direction as usize] {
                draw(direction, color);
            }
        }
    }
    if let Some(vote) = vote {
        draw(vote, VOTE);
    }
}

/// Returns the upper left pixel of the square of a pull. The squares of a side are centred on it.
fn pull_corner(direction: Direction, index: u8, totals: &Pulls) -> (usize, usize) {
    let half = PULL_PITCH * usize::from(totals[direction as usize]) / 2;
    let along = |cells: usize, start: usize| {
        start + cells * CELL / 2 - half + PULL_PITCH * usize::from(index)
    };
    let (last_x, last_y) = (LEFT + (WIDTH - 1) * CELL + 1, TOP + (HEIGHT - 1) * CELL + 1);
    match direction {
        Direction::Up => (along(WIDTH, LEFT), TOP + 1),
        Direction::Down => (along(WIDTH, LEFT), last_y),
        Direction::Left => (LEFT + 1, along(HEIGHT, TOP)),
        Direction::Right => (last_x, along(HEIGHT, TOP)),
    }
}

/// Draws a mark over a state.
pub(super) fn mark(
    level: &Level,
    board: &Board,
    vote: Option<Direction>,
    mark: Mark,
    frame: &mut Frame,
) {
    match mark {
        Mark::Panel => {
            for passenger in 0..level.sea.passengers.len() {
                let left = seat_left(passenger) - 1;
                frame.outline(left, PANEL_TOP - 1, SEAT + 2, SEAT + 2, ALERT);
            }
        }
        Mark::Tie => draw_tie(level, board, vote, frame),
        Mark::Cell(cell) => {
            let (x, y) = corner(cell);
            frame.block::<CELL, CELL>(x, y, ALERT);
        }
        Mark::Homes => {
            for passenger in &level.sea.passengers {
                let (x, y) = corner(passenger.home);
                frame.block::<CELL, CELL>(x, y, VOTE);
            }
        }
    }
}

/// Lights up the pulls in all tied directions, or the raft if there are no pulls.
fn draw_tie(level: &Level, board: &Board, vote: Option<Direction>, frame: &mut Frame) {
    let totals = all_pulls(&level.sea, board, vote);
    let highest = totals.iter().copied().max().unwrap_or(0);
    if highest == 0 {
        let (x, y) = corner(board.raft);
        frame.outline(x, y, CELL, CELL, ALERT);
        return;
    }
    for direction in Direction::ALL {
        if totals[direction as usize] == highest {
            for index in 0..highest {
                let (x, y) = pull_corner(direction, index, &totals);
                frame.block::<3, 3>(x, y, ALERT);
            }
        }
    }
}
