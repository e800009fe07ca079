//! The drawing code.
//!
//! The board has eleven by eleven cells of four by four pixels, with one-pixel lines between them.
//! A crystal covers the lines between its own cells. A wanted cell has a dot in its middle, which
//! is drawn over crystals, so that the marks are always visible. The pips are below the board.

#[cfg(test)]
mod things;

use rhae_engine::Frame;

use super::crystal::{Cell, CellSet, Image, SIDE, cells, neighbours};
use super::{Board, Level};

/// The distance from one cell to the next in pixels.
const PITCH: usize = 5;
/// The upper left pixel of the first cell.
const LEFT: usize = 5;
const TOP: usize = 3;
const PIPS_TOP: usize = 60;
const PIP_PITCH: usize = 5;

const GROUND: u8 = 5;
const FLOOR: u8 = 4;
const ROCK: u8 = 13;
const ROCK_EDGE: u8 = 6;
const ICE: u8 = 9;
const ICE_EDGE: u8 = 10;
/// The colour of crystals when no pips are left and the level is not won.
const DULL: u8 = 2;
const DULL_EDGE: u8 = 3;
const WANTED: u8 = 11;
const PIP: u8 = 15;
const PIP_USED: u8 = 4;
/// The colour of cells that are about to grow or to melt.
const ACTIVE: u8 = 0;
/// The colour of refusals. Nothing else has it.
const ALERT: u8 = 8;

/// What refuses an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The click is outside the board, or there is nothing to undo.
    Outside,
    Refused(CellSet),
    NoPips,
}

/// Returns the upper left pixel of a cell on the board.
const fn corner(cell: Cell) -> (usize, usize) {
    (
        LEFT + cell.x as usize * PITCH,
        TOP + cell.y as usize * PITCH,
    )
}

/// Returns the cell under a pixel. The lines to the left of and above a cell belong to it.
pub(super) fn cell_at(x: u8, y: u8) -> Option<Cell> {
    let along = |pixel: u8, first: usize| {
        let index = (usize::from(pixel) + 1).checked_sub(first)? / PITCH;
        (index < SIDE).then_some(index as i8)
    };
    Some(Cell {
        x: along(x, LEFT)?,
        y: along(y, TOP)?,
    })
}

pub(super) const fn middle_of(cell: Cell) -> (u8, u8) {
    let (x, y) = corner(cell);
    ((x + 2) as u8, (y + 2) as u8)
}

/// Draws everything that never changes: the empty cells, the rocks and the places of the pips.
pub(super) fn background(rocks: CellSet, pips: u8) -> Frame {
    let mut frame = Frame::filled(GROUND);
    for (x, y) in (0..SIDE as i8).flat_map(|y| (0..SIDE as i8).map(move |x| (x, y))) {
        let cell = Cell { x, y };
        let (left, top) = corner(cell);
        if rocks & cell.set() == 0 {
            frame.block::<4, 4>(left, top, FLOOR);
        } else {
            frame.block::<4, 4>(left, top, ROCK);
            frame.block::<4, 1>(left, top, ROCK_EDGE);
            frame.block::<1, 4>(left, top, ROCK_EDGE);
        }
    }
    for pip in 0..pips {
        draw_pip(&mut frame, pip, PIP_USED);
    }
    frame
}

fn draw_pip(frame: &mut Frame, pip: u8, color: u8) {
    frame.block::<3, 3>(LEFT + usize::from(pip) * PIP_PITCH, PIPS_TOP, color);
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.background);
    let is_over = board.pips == 0 && board.ice != level.wanted;
    draw_ice(
        board.ice,
        if is_over { DULL } else { ICE },
        if is_over { DULL_EDGE } else { ICE_EDGE },
        frame,
    );
    draw_wanted(level, frame);
    for pip in 0..board.pips {
        draw_pip(frame, pip, PIP);
    }
}

fn draw_wanted(level: &Level, frame: &mut Frame) {
    for cell in cells(level.wanted) {
        let (x, y) = corner(cell);
        frame.block::<2, 2>(x + 1, y + 1, WANTED);
    }
}

/// Draws crystal cells with bright edges where the crystal ends.
fn draw_ice(ice: CellSet, body: u8, edge: u8, frame: &mut Frame) {
    for cell in cells(ice) {
        let (left, top) = corner(cell);
        let has = |x: i8, y: i8| {
            let neighbour = Cell {
                x: cell.x + x,
                y: cell.y + y,
            };
            ice & neighbour.set() != 0
        };
        frame.block::<4, 4>(left, top, body);
        if has(1, 0) {
            frame.block::<1, 4>(left + 4, top, body);
        } else {
            frame.block::<1, 4>(left + 3, top, edge);
        }
        if has(0, 1) {
            frame.block::<4, 1>(left, top + 4, body);
        } else {
            frame.block::<4, 1>(left, top + 3, edge);
        }
        if !has(-1, 0) {
            frame.block::<1, 4>(left, top, edge);
        }
        if !has(0, -1) {
            frame.block::<4, 1>(left, top, edge);
        }
        if has(1, 0) && has(0, 1) && has(1, 1) {
            frame.set(left + 4, top + 4, body);
        }
    }
}

/// Draws the first images of a click: bright where a cell changes, and in the colour of refusals
/// where nothing can grow. An image outside the board is drawn next to its edge.
pub(super) fn images(level: &Level, board: &Board, shown: &[Image], frame: &mut Frame) {
    settled(level, board, frame);
    for &Image { cell, is_lost } in shown {
        let last = SIDE as i8 - 1;
        let nearest = Cell {
            x: cell.x.clamp(0, last),
            y: cell.y.clamp(0, last),
        };
        let (x, y) = corner(nearest);
        if nearest == cell {
            frame.block::<4, 4>(x, y, if is_lost { ALERT } else { ACTIVE });
        } else {
            let outwards = |from: usize, place: i8| match place {
                ..0 => from.saturating_sub(4),
                _ if place > last => from + 4,
                _ => from,
            };
            let (x, y) = (outwards(x, cell.x), outwards(y, cell.y));
            frame.block::<4, 4>(x, y, ALERT);
        }
    }
    draw_wanted(level, frame);
}

/// Draws what refuses an action over a state.
pub(super) fn refused(level: &Level, board: &Board, look: Look, frame: &mut Frame) {
    match look {
        Look::Outside => {
            let side = SIDE * PITCH + 1;
            frame.outline(LEFT - 1, TOP - 1, side, side, ALERT);
        }
        Look::Refused(set) => {
            // A click that touches no crystal also shows where the crystals can grow.
            if set & (board.ice | level.rocks) == 0 {
                for cell in cells(neighbours(board.ice) & !level.rocks) {
                    let (x, y) = corner(cell);
                    frame.outline(x, y, 4, 4, ACTIVE);
                }
            }
            for cell in cells(set) {
                let (x, y) = corner(cell);
                frame.outline(x, y, 4, 4, ALERT);
            }
        }
        Look::NoPips => {
            for pip in 0..level.pips {
                draw_pip(frame, pip, ALERT);
            }
        }
    }
}

/// Draws the white crystal of a won level over a state.
pub(super) fn won(board: &Board, frame: &mut Frame) {
    draw_ice(board.ice, ACTIVE, ICE_EDGE, frame);
}
