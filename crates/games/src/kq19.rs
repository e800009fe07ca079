//! kq19: every key moves all grains of a heap at once; loose grains are reshaped by what stops them, a hard heap is not.
//!
//! The heap must fill an outline exactly. In the loose state each grain is stopped alone, so a wall is a die that dents the
//! heap; in the hard state grains that touch are one body that moves whole or not at all. Glue holds loose grains only.

mod draw;
mod heap;
mod levels;

use draw::Look;
use heap::{Ground, Heap, Places};
use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};

const FACTS: Facts = Facts {
    id: "kq19-v1",
    baselines: &[
        Baseline::solved(7),
        Baseline::solved(15),
        Baseline::solved(14),
        Baseline::solved(15),
        Baseline::solved(16),
        Baseline::solved(15),
        Baseline::solved(17),
        Baseline::solved(22),
    ],
    actions: ActionSet::ARROWS
        .with(ActionKind::Action5)
        .with(ActionKind::Action7),
    tags: &["keyboard"],
    frames_per_second: 12,
    seeded: false,
    solutions: include_str!("kq19/solutions.txt"),
};

/// The rules; see the head of this file.
pub(crate) struct Kq19;

/// What does not change while a level is played.
pub(crate) struct Room {
    ground: Ground,
    start: Heap,
    /// How many grains of each kind there are.
    counts: [u32; 2],
    /// The outline each kind of grain must fill.
    targets: [Places; 2],
    /// How many actions there are before the level is lost; `None` if it cannot be lost.
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
    /// How many actions are left; a level without a budget never touches it.
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
            // A refused step shakes twice, so that it is told apart from one that moved at least something.
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

    fn undone(
        room: &Room,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let lost = spend(room, state);
        if !restored {
            // There is nothing to go back to: the heap is held, as by a wall.
            sink.frame(|frame| draw::motion(room, state, state.board.all(), Direction::Up, frame));
        }
        outcome(lost)
    }

    /// Grains never come or go, so the number of each kind is the level's.
    #[inline]
    fn pack(room: &Room, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put(u64::from(state.spent), 8);
        packer.put(u64::from(state.board.hard), 1);
        for (&grains, &count) in state.board.grains.iter().zip(&room.counts) {
            packer.put_places(grains, count);
        }
        packer.finish()
    }

    #[inline]
    fn unpack(room: &Room, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let [second, first] = [1, 0].map(|kind| fields.take_places(room.counts[kind]));
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

/// Takes one action from the budget; whether it was the last.
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
        Outcome::Going
    }
}
