//! The drawing code.
//!
//! On each side of the field are three lamps. At most one of them is lit. Its colour is that of the
//! creatures that the key of this side would call now. If no lamp is lit, the edge of the field is
//! pink, because the key would call pink creatures. The row of beats is at the bottom.

#[cfg(test)]
mod things;

use rhae_engine::{Direction, Frame};

use super::beat::{Call, Cell, Interval, LAMPS, MAX_CREATURES, WIDTH, bit};
use super::{Board, Level};

/// The width and height of a cell in pixels.
const CELL: usize = 6;
const MIDDLE: usize = 32;
/// The length and thickness of a lamp, and the distance from one lamp to the next.
const LAMP_LENGTH: usize = 20;
const LAMP_THICKNESS: usize = 2;
/// The length of the white middle of a lit lamp.
const LIT_LENGTH: usize = LAMP_LENGTH - 12;
const LAMP_PITCH: usize = 3;
/// The distance of the first lamp from the field.
const LAMP_GAP: usize = 2;
const BEATS_TOP: usize = 63;

const OUTSIDE: u8 = 5;
const FLOOR: u8 = 1;
const LINE: u8 = 2;
const WALL: u8 = 4;
const PIT: u8 = 13;
const PIT_MIDDLE: u8 = 5;
const DARK: u8 = 4;
const LIT: u8 = 0;
const FLASH: u8 = 11;
const BEAT: u8 = 10;
/// The colours of the intervals, silence first.
const COLORS: [u8; LAMPS as usize + 1] = [7, 12, 9, 14];
/// The colour of losses. Nothing else has it.
const ALERT: u8 = 8;

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Pit(Cell),
    Beats,
    Nests,
}

const fn color(interval: Interval) -> u8 {
    COLORS[interval as usize]
}

/// Returns the upper left pixel of the field.
const fn field_corner(level: &Level) -> (usize, usize) {
    (
        MIDDLE - level.field.columns * CELL / 2,
        MIDDLE - level.field.rows * CELL / 2,
    )
}

/// Returns the upper left pixel of a cell.
const fn corner(level: &Level, cell: Cell) -> (usize, usize) {
    let (left, top) = field_corner(level);
    (
        left + cell as usize % WIDTH * CELL,
        top + cell as usize / WIDTH * CELL,
    )
}

/// Draws everything that never changes during a level.
pub(super) fn background(level: &Level) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    let field = &level.field;
    for (x, y) in (0..field.rows).flat_map(|y| (0..field.columns).map(move |x| (x, y))) {
        let cell = (y * WIDTH + x) as Cell;
        let (x, y) = corner(level, cell);
        if field.walls & bit(cell) != 0 {
            frame.block::<CELL, CELL>(x, y, WALL);
            continue;
        }
        if field.pits & bit(cell) != 0 {
            frame.block::<CELL, CELL>(x, y, PIT);
            frame.block::<4, 4>(x + 1, y + 1, PIT_MIDDLE);
            continue;
        }
        frame.block::<CELL, CELL>(x, y, LINE);
        frame.block::<5, 5>(x, y, FLOOR);
        if let Some(interval) = field.tuners[usize::from(cell)] {
            frame.block::<2, 2>(x + 2, y + 2, color(interval));
        }
    }
    for direction in Direction::ALL {
        for lamp in 1..=LAMPS {
            draw_lamp(level, direction, lamp, DARK, &mut frame);
            let (x, y, width, height) = lamp_area(level, direction, lamp);
            let end = COLORS[usize::from(lamp)];
            if direction.is_sideways() {
                frame.block::<2, 3>(x, y, end);
                frame.block::<2, 3>(x, y + height - 3, end);
            } else {
                frame.block::<3, 2>(x, y, end);
                frame.block::<3, 2>(x + width - 3, y, end);
            }
        }
    }
    if level.is_limited() {
        draw_beats(level, level.start.beats, DARK, &mut frame);
    }
    frame
}

/// Returns the left and upper pixel, the width and the height of a lamp, counted from 1.
const fn lamp_area(level: &Level, direction: Direction, lamp: u8) -> (usize, usize, usize, usize) {
    let (left, top) = field_corner(level);
    let near = LAMP_GAP + (lamp as usize - 1) * LAMP_PITCH;
    let along = MIDDLE - LAMP_LENGTH / 2;
    match direction {
        Direction::Up => (
            along,
            top - near - LAMP_THICKNESS,
            LAMP_LENGTH,
            LAMP_THICKNESS,
        ),
        Direction::Down => (along, 64 - top + near, LAMP_LENGTH, LAMP_THICKNESS),
        Direction::Left => (
            left - near - LAMP_THICKNESS,
            along,
            LAMP_THICKNESS,
            LAMP_LENGTH,
        ),
        Direction::Right => (64 - left + near, along, LAMP_THICKNESS, LAMP_LENGTH),
    }
}

