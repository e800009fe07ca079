//! The drawing code.
//!
//! The land has nine by nine cells of six by six pixels, with one-pixel lines between and around
//! them, so that it fills the frame exactly. A nest is a ring on the lines around its cell, so it
//! stays visible when a creature occupies the cell.

#[cfg(test)]
mod things;

use rhae_engine::Frame;

use super::Level;
use super::herd::{self, Cell, Cells, Gaze, Herd, Kind, SIDE, all_cells, line_of_sight};

/// The distance from one cell to the next in pixels.
const PITCH: usize = 7;

const GROUND: u8 = 4;
const CROSSING: u8 = 3;
const ROCK: u8 = 2;
const ROCK_SHADE: u8 = 3;
const WATER: u8 = 9;
const RIPPLE: u8 = 10;
/// The colour of the ring around the clicked cell. No other ring has it.
const CALL: u8 = 10;
/// The colour of a nest's ring while a creature of the nest's colour is in it.
const LIGHT: u8 = 0;

/// The colour of the bodies and nests of a kind.
const fn color(kind: Kind) -> u8 {
    match kind {
        Kind::Plain => 1,
        Kind::First => 12,
        Kind::Second => 15,
        Kind::Shy => 7,
        Kind::Restless => 11,
    }
}

/// Returns the pixel at a cell's upper-left corner, where two grid lines cross.
const fn corner(cell: Cell) -> (usize, usize) {
    ((cell & 15) as usize * PITCH, (cell >> 4) as usize * PITCH)
}

/// The middle pixel of each cell.
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

/// Returns the cell under a pixel. A grid line belongs to the cell on its right or below it; the
/// line at the right or bottom edge belongs to the last cell.
#[inline]
pub(super) fn cell_at(x: u8, y: u8) -> Cell {
    herd::cell(
        CELL_INDEX_OF_PIXEL[usize::from(x)],
        CELL_INDEX_OF_PIXEL[usize::from(y)],
    )
}

/// Maps a pixel coordinate (x or y) to the column or row of its cell.
static CELL_INDEX_OF_PIXEL: [u8; 256] = {
    let mut along = [SIDE - 1; 256];
    let mut line = 0;
    while line < SIDE as usize * PITCH {
        along[line] = (line / PITCH) as u8;
        line += 1;
    }
    along
};

/// Draws everything that never changes: ground, rocks, water and nests.
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

/// Draws a cell of water. The lines between neighbouring cells of water are water, too.
fn draw_water(frame: &mut Frame, water: &Cells<bool>, cell: Cell) {
    let (x, y) = corner(cell);
    frame.block::<6, 6>(x + 1, y + 1, WATER);
    let continues = |side: Gaze| water[usize::from(side.from(cell, 1))];
    if continues(Gaze::Right) {
        frame.block::<1, 6>(x + PITCH, y + 1, WATER);
    }
    if continues(Gaze::Down) {
        frame.block::<6, 1>(x + 1, y + PITCH, WATER);
    }
    frame.block::<2, 1>(x + 2, y + 3, RIPPLE);
    frame.block::<2, 1>(x + 4, y + 4, RIPPLE);
}

/// Draws the settled frame.
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

/// Draws the call ring around the clicked cell.
pub(super) fn draw_called(frame: &mut Frame, cell: Cell) {
    ring(frame, cell, CALL);
}

/// Draws a dotted line from a creature to the object that it looks at.
pub(super) fn draw_gaze(level: &Level, herd: &Herd, index: usize, frame: &mut Frame) {
    let color = color(level.land.kinds[index]);
    for cell in line_of_sight(&level.land, herd, index) {
        let (x, y) = corner(cell);
        frame.block::<2, 2>(x + 3, y + 3, color);
    }
}

/// Draws the gaze lines of all creatures. They are shown after a call that has no effect.
pub(super) fn draw_all_gazes(level: &Level, herd: &Herd, frame: &mut Frame) {
    for index in 0..level.land.count {
        draw_gaze(level, herd, index, frame);
    }
}

/// Draws the nests of a won level, with a second ring around each if `wide`.
pub(super) fn draw_shining(level: &Level, wide: bool, frame: &mut Frame) {
    for &(cell, kind) in level.nests() {
        ring(frame, cell, if wide { LIGHT } else { color(kind) });
        if wide {
            halo(frame, cell, color(kind));
        }
    }
}

/// Draws a second ring around the first one, clipped at the edges of the frame.
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

/// Draws the four lines around a cell, without the corner pixels, where four cells meet.
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

/// Sprite shapes, facing up (`ASLEEP` has no direction): `#` is the body, `o` the white of an eye,
/// `*` the pupil.
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

/// Returns a sprite after a quarter turn to the right.
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

// The table is indexed by the enumerations.
const _: () = assert!(
    Kind::Plain as usize == 0
        && Kind::Restless as usize == 4
        && Gaze::Up as usize == 0
        && Gaze::Asleep as usize == 4
);
