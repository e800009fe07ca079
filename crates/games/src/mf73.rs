//! `mf73`: one temperature for a whole box decides which drops are frozen, which flow and which
//! rise.
//!
//! The rules:
//!
//! * ACTION1 and ACTION2 change the temperature by one degree. ACTION3 and ACTION4 lean the box to
//!   the left and to the right.
//! * Each substance has its own melting and boiling point. Frozen drops never move, not even in
//!   mid-air. After every action, the liquid drops fall and the gaseous drops rise until nothing
//!   moves; see [`settle()`].
//! * Heating burns one block of fuel. Cooling and leaning are free. An action that would change
//!   nothing is refused.
//! * The level is won when, at rest, every vessel holds a drop of its substance, in any phase.
//! * A drop that leaves through a vent, or a burnt last block of fuel, costs a life and restarts the
//!   level. The level is lost when no lives are left. Undo restores everything except lives.

mod draw;
mod levels;
mod settle;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use crate::flash::flash;
use draw::Mark;
use settle::{Cell, Drops, Lean, MAX_DROPS, Room, settle};

const FACTS: Facts = Facts {
    id: "mf73-v1",
    baselines: &[
        Baseline::from_optimum(3),
        Baseline::from_optimum(14),
        Baseline::from_optimum(14),
        Baseline::from_optimum(13),
        Baseline::from_optimum(11),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
        Baseline::from_optimum(18),
    ],
    actions: ActionSet::ARROWS.with(ActionKind::Action7),
    tags: &["keyboard"],
    frames_per_second: 12,
    seeded: false,
    solutions: include_str!("mf73/solutions.txt"),
};

pub(crate) struct Mf73;

/// The number of lives at the start of a level.
const LIVES: u8 = 3;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    room: Room,
    /// The highest temperature; the lowest is 0.
    hottest: u8,
    /// The number of blocks of fuel; 0 if heating is free.
    fuel: u8,
    /// The number of substances that occur.
    substance_count: usize,
    /// The height of the room in cells.
    rows: usize,
    start: Drops,
    /// The vessels: their cells and the substances that they must hold.
    vessels: Vec<(Cell, usize)>,
    /// The background at each temperature.
    backgrounds: Vec<Frame>,
}

impl Level {
    /// Returns whether the level can take a life.
    const fn is_dangerous(&self) -> bool {
        self.fuel > 0 || self.room.vents != 0
    }

    fn is_filled(&self, drops: &Drops, (cell, substance): (Cell, usize)) -> bool {
        (0..self.room.drop_count)
            .any(|drop| drops[drop] == cell && self.room.substances[drop] == substance)
    }

    fn is_won(&self, drops: &Drops) -> bool {
        self.vessels
            .iter()
            .all(|&vessel| self.is_filled(drops, vessel))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    temperature: u8,
    /// The blocks of fuel left; constant in a level in which heating is free.
    fuel: u8,
    drops: Drops,
}

impl Game for Mf73 {
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
        let before = state.board;
        let lean = match Direction::of(action) {
            Some(Direction::Up) if before.temperature < level.hottest => {
                state.board.temperature += 1;
                state.board.fuel = before.fuel.saturating_sub(1);
                if level.fuel > 0 {
                    sink.frame(|frame| draw::burning(level, state, frame));
                }
                Lean::None
            }
            Some(Direction::Down) if before.temperature > 0 => {
                state.board.temperature -= 1;
                Lean::None
            }
            Some(Direction::Left) => Lean::Left,
            Some(Direction::Right) => Lean::Right,
            _ => {
                blink(level, state, Mark::EndOfScale, sink);
                return Outcome::Continue;
            }
        };
        let temperature = state.board.temperature;
        let mut drops = before.drops;
        let lost = settle(&level.room, &mut drops, temperature, lean, |drops| {
            state.board.drops = *drops;
            sink.frame(|frame| draw::moving(level, state, lean, frame));
        });
        state.board.drops = drops;
        if let Some(drop) = lost {
            blink(level, state, Mark::LostDrop(drop), sink);
            return restart(level, state, sink);
        }
        if state.board == before {
            blink(level, state, Mark::Stopped(lean), sink);
            return Outcome::Continue;
        }
        if level.is_won(&drops) {
            blink(level, state, Mark::Vessels, sink);
            return Outcome::LevelWon;
        }
        if level.fuel > 0 && state.board.fuel == 0 {
            blink(level, state, Mark::Fuel, sink);
            return restart(level, state, sink);
        }
        Outcome::Continue
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
            blink(level, state, Mark::Stopped(Lean::None), sink);
        }
        Outcome::Continue
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put(u64::from(state.spent), 2);
        packer.put(u64::from(state.board.temperature), 3);
        packer.put(u64::from(state.board.fuel), 4);
        for drop in state.board.drops {
            packer.put(u64::from(drop), 7);
        }
        packer.finish()
    }

    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let mut drops = [0; MAX_DROPS];
        for drop in drops.iter_mut().rev() {
            *drop = fields.take_u8(7);
        }
        let (fuel, temperature) = (fields.take_u8(4), fields.take_u8(3));
        Some(State {
            board: Board {
                temperature,
                fuel,
                drops,
            },
            spent: fields.take_u8(2),
        })
    }
}

const fn first_board(level: &Level) -> Board {
    Board {
        temperature: 0,
        fuel: level.fuel,
        drops: level.start,
    }
}

/// Takes a life and restarts the level, or ends it with the lost position in view.
fn restart(level: &Level, state: &mut StateOf<Mf73>, sink: &mut impl FrameSink) -> Outcome {
    blink(level, state, Mark::Life, sink);
    state.spent -= 1;
    if state.spent == 0 {
        return Outcome::GameOver;
    }
    state.board = first_board(level);
    Outcome::Continue
}

/// Shows the reason of a refusal, a win or a loss.
fn blink(level: &Level, state: &StateOf<Mf73>, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, state, frame),
        |frame| draw::mark(level, state, mark, frame),
    );
}
