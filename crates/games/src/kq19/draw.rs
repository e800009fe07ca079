//! The drawing code: a light floor with a dark border. Loose grains are drawn as beads, and grains
//! of a hard heap that touch as one outlined body.

#[cfg(test)]
mod things;

use rhae_engine::{Direction, Frame, StateOf};

use super::heap::{CellSet, Heap, ROOM, SIDE, around, cell, cells};
use super::{Kq19, Room};

/// The pixels along one side of a cell, and the position of the first cell.
const CELL: usize = 5;
const ORIGIN: usize = 4;

const FRAME: u8 = 4;
const LIT_EDGE: u8 = 3;
const FLOOR: u8 = 1;
const GRID: u8 = 2;
const GLUE: u8 = 15;
const GLUE_SHINE: u8 = 7;
const CONTACT: u8 = 11;
const CORE: u8 = 0;
const BAR: u8 = 11;
const BAR_TRACK: u8 = 5;

const BAR_TOP: usize = 61;
/// The bar has one column for each action, and fits below the room.
const MAX_BUDGET: usize = CELL * SIDE;

/// The appearance of the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    /// Half-way between loose and hard.
    Melting,
    /// The flash of a won level.
    Bright,
    /// The budget is used up.
    Dead,
}

/// The colours of a grain, and its images in a hard body.
struct Paint {
    body: u8,
    edge: u8,
    /// The image of a cell of a hard body, indexed by which of the eight cells around it belong to
    /// the body.
    cells: [[[u8; CELL]; CELL]; 256],
}

static PAINTS: [Paint; 2] = [paint(12, 13), paint(10, 9)];
/// The cells to be filled, outlined like the body that fills them.
static OUTLINES: [Paint; 2] = [paint(0, 12), paint(0, 9)];
static BRIGHT: Paint = paint(0, 11);
static DEAD: Paint = paint(2, 3);

const fn paint(body: u8, edge: u8) -> Paint {
    let mut cells = [[[body; CELL]; CELL]; 256];
    let mut around = 0;
    while around < 256 {
        let mut y = 0;
        while y < CELL {
            let mut x = 0;
            while x < CELL {
                if is_edge(around, x, y) {
                    cells[around][y][x] = edge;
                }
                x += 1;
            }
            y += 1;
        }
        around += 1;
    }
    Paint { body, edge, cells }
}

/// Returns whether a pixel of a cell lies on the outline of the body. Cells that touch only at a
/// corner are different bodies, so their outlines stay closed.
const fn is_edge(around: usize, x: usize, y: usize) -> bool {
    const LAST: usize = CELL - 1;
    let beyond_row = if y == 0 {
        around & 1 == 1
    } else {
        around >> 1 & 1 == 1
    };
    let beyond_column = if x == 0 {
        around >> 2 & 1 == 1
    } else {
        around >> 3 & 1 == 1
    };
    let beyond_corner = around >> (4 + (x == LAST) as usize + 2 * (y == LAST) as usize) & 1 == 1;
    match (y == 0 || y == LAST, x == 0 || x == LAST) {
        (false, false) => false,
        (true, false) => !beyond_row,
        (false, true) => !beyond_column,
        (true, true) => !(beyond_row && beyond_column && beyond_corner),
    }
}

/// Draws everything that never changes.
pub(super) fn background(
    walls: CellSet,
    glue: CellSet,
    targets: [CellSet; 2],
    budget: Option<u8>,
) -> Frame {
    let mut frame = Frame::filled(FRAME);
    let is_floor = |x: usize, y: usize| walls & cell(x, y) == 0;
    for (x, y) in cells(!walls & ROOM) {
        let (left, top) = corner(x, y);
        frame.block::<CELL, CELL>(left, top, FLOOR);
        // A grid point where four floor cells meet, as an aid for counting cells.
        if x > 0 && y > 0 && is_floor(x - 1, y) && is_floor(x, y - 1) && is_floor(x - 1, y - 1) {
            frame.set(left, top, GRID);
        }
    }
    for (x, y) in cells(walls).chain((0..SIDE).map(|x| (x, SIDE))) {
        let (left, top) = corner(x, y);
        if y > 0 && is_floor(x, y - 1) {
            frame.block::<CELL, 1>(left, top, LIT_EDGE);
        }
    }
    for (x, y) in cells(glue) {
        let (left, top) = corner(x, y);
        frame.stamp(left, top, &GLUE_SPOT);
    }
    for (kind, set) in targets.into_iter().enumerate() {
        for (x, y) in cells(set) {
            let (left, top) = corner(x, y);
            frame.stamp(left, top, &OUTLINES[kind].cells[around(set, x, y)]);
        }
    }
    if let Some(budget) = budget {
        debug_assert!(usize::from(budget) <= MAX_BUDGET);
        frame.rect(ORIGIN, BAR_TOP, usize::from(budget), 2, BAR_TRACK);
    }
    frame
}

const GLUE_SPOT: [[u8; CELL]; CELL] = {
    let (g, s) = (GLUE, GLUE_SHINE);
    [
        [g, g, g, g, g],
        [g, s, g, g, g],
        [g, g, g, g, g],
        [g, g, g, s, g],
        [g, g, g, g, g],
    ]
};

