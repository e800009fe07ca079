//! How the land and its creatures look.
//!
//! The land is nine by nine cells of six by six, with one line of the frame between two cells and around the whole, so that it
//! fills the frame exactly. A nest is drawn on those lines and stays visible around whoever sits in it.

use rhae_engine::Frame;

use super::Level;
use super::herd::{self, Cell, Cells, Gaze, Herd, Kind, SIDE, all_cells, line_of_sight};

/// From one cell's left or upper line to the next.
const PITCH: usize = 7;

const GROUND: u8 = 4;
const CROSSING: u8 = 3;
const ROCK: u8 = 2;
const ROCK_SHADE: u8 = 3;
const WATER: u8 = 9;
const RIPPLE: u8 = 10;
/// Around the called one. No other ring has this colour.
const CALL: u8 = 10;
/// Around a nest that is filled.
const LIGHT: u8 = 0;

/// The colour of a kind's bodies and nests.
const fn color(kind: Kind) -> u8 {
    match kind {
        Kind::Plain => 1,
        Kind::First => 12,
        Kind::Second => 15,
        Kind::Shy => 7,
        Kind::Restless => 11,
    }
}

/// The frame's column and row of a cell's upper left line crossing.
const fn corner(cell: Cell) -> (usize, usize) {
    ((cell & 15) as usize * PITCH, (cell >> 4) as usize * PITCH)
}

/// The middle of each cell.
pub(super) static MIDDLES: Cells<(u8, u8)> = {
    let mut middles = [(0, 0); 256];
    let mut cell = 0;
    while cell < 256 {
        let (x, y) = corner(cell as Cell);
        middles[cell] = ((x + PITCH / 2) as u8, (y + PITCH / 2) as u8);
        cell += 1;
    }
    middles
};

/// The cell under a place of the frame. The last line belongs to the last cell.
#[inline]
pub(super) fn cell_at(x: u8, y: u8) -> Cell {
    herd::cell(ALONG[usize::from(x)], ALONG[usize::from(y)])
}

/// The column or row of a line of the frame.
static ALONG: [u8; 256] = {
    let mut along = [SIDE - 1; 256];
    let mut line = 0;
    while line < SIDE as usize * PITCH {
        along[line] = (line / PITCH) as u8;
        line += 1;
    }
    along
};

/// What never moves: ground, rocks, water and nests.
pub(super) fn background(
    rocks: &Cells<bool>,
    water: &Cells<bool>,
    nests: &[(Cell, Kind)],
) -> Frame {
    let mut frame = Frame::filled(GROUND);
    for place in (0..=usize::from(SIDE))
        .flat_map(|row| (0..=usize::from(SIDE)).map(move |column| (column, row)))
    {
        frame.set(place.0 * PITCH, place.1 * PITCH, CROSSING);
    }
    for cell in all_cells() {
        let (x, y) = corner(cell);
        if rocks[usize::from(cell)] {
            frame.block::<6, 6>(x + 1, y + 1, ROCK);
            frame.block::<6, 1>(x + 1, y + 6, ROCK_SHADE);
            frame.block::<1, 6>(x + 6, y + 1, ROCK_SHADE);
        }
        if water[usize::from(cell)] {
            draw_water(&mut frame, water, cell);
        }
    }
    for &(cell, kind) in nests {
        let (x, y) = corner(cell);
        ring(&mut frame, cell, color(kind));
        frame.block::<2, 2>(x + 3, y + 3, color(kind));
    }
    frame
}

/// Neighbouring cells of water are one pool: the line between them is water, too.
fn draw_water(frame: &mut Frame, water: &Cells<bool>, cell: Cell) {
    let (x, y) = corner(cell);
    frame.block::<6, 6>(x + 1, y + 1, WATER);
    let goes_on = |side: Gaze| water[usize::from(side.from(cell, 1))];
    if goes_on(Gaze::Right) {
        frame.block::<1, 6>(x + PITCH, y + 1, WATER);
    }
    if goes_on(Gaze::Down) {
        frame.block::<6, 1>(x + 1, y + PITCH, WATER);
    }
    frame.block::<2, 1>(x + 2, y + 3, RIPPLE);
    frame.block::<2, 1>(x + 4, y + 4, RIPPLE);
}

/// The settled picture.
#[inline]
pub(super) fn draw(level: &Level, herd: &Herd, frame: &mut Frame) {
    frame.copy_from(&level.background);
    for &(cell, _) in level
        .nests()
        .iter()
        .filter(|&&nest| level.is_home(herd, nest))
    {
        ring(frame, cell, LIGHT);
    }
    for (creature, &kind) in herd.first(level.land.count).zip(&level.land.kinds) {
        let (x, y) = corner(creature.cell);
        frame.stamp(
            x + 1,
            y + 1,
            &SPRITES[kind as usize][creature.gaze as usize],
        );
    }
}

