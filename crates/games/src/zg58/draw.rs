//! The drawing code.
//!
//! The tint of the floor shows which cells are inside a band: a cell inside both bands is
//! chequered. Pegs are dots on the corners of cells; enclosed pegs have a white middle. A frame
//! turns white when its bead is on it and in no band.
//!
//! **Invariant:** the areas of two pegs that react to clicks do not overlap.

#[cfg(test)]
mod things;

use rhae_engine::{CELLS, Direction, Frame};

use super::band::{BANDS, Band, Cell, CellSet, MAX_BEADS, PegSet, Point, SIDE, Step, bit};
use super::{Board, Level};

/// The width and height of a cell in pixels.
const CELL: usize = 8;
/// The first pixel of the board.
const ORIGIN: usize = 4;
const BOARD: usize = SIDE * CELL;
const BEAD: usize = 4;
/// The maximum distance from the middle of a peg at which a click hits it.
const REACH: usize = 2;

const OUTSIDE: u8 = 5;
const FLOOR: u8 = 1;
const LINE: u8 = 2;
const ROCK: u8 = 4;
const ROCK_EDGE: u8 = 3;
const BANDS_COLORS: [u8; BANDS] = [6, 14];
const TINTS: [u8; BANDS] = [7, 10];
const BEADS: [u8; MAX_BEADS] = [12, 9, 15];
const LIT: u8 = 0;
/// The colour of refusals. Nothing else has it.
const ALERT: u8 = 8;

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The border of the board: the click hit no peg, or there is nothing to undo.
    Border,
    /// A peg of a band that a click cannot release.
    Peg(usize, usize),
    /// The obstacles that stop the beads.
    Stopped([Step; MAX_BEADS]),
    /// The bands: no bead is inside exactly one of them.
    Bands,
    Frames,
}

/// Returns the upper left pixel of a cell.
const fn corner(cell: Cell) -> (usize, usize) {
    let cell = cell as usize;
    (ORIGIN + cell % SIDE * CELL, ORIGIN + cell / SIDE * CELL)
}

/// Returns the pixel at a point.
pub(super) const fn pixel(point: Point) -> (u8, u8) {
    let half = CELL as i8 / 2;
    (
        (ORIGIN as i8 + point.x * half) as u8,
        (ORIGIN as i8 + point.y * half) as u8,
    )
}

/// Returns the band and the index of the peg under a pixel.
pub(super) fn peg_at(level: &Level, x: u8, y: u8) -> Option<(usize, usize)> {
    let is_hit = |peg: &Point| {
        let (peg_x, peg_y) = pixel(*peg);
        usize::from(peg_x.abs_diff(x)) <= REACH && usize::from(peg_y.abs_diff(y)) <= REACH
    };
    level
        .bands
        .iter()
        .enumerate()
        .find_map(|(band, pegs)| Some((band, pegs.pegs.iter().position(is_hit)?)))
}

/// Draws everything that never changes during a level.
pub(super) fn background(level: &Level) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    frame.rect(ORIGIN, ORIGIN, BOARD + 1, BOARD + 1, LINE);
    for cell in 0..(SIDE * SIDE) as Cell {
        let (x, y) = corner(cell);
        let is_rock = level.rocks & bit(cell) != 0;
        frame.block::<7, 7>(x + 1, y + 1, if is_rock { ROCK_EDGE } else { FLOOR });
        if is_rock {
            frame.block::<5, 5>(x + 2, y + 2, ROCK);
        }
    }
    frame
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    ground(level, board, frame);
    for bead in 0..level.count {
        draw_bead(bead, corner(board.beads[bead]), frame);
    }
}

/// Draws everything but the beads.
fn ground(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.background);
    let [first, second] = level.inside(board);
    let floor = !level.rocks;
    for (set, tile) in [
        (first & !second, &FIRST_TILE),
        (second & !first, &SECOND_TILE),
        (first & second, &SHARED_TILE),
    ] {
        for cell in cells(set & floor) {
            let (x, y) = corner(cell);
            frame.stamp(x, y + 1, tile);
        }
    }
    for (bead, &body) in BEADS.iter().enumerate().take(level.count) {
        let (x, y) = corner(level.frames[bead]);
        let color = if level.is_home(board, bead) {
            LIT
        } else {
            body
        };
        frame.outline(x + 1, y + 1, 7, 7, color);
    }
    for (band, color) in BANDS_COLORS.into_iter().enumerate() {
        draw_band(level, board, band, color, frame);
    }
}

/// The floor of a cell, with the line to the left of it.
type Tile = [[u8; CELL]; CELL - 1];

const FIRST_TILE: Tile = tile(TINTS[0], TINTS[0]);
const SECOND_TILE: Tile = tile(TINTS[1], TINTS[1]);
const SHARED_TILE: Tile = tile(TINTS[0], TINTS[1]);

/// Returns a floor that is chequered in two colours.
const fn tile(even: u8, odd: u8) -> Tile {
    let mut tile = [[LINE; CELL]; CELL - 1];
    let mut at = 0;
    while at < (CELL - 1) * (CELL - 1) {
        let color = if at.is_multiple_of(2) { even } else { odd };
        tile[at / (CELL - 1)][1 + at % (CELL - 1)] = color;
        at += 1;
    }
    tile
}

