//! The motion after a push: the body and the stones that it pushed off separate and fly until
//! something stops them.
//!
//! **Invariant:** the body and the flying stones never meet, and no two flying stones meet. Held
//! stones are next to you, so on every line along the flight the body is contiguous and touches at
//! most one stone behind it. That stone flies away from the body, and no other stone on its line
//! flies. The order of the moves is therefore irrelevant: if frames are drawn, body and stones fly
//! at the same time; if not, the body flies first and then the stones.

use rhae_engine::{Direction, FrameSink, StateOf};

use super::draw::{self, Moment};
use super::{Board, Cells, Hall, Ny40, blink, shifted};

/// Pushes the body in a direction, off everything that it touches on the opposite side. Returns the
/// cells in which stones fell.
#[inline]
pub(super) fn push(
    hall: &Hall,
    state: &mut StateOf<Ny40>,
    ahead: Direction,
    sink: &mut impl FrameSink,
) -> Cells {
    // One instance for each direction makes all shifts compile-time constants.
    match ahead {
        Direction::Up => push_to::<{ Direction::Up as usize }, _>(hall, state, sink),
        Direction::Down => push_to::<{ Direction::Down as usize }, _>(hall, state, sink),
        Direction::Left => push_to::<{ Direction::Left as usize }, _>(hall, state, sink),
        Direction::Right => push_to::<{ Direction::Right as usize }, _>(hall, state, sink),
    }
}

#[inline]
fn push_to<const AHEAD: usize, S: FrameSink>(
    hall: &Hall,
    state: &mut StateOf<Ny40>,
    sink: &mut S,
) -> Cells {
    let ahead = Direction::ALL[AHEAD];
    let board = &mut state.board;
    let touched = hall.touched(board, ahead.opposite());
    if touched == 0 && board.body() & hall.moss == 0 {
        blink(hall, state, Moment::Kicking(ahead.opposite()), sink);
        return 0;
    }
    let mut flight = Flight::<AHEAD>::new(hall, board, touched);
    if !S::DRAWS {
        while flight.moves_body(board) {
            flight.lands_body(board);
        }
        while flight.moves_stones(board) {
            flight.lands_stones(board);
        }
        return flight.fallen;
    }
    let mut moved = false;
    while flight.moves_body(&mut state.board) | flight.moves_stones(&mut state.board) {
        moved = true;
        sink.frame(|frame| draw::picture(hall, state, Moment::Flight, frame));
        flight.lands_body(&mut state.board);
        flight.lands_stones(&mut state.board);
    }
    if !moved {
        blink(hall, state, Moment::Blocked(ahead), sink);
    }
    flight.fallen
}

/// A flight in progress, cell by cell.
struct Flight<'a, const AHEAD: usize> {
    hall: &'a Hall,
    /// The walls, and the stones that do not fly.
    obstacles: Cells,
    /// Whether the body still flies.
    body: bool,
    /// The stones that still fly.
    stones: Cells,
    /// The cells in which stones fell.
    fallen: Cells,
}

impl<'a, const AHEAD: usize> Flight<'a, AHEAD> {
    const AHEAD: Direction = Direction::ALL[AHEAD];
    const BEHIND: Direction = Self::AHEAD.opposite();

    #[inline]
    const fn new(hall: &'a Hall, board: &Board, touched: Cells) -> Self {
        let stones = touched & board.stones & !hall.moss;
        Self {
            hall,
            obstacles: hall.walls | board.loose() & !stones,
            body: true,
            stones,
            fallen: 0,
        }
    }

    /// Moves the body by one cell, unless it has stopped. Returns whether it moved.
    #[inline]
    const fn moves_body(&mut self, board: &mut Board) -> bool {
        self.body &= shifted(board.body(), Self::AHEAD) & self.obstacles == 0;
        if self.body {
            let held = shifted(board.held, Self::AHEAD);
            board.stones = board.stones & !board.held | held;
            board.held = held;
            board.you = shifted(board.you, Self::AHEAD);
        }
        self.body
    }

    /// Stops the body on moss and handles falls. Held stones fall individually, and you release all
    /// stones if you fall.
    #[inline]
    const fn lands_body(&mut self, board: &mut Board) {
        let Hall { moss, void, .. } = *self.hall;
        if board.body() & (moss | void) == 0 {
            return;
        }
        self.fallen |= board.held & void;
        board.stones &= !(board.held & void);
        board.held &= !void;
        self.body &= board.body() & moss == 0;
        if board.you & void != 0 {
            self.body = false;
            board.held = 0;
        }
    }

    /// Moves the flying stones by one cell. Returns whether any moved.
    #[inline]
    const fn moves_stones(&mut self, board: &mut Board) -> bool {
        self.stones &= !shifted(self.obstacles, Self::AHEAD);
        let moved = shifted(self.stones, Self::BEHIND);
        board.stones = board.stones & !self.stones | moved;
        self.stones = moved;
        moved != 0
    }

    #[inline]
    const fn lands_stones(&mut self, board: &mut Board) {
        let Hall { moss, void, .. } = *self.hall;
        self.fallen |= self.stones & void;
        board.stones &= !(self.stones & void);
        self.stones &= !(moss | void);
    }
}