/// A called place, lit up.
pub(super) fn draw_called(frame: &mut Frame, cell: Cell) {
    ring(frame, cell, CALL);
}

/// A dotted line from a creature to what it looks at.
pub(super) fn draw_gaze(level: &Level, herd: &Herd, who: usize, frame: &mut Frame) {
    let color = color(level.land.kinds[who]);
    for cell in line_of_sight(&level.land, herd, who) {
        let (x, y) = corner(cell);
        frame.block::<2, 2>(x + 3, y + 3, color);
    }
}

/// All dotted lines: what an unanswered call shows.
pub(super) fn draw_all_gazes(level: &Level, herd: &Herd, frame: &mut Frame) {
    for who in 0..level.land.count {
        draw_gaze(level, herd, who, frame);
    }
}

/// The nests shine: the picture of a win, `wide` in every second frame.
pub(super) fn draw_shining(level: &Level, wide: bool, frame: &mut Frame) {
    for &(cell, kind) in level.nests() {
        ring(frame, cell, if wide { LIGHT } else { color(kind) });
        if wide {
            halo(frame, cell, color(kind));
        }
    }
}

/// A second ring around the first; what would lie outside the frame is left out.
fn halo(frame: &mut Frame, cell: Cell, color: u8) {
    let (x, y) = corner(cell);
    if x > 0 {
        frame.rect(x - 1, y, 1, PITCH + 1, color);
    }
    if y > 0 {
        frame.rect(x, y - 1, PITCH + 1, 1, color);
    }
    frame.rect(x + PITCH + 1, y, 1, PITCH + 1, color);
    frame.rect(x, y + PITCH + 1, PITCH + 1, 1, color);
}

/// The lines around a cell without their ends, which other cells share.
#[inline]
fn ring(frame: &mut Frame, cell: Cell, color: u8) {
    let (x, y) = corner(cell);
    frame.block::<6, 1>(x + 1, y, color);
    frame.block::<6, 1>(x + 1, y + PITCH, color);
    frame.block::<1, 6>(x, y + 1, color);
    frame.block::<1, 6>(x + PITCH, y + 1, color);
}

type Sprite = [[u8; 6]; 6];

/// One sprite for each kind and gaze, in the order of the enumerations.
static SPRITES: [[Sprite; 5]; 5] = [
    sprites(Kind::Plain, ROUND),
    sprites(Kind::First, ROUND),
    sprites(Kind::Second, ROUND),
    sprites(Kind::Shy, SHY),
    sprites(Kind::Restless, RESTLESS),
];

/// Bodies that look up. `#` is body, `o` the white and `*` the dark of an eye.
const ROUND: [&[u8; 6]; 6] = [
    b".####.", b"#*##*#", b"#o##o#", b"######", b".####.", b"..##..",
];
const SHY: [&[u8; 6]; 6] = [
    b"......", b".####.", b".*##*.", b"#o##o#", b"######", b"######",
];
const RESTLESS: [&[u8; 6]; 6] = [
    b".####.", b"#*##*#", b"#o##o#", b"######", b"#.##.#", b"#.##.#",
];
const ASLEEP: [&[u8; 6]; 6] = [
    b"......", b".####.", b"######", b"**##**", b"######", b".####.",
];

const fn sprites(kind: Kind, awake: [&[u8; 6]; 6]) -> [Sprite; 5] {
    let up = colored(kind, awake);
    let right = turned(&up);
    let down = turned(&right);
    [up, right, down, turned(&down), colored(kind, ASLEEP)]
}

const fn colored(kind: Kind, shape: [&[u8; 6]; 6]) -> Sprite {
    let mut sprite = [[GROUND; 6]; 6];
    let mut place = 0;
    while place < 36 {
        let (row, column) = (place / 6, place % 6);
        sprite[row][column] = match shape[row][column] {
            b'#' => color(kind),
            b'o' => 0,
            b'*' => 5,
            _ => GROUND,
        };
        place += 1;
    }
    sprite
}

/// A quarter turn to the right.
const fn turned(sprite: &Sprite) -> Sprite {
    let mut turned = [[0; 6]; 6];
    let mut place = 0;
    while place < 36 {
        let (row, column) = (place / 6, place % 6);
        turned[column][5 - row] = sprite[row][column];
        place += 1;
    }
    turned
}

// The order of the enumerations is the order of the table.
const _: () = assert!(
    Kind::Plain as usize == 0
        && Kind::Restless as usize == 4
        && Gaze::Up as usize == 0
        && Gaze::Asleep as usize == 4
);
