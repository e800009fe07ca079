//! `ny40`: in a hall without friction you move only by pushing off something you touch, and a stone
//! that you push off flies the other way.
//!
//! The rules:
//!
//! * An arrow key pushes you in a direction if you touch a wall or a loose stone on the opposite
//!   side, or stand on moss. You fly until something stops you. The loose stones that you pushed
//!   off, except those on moss, fly in the opposite direction.
//! * Walls and resting stones stop you and flying stones. Moss stops everything that moves onto it.
//!   A stone that reaches the void is lost. If you reach the void, you fall, and only undo helps.
//! * ACTION5 grips all stones next to you or, if you hold some, releases them. Held stones move
//!   with you as one body.
//! * The level is won when you are on your ring and a stone is on every stone ring. While fewer
//!   stones than stone rings are left, the rings are drawn as lost. The level is lost when the
//!   budget of actions is used up.
//!
//! The hall has 11 × 11 cells, each one bit of a `u128`, so that a few shifts move any number of
//! stones. The outermost cells are wall or void, in which every object stops or falls, so a
//! sideways shift never moves an object into another row.

mod draw;
mod flight;
mod levels;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use draw::Moment;
use flight::push;

pub(crate) struct Ny40;

/// A set of cells: bit `y * WIDTH + x`.
type Cells = u128;

/// The number of columns, and of rows, of the hall.
const WIDTH: usize = 11;

/// The first inner cell, and the number of cells from it to the last inner cell, row by row.
const INNER: u32 = WIDTH as u32 + 1;
const INNER_CELLS: u32 = (WIDTH * WIDTH) as u32 - 2 * INNER;

/// The bit positions of the four neighbours of a cell, relative to the upper neighbour.
const SIDES: [usize; 4] = [0, WIDTH - 1, WIDTH + 1, 2 * WIDTH];

/// Returns which neighbours of a cell are in a set, one bit for each side.
#[inline]
fn sides(cells: Cells, one: Cells) -> u64 {
    let around = (cells >> above(one)) as u64;
    (0..4).fold(0, |sides, side| sides | (around >> SIDES[side] & 1) << side)
}

/// Returns the neighbours of a cell on the given sides.
#[inline]
fn on_sides(sides: u64, one: Cells) -> Cells {
    let around = (0..4).fold(0, |around, side| {
        around | (sides >> side & 1) << SIDES[side]
    });
    Cells::from(around) << above(one)
}

/// Returns the index of the upper neighbour of a cell. It saturates in the first row, which
/// contains no objects, except you after a fall, when you hold nothing.
#[inline]
const fn above(cell: Cells) -> u32 {
    cell.trailing_zeros().saturating_sub(WIDTH as u32)
}

/// The data that does not change while a level is played.
pub(crate) struct Hall {
    walls: Cells,
    /// Rough ground: it stops everything that moves onto it and allows a push in every direction.
    moss: Cells,
    /// Missing ground: everything that moves onto it falls.
    void: Cells,
    your_ring: Cells,
    stone_rings: Cells,
    start: Board,
    /// The number of actions until the level is lost; 0 for no limit.
    budget: u8,
    background: Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    you: Cells,
    /// All stones, including held ones.
    stones: Cells,
    /// The stones that you hold. Each is next to you and moves with you.
    held: Cells,
}

impl Board {
    const fn body(&self) -> Cells {
        self.you | self.held
    }

    /// Returns the stones that are not held.
    const fn loose(&self) -> Cells {
        self.stones & !self.held
    }
}

/// Returns the cells moved by one step in a direction.
#[inline]
const fn shifted(cells: Cells, direction: Direction) -> Cells {
    match direction {
        Direction::Up => cells >> WIDTH,
        Direction::Down => cells << WIDTH,
        Direction::Left => cells >> 1,
        Direction::Right => cells << 1,
    }
}

impl Hall {
    /// Returns the walls and loose stones that the body touches on one side.
    fn touched(&self, board: &Board, behind: Direction) -> Cells {
        shifted(board.body(), behind) & !board.body() & (self.walls | board.stones)
    }

    fn is_won(&self, board: &Board) -> bool {
        board.you == self.your_ring && self.stone_rings & !board.stones == 0
    }

    /// Returns whether you have fallen into the void.
    const fn is_fallen(&self, board: &Board) -> bool {
        board.you & self.void != 0
    }

    fn has_too_few_stones(&self, board: &Board) -> bool {
        board.stones.count_ones() < self.stone_rings.count_ones()
    }
}

