//! Push-off: in a hall without friction you move only away from something you touch, and what you push off flies the other way.
//!
//! The hall has 11 × 11 cells, each a bit of a `u128`, so that the flight of any number of things is a few shifts. Its
//! outermost cells are wall or void; therefore nothing that stands or flies ever leaves the bits of its row.

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

/// Pushing off walls and loose stones.
pub(crate) struct Ny40;

/// A set of cells: bit `y * WIDTH + x`.
type Cells = u128;

/// Columns, and rows, of the hall.
const WIDTH: usize = 11;

/// The first cell that is not outermost, and how many there are from it to the last, row by row.
const INNER: u32 = WIDTH as u32 + 1;
const INNER_CELLS: u32 = (WIDTH * WIDTH) as u32 - 2 * INNER;

/// Where the four cells beside one are, counted from the one above it.
const SIDES: [usize; 4] = [0, WIDTH - 1, WIDTH + 1, 2 * WIDTH];

/// Cells beside one, a bit for each side.
#[inline]
fn sides(cells: Cells, one: Cells) -> u64 {
    let around = (cells >> above(one)) as u64;
    (0..4).fold(0, |sides, side| sides | (around >> SIDES[side] & 1) << side)
}

/// The cells on some sides of one.
#[inline]
fn on_sides(sides: u64, one: Cells) -> Cells {
    let around = (0..4).fold(0, |around, side| {
        around | (sides >> side & 1) << SIDES[side]
    });
    Cells::from(around) << above(one)
}

/// The number of the cell above one; beside one in the first row there is nothing.
#[inline]
const fn above(cell: Cells) -> u32 {
    cell.trailing_zeros().saturating_sub(WIDTH as u32)
}

/// What does not change while a level is played.
pub(crate) struct Hall {
    walls: Cells,
    /// Rough ground: stops what comes onto it, and gives a hold in every direction.
    moss: Cells,
    /// No ground: what comes there falls.
    void: Cells,
    your_ring: Cells,
    stone_rings: Cells,
    start: Board,
    /// Actions until the level is lost; 0 for no limit.
    budget: u8,
    background: Frame,
}

/// Where everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    you: Cells,
    /// All stones, the held ones included.
    stones: Cells,
    /// The stones that move with you; each lies next to you.
    held: Cells,
}

impl Board {
    const fn body(&self) -> Cells {
        self.you | self.held
    }

    /// The stones that are not held.
    const fn loose(&self) -> Cells {
        self.stones & !self.held
    }
}

/// The cells next to these, in a direction.
#[inline]
const fn beside(cells: Cells, direction: Direction) -> Cells {
    match direction {
        Direction::Up => cells >> WIDTH,
        Direction::Down => cells << WIDTH,
        Direction::Left => cells >> 1,
        Direction::Right => cells << 1,
    }
}

impl Hall {
    /// The walls and loose stones right behind the body, seen from where it is pushed to.
    fn touched(&self, board: &Board, behind: Direction) -> Cells {
        beside(board.body(), behind) & !board.body() & (self.walls | board.stones)
    }

    fn is_won(&self, board: &Board) -> bool {
        board.you == self.your_ring && self.stone_rings & !board.stones == 0
    }

    fn has_too_few_stones(&self, board: &Board) -> bool {
        board.stones.count_ones() < self.stone_rings.count_ones()
    }
}

impl Game for Ny40 {
    const FACTS: Facts = Facts {
        id: "ny40-v1",
        baselines: &[
            Baseline::solved(5),
            Baseline::solved(13),
            Baseline::solved(14),
            Baseline::solved(15),
            Baseline::solved(16),
            Baseline::solved(18),
            Baseline::solved(21),
            Baseline::solved(24),
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
    /// Actions taken, where they are limited.
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
        let fallen = match Direction::of(action) {
            Some(direction) => push(hall, state, direction, sink),
            None => {
                grip(hall, state, sink);
                0
            }
        };
        let board = &state.board;
        if board.you & hall.void != 0 {
            return Outcome::GameOver;
        }
        if fallen != 0 && hall.has_too_few_stones(board) {
            blink(hall, state, Moment::RingsLost, sink);
            return Outcome::GameOver;
        }
        if hall.is_won(board) {
            blink(hall, state, Moment::Won, sink);
            return Outcome::LevelWon;
        }
        if spent == Outcome::GameOver {
            blink(hall, state, Moment::BudgetEmpty, sink);
        }
        spent
    }

    fn draw(hall: &Hall, state: &StateOf<Self>, frame: &mut Frame) {
        draw::picture(hall, state, Moment::Rest, frame);
    }

    fn undone(
        hall: &Hall,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let spent = spend(hall, state);
        if !restored {
            // The marks of what gives a hold go out and come back: nothing else happened.
            blink(hall, state, Moment::Flight, sink);
        }
        spent
    }

    /// Held stones lie next to you, so a bit for each side tells them; who fell is nowhere.
    #[inline]
    fn pack(_hall: &Hall, state: &StateOf<Self>) -> Option<u128> {
        let board = &state.board;
        let mut packer = Packer::new();
        packer.put(u64::from(state.spent), 8);
        packer.put_place(board.you);
        packer.put_set(board.stones, INNER, INNER_CELLS);
        // Most often nothing is held.
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
        let (you, spent) = (fields.take_place(), fields.take_u8(8));
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

/// Every action costs one unit, refused ones and undo included; the last unit loses the level unless it wins it.
fn spend(hall: &Hall, state: &mut StateOf<Ny40>) -> Outcome {
    if hall.budget == 0 {
        return Outcome::Going;
    }
    state.spent = state.spent.saturating_add(1);
    if state.spent >= hall.budget {
        Outcome::GameOver
    } else {
        Outcome::Going
    }
}

/// Takes hold of every stone beside you, or lets go of all.
fn grip(hall: &Hall, state: &mut StateOf<Ny40>, sink: &mut impl FrameSink) {
    let board = &mut state.board;
    if board.held != 0 {
        board.held = 0;
        return;
    }
    for side in Direction::ALL {
        board.held |= beside(board.you, side) & board.stones;
    }
    if board.held == 0 {
        blink(hall, state, Moment::Grasping, sink);
    }
}

/// Shows a moment twice, with the picture at rest between and after.
fn blink(hall: &Hall, state: &StateOf<Ny40>, moment: Moment, sink: &mut impl FrameSink) {
    for shown in [moment, Moment::Rest, moment] {
        sink.frame(|frame| draw::picture(hall, state, shown, frame));
    }
}
