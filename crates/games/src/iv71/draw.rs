//! The drawing code.
//!
//! A creature is a square with two notches. The white notch is on the side of its next move, and
//! the dark notch on the side of the move after it. Wild creatures have a black rim. The selected
//! creature has yellow corners. A nest is a frame in the colour of its creature and turns white
//! while the creature is there.

#[cfg(test)]
mod things;

use rhae_engine::{Direction, Frame};

use super::habit::{Cell, CellSet, HEIGHT, Habit, Step, Turn, WIDTH, bit, neighbour};
use super::{Board, Level};

/// The width and height of a cell and of a creature in pixels.
const CELL: usize = 8;
const BODY: usize = 6;
/// The upper left corner of the field.
const LEFT: usize = 4;
const TOP: usize = 8;
/// The number of frames in which a habit is taken over, and in which a creature falls.
pub(super) const COPY_FRAMES: usize = 3;
pub(super) const FALL_FRAMES: usize = 5;

const OUTSIDE: u8 = 5;
const RIM: u8 = 4;
const FLOOR: u8 = 1;
const LINE: u8 = 2;
const WALL: u8 = 4;
const PIT: u8 = 13;
const PIT_MIDDLE: u8 = 5;
const WILD: u8 = 5;
const BODIES: [u8; 3] = [9, 12, 14];
const NEXT: u8 = 0;
const THEN: u8 = 4;
const SELECTED: u8 = 11;
const HOME: u8 = 0;
/// The colour of refusals and losses. Nothing else has it.
const ALERT: u8 = 8;

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The rim of the field: the click hit no creature, or there is nothing to undo.
    Rim,
    /// A creature that cannot be selected, or that is selected already.
    Creature(usize),
    Nests,
}

/// Returns the upper left pixel of a cell.
const fn corner(cell: Cell) -> (usize, usize) {
    let cell = cell as usize;
    (LEFT + cell % WIDTH * CELL, TOP + cell / WIDTH * CELL)
}

pub(super) const fn middle(cell: Cell) -> (u8, u8) {
    let (x, y) = corner(cell);
    ((x + CELL / 2) as u8, (y + CELL / 2) as u8)
}

/// Returns the cell under a pixel.
pub(super) fn cell_at(x: u8, y: u8) -> Option<Cell> {
    let x = usize::from(x).checked_sub(LEFT)? / CELL;
    let y = usize::from(y).checked_sub(TOP)? / CELL;
    (x < WIDTH && y < HEIGHT).then_some((y * WIDTH + x) as Cell)
}

/// Draws everything that never changes during a level.
pub(super) fn background(level: &Level) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    rim(&mut frame, RIM);
    for cell in 0..(WIDTH * HEIGHT) as Cell {
        let (x, y) = corner(cell);
        if level.walls & bit(cell) != 0 {
            frame.block::<CELL, CELL>(x, y, WALL);
        } else if level.pits & bit(cell) != 0 {
            frame.block::<CELL, CELL>(x, y, PIT);
            frame.block::<4, 4>(x + 2, y + 2, PIT_MIDDLE);
        } else {
            frame.block::<CELL, CELL>(x, y, LINE);
            frame.block::<BODY, BODY>(x + 1, y + 1, FLOOR);
        }
    }
    for (&nest, &body) in level.nests.iter().zip(&BODIES).take(level.count) {
        let (x, y) = corner(nest);
        frame.outline(x, y, CELL, CELL, body);
    }
    frame
}

fn rim(frame: &mut Frame, color: u8) {
    frame.outline(
        LEFT - 1,
        TOP - 1,
        WIDTH * CELL + 2,
        HEIGHT * CELL + 2,
        color,
    );
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    ground(level, board, frame);
    for creature in 0..level.count {
        let (x, y) = corner(board.creatures.cells[creature]);
        draw_creature(level, creature, (x + 1, y + 1), frame);
        draw_habit(
            board.creatures.habits[creature],
            (x + 1, y + 1),
            NEXT,
            frame,
        );
    }
    draw_selection(board, frame);
}

/// Draws the field with the nests. The background contains them in the colours of their creatures.
fn ground(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.background);
    for creature in 0..level.count {
        if level.is_home(&board.creatures, creature) {
            let (x, y) = corner(level.nests[creature]);
            frame.outline(x, y, CELL, CELL, HOME);
        }
    }
}

fn draw_selection(board: &Board, frame: &mut Frame) {
    let (x, y) = corner(board.creatures.cells[usize::from(board.selected)]);
    for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        frame.block::<2, 1>(x + right * 6, y + down * 7, SELECTED);
        frame.block::<1, 2>(x + right * 7, y + down * 6, SELECTED);
    }
}

fn draw_creature(level: &Level, creature: usize, (x, y): (usize, usize), frame: &mut Frame) {
    frame.block::<BODY, BODY>(x, y, BODIES[creature]);
    if level.wild[creature] {
        frame.outline(x, y, BODY, BODY, WILD);
    }
}