/// Draws a state at rest.
#[inline]
pub(super) fn heap(room: &Room, state: &StateOf<Kq19>, look: Look, frame: &mut Frame) {
    ground(room, state, frame);
    let heap = &state.board;
    let all = heap.all();
    let glued = room.ground.glue();
    for (grains, own) in heap.grains.into_iter().zip(&PAINTS) {
        let paint = match look {
            Look::Plain | Look::Melting => own,
            Look::Bright => &BRIGHT,
            Look::Dead => &DEAD,
        };
        for (x, y) in cells(grains) {
            let (left, top) = corner(x, y);
            match (look, heap.hard) {
                (Look::Melting, _) => frame.block::<CELL, CELL>(left, top, paint.body),
                (_, true) => frame.stamp(left, top, &paint.cells[around(all, x, y)]),
                (_, false) if glued & cell(x, y) != 0 => small_bead(frame, left, top, paint),
                (_, false) => bead(frame, left, top, paint),
            }
        }
    }
    if look != Look::Bright {
        marks(room, heap, all, frame);
    }
}

/// Draws the middle of a step: moving grains are between cells, stuck grains are pressed against
/// their obstacle.
#[inline]
pub(super) fn motion(
    room: &Room,
    state: &StateOf<Kq19>,
    stuck: CellSet,
    direction: Direction,
    frame: &mut Frame,
) {
    ground(room, state, frame);
    let heap = &state.board;
    let all = heap.all();
    let (dx, dy) = direction.delta();
    for (x, y) in cells(room.ground.stopped(heap, direction)) {
        contact(frame, x, y, direction);
    }
    let caught = room.ground.caught(heap);
    for (x, y) in cells(caught) {
        let (left, top) = corner(x, y);
        frame.block::<CELL, CELL>(left, top, CONTACT);
    }
    for (grains, paint) in heap.grains.into_iter().zip(&PAINTS) {
        for (x, y) in cells(grains & !stuck) {
            let (left, top) = corner(x, y);
            let (left, top) = (
                left.wrapping_add_signed(2 * dx),
                top.wrapping_add_signed(2 * dy),
            );
            if heap.hard {
                frame.stamp(left, top, &paint.cells[around(all, x, y)]);
            } else {
                bead(frame, left, top, paint);
            }
        }
        for (x, y) in cells(grains & stuck) {
            let (left, top) = corner(x, y);
            if heap.hard {
                frame.stamp(left, top, &paint.cells[around(all, x, y)]);
            } else if caught & cell(x, y) != 0 {
                frame.block::<3, 3>(left + 1, top + 1, paint.edge);
            } else {
                squashed(frame, left, top, direction, paint);
            }
        }
    }
    marks(room, heap, stuck, frame);
}

#[inline]
fn ground(room: &Room, state: &StateOf<Kq19>, frame: &mut Frame) {
    frame.copy_from(&room.background);
    if room.budget.is_some() {
        frame.rect(ORIGIN, BAR_TOP, usize::from(state.spent), 2, BAR);
    }
}

#[inline]
const fn corner(x: usize, y: usize) -> (usize, usize) {
    (ORIGIN + x * CELL, ORIGIN + y * CELL)
}

/// Draws a loose grain.
#[inline]
fn bead(frame: &mut Frame, left: usize, top: usize, paint: &Paint) {
    frame.block::<3, 5>(left + 1, top, paint.edge);
    frame.block::<5, 3>(left, top + 1, paint.edge);
    frame.block::<3, 3>(left + 1, top + 1, paint.body);
}

/// Draws a loose grain on glue, so small that the glue stays visible all around it.
#[inline]
fn small_bead(frame: &mut Frame, left: usize, top: usize, paint: &Paint) {
    frame.block::<3, 3>(left + 1, top + 1, paint.body);
}

/// Draws a stuck loose grain, flattened towards its obstacle.
#[inline]
fn squashed(frame: &mut Frame, left: usize, top: usize, direction: Direction, paint: &Paint) {
    let (x, y) = match direction {
        Direction::Up | Direction::Left => (left, top),
        Direction::Down => (left, top + 2),
        Direction::Right => (left + 2, top),
    };
    if matches!(direction, Direction::Up | Direction::Down) {
        frame.block::<5, 3>(x, y, paint.edge);
        frame.block::<3, 1>(left + 1, y + 1, paint.body);
    } else {
        frame.block::<3, 5>(x, y, paint.edge);
        frame.block::<1, 3>(x + 1, top + 1, paint.body);
    }
}

/// Lights up the face of the wall or border that stops a grain.
#[inline]
fn contact(frame: &mut Frame, x: usize, y: usize, direction: Direction) {
    let (left, top) = corner(x, y);
    match direction {
        Direction::Up => frame.block::<5, 2>(left, top - 2, CONTACT),
        Direction::Down => frame.block::<5, 2>(left, top + CELL, CONTACT),
        Direction::Left => frame.block::<2, 5>(left - 2, top, CONTACT),
        Direction::Right => frame.block::<2, 5>(left + CELL, top, CONTACT),
    }
}

/// Marks the grains that are on their target, and the grains of a hard body that cover glue. A
/// loose grain on glue needs no mark, because the glue stays visible around it.
#[inline]
fn marks(room: &Room, heap: &Heap, shown: CellSet, frame: &mut Frame) {
    let seated = heap.grains[0] & room.targets[0] | heap.grains[1] & room.targets[1];
    let hiding = if heap.hard {
        heap.all() & room.ground.glue()
    } else {
        0
    };
    for (marked, color) in [(seated, CORE), (hiding, GLUE)] {
        for (x, y) in cells(marked & shown) {
            let (left, top) = corner(x, y);
            frame.block::<1, 1>(left + 2, top + 2, color);
        }
    }
}
