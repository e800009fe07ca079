//! `kq19`: every arrow key moves all grains of a heap at once. Obstacles reshape a loose heap but
//! not a hard one.
//!
//! The rules:
//!
//! * An arrow key moves every grain by one cell, except stuck ones. ACTION5 switches between the
//!   loose and the hard state.
//! * In the loose state each grain is stopped individually: a wall or the border of the room stops
//!   it, and so does a stuck grain in front of it. Glue holds a loose grain in place.
//! * In the hard state, grains that share an edge form one body that moves as a whole or not at
//!   all. Glue has no effect.
//! * The level is won when the grains of each kind exactly fill the outline of that kind. A level
//!   may have a budget of actions; it is lost when the budget is used up.

mod draw;
mod heap;
mod levels;

use draw::Look;
use heap::{CellSet, Ground, Heap};
use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};

const FACTS: Facts = Facts {
    id: "kq19-v1",
    baselines: &[
        Baseline::from_optimum(7),
        Baseline::from_optimum(15),
        Baseline::from_optimum(13),
        Baseline::from_optimum(15),
        Baseline::from_optimum(16),
        Baseline::from_optimum(14),
        Baseline::from_optimum(20),
        Baseline::from_optimum(20),
    ],
    actions: ActionSet::ARROWS
        .with(ActionKind::Action5)
        .with(ActionKind::Action7),
    tags: &["keyboard"],
    frames_per_second: 12,
    seeded: false,
    solutions: include_str!("kq19/solutions.txt"),
};

pub(crate) struct Kq19;

/// The data that does not change while a level is played.
pub(crate) struct Room {
    ground: Ground,
    start: Heap,
    /// The number of grains of each kind.
    counts: [u32; 2],
    /// The outline that each kind of grain must fill.
    targets: [CellSet; 2],
    /// The number of actions until the level is lost; `None` if there is no limit.
    budget: Option<u8>,
    background: Frame,
}

impl Room {
    fn is_filled(&self, heap: &Heap) -> bool {
        heap.grains == self.targets
    }
}

impl Game for Kq19 {
    const FACTS: Facts = FACTS;

    type Level = Room;
    type Board = Heap;
    /// The number of actions left; constant in a level without a budget.
    type Spent = u8;

    fn level(index: LevelIndex, _seed: u64) -> Room {
        levels::room(index)
    }

    fn start(room: &Room) -> StateOf<Self> {
        State {
            board: room.start,
            spent: room.budget.unwrap_or(u8::MAX),
        }
    }

    fn step(
        room: &Room,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let lost = spend(room, state);
        let Some(direction) = Direction::of(action) else {
            sink.frame(|frame| draw::heap(room, state, Look::Melting, frame));
            state.board.hard = !state.board.hard;
            return outcome(lost);
        };
        let stuck = room.ground.stuck(&state.board, direction);
        sink.frame(|frame| draw::motion(room, state, stuck, direction, frame));
        if stuck == state.board.all() {
            // If nothing moves, the heap is shown shaking twice, so that the animation differs from
            // that of a step that moves a grain.
            sink.frame(|frame| draw::heap(room, state, Look::Plain, frame));
            sink.frame(|frame| draw::motion(room, state, stuck, direction, frame));
            return outcome(lost);
        }
        state.board.shift(stuck, direction);
        if room.is_filled(&state.board) {
            for look in [Look::Plain, Look::Bright, Look::Plain, Look::Bright] {
                sink.frame(|frame| draw::heap(room, state, look, frame));
            }
            return Outcome::LevelWon;
        }
        outcome(lost)
    }

    fn draw(room: &Room, state: &StateOf<Self>, frame: &mut Frame) {
        let dead = state.spent == 0 && !room.is_filled(&state.board);
        draw::heap(
            room,
            state,
            if dead { Look::Dead } else { Look::Plain },
            frame,
        );
    }

    fn on_undo(
        room: &Room,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let lost = spend(room, state);
        if !restored {
            // There is nothing to undo: the heap is shown as if a wall above stopped it.
            sink.frame(|frame| draw::motion(room, state, state.board.all(), Direction::Up, frame));
        }
        outcome(lost)
    }

    /// Packs the positions of the grains. Their number is constant and known from the level.
    #[inline]
    fn pack(room: &Room, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put(u64::from(state.spent), 8);
        packer.put(u64::from(state.board.hard), 1);
        for (&grains, &count) in state.board.grains.iter().zip(&room.counts) {
            packer.put_positions(grains, count);
        }
        packer.finish()
    }

    #[inline]
    fn unpack(room: &Room, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let [second, first] = [1, 0].map(|kind| fields.take_positions(room.counts[kind]));
        let (hard, spent) = (fields.take(1) == 1, fields.take_u8(8));
        Some(State {
            board: Heap {
                grains: [first, second],
                hard,
            },
            spent,
        })
    }
}

/// Charges one action and returns whether the budget is used up.
fn spend(room: &Room, state: &mut StateOf<Kq19>) -> bool {
    if room.budget.is_some() {
        state.spent = state.spent.saturating_sub(1);
    }
    state.spent == 0
}

const fn outcome(lost: bool) -> Outcome {
    if lost {
        Outcome::GameOver
    } else {
        Outcome::Continue
    }
}
