//! The drawing code: 11 × 11 cells of 5 × 5 pixels, the void in black with distant specks, and
//! below them a bar that shows the remaining budget. The margin around the hall is grey, so that it does
//! not look like the void.

#[cfg(test)]
mod things;

use rhae_engine::{Direction, Frame, StateOf};

use super::{Board, Cells, Hall, Ny40, WIDTH, shifted};

const CELL: usize = 5;
const LEFT: usize = 4;
const TOP: usize = 2;
const SPAN: usize = WIDTH * CELL;
const BAR_TOP: usize = 60;

const MARGIN: u8 = 4;
const VOID: u8 = 5;
const VOID_SPECK: u8 = 15;
const FLOOR: u8 = 1;
const FLOOR_DOT: u8 = 2;
const CLIFF: u8 = 3;
const WALL: u8 = 3;
const WALL_LIT: u8 = 2;
const WALL_SHADE: u8 = 4;
const MOSS: u8 = 14;
const YOU: u8 = 12;
const STONE: u8 = 9;
const STONE_RIM: u8 = 5;
const STONE_LIT: u8 = 10;
const HOLD: u8 = 0;
const MISS: u8 = 6;
const BAR: u8 = 2;
const BAR_TRACK: u8 = 5;

/// What a frame shows in addition to the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Nothing moves; the surfaces that you can push off are marked.
    Rest,
    /// Something flies.
    Flight,
    /// A failed push: there is nothing to push off on this side.
    Kicking(Direction),
    /// A failed push: the way is blocked on this side.
    Blocked(Direction),
    /// A failed grip: there is no stone next to you.
    Grasping,
    /// A key pressed after a fall.
    Fallen,
    BudgetEmpty,
    /// Everything is on its ring.
    Won,
}

/// Iterates over the upper left pixel of every cell in a set.
fn corners(mut cells: Cells) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        if cells == 0 {
            return None;
        }
        let cell = cells.trailing_zeros() as usize;
        cells &= cells - 1;
        Some((LEFT + cell % WIDTH * CELL, TOP + cell / WIDTH * CELL))
    })
}

/// Draws everything that does not change: ground, walls, rings.
pub(super) fn background(hall: &mut Hall) {
    let frame = &mut hall.background;
    frame.clear(MARGIN);
    let floor = !(hall.walls | hall.void) & ((1 << (WIDTH * WIDTH)) - 1);
    for (x, y) in corners(hall.void) {
        frame.block::<5, 5>(x, y, VOID);
        frame.set(x + 1, y + 3, VOID_SPECK);
        frame.set(x + 3, y + 1, VOID_SPECK);
    }
    for (x, y) in corners(floor) {
        frame.block::<5, 5>(x, y, FLOOR);
        frame.set(x + 2, y + 2, FLOOR_DOT);
    }
    // The ground has a visible lower edge above the void.
    for (x, y) in corners(hall.void & shifted(floor, Direction::Down)) {
        frame.block::<5, 1>(x, y, CLIFF);
    }
    for (x, y) in corners(hall.moss) {
        for spot in (0..25).filter(|spot| spot % 2 == 0) {
            frame.set(x + spot % 5, y + spot / 5, MOSS);
        }
    }
    for (x, y) in corners(hall.walls) {
        frame.block::<5, 5>(x, y, WALL);
    }
    for (x, y) in corners(hall.walls & !shifted(hall.walls, Direction::Down)) {
        frame.block::<5, 1>(x, y, WALL_LIT);
    }
    for (x, y) in corners(hall.walls & !shifted(hall.walls, Direction::Up)) {
        frame.block::<5, 1>(x, y + 4, WALL_SHADE);
    }
    rings(frame, hall.stone_rings, STONE);
    rings(frame, hall.your_ring, YOU);
}

fn rings(frame: &mut Frame, cells: Cells, color: u8) {
    for (x, y) in corners(cells) {
        frame.outline(x, y, CELL, CELL, color);
    }
}

/// Draws a state at a moment and sets every cell of the frame.
pub(super) fn picture(hall: &Hall, state: &StateOf<Ny40>, moment: Moment, frame: &mut Frame) {
    let board = &state.board;
    frame.copy_from(&hall.background);
    bar(hall, state.spent, moment, frame);
    for (x, y) in corners(board.stones & !hall.void) {
        stone(frame, x, y);
    }
    for (x, y) in corners(board.stones & hall.void) {
        frame.block::<3, 3>(x + 1, y + 1, STONE);
    }
    if hall.has_too_few_stones(board) {
        rings(frame, hall.stone_rings & !board.stones, MISS);
    }
    for (x, y) in corners(board.stones & hall.stone_rings) {
        frame.block::<1, 1>(x + 2, y + 2, HOLD);
    }
    you(hall, board, moment, frame);
    if moment != Moment::Flight {
        holds(hall, board, frame);
    }
    hands(board, frame);
    match moment {
        Moment::Rest | Moment::Flight | Moment::BudgetEmpty => {}
        Moment::Kicking(side) => {
            for (x, y) in corners(board.body() & !shifted(board.body(), side.opposite())) {
                beyond(frame, x, y, side, MISS);
            }
        }
        Moment::Blocked(side) => {
            let stops = hall.touched(board, side);
            for (x, y) in corners(board.body() & shifted(stops, side.opposite())) {
                seam(frame, x, y, side, MISS);
            }
        }
        Moment::Grasping => {
            for side in Direction::ALL {
                for (x, y) in corners(board.you) {
                    beyond(frame, x, y, side, YOU);
                }
            }
        }
        Moment::Fallen => {
            for (x, y) in corners(board.you) {
                frame.outline(x, y, CELL, CELL, MISS);
            }
        }
        Moment::Won => rings(frame, hall.your_ring | hall.stone_rings, HOLD),
    }
}

