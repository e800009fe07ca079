//! The drawing code.
//!
//! On the left is the scale: one column for each substance and one band for each temperature, which
//! shows the phase of the substance in the same form as the drops. The lit band is the current
//! temperature. The room is on the right; fuel and lives are below it.
//!
//! **Invariant:** the corners of a vessel are drawn over the drops, so that a vessel is always
//! visible.

#[cfg(test)]
mod things;

use rhae_engine::{Frame, StateOf};

use super::settle::{Cell, Lean, Phase, WIDTH, bit};
use super::{LIVES, Level, Mf73};

/// The width and height of a cell in pixels.
const CELL: usize = 5;
/// The upper left corner of the room.
const LEFT: usize = 9;
const TOP: usize = 4;
/// The scale has the same height as a room of eight rows.
const SCALE_HEIGHT: usize = 40;
const SCALE_WIDTH: usize = 8;
const FUEL_TOP: usize = 52;
const LIVES_TOP: usize = 58;
/// The distance between blocks of fuel or lives.
const PITCH: usize = 5;

const OUTSIDE: u8 = 5;
const AIR: u8 = 1;
const ROCK: u8 = 4;
const ROCK_EDGE: u8 = 3;
const BAR: u8 = 3;
const DRAUGHT: u8 = 13;
const DIM: u8 = 4;
const RIM: u8 = 5;
const LIT: u8 = 0;
const FUEL: u8 = 11;
const LIFE: u8 = 6;
/// The colour of refusals and losses. Nothing else has it.
const ALERT: u8 = 8;
const SUBSTANCES: [u8; 3] = [9, 12, 15];

/// What a frame of an animation points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The current band of the scale, beyond which the temperature cannot go.
    EndOfScale,
    /// Every drop, and what stops it when the box leans.
    Stopped(Lean),
    LostDrop(usize),
    Fuel,
    /// The life that is about to be taken.
    Life,
    Vessels,
}

/// Returns the upper left pixel of a cell.
const fn corner(cell: Cell) -> (usize, usize) {
    let cell = cell as usize;
    (LEFT + cell % WIDTH * CELL, TOP + cell / WIDTH * CELL)
}

/// Draws everything that changes only with the temperature, for each temperature.
pub(super) fn backgrounds(level: &Level) -> Vec<Frame> {
    let at = |temperature: u8| {
        let mut frame = background(level);
        band(&mut frame, level, temperature, AIR);
        let (top, height) = band_rows(level, temperature);
        frame.outline(0, top, SCALE_WIDTH, height, LIT);
        frame
    };
    (0..=level.hottest).map(at).collect()
}

/// Draws everything that never changes during a level.
fn background(level: &Level) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    let room = &level.room;
    for cell in 0..(level.rows * WIDTH) as Cell {
        let (x, y) = corner(cell);
        let above = u32::from(cell).checked_sub(WIDTH as u32);
        if room.vents & bit(cell) != 0 {
            (0..CELL)
                .step_by(2)
                .for_each(|step| frame.set(x + step, y + CELL / 2, DRAUGHT));
        } else if room.rocks & bit(cell) == 0 {
            frame.block::<CELL, CELL>(x, y, AIR);
        } else {
            frame.block::<CELL, CELL>(x, y, ROCK);
            if above.is_some_and(|above| room.rocks >> above & 1 == 0) {
                frame.block::<CELL, 1>(x, y, ROCK_EDGE);
            }
        }
        if room.grates & bit(cell) != 0 {
            for step in [0, 2, 4] {
                frame.block::<1, CELL>(x + step, y, BAR);
            }
        }
    }
    for &(cell, substance) in &level.vessels {
        let (x, y) = corner(cell);
        frame.outline(x, y, CELL, CELL, SUBSTANCES[substance]);
        frame.block::<1, CELL>(x + 2, y, LIT);
        frame.block::<CELL, 1>(x, y + 2, LIT);
        frame.block::<3, 3>(x + 1, y + 1, LIT);
    }
    for degree in 0..=level.hottest {
        band(&mut frame, level, degree, DIM);
    }
    for block in 0..usize::from(level.fuel) {
        frame.block::<4, 4>(LEFT + block * PITCH, FUEL_TOP, DIM);
    }
    if level.is_dangerous() {
        draw_lives(&mut frame, LIVES, DIM);
    }
    frame
}

/// Returns the top and the height of a band of the scale.
fn band_rows(level: &Level, degree: u8) -> (usize, usize) {
    let height = SCALE_HEIGHT / (usize::from(level.hottest) + 1);
    (
        TOP + height * usize::from(level.hottest - degree),
        height - 1,
    )
}

fn band(frame: &mut Frame, level: &Level, degree: u8, ground: u8) {
    let (top, height) = band_rows(level, degree);
    frame.rect(0, top, SCALE_WIDTH, height, ground);
    let width = (SCALE_WIDTH - 2) / level.substance_count;
    for (substance, points) in level.room.points[..level.substance_count]
        .iter()
        .enumerate()
    {
        let (color, left) = (SUBSTANCES[substance], 1 + substance * width);
        let (top, height) = (top + 1, height - 2);
        match points.phase(degree) {
            Phase::Solid => {
                frame.rect(left, top, width, height, color);
                frame.rect(left, top, width, 1, RIM);
                frame.rect(left, top + height - 1, width, 1, RIM);
            }
            Phase::Liquid => {
                let gap = height / 2;
                frame.rect(left, top + gap, width, height - gap, color);
            }
            Phase::Gas => {
                for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                    if (x + y) % 2 == 0 {
                        frame.set(left + x, top + y, color);
                    }
                }
            }
        }
    }
}