fn cells(mut set: CellSet) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let cell = set.trailing_zeros() as Cell;
        (set != 0).then(|| {
            set &= set - 1;
            cell
        })
    })
}

/// Draws the line of a band, and its pegs.
fn draw_band(level: &Level, board: &Board, band: usize, color: u8, frame: &mut Frame) {
    let pegs = &level.bands[band].pegs;
    let cells = frame.cells_mut();
    for &index in &level.lines[band][usize::from(board.enclosed[band])] {
        // The remainder changes no index. It shows the compiler that all indices are valid.
        cells[usize::from(index) % CELLS] = color;
    }
    let free = [[color; 3]; 3];
    let mut enclosed = free;
    enclosed[1][1] = LIT;
    for (peg, &point) in pegs.iter().enumerate() {
        let (x, y) = pixel(point);
        let is_enclosed = board.enclosed[band] >> peg & 1 == 1;
        let dot = if is_enclosed { &enclosed } else { &free };
        frame.stamp(usize::from(x) - 1, usize::from(y) - 1, dot);
    }
}

/// The pixels of a band's line, as indices of cells of a frame.
pub(super) type Line = Vec<u16>;

/// Returns the line of a band around each set of pegs.
pub(super) fn lines(band: &Band) -> Vec<Line> {
    let sets = 0..1_u16 << band.pegs.len();
    sets.map(|set| {
        let corners = &band.shape(set as PegSet).corners;
        let ends = (0..corners.len()).map(|index| {
            let next = corners[(index + 1) % corners.len()];
            (pixel(band.pegs[corners[index]]), pixel(band.pegs[next]))
        });
        ends.flat_map(|(from, to)| segment(from, to)).collect()
    })
    .collect()
}

/// Returns the pixels between two pixels.
fn segment(from: (u8, u8), to: (u8, u8)) -> Line {
    let (from_x, from_y) = (i32::from(from.0), i32::from(from.1));
    let (dx, dy) = (i32::from(to.0) - from_x, i32::from(to.1) - from_y);
    let steps = dx.abs().max(dy.abs());
    // Rounds to the nearest pixel.
    let along =
        |from: i32, way: i32, step: i32| (2 * from * steps + 2 * way * step + steps) / (2 * steps);
    (0..steps)
        .map(|step| (64 * along(from_y, dy, step) + along(from_x, dx, step)) as u16)
        .collect()
}

fn draw_bead(bead: usize, (x, y): (usize, usize), frame: &mut Frame) {
    frame.block::<BEAD, BEAD>(x + 2, y + 2, BEADS[bead]);
    frame.block::<1, BEAD>(x + 6, y + 2, BEADS[bead]);
    frame.block::<5, 1>(x + 2, y + 6, BEADS[bead]);
}

/// Draws a band before or after it is pulled over a peg or slips off, with the peg lit.
pub(super) fn touched(level: &Level, board: &Board, band: usize, peg: usize, frame: &mut Frame) {
    settled(level, board, frame);
    let (x, y) = pixel(level.bands[band].pegs[peg]);
    frame.block::<5, 5>(usize::from(x) - 2, usize::from(y) - 2, LIT);
}

/// Draws the middle of a move. A stopped bead leans against the obstacle.
pub(super) fn moving(level: &Level, board: &Board, steps: &[Step; MAX_BEADS], frame: &mut Frame) {
    ground(level, board, frame);
    for (bead, step) in steps.iter().enumerate().take(level.count) {
        let (x, y) = corner(board.beads[bead]);
        let place = match step {
            Step::Still => (x, y),
            Step::Moves(goal) => {
                let (goal_x, goal_y) = corner(*goal);
                (x.midpoint(goal_x), y.midpoint(goal_y))
            }
            Step::Stopped(direction) => {
                let (dx, dy) = direction.delta();
                (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy))
            }
        };
        draw_bead(bead, place, frame);
    }
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, board: &Board, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::Border => frame.outline(ORIGIN - 1, ORIGIN - 1, BOARD + 3, BOARD + 3, ALERT),
        Mark::Peg(band, peg) => {
            let (x, y) = pixel(level.bands[band].pegs[peg]);
            frame.block::<5, 5>(usize::from(x) - 2, usize::from(y) - 2, ALERT);
        }
        Mark::Stopped(steps) => {
            for (bead, step) in steps.into_iter().enumerate() {
                if let Step::Stopped(direction) = step {
                    obstacle(board.beads[bead], direction, frame);
                }
            }
        }
        Mark::Bands => {
            for band in 0..BANDS {
                draw_band(level, board, band, ALERT, frame);
            }
        }
        Mark::Frames => {
            for (&cell, &color) in level.frames.iter().zip(&BEADS).take(level.count) {
                let (x, y) = corner(cell);
                frame.outline(x + 1, y + 1, 7, 7, color);
            }
        }
    }
}

/// Lights up the side of a cell at which a bead is stopped.
fn obstacle(cell: Cell, direction: Direction, frame: &mut Frame) {
    let (x, y) = corner(cell);
    match direction {
        Direction::Up => frame.rect(x, y, CELL + 1, 1, ALERT),
        Direction::Down => frame.rect(x, y + CELL, CELL + 1, 1, ALERT),
        Direction::Left => frame.rect(x, y, 1, CELL + 1, ALERT),
        Direction::Right => frame.rect(x + CELL, y, 1, CELL + 1, ALERT),
    }
}