impl Game for Ny40 {
    const FACTS: Facts = Facts {
        id: "ny40-v1",
        baselines: &[
            Baseline::from_optimum(5),
            Baseline::from_optimum(13),
            Baseline::from_optimum(14),
            Baseline::from_optimum(15),
            Baseline::from_optimum(16),
            Baseline::from_optimum(18),
            Baseline::from_optimum(21),
            Baseline::from_optimum(24),
        ],
        actions: ActionSet::ARROWS
            .with(ActionKind::Action5)
            .with(ActionKind::Action7),
        tags: &["keyboard"],
        frames_per_second: 20,
        seeded: false,
        solutions: include_str!("ny40/solutions.txt"),
    };

    type Level = Hall;
    type Board = Board;
    /// The number of actions taken, in levels with a budget.
    type Spent = u8;

    fn level(index: LevelIndex, _seed: u64) -> Hall {
        levels::hall(index.get())
    }

    fn start(hall: &Hall) -> StateOf<Self> {
        State {
            board: hall.start,
            spent: 0,
        }
    }

    fn step(
        hall: &Hall,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let spent = spend(hall, state);
        if hall.is_fallen(&state.board) {
            blink(hall, state, Moment::Fallen, sink);
            return exhausted(hall, state, spent, sink);
        }
        let fallen = match Direction::of(action) {
            Some(direction) => push(hall, state, direction, sink),
            None => {
                grip(hall, state, sink);
                0
            }
        };
        if hall.is_won(&state.board) {
            blink(hall, state, Moment::Won, sink);
            return Outcome::LevelWon;
        }
        if fallen != 0 && hall.has_too_few_stones(&state.board) {
            blink(hall, state, Moment::Flight, sink);
        }
        exhausted(hall, state, spent, sink)
    }

    fn draw(hall: &Hall, state: &StateOf<Self>, frame: &mut Frame) {
        draw::picture(hall, state, Moment::Rest, frame);
    }

    fn on_undo(
        hall: &Hall,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let spent = spend(hall, state);
        if !restored {
            // There is nothing to undo: the marks of the surfaces that you can push off blink.
            blink(hall, state, Moment::Flight, sink);
        }
        exhausted(hall, state, spent, sink)
    }

    /// Packs the state. Held stones are next to you, so one bit for each side encodes them.
    #[inline]
    fn pack(_hall: &Hall, state: &StateOf<Self>) -> Option<u128> {
        let board = &state.board;
        let mut packer = Packer::new();
        packer.put(u64::from(state.spent), 8);
        packer.put_position(board.you);
        packer.put_set(board.stones, INNER, INNER_CELLS);
        // Usually nothing is held, so this case is checked first.
        let held = if board.held == 0 {
            0
        } else {
            sides(board.held, board.you)
        };
        packer.put(held, 4);
        packer.require(board.held == 0 || on_sides(held, board.you) == board.held);
        packer.finish()
    }

    #[inline]
    fn unpack(_hall: &Hall, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let (held, stones) = (fields.take(4), fields.take_set(INNER, INNER_CELLS));
        let (you, spent) = (fields.take_position(), fields.take_u8(8));
        Some(State {
            board: Board {
                you,
                stones,
                held: on_sides(held, you),
            },
            spent,
        })
    }
}

/// Charges one action; a blocked action and an undo cost the same as any other. Returns `GameOver`
/// for the last action of the budget, which loses the level unless it wins it.
fn spend(hall: &Hall, state: &mut StateOf<Ny40>) -> Outcome {
    if hall.budget == 0 {
        return Outcome::Continue;
    }
    state.spent = state.spent.saturating_add(1);
    if state.spent >= hall.budget {
        Outcome::GameOver
    } else {
        Outcome::Continue
    }
}

/// Shows that the budget is used up, if it is, and passes the outcome on.
fn exhausted(
    hall: &Hall,
    state: &StateOf<Ny40>,
    spent: Outcome,
    sink: &mut impl FrameSink,
) -> Outcome {
    if spent == Outcome::GameOver {
        blink(hall, state, Moment::BudgetEmpty, sink);
    }
    spent
}

/// Grips every stone next to you, or releases all stones if you hold some.
fn grip(hall: &Hall, state: &mut StateOf<Ny40>, sink: &mut impl FrameSink) {
    let board = &mut state.board;
    if board.held != 0 {
        board.held = 0;
        return;
    }
    for side in Direction::ALL {
        board.held |= shifted(board.you, side) & board.stones;
    }
    if board.held == 0 {
        blink(hall, state, Moment::Grasping, sink);
    }
}

/// Shows a moment twice, with the settled frame in between.
fn blink(hall: &Hall, state: &StateOf<Ny40>, moment: Moment, sink: &mut impl FrameSink) {
    for shown in [moment, Moment::Rest, moment] {
        sink.frame(|frame| draw::picture(hall, state, shown, frame));
    }
}
