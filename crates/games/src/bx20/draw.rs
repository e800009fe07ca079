//! The drawing code: a dim room with windows in its walls and plants in pots.

#[cfg(test)]
mod things;

use rhae_engine::{Frame, FrameSink, SIZE};

use super::Growth;
use super::board::{Board, NONE, SIDE, bit, neighbour};
use super::levels::{Level, Window};

/// The pixels along one side of a room cell.
const CELL: u8 = 6;
/// The thickness of the wall in pixels.
const WALL_WIDTH: u8 = 5;
const ROOM_END: u8 = WALL_WIDTH + CELL * SIDE;

/// The width and height of the shutter in the upper left corner of the wall.
const SHUTTER_SIZE: u8 = 5;
/// The middle pixel of the shutter. A click on it darkens the room.
pub(super) const SHUTTER_MIDDLE: (u8, u8) = (SHUTTER_SIZE / 2, SHUTTER_SIZE / 2);

const WALL: u8 = 5;
const ROCK: u8 = 3;
const ROCK_EDGE: u8 = 2;
const POT: u8 = 12;
const LIGHT: u8 = 11;
const BRIGHT: u8 = 0;
const WITHERED: u8 = 2;
const SHUTTER: u8 = 9;

/// The colours of the room in daylight or in darkness.
#[derive(Clone, Copy)]
pub(super) struct Shades {
    ground: u8,
    corner: u8,
    glass: u8,
    shutter: u8,
}

pub(super) const DAY: Shades = Shades {
    ground: 4,
    corner: 5,
    glass: LIGHT,
    shutter: SHUTTER,
};
pub(super) const NIGHT: Shades = Shades {
    ground: 5,
    corner: 4,
    glass: 3,
    shutter: BRIGHT,
};

/// The letter of each plant in the maps, and its colour.
pub(super) const PLANT_COLORS: [(u8, u8); 4] = [(b'A', 14), (b'B', 10), (b'C', 7), (b'X', 15)];

/// Returns whether a pixel lies on the shutter.
pub(super) fn on_shutter(x: u8, y: u8) -> bool {
    x < SHUTTER_SIZE && y < SHUTTER_SIZE
}

/// Returns the left, top, width and height of a window on the frame. A click in this area opens the
/// window.
pub(super) fn window_area(window: &Window) -> (u8, u8, u8, u8) {
    let from = WALL_WIDTH + window.first * CELL + 1;
    let length = (window.last - window.first + 1) * CELL - 2;
    match window.side {
        0 => (from, 1, length, 4),
        1 => (ROOM_END, from, 4, length),
        2 => (from, ROOM_END, length, 4),
        _ => (1, from, 4, length),
    }
}

/// Draws everything that does not change in a level.
pub(super) fn background(level: &Level, shades: Shades) -> Frame {
    let mut frame = Frame::filled(WALL);
    frame.block::<5, 5>(0, 0, shades.shutter);
    for cell in 0..SIDE * SIDE {
        let (x, y) = corner(cell);
        frame.block::<6, 6>(x, y, shades.ground);
        if cell % SIDE > 0 && cell / SIDE > 0 {
            frame.set(x, y, shades.corner);
        }
        if level.layout.rocks & bit(cell) != 0 {
            frame.stamp_over(x, y, &painted(&ROCK_SHAPE, ROCK, ROCK_EDGE), TRANSPARENT);
        }
    }
    for window in &level.windows {
        glass(&mut frame, window, shades.glass);
    }
    for plant in 0..level.layout.count {
        let color = level.colors[plant];
        let (x, y) = corner(level.layout.bloom_cells[plant]);
        frame.stamp_over(x, y, &painted(&BLOOM_CELL, color, color), TRANSPARENT);
        let (x, y) = corner(level.layout.pots[plant]);
        frame.stamp_over(x, y, &painted(&POT_SHAPE, POT, color), TRANSPARENT);
    }
    frame
}

/// Draws the settled frame.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.day);
    plants(level, board, BRIGHT, frame);
}

fn plants(level: &Level, board: &Board, petals: u8, frame: &mut Frame) {
    for plant in 0..level.layout.count {
        let color = level.colors[plant];
        for (cell, way) in board.walk(&level.layout, plant) {
            stem(frame, cell, way, color);
        }
        let tip = board.tips[plant];
        let (x, y) = corner(tip);
        if tip == level.layout.bloom_cells[plant] {
            frame.stamp_over(x, y, &painted(&BLOOM_CELL, petals, petals), TRANSPARENT);
        }
        bud(frame, x, y, color, level.layout.shy[plant]);
    }
}

/// Draws the part of a stem from the middle of a cell to the middle of the next cell towards the
/// pot.
#[inline]
fn stem(frame: &mut Frame, cell: u8, way: u8, color: u8) {
    let (x, y) = corner(cell);
    match way {
        0 => frame.block::<2, 8>(x + 2, y - 4, color),
        1 => frame.block::<8, 2>(x + 2, y + 2, color),
        2 => frame.block::<2, 8>(x + 2, y + 2, color),
        3 => frame.block::<8, 2>(x - 4, y + 2, color),
        _ => {}
    }
}

/// Draws the end of a plant, with a bright centre if it grows towards the light and a dark one if
/// it is shy.
#[inline]
fn bud(frame: &mut Frame, x: usize, y: usize, color: u8, shy: bool) {
    frame.block::<4, 4>(x + 1, y + 1, color);
    frame.block::<2, 2>(x + 2, y + 2, if shy { WALL } else { BRIGHT });
}

