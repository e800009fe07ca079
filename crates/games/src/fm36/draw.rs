//! The drawing code.
//!
//! The yellow square around the board shows the next breath: it lies close to the board before a
//! breath out and far from it before a breath in. Pieces are squares, and their frames fill a cell.
//! Only bright floor reacts to clicks.

#[cfg(test)]
mod things;

use rhae_engine::Frame;

use super::breath::{Breath, Cell, Fate, MAX_PIECES, SIDE, cells};
use super::{Board, Level};

/// The width and height of a cell in pixels.
const CELL: usize = 6;
/// The upper left pixel of the board.
const ORIGIN: usize = 5;
const BOARD: usize = SIDE as usize * CELL;
/// The number of frames in which a breath is shown.
pub(super) const BREATH_FRAMES: isize = 3;

const OUTSIDE: u8 = 5;
const LIVE: u8 = 1;
const LIVE_LINE: u8 = 2;
const INERT: u8 = 3;
const INERT_LINE: u8 = 4;
const ROCK: u8 = 5;
const ROCK_EDGE: u8 = 4;
const LUNG: u8 = 11;
const CENTRE: u8 = 0;
const HOME: u8 = 0;
const PIECES: [u8; MAX_PIECES] = [9, 14, 15];
/// The colour of refusals and obstacles. Nothing else has it.
const ALERT: u8 = 8;

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The border of the board: the click was outside, or there is nothing to undo.
    Border,
    Cell(Cell),
    Frames,
}

/// Returns the upper left pixel of a cell.
const fn corner(cell: Cell) -> (usize, usize) {
    (
        ORIGIN + cell.x as usize * CELL,
        ORIGIN + cell.y as usize * CELL,
    )
}

pub(super) const fn middle(cell: Cell) -> (u8, u8) {
    let (x, y) = corner(cell);
    ((x + CELL / 2) as u8, (y + CELL / 2) as u8)
}

/// Returns the cell under a pixel.
pub(super) fn cell_at(x: u8, y: u8) -> Option<Cell> {
    let along = |pixel: u8| {
        let index = usize::from(pixel).checked_sub(ORIGIN)? / CELL;
        (index < SIDE as usize).then_some(index as i8)
    };
    Some(Cell {
        x: along(x)?,
        y: along(y)?,
    })
}

/// Draws everything that never changes before a breath of one kind, and the square that shows this
/// kind.
pub(super) fn background(level: &Level, breath: Breath) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    let distance = match breath {
        Breath::Out => 1,
        Breath::In => 4,
    };
    let (start, side) = (ORIGIN - distance, BOARD + 2 * distance);
    frame.outline(start, start, side, side, LUNG);
    for cell in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| Cell { x, y })) {
        let (x, y) = corner(cell);
        let (floor, line) = if level.live & cell.set() != 0 {
            (LIVE, LIVE_LINE)
        } else {
            (INERT, INERT_LINE)
        };
        frame.block::<CELL, CELL>(x, y, floor);
        frame.block::<CELL, 1>(x, y, line);
        frame.block::<1, CELL>(x, y, line);
    }
    for cell in cells(level.rocks) {
        let (x, y) = corner(cell);
        frame.block::<CELL, CELL>(x, y, ROCK_EDGE);
        frame.block::<4, 4>(x + 1, y + 1, ROCK);
    }
    frame
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    ground(level, board, frame);
    for (piece, &color) in board.pieces.iter().zip(&PIECES).take(level.count) {
        let (x, y) = corner(*piece);
        frame.block::<4, 4>(x + 1, y + 1, color);
    }
}

/// Draws the board and the frames.
fn ground(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.backgrounds[board.breath as usize]);
    for (piece, &color) in PIECES.iter().enumerate().take(level.count) {
        let (x, y) = corner(level.frames[piece]);
        let is_home = board.pieces[piece] == level.frames[piece];
        frame.outline(x, y, CELL, CELL, if is_home { HOME } else { color });
    }
}

/// Draws one frame of a breath. Pieces slide along their rays. A piece that cannot move starts to
/// slide, and the obstacle that stops it lights up. A piece that would land between cells is shown
/// between them.
pub(super) fn breathing(
    level: &Level,
    board: &Board,
    centre: Cell,
    fates: &[Fate; MAX_PIECES],
    part: isize,
    frame: &mut Frame,
) {
    ground(level, board, frame);
    let (x, y) = corner(centre);
    frame.block::<2, 2>(x + 2, y + 2, CENTRE);
    for ((&piece, &fate), &color) in board
        .pieces
        .iter()
        .zip(fates)
        .zip(&PIECES)
        .take(level.count)
    {
        let (x, y) = corner(piece);
        // The displacement of a free piece in pixels: outwards by its distance, or inwards by half
        // of it.
        let scale = match board.breath {
            Breath::Out => CELL as isize,
            Breath::In => -(CELL as isize) / 2,
        };
        let way = (
            isize::from(piece.x - centre.x) * scale,
            isize::from(piece.y - centre.y) * scale,
        );
        let returns = (BREATH_FRAMES + 1) / 2;
        let (dx, dy) = match fate {
            Fate::Moves(_) => (way.0 * part / 4, way.1 * part / 4),
            Fate::Half if part == returns => way,
            Fate::Rim | Fate::Rock(_) | Fate::Piece(_) if part == returns => {
                (2 * way.0.signum(), 2 * way.1.signum())
            }
            _ => (0, 0),
        };
        let place = (x + 1).wrapping_add_signed(dx);
        frame.block::<4, 4>(place, (y + 1).wrapping_add_signed(dy), color);
        if part == returns {
            show_obstacle(piece, way, fate, frame);
        }
    }
}

/// Lights up what stops a piece.
fn show_obstacle(piece: Cell, way: (isize, isize), fate: Fate, frame: &mut Frame) {
    match fate {
        Fate::Moves(_) | Fate::Centre | Fate::Half => {}
        Fate::Rock(cell) | Fate::Piece(cell) => {
            let (x, y) = corner(cell);
            frame.outline(x, y, CELL, CELL, ALERT);
        }
        Fate::Rim => {
            let (x, y) = corner(piece);
            let far = |way: isize| if way < 0 { ORIGIN - 1 } else { ORIGIN + BOARD };
            // The rim lights up in each direction in which the goal is beyond the board.
            let leaves = |from: usize, way: isize| {
                let goal = from as isize + way;
                goal < ORIGIN as isize || goal >= (ORIGIN + BOARD) as isize
            };
            if leaves(x, way.0) {
                frame.block::<1, CELL>(far(way.0), y, ALERT);
            }
            if leaves(y, way.1) {
                frame.block::<CELL, 1>(x, far(way.1), ALERT);
            }
        }
    }
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::Border => frame.outline(ORIGIN - 1, ORIGIN - 1, BOARD + 2, BOARD + 2, ALERT),
        Mark::Cell(cell) => {
            let (x, y) = corner(cell);
            frame.outline(x, y, CELL, CELL, ALERT);
        }
        Mark::Frames => {
            for (piece, &color) in PIECES.iter().enumerate().take(level.count) {
                let (x, y) = corner(level.frames[piece]);
                frame.outline(x, y, CELL, CELL, color);
            }
        }
    }
}
