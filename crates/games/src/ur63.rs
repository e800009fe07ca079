//! `ur63`: a key moves only the creatures that listen to its interval. The interval of a key is the
//! number of beats since its previous press.
//!
//! The rules:
//!
//! * Every action is a beat. An arrow key calls the creatures that listen to its interval, and
//!   these step in its direction. ACTION5 calls no creature. See [`beat`].
//! * On each side of the field, a lamp shows the current interval of the key of that side. With
//!   each beat, all lights move one lamp outwards, and the pressed key lights its first lamp.
//! * A creature that steps on a tuner listens to the interval of the tuner's colour from then on.
//! * The level restarts if a creature enters a pit, or if no beats are left.
//! * The level is won when every nest holds a creature that listens to the interval of its colour.

mod beat;
mod draw;
mod levels;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use crate::flash::flash;
use beat::{Call, Cell, Creatures, Field, Interval, Lights, MAX_CREATURES, advanced, bit, calls};
use draw::Mark;

const FACTS: Facts = Facts {
    id: "ur63-v1",
    baselines: &[
        Baseline::from_optimum(7),
        Baseline::from_optimum(11),
        Baseline::from_optimum(11),
        Baseline::from_optimum(12),
        Baseline::from_optimum(15),
        Baseline::from_optimum(15),
        Baseline::from_optimum(19),
        Baseline::from_optimum(22),
    ],
    actions: ActionSet::ARROWS.with(ActionKind::Action5),
    tags: &["keyboard"],
    frames_per_second: 10,
    seeded: false,
    solutions: include_str!("ur63/solutions.txt"),
};

pub(crate) struct Ur63;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    field: Field,
    start: Board,
    /// The cells of the nests, and the intervals of their colours.
    nests: Vec<(Cell, Interval)>,
    background: Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    lights: Lights,
    creatures: Creatures,
    /// The number of beats left; 0 if there is no limit.
    beats: u8,
}

impl Level {
    fn is_filled(&self, creatures: &Creatures, (cell, interval): (Cell, Interval)) -> bool {
        (0..self.field.count).any(|creature| {
            creatures.cells[creature] == cell && creatures.intervals[creature] == interval
        })
    }

    fn is_won(&self, creatures: &Creatures) -> bool {
        self.nests
            .iter()
            .all(|&nest| self.is_filled(creatures, nest))
    }

    const fn is_limited(&self) -> bool {
        self.start.beats > 0
    }
}

impl Game for Ur63 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Board;
    type Spent = ();

    fn level(index: LevelIndex, _seed: u64) -> Level {
        levels::level(index)
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: level.start,
            spent: (),
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let board = &mut state.board;
        let key = Direction::of(action);
        let calls = key.map_or([Call::None; MAX_CREATURES], |key| {
            calls(&level.field, &board.lights, &board.creatures, key)
        });
        if let Some(key) = key {
            sink.frame(|frame| draw::calling(level, board, key, &calls, frame));
            if calls != [Call::None; MAX_CREATURES] {
                sink.frame(|frame| draw::moving(level, board, key, &calls, frame));
            }
        }
        board.lights = advanced(&board.lights, key);
        level.field.apply(&mut board.creatures, &calls);
        board.beats = board.beats.saturating_sub(1);
        let creatures = board.creatures;
        let mut cells = creatures.cells[..level.field.count].iter();
        if let Some(&cell) = cells.find(|&&cell| level.field.pits & bit(cell) != 0) {
            blink(level, board, Mark::Pit(cell), sink);
            *board = level.start;
        } else if level.is_won(&creatures) {
            blink(level, board, Mark::Nests, sink);
            return Outcome::LevelWon;
        } else if level.is_limited() && board.beats == 0 {
            blink(level, board, Mark::Beats, sink);
            *board = level.start;
        }
        Outcome::Continue
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::settled(level, &state.board, frame);
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        let board = &state.board;
        for lamp in board.lights {
            packer.put(u64::from(lamp), 3);
        }
        for (cell, interval) in board.creatures.cells.iter().zip(board.creatures.intervals) {
            packer.put(u64::from(*cell), 6);
            packer.put(interval as u64, 2);
        }
        packer.put(u64::from(board.beats), 6);
        packer.finish()
    }

    fn unpack(level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let mut board = level.start;
        board.beats = fields.take_u8(6);
        for creature in (0..MAX_CREATURES).rev() {
            board.creatures.intervals[creature] = Interval::ALL[fields.take(2) as usize];
            board.creatures.cells[creature] = fields.take_u8(6);
        }
        for lamp in board.lights.iter_mut().rev() {
            *lamp = fields.take_u8(3);
        }
        Some(State { board, spent: () })
    }
}

/// Blinks `mark`, which shows a win or a restart.
fn blink(level: &Level, board: &Board, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, board, frame),
        |frame| draw::mark(level, mark, frame),
    );
}
