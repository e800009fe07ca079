//! The drawing code.
//!
//! The tower is seen from the side, between two walls. Each slab has a notch at every unit of its
//! length, and a speckle for each unit of its weight. A pair of pink cells on the upper edge of a support shows where the weight above it
//! acts. The chosen slab and the slabs glued to it have a white outline. The wanted place of a slab
//! is dark with yellow lines at its ends. The lines are dotted until the slab is there.
//!
//! **Invariant:** the marks of wanted places and of balance are drawn over the slabs, so that they
//! are always visible.

#[cfg(test)]
mod things;

use rhae_engine::{Frame, StateOf};

use super::tower::{Fall, Joint, MAX_SLABS, Places, Push, Slab, Tower};
use super::{LIVES, Level, Xd08};

/// The width of a unit and the height of a layer in pixels.
const UNIT: usize = 6;
const LAYER: usize = 8;
/// The first column of the first unit; the walls are at both sides.
const LEFT: usize = 2;
const RIGHT: usize = 62;
/// The upper edge of the tables, on which the lowest slab lies.
const TABLE_TOP: usize = 54;
const TABLE_HEIGHT: usize = 6;
const LIVES_LEFT: usize = 4;
const LIVES_TOP: usize = 3;
const LIFE_PITCH: usize = 6;
/// The number of steps in which a part topples.
pub(super) const FALL_STEPS: usize = 5;

const AIR: u8 = 1;
/// The wanted place of a slab.
const GHOST: u8 = 2;
const ABYSS: u8 = 5;
const WALL: u8 = 4;
const TABLE: u8 = 3;
const EDGE: u8 = 5;
const LIGHT: u8 = 12;
const HEAVY: u8 = 15;
const SPECKLE: u8 = 5;
const SLIPPERY: u8 = 10;
const GLUE: u8 = 13;
const CHOSEN: u8 = 0;
const WANTED: u8 = 11;
const BALANCE: u8 = 6;
const LIFE: u8 = 9;
const LOST_LIFE: u8 = 2;
/// The colour of refusals and losses. Nothing else has it.
const ALERT: u8 = 8;

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The walls next to the chosen slab: there is no slab above or below it to choose, or nothing
    /// to undo.
    Chosen,
    /// The wall that a slab touches, on the right or left.
    Wall(usize, bool),
    /// The life that is about to be taken.
    Life,
    Wanted,
}

/// The upper left pixel of each slab.
type Corners = [(isize, isize); MAX_SLABS];

const fn layer_top(layer: usize) -> usize {
    TABLE_TOP - (layer + 1) * LAYER
}

/// Draws everything that never changes during a level.
pub(super) fn background(tower: &Tower, wanted: &Places) -> Frame {
    let mut frame = Frame::filled(AIR);
    for (layer, slab) in tower.slabs.iter().enumerate() {
        let left = LEFT + usize::from(wanted[layer]) * UNIT;
        let width = usize::from(slab.length) * UNIT;
        frame.rect(left, layer_top(layer), width, LAYER, GHOST);
        frame.rect(left, layer_top(layer) + LAYER - 1, width, 1, AIR);
    }
    frame.rect(0, 0, LEFT, 64, WALL);
    frame.rect(RIGHT, 0, 64 - RIGHT, 64, WALL);
    frame.rect(LEFT, TABLE_TOP, RIGHT - LEFT, 64 - TABLE_TOP, ABYSS);
    for (unit, _) in tower.tables.iter().enumerate().filter(|(_, table)| **table) {
        let left = LEFT + unit * UNIT;
        frame.rect(left, TABLE_TOP, UNIT, TABLE_HEIGHT, TABLE);
        frame.rect(left, TABLE_TOP, UNIT, 1, WALL);
    }
    frame
}

fn corners(level: &Level, state: &StateOf<Xd08>) -> Corners {
    let mut corners = [(0, 0); MAX_SLABS];
    for (slab, corner) in corners.iter_mut().enumerate().take(level.tower.slabs.len()) {
        let left = LEFT + usize::from(state.board.places[slab]) * UNIT;
        *corner = (left as isize, layer_top(slab) as isize);
    }
    corners
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, state: &StateOf<Xd08>, frame: &mut Frame) {
    scene(level, state, &corners(level, state), frame);
    draw_balance(level, state, None, frame);
}

/// Draws the tower with slabs at any place.
fn scene(level: &Level, state: &StateOf<Xd08>, corners: &Corners, frame: &mut Frame) {
    frame.copy_from(&level.background);
    let chosen = usize::from(state.board.chosen);
    let piece = level.tower.piece(chosen);
    for (slab, &corner) in corners.iter().enumerate().take(level.tower.slabs.len()) {
        level.pictures[slab][usize::from(piece.contains(&slab))].draw(corner, frame);
    }
    draw_wanted(level, state, false, frame);
    frame.block::<LEFT, LAYER>(0, layer_top(chosen), CHOSEN);
    frame.block::<{ 64 - RIGHT }, LAYER>(RIGHT, layer_top(chosen), CHOSEN);
    for life in 0..LIVES {
        let left = LIVES_LEFT + usize::from(life) * LIFE_PITCH;
        let color = if life < state.spent { LIFE } else { LOST_LIFE };
        frame.block::<4, 4>(left, LIVES_TOP, color);
    }
}

/// The picture of a slab with one colour of the outline, row by row.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    width: usize,
    cells: Vec<u8>,
}