/// Animates light from a window. The first frame shows the light half of the way, the second up to
/// the objects that it meets. If some lit tips cannot grow, a third frame shows them moved by one
/// pixel.
pub(super) fn light(
    level: &Level,
    before: &Board,
    window: &Window,
    growth: &Growth,
    sink: &mut impl FrameSink,
) {
    let opaque = level.layout.rocks | before.plants;
    let lit = |frame: &mut Frame, part: usize| {
        settled(level, before, frame);
        glass(frame, window, BRIGHT);
        beams(frame, window, opaque, part);
    };
    sink.frame(|frame| lit(frame, 2));
    sink.frame(|frame| {
        lit(frame, 1);
        for (plant, _) in growth
            .iter()
            .enumerate()
            .filter(|&(_, &(direction, _))| direction != NONE)
        {
            let (x, y) = corner(before.tips[plant]);
            frame.block::<2, 2>(x + 2, y + 2, LIGHT);
        }
    });
    if growth
        .iter()
        .any(|&(direction, into)| direction != NONE && into == NONE)
    {
        sink.frame(|frame| {
            lit(frame, 1);
            for (plant, &(direction, into)) in growth.iter().enumerate() {
                if direction != NONE && into == NONE {
                    let (x, y) = corner(before.tips[plant]);
                    let (x, y) =
                        [(x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)][usize::from(direction)];
                    bud(frame, x, y, level.colors[plant], level.layout.shy[plant]);
                }
            }
        });
    }
}

/// Draws the light of a window in each of its rows or columns, `1 / part` of the way to the first
/// object.
fn beams(frame: &mut Frame, window: &Window, opaque: u128, part: usize) {
    for line in window.first..=window.last {
        let first = window.first_cell(line);
        let mut length = 0;
        let mut cell = first;
        while cell != NONE && opaque & bit(cell) == 0 {
            length += usize::from(CELL);
            cell = neighbour(cell, window.side ^ 2);
        }
        length /= part;
        let (x, y) = corner(first);
        match window.side {
            0 => frame.rect(x + 2, y, 2, length, LIGHT),
            1 => frame.rect(x + 6 - length, y + 2, length, 2, LIGHT),
            2 => frame.rect(x + 2, y + 6 - length, 2, length, LIGHT),
            _ => frame.rect(x, y + 2, length, 2, LIGHT),
        }
    }
}

/// Animates darkness: the cells that will be lost turn grey before they disappear.
pub(super) fn darkness(level: &Level, before: &Board, after: &Board, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        frame.copy_from(&level.night);
        plants(level, before, BRIGHT, frame);
        for plant in 0..level.layout.count {
            if before.tips[plant] != after.tips[plant] {
                let (x, y) = corner(before.tips[plant]);
                frame.block::<4, 4>(x + 1, y + 1, WITHERED);
            }
        }
    });
    sink.frame(|frame| {
        frame.copy_from(&level.night);
        plants(level, after, BRIGHT, frame);
    });
}

/// Draws a grey square where a click had no effect.
pub(super) fn idle(level: &Level, board: &Board, x: u8, y: u8, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        settled(level, board, frame);
        let corner = |at: u8| usize::from(at.saturating_sub(1)).min(SIZE - 4);
        frame.outline(corner(x), corner(y), 4, 4, WITHERED);
    });
}

/// Shows that there is nothing to undo: the centres of all tips light up.
pub(super) fn nothing_to_undo(level: &Level, board: &Board, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        settled(level, board, frame);
        for &tip in &board.tips[..level.layout.count] {
            let (x, y) = corner(tip);
            frame.block::<2, 2>(x + 2, y + 2, LIGHT);
        }
    });
}

/// Animates a win: the petals of all flowers flash.
pub(super) fn triumph(level: &Level, board: &Board, sink: &mut impl FrameSink) {
    for petals in [BRIGHT, LIGHT, BRIGHT, LIGHT] {
        sink.frame(|frame| {
            frame.copy_from(&level.day);
            plants(level, board, petals, frame);
        });
    }
}

fn glass(frame: &mut Frame, window: &Window, color: u8) {
    let (x, y, width, height) = window_area(window);
    frame.rect(
        usize::from(x),
        usize::from(y),
        usize::from(width),
        usize::from(height),
        color,
    );
}

#[inline]
fn corner(cell: u8) -> (usize, usize) {
    (
        usize::from(WALL_WIDTH + cell % SIDE * CELL),
        usize::from(WALL_WIDTH + cell / SIDE * CELL),
    )
}

const TRANSPARENT: u8 = 16;

type Shape = [[u8; 6]; 6];

const BLOOM_CELL: Shape = [
    *b".1111.", *b"1....1", *b"1....1", *b"1....1", *b"1....1", *b".1111.",
];
const POT_SHAPE: Shape = [
    *b".1111.", *b"111111", *b"112211", *b"112211", *b"111111", *b".1111.",
];
const ROCK_SHAPE: Shape = [
    *b"222221", *b"211111", *b"211111", *b"211111", *b"211111", *b"111111",
];

/// Returns a shape with its two colours filled in.
const fn painted(shape: &Shape, one: u8, two: u8) -> Shape {
    let mut picture = [[TRANSPARENT; 6]; 6];
    let mut at = 0;
    while at < 36 {
        picture[at / 6][at % 6] = match shape[at / 6][at % 6] {
            b'1' => one,
            b'2' => two,
            _ => TRANSPARENT,
        };
        at += 1;
    }
    picture
}