/// Draws a lamp, counted from 1, or the edge of the field for lamp 0.
fn draw_lamp(level: &Level, direction: Direction, lamp: u8, color: u8, frame: &mut Frame) {
    if lamp > 0 {
        let (x, y, ..) = lamp_area(level, direction, lamp);
        if direction.is_sideways() {
            frame.block::<LAMP_THICKNESS, LAMP_LENGTH>(x, y, color);
        } else {
            frame.block::<LAMP_LENGTH, LAMP_THICKNESS>(x, y, color);
        }
        return;
    }
    let (left, top) = field_corner(level);
    let (width, height) = (64 - 2 * left, 64 - 2 * top);
    match direction {
        Direction::Up => frame.rect(left, top - 1, width, 1, color),
        Direction::Down => frame.rect(left, top + height, width, 1, color),
        Direction::Left => frame.rect(left - 1, top, 1, height, color),
        Direction::Right => frame.rect(left + width, top, 1, height, color),
    }
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    ground(level, board, frame);
    for creature in 0..level.field.count {
        let (x, y) = corner(level, board.creatures.cells[creature]);
        frame.block::<4, 4>(x + 1, y + 1, color(board.creatures.intervals[creature]));
    }
}

/// Draws everything but the creatures.
fn ground(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.background);
    for direction in Direction::ALL {
        let lamp = board.lights[direction as usize];
        draw_lamp(level, direction, lamp, COLORS[usize::from(lamp)], frame);
        if lamp > 0 {
            let (x, y, ..) = lamp_area(level, direction, lamp);
            // The middle of a lit lamp is white.
            if direction.is_sideways() {
                frame.block::<LAMP_THICKNESS, LIT_LENGTH>(x, y + 6, LIT);
            } else {
                frame.block::<LIT_LENGTH, LAMP_THICKNESS>(x + 6, y, LIT);
            }
        }
    }
    for &(cell, interval) in &level.nests {
        let is_filled = level.is_filled(&board.creatures, (cell, interval));
        let (x, y) = corner(level, cell);
        frame.outline(
            x,
            y,
            CELL,
            CELL,
            if is_filled { LIT } else { color(interval) },
        );
    }
    if level.is_limited() {
        draw_beats(level, board.beats, BEAT, frame);
    }
}

fn draw_beats(level: &Level, beats: u8, color: u8, frame: &mut Frame) {
    let left = MIDDLE - usize::from(level.start.beats) / 2;
    frame.rect(left, BEATS_TOP, usize::from(beats), 1, color);
}

/// Draws the press of a key. The lamp of the current interval flashes, and the called creatures
/// have a white rim.
pub(super) fn calling(
    level: &Level,
    board: &Board,
    key: Direction,
    calls: &[Call; MAX_CREATURES],
    frame: &mut Frame,
) {
    settled(level, board, frame);
    draw_lamp(level, key, board.lights[key as usize], FLASH, frame);
    for (creature, call) in calls.iter().enumerate() {
        if *call != Call::None {
            let (x, y) = corner(level, board.creatures.cells[creature]);
            frame.outline(x, y, CELL, CELL, LIT);
        }
    }
}

/// Draws the middle of a step. A creature that is called but cannot move is flattened.
pub(super) fn moving(
    level: &Level,
    board: &Board,
    key: Direction,
    calls: &[Call; MAX_CREATURES],
    frame: &mut Frame,
) {
    ground(level, board, frame);
    draw_lamp(level, key, board.lights[key as usize], FLASH, frame);
    let (dx, dy) = key.delta();
    for (creature, call) in calls.iter().enumerate().take(level.field.count) {
        let body = color(board.creatures.intervals[creature]);
        let (x, y) = corner(level, board.creatures.cells[creature]);
        let (x, y) = (x + 1, y + 1);
        match call {
            Call::None => frame.block::<4, 4>(x, y, body),
            Call::Moves(_) => {
                let (x, y) = (x.wrapping_add_signed(3 * dx), y.wrapping_add_signed(3 * dy));
                frame.block::<4, 4>(x, y, body);
            }
            Call::Stopped => match key {
                Direction::Up => frame.block::<4, 2>(x, y - 1, body),
                Direction::Down => frame.block::<4, 2>(x, y + 3, body),
                Direction::Left => frame.block::<2, 4>(x - 1, y, body),
                Direction::Right => frame.block::<2, 4>(x + 3, y, body),
            },
        }
    }
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::Pit(cell) => {
            let (x, y) = corner(level, cell);
            frame.outline(x, y, CELL, CELL, ALERT);
        }
        Mark::Beats => draw_beats(level, level.start.beats, ALERT, frame),
        Mark::Nests => {
            for &(cell, interval) in &level.nests {
                let (x, y) = corner(level, cell);
                frame.outline(x, y, CELL, CELL, color(interval));
            }
        }
    }
}