/// Draws the corners of a vessel.
fn vessel(frame: &mut Frame, cell: Cell, color: u8) {
    let (x, y) = corner(cell);
    for (across, down) in [(0, 0), (4, 0), (0, 4), (4, 4)] {
        frame.set(x + across, y + down, color);
    }
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, state: &StateOf<Mf73>, frame: &mut Frame) {
    frame.copy_from(&level.backgrounds[usize::from(state.board.temperature)]);
    for drop in 0..level.room.drop_count {
        draw_drop(level, state, drop, frame);
    }
    for &(cell, substance) in &level.vessels {
        let is_filled = level.is_filled(&state.board.drops, (cell, substance));
        let color = if is_filled {
            LIT
        } else {
            SUBSTANCES[substance]
        };
        vessel(frame, cell, color);
    }
    for block in 0..usize::from(state.board.fuel.min(level.fuel)) {
        frame.block::<4, 4>(LEFT + block * PITCH, FUEL_TOP, FUEL);
    }
    if level.is_dangerous() {
        draw_lives(frame, state.spent, LIFE);
    }
}

fn draw_lives(frame: &mut Frame, lives: u8, color: u8) {
    for life in 0..usize::from(lives) {
        frame.block::<4, 4>(LEFT + life * PITCH, LIVES_TOP, color);
    }
}

fn draw_drop(level: &Level, state: &StateOf<Mf73>, drop: usize, frame: &mut Frame) {
    let (x, y) = corner(state.board.drops[drop]);
    let color = SUBSTANCES[level.room.substances[drop]];
    match level.room.phase(drop, state.board.temperature) {
        Phase::Solid => {
            frame.block::<CELL, CELL>(x, y, RIM);
            frame.block::<3, 3>(x + 1, y + 1, color);
        }
        Phase::Liquid => frame.block::<CELL, 3>(x, y + 2, color),
        Phase::Gas => {
            for place in (0..CELL * CELL).step_by(2) {
                frame.set(x + place % CELL, y + place / CELL, color);
            }
        }
    }
}

/// Draws the block of fuel that heating burns. Cooling and leaning have no such frame.
pub(super) fn burning(level: &Level, state: &StateOf<Mf73>, frame: &mut Frame) {
    settled(level, state, frame);
    let block = usize::from(state.board.fuel);
    frame.block::<4, 4>(LEFT + block * PITCH, FUEL_TOP, LIT);
}

/// Draws a state in which drops move. The low side of a leaning box is lit.
pub(super) fn moving(level: &Level, state: &StateOf<Mf73>, lean: Lean, frame: &mut Frame) {
    settled(level, state, frame);
    let x = match lean {
        Lean::None => return,
        Lean::Left => LEFT + CELL - 1,
        Lean::Right => LEFT + (WIDTH - 1) * CELL,
    };
    frame.rect(x, TOP, 1, level.rows * CELL, ROCK_EDGE);
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, state: &StateOf<Mf73>, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::EndOfScale => {
            let (top, height) = band_rows(level, state.board.temperature);
            frame.outline(0, top, SCALE_WIDTH, height, ALERT);
        }
        Mark::Stopped(lean) => {
            for drop in 0..level.room.drop_count {
                stopped(level, state, drop, lean, frame);
            }
        }
        Mark::LostDrop(drop) => {
            let (x, y) = corner(state.board.drops[drop]);
            frame.block::<CELL, CELL>(x, y, ALERT);
        }
        Mark::Fuel => frame.rect(
            LEFT,
            FUEL_TOP,
            usize::from(level.fuel) * PITCH - 1,
            4,
            ALERT,
        ),
        Mark::Life => {
            let left = LEFT + (usize::from(state.spent) - 1) * PITCH;
            frame.block::<4, 4>(left, LIVES_TOP, ALERT);
        }
        Mark::Vessels => {
            for &(cell, substance) in &level.vessels {
                let (x, y) = corner(cell);
                frame.outline(x, y, CELL, CELL, SUBSTANCES[substance]);
            }
        }
    }
}

/// Marks why a drop does not move: a frozen drop is framed, and next to a fluid one the obstacle
/// lights up.
fn stopped(level: &Level, state: &StateOf<Mf73>, drop: usize, lean: Lean, frame: &mut Frame) {
    let (x, y) = corner(state.board.drops[drop]);
    let is_solid = level.room.phase(drop, state.board.temperature) == Phase::Solid;
    match lean {
        Lean::Left if !is_solid => frame.block::<2, CELL>(x - 2, y, ALERT),
        Lean::Right if !is_solid => frame.block::<2, CELL>(x + CELL, y, ALERT),
        _ => frame.outline(x, y, CELL, CELL, ALERT),
    }
}