fn bar(hall: &Hall, spent: u8, moment: Moment, frame: &mut Frame) {
    if hall.budget == 0 {
        return;
    }
    let left = usize::from(hall.budget.saturating_sub(spent));
    frame.rect(
        LEFT,
        BAR_TOP,
        SPAN,
        2,
        if moment == Moment::BudgetEmpty {
            MISS
        } else {
            BAR_TRACK
        },
    );
    frame.rect(
        LEFT,
        BAR_TOP,
        (left * SPAN).div_ceil(usize::from(hall.budget)),
        2,
        BAR,
    );
}

/// Draws a stone. Its dark lower right rim separates it from a stone that touches it.
fn stone(frame: &mut Frame, x: usize, y: usize) {
    rounded(frame, x, y, STONE_RIM);
    frame.block::<3, 1>(x + 1, y, STONE);
    frame.block::<4, 3>(x, y + 1, STONE);
    frame.block::<2, 1>(x + 1, y + 1, STONE_LIT);
}

/// Draws a square without its corners, which show the ground or the ring below.
fn rounded(frame: &mut Frame, x: usize, y: usize, color: u8) {
    frame.block::<3, 1>(x + 1, y, color);
    frame.block::<5, 3>(x, y + 1, color);
    frame.block::<3, 1>(x + 1, y + 4, color);
}

fn you(hall: &Hall, board: &Board, moment: Moment, frame: &mut Frame) {
    for (x, y) in corners(board.you & hall.void) {
        // The figure shrinks as it falls.
        if moment == Moment::Flight {
            frame.block::<3, 3>(x + 1, y + 1, YOU);
        } else {
            frame.block::<1, 1>(x + 2, y + 2, YOU);
        }
    }
    for (x, y) in corners(board.you & !hall.void) {
        rounded(frame, x, y, YOU);
        frame.block::<1, 1>(
            x + 2,
            y + 2,
            if board.you == hall.your_ring {
                HOLD
            } else {
                VOID
            },
        );
    }
}

/// Draws a hand that reaches into every held stone.
fn hands(board: &Board, frame: &mut Frame) {
    for side in Direction::ALL {
        for (x, y) in corners(board.you & shifted(board.held, side.opposite())) {
            seam(frame, x, y, side, YOU);
            beyond(frame, x, y, side, YOU);
        }
    }
}

/// Marks the surfaces that the body can push off: a white seam where it touches something, and a
/// white border where it is on moss.
fn holds(hall: &Hall, board: &Board, frame: &mut Frame) {
    let body = board.body() & !hall.void;
    for side in Direction::ALL {
        for (x, y) in corners(body & shifted(hall.touched(board, side), side.opposite())) {
            seam(frame, x, y, side, HOLD);
        }
    }
    for (x, y) in corners(body & hall.moss) {
        frame.block::<3, 1>(x + 1, y, HOLD);
        frame.block::<3, 1>(x + 1, y + 4, HOLD);
        frame.block::<1, 3>(x, y + 1, HOLD);
        frame.block::<1, 3>(x + 4, y + 1, HOLD);
    }
}

/// Colours the middle of the edge between a cell and its neighbour, one pixel deep on either side.
fn seam(frame: &mut Frame, x: usize, y: usize, side: Direction, color: u8) {
    match side {
        Direction::Up => frame.block::<3, 2>(x + 1, y - 1, color),
        Direction::Down => frame.block::<3, 2>(x + 1, y + 4, color),
        Direction::Left => frame.block::<2, 3>(x - 1, y + 1, color),
        Direction::Right => frame.block::<2, 3>(x + 4, y + 1, color),
    }
}

/// Colours two pixels of the neighbouring cell, next to the middle of the common edge.
fn beyond(frame: &mut Frame, x: usize, y: usize, side: Direction, color: u8) {
    match side {
        Direction::Up => frame.block::<3, 2>(x + 1, y - 2, color),
        Direction::Down => frame.block::<3, 2>(x + 1, y + 5, color),
        Direction::Left => frame.block::<2, 3>(x - 2, y + 1, color),
        Direction::Right => frame.block::<2, 3>(x + 5, y + 1, color),
    }
}