impl Picture {
    fn new(slab: Slab, edge: u8) -> Self {
        let width = usize::from(slab.length) * UNIT;
        let body = if slab.is_heavy { HEAVY } else { LIGHT };
        let color = |x: usize, y: usize| {
            let at_edge = x == 0 || y == 0 || x + 1 == width || y + 1 == LAYER;
            let is_notch = x.is_multiple_of(UNIT) && y < 3;
            let is_speckle = match (x % UNIT, y) {
                (2, 2) | (2, 5) => slab.is_heavy,
                (4, 4) => true,
                _ => false,
            };
            match slab.joint {
                _ if at_edge && y + 2 < LAYER => edge,
                Joint::Slippery if y + 2 >= LAYER => SLIPPERY,
                Joint::Glued if y + 2 >= LAYER => [GLUE, GLUE, body][x % 3],
                _ if at_edge || is_notch => edge,
                _ if is_speckle => SPECKLE,
                _ => body,
            }
        };
        let cells = (0..LAYER).flat_map(|y| (0..width).map(move |x| color(x, y)));
        Self {
            width,
            cells: cells.collect(),
        }
    }

    /// Returns the pictures of a slab: normal, and with the outline of a chosen slab.
    pub(super) fn both(slab: Slab) -> [Self; 2] {
        [EDGE, CHOSEN].map(|edge| Self::new(slab, edge))
    }

    /// Draws the part of the picture that is inside the frame.
    fn draw(&self, (left, top): (isize, isize), frame: &mut Frame) {
        let first = left.clamp(0, 64) as usize;
        let end = (left + self.width as isize).clamp(0, 64) as usize;
        let skipped = (first as isize - left) as usize;
        for (row, y) in self.cells.chunks_exact(self.width).zip(top..64) {
            if y >= 0 && first < end {
                let line = y as usize * 64;
                let part = &row[skipped..skipped + end - first];
                frame.cells_mut()[line + first..line + end].copy_from_slice(part);
            }
        }
    }
}

/// Draws the wanted ends of all slabs. They are `lit` when the level is won.
fn draw_wanted(level: &Level, state: &StateOf<Xd08>, lit: bool, frame: &mut Frame) {
    for (layer, slab) in level.tower.slabs.iter().enumerate() {
        let is_there = state.board.places[layer] == level.wanted[layer];
        let left = LEFT + usize::from(level.wanted[layer]) * UNIT;
        let right = left + usize::from(slab.length) * UNIT - 1;
        for y in (0..LAYER).filter(|y| is_there || y % 2 == 0) {
            let color = if lit { CHOSEN } else { WANTED };
            frame.set(left, layer_top(layer) + y, color);
            frame.set(right, layer_top(layer) + y, color);
        }
    }
}

/// Marks where the weight above each joint acts. The mark of the joint that failed is red.
fn draw_balance(level: &Level, state: &StateOf<Xd08>, falling: Option<Fall>, frame: &mut Frame) {
    for (slab, kind) in level.tower.slabs.iter().enumerate() {
        if kind.joint == Joint::Glued {
            continue;
        }
        let balance = level.tower.balance(&state.board.places, slab);
        let along = UNIT * balance.moment as usize / (2 * balance.weight as usize);
        let color = match falling {
            Some(fall) if fall.first == slab => ALERT,
            Some(fall) if fall.first < slab => continue,
            _ => BALANCE,
        };
        frame.block::<2, 2>(LEFT + along - 1, layer_top(slab) + LAYER, color);
    }
}

/// Draws the middle of a push. Where a wall stops a slab that would have been carried, the wall
/// lights up.
pub(super) fn pushed(
    level: &Level,
    state: &StateOf<Xd08>,
    push: &Push,
    to_right: bool,
    frame: &mut Frame,
) {
    let mut corners = corners(level, state);
    for (slab, corner) in corners.iter_mut().enumerate() {
        if push.places[slab] != state.board.places[slab] {
            corner.0 += (if to_right {
                UNIT as isize
            } else {
                -(UNIT as isize)
            }) / 2;
        }
    }
    scene(level, state, &corners, frame);
    if let Some(stopped) = push.stopped {
        wall(stopped, to_right, WANTED, frame);
    }
}

fn wall(layer: usize, to_right: bool, color: u8, frame: &mut Frame) {
    let left = if to_right { RIGHT } else { 0 };
    frame.rect(left, layer_top(layer), 2, LAYER, color);
}

/// Draws a part of the tower that topples. In step 0 nothing has moved, and only the mark of its
/// balance shows the reason.
pub(super) fn falling(
    level: &Level,
    state: &StateOf<Xd08>,
    fall: Fall,
    step: usize,
    frame: &mut Frame,
) {
    let mut corners = corners(level, state);
    let across = (if fall.to_right { 3 } else { -3 }) * step as isize;
    for (height, corner) in corners.iter_mut().skip(fall.first).enumerate() {
        // The higher a slab is, the farther it swings out.
        corner.0 += across * (height as isize + 2) / 2;
        corner.1 += (step * step) as isize;
    }
    scene(level, state, &corners, frame);
    draw_balance(level, state, Some(fall), frame);
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, state: &StateOf<Xd08>, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::Chosen => {
            let chosen = usize::from(state.board.chosen);
            wall(chosen, false, ALERT, frame);
            wall(chosen, true, ALERT, frame);
        }
        Mark::Wall(slab, to_right) => wall(slab, to_right, ALERT, frame),
        Mark::Life => {
            let life = usize::from(state.spent) - 1;
            frame.block::<4, 4>(LIVES_LEFT + life * LIFE_PITCH, LIVES_TOP, ALERT);
        }
        Mark::Wanted => draw_wanted(level, state, true, frame),
    }
}
