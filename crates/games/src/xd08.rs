//! `xd08`: a push on one slab of a tower also carries the slabs above it. Slabs that hang over too
//! far topple.
//!
//! The rules:
//!
//! * ACTION1 and ACTION2 choose the next slab up or down. ACTION3 and ACTION4 push the chosen slab
//!   by one unit to the left or right.
//! * A slab carries the slab that lies on it, unless the underside of the upper slab is slippery.
//!   The side walls stop slabs. Slabs that are glued together move as one. See [`tower`].
//! * The weight above each joint must act on a point of that joint. Otherwise the part above the
//!   joint topples, which costs a life and restarts the level. The level is lost when no lives are
//!   left. Undo restores everything except lives, so it also leads back from a restart.
//! * The game refuses an action that would change nothing.
//! * The level is won when every slab is in its marked place.

mod draw;
mod levels;
#[cfg(test)]
mod tests;
mod tower;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use crate::flash::flash;
use draw::{Mark, Picture};
use tower::{Fall, MAX_SLABS, Places, Tower};

const FACTS: Facts = Facts {
    id: "xd08-v1",
    baselines: &[
        Baseline::from_optimum(7),
        Baseline::from_optimum(14),
        Baseline::from_optimum(15),
        Baseline::from_optimum(15),
        Baseline::from_optimum(18),
        Baseline::from_optimum(16),
        Baseline::from_optimum(18),
        Baseline::from_optimum(26),
    ],
    actions: ActionSet::ARROWS.with(ActionKind::Action7),
    tags: &["keyboard"],
    frames_per_second: 12,
    seeded: false,
    solutions: include_str!("xd08/solutions.txt"),
};

pub(crate) struct Xd08;

/// The number of lives at the start of a level.
const LIVES: u8 = 3;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    tower: Tower,
    start: Places,
    wanted: Places,
    /// The pictures of each slab: normal, and with the outline of a chosen slab.
    pictures: Vec<[Picture; 2]>,
    background: Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    places: Places,
    /// The slab that the keys push.
    chosen: u8,
}

impl Game for Xd08 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Board;
    /// The number of lives left.
    type Spent = u8;

    fn level(index: LevelIndex, _seed: u64) -> Level {
        levels::level(index)
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: first_board(level),
            spent: LIVES,
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let chosen = state.board.chosen;
        match Direction::of(action) {
            Some(Direction::Up) if usize::from(chosen) + 1 < level.tower.slabs.len() => {
                state.board.chosen += 1;
                Outcome::Continue
            }
            Some(Direction::Down) if chosen > 0 => {
                state.board.chosen -= 1;
                Outcome::Continue
            }
            Some(direction @ (Direction::Left | Direction::Right)) => {
                push(level, state, direction == Direction::Right, sink)
            }
            _ => {
                blink(level, state, Mark::Chosen, sink);
                Outcome::Continue
            }
        }
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::settled(level, state, frame);
    }

    fn on_undo(
        level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if !restored {
            blink(level, state, Mark::Chosen, sink);
        }
        Outcome::Continue
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put(u64::from(state.spent), 2);
        packer.put(u64::from(state.board.chosen), 3);
        for place in state.board.places {
            packer.put(u64::from(place), 4);
        }
        packer.finish()
    }

    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let mut places = [0; MAX_SLABS];
        for place in places.iter_mut().rev() {
            *place = fields.take_u8(4);
        }
        let chosen = fields.take_u8(3);
        Some(State {
            board: Board { places, chosen },
            spent: fields.take_u8(2),
        })
    }
}

const fn first_board(level: &Level) -> Board {
    Board {
        places: level.start,
        chosen: 0,
    }
}

/// Pushes the chosen slab by one unit.
fn push(
    level: &Level,
    state: &mut StateOf<Xd08>,
    to_right: bool,
    sink: &mut impl FrameSink,
) -> Outcome {
    let chosen = usize::from(state.board.chosen);
    let push = match level.tower.push(&state.board.places, chosen, to_right) {
        Ok(push) => push,
        Err(touching) => {
            blink(level, state, Mark::Wall(touching, to_right), sink);
            return Outcome::Continue;
        }
    };
    sink.frame(|frame| draw::pushed(level, state, &push, to_right, frame));
    state.board.places = push.places;
    if let Some(fall) = level.tower.fall(&push.places) {
        return topple(level, state, fall, sink);
    }
    if push.places == level.wanted {
        blink(level, state, Mark::Wanted, sink);
        return Outcome::LevelWon;
    }
    Outcome::Continue
}

/// Shows the fall and takes a life. Restarts the level if a life is left; otherwise ends it and
/// leaves the lost position in view.
fn topple(
    level: &Level,
    state: &mut StateOf<Xd08>,
    fall: Fall,
    sink: &mut impl FrameSink,
) -> Outcome {
    for step in 0..=draw::FALL_STEPS {
        sink.frame(|frame| draw::falling(level, state, fall, step, frame));
    }
    blink(level, state, Mark::Life, sink);
    state.spent -= 1;
    if state.spent == 0 {
        return Outcome::GameOver;
    }
    state.board = first_board(level);
    Outcome::Continue
}

/// Blinks `mark`, which shows the reason for a refusal, a win or a loss.
fn blink(level: &Level, state: &StateOf<Xd08>, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, state, frame),
        |frame| draw::mark(level, state, mark, frame),
    );
}