/// Draws the two notches of a body. If both are on the same side, they are next to each other.
fn draw_habit(habit: Habit, (x, y): (usize, usize), next_color: u8, frame: &mut Frame) {
    let mut notch = |direction: Direction, along: usize, color: u8| {
        let (right, down) = match direction {
            Direction::Up => (along, 0),
            Direction::Down => (along, BODY - 2),
            Direction::Left => (0, along),
            Direction::Right => (BODY - 2, along),
        };
        frame.block::<2, 2>(x + right, y + down, color);
    };
    let is_same = habit.next == habit.then;
    notch(habit.then, if is_same { 3 } else { 2 }, THEN);
    notch(habit.next, if is_same { 1 } else { 2 }, next_color);
}

/// Draws a state in which the next moves light up.
pub(super) fn intent(level: &Level, board: &Board, frame: &mut Frame) {
    settled(level, board, frame);
    for creature in 0..level.count {
        let (x, y) = corner(board.creatures.cells[creature]);
        draw_habit(
            board.creatures.habits[creature],
            (x + 1, y + 1),
            SELECTED,
            frame,
        );
    }
}

/// Draws the middle of a turn. A stopped creature leans against the obstacle.
pub(super) fn halfway(level: &Level, board: &Board, turn: &Turn, frame: &mut Frame) {
    ground(level, board, frame);
    for creature in 0..level.count {
        let habit = board.creatures.habits[creature];
        let cell = board.creatures.cells[creature];
        let (dx, dy) = habit.next.delta();
        let far = if turn.steps[creature] == Step::Moves {
            4
        } else {
            1
        };
        let (x, y) = corner(cell);
        let place = (
            (x + 1).wrapping_add_signed(dx * far),
            (y + 1).wrapping_add_signed(dy * far),
        );
        draw_creature(level, creature, place, frame);
        draw_habit(habit, place, NEXT, frame);
        match turn.steps[creature] {
            Step::Wall => obstacle(cell, habit.next, frame),
            Step::Contested => contested(cell, habit.next, frame),
            Step::Moves | Step::Creature(_) => {}
        }
    }
}

/// Lights up the edge of the wall, or of the rim, that stops a creature.
fn obstacle(cell: Cell, direction: Direction, frame: &mut Frame) {
    let (x, y) = corner(cell);
    match direction {
        Direction::Up => frame.block::<CELL, 1>(x, y - 1, SELECTED),
        Direction::Down => frame.block::<CELL, 1>(x, y + CELL, SELECTED),
        Direction::Left => frame.block::<1, CELL>(x - 1, y, SELECTED),
        Direction::Right => frame.block::<1, CELL>(x + CELL, y, SELECTED),
    }
}

/// Lights up the rim of the cell that several creatures want to enter, so that none of them does.
fn contested(cell: Cell, direction: Direction, frame: &mut Frame) {
    if let Some(goal) = neighbour(cell, direction) {
        let (x, y) = corner(goal);
        frame.outline(x, y, CELL, CELL, SELECTED);
    }
}

/// Draws one frame of the animation in which creatures take over habits: the new notches slide from
/// the model to the creature that ran into it.
pub(super) fn copying(level: &Level, board: &Board, turn: &Turn, part: usize, frame: &mut Frame) {
    ground(level, board, frame);
    for creature in 0..level.count {
        let (x, y) = corner(turn.after.cells[creature]);
        draw_creature(level, creature, (x + 1, y + 1), frame);
        if !matches!(turn.steps[creature], Step::Creature(_)) {
            draw_habit(turn.after.habits[creature], (x + 1, y + 1), NEXT, frame);
        }
    }
    for creature in 0..level.count {
        let Step::Creature(model) = turn.steps[creature] else {
            continue;
        };
        let (from, to) = (
            corner(turn.after.cells[model]),
            corner(turn.after.cells[creature]),
        );
        let between =
            |from: usize, to: usize| 1 + (from * (COPY_FRAMES - part) + to * part) / COPY_FRAMES;
        let place = (between(from.0, to.0), between(from.1, to.1));
        draw_habit(turn.after.habits[creature], place, SELECTED, frame);
    }
}

/// Draws one frame of the animation in which creatures fall into a pit.
pub(super) fn falling(
    level: &Level,
    board: &Board,
    fallen: CellSet,
    part: usize,
    frame: &mut Frame,
) {
    ground(level, board, frame);
    for (creature, &body) in BODIES.iter().enumerate().take(level.count) {
        let (x, y) = corner(board.creatures.cells[creature]);
        if fallen & bit(creature as Cell) == 0 {
            draw_creature(level, creature, (x + 1, y + 1), frame);
        } else if part < 3 {
            let inset = 1 + part;
            let size = CELL - 2 * inset;
            frame.rect(x + inset, y + inset, size, size, body);
        } else if part % 2 == 1 {
            frame.outline(x, y, CELL, CELL, ALERT);
        }
    }
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, board: &Board, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::Rim => rim(frame, ALERT),
        Mark::Creature(creature) => {
            let (x, y) = corner(board.creatures.cells[creature]);
            frame.outline(x, y, CELL, CELL, ALERT);
        }
        Mark::Nests => {
            for (&nest, &body) in level.nests.iter().zip(&BODIES).take(level.count) {
                let (x, y) = corner(nest);
                frame.outline(x, y, CELL, CELL, body);
            }
        }
    }
}
