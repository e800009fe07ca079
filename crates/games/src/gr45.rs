//! `gr45`: creatures walk to where they believe a fruit is, and the player decides what they see.
//!
//! The rules:
//!
//! * A click on a bowl moves the fruit there, if a tube joins it to the bowl of the fruit.
//!   Creatures do not see into tubes.
//! * A click on a curtain, a window or the knob of a lid toggles everything on the same cord: open
//!   things close, and closed things open.
//! * A click on a creature sends it to where it believes the fruit is. A creature that finds the
//!   fruit eats it. Then the game refuses every click, and only undo or RESET helps.
//! * All creatures look around after every action, and after every room of a walk; see [`minds`].
//! * The level is won when every creature is in its goal room and the fruit is in its goal bowl.

mod draw;
mod levels;
mod minds;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    Packer, State, StateOf, Unpacker,
};

use crate::flash::flash;
use draw::{Mark, Target};
use minds::{Board, House, MAX_CORDS, MAX_CREATURES, Room, Walk, look, walk};

const FACTS: Facts = Facts {
    id: "gr45-v1",
    baselines: &[
        Baseline::from_optimum(3),
        Baseline::from_optimum(9),
        Baseline::from_optimum(8),
        Baseline::from_optimum(11),
        Baseline::from_optimum(11),
        Baseline::from_optimum(12),
        Baseline::from_optimum(12),
        Baseline::from_optimum(15),
    ],
    actions: ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]),
    tags: &["click"],
    frames_per_second: 8,
    seeded: false,
    solutions: include_str!("gr45/solutions.txt"),
};

pub(crate) struct Gr45;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    house: House,
    start: Board,
    /// The room whose bowl the fruit must reach.
    fruit_goal: Room,
    /// The room that each creature must reach.
    goals: [Room; MAX_CREATURES],
    cord_colors: [u8; MAX_CORDS],
    background: Frame,
}

impl Level {
    fn is_won(&self, board: &Board) -> bool {
        board.fruit == self.fruit_goal && board.rooms == self.goals
    }
}

impl Game for Gr45 {
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
        let Action::Action6 { x, y } = action else {
            return Outcome::Continue;
        };
        let board = &mut state.board;
        let house = &level.house;
        if board.is_eaten() {
            blink(level, board, Mark::Eater, sink);
            return Outcome::Continue;
        }
        match draw::target_at(level, board, x, y) {
            Some(Target::Bowl(room)) if house.is_joined(board.fruit, room) => {
                draw::ride(level, board, room, sink);
                board.fruit = room;
            }
            Some(Target::Cord(cord)) => board.pulled ^= 1 << cord,
            Some(Target::Creature(creature)) => return send(level, board, creature, sink),
            other => {
                blink(
                    level,
                    board,
                    other.map_or(Mark::Outside, Mark::Target),
                    sink,
                );
                return Outcome::Continue;
            }
        }
        let before = *board;
        look(house, board);
        if board.beliefs != before.beliefs {
            sink.frame(|frame| draw::changing(level, &before, board, frame));
        }
        end_turn(level, board, sink)
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::settled(level, &state.board, frame);
    }

    fn on_undo(
        level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if !restored {
            blink(level, &state.board, Mark::Outside, sink);
        }
        Outcome::Continue
    }

    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        draw::targets(level, &state.board)
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        let board = &state.board;
        packer.put(u64::from(board.fruit), 4);
        packer.put(u64::from(board.eater), 4);
        for room in board.rooms.into_iter().chain(board.beliefs) {
            packer.put(u64::from(room), 4);
        }
        packer.put(u64::from(board.pulled), 8);
        packer.finish()
    }

    fn unpack(level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let mut board = level.start;
        board.pulled = fields.take_u8(8);
        let rooms = board.beliefs.iter_mut().rev();
        for room in rooms.chain(board.rooms.iter_mut().rev()) {
            *room = fields.take_u8(4);
        }
        board.eater = fields.take_u8(4);
        board.fruit = fields.take_u8(4);
        Some(State { board, spent: () })
    }
}

/// Sends a creature to where it believes the fruit is.
fn send(level: &Level, board: &mut Board, creature: usize, sink: &mut impl FrameSink) -> Outcome {
    let end = walk(&level.house, board, creature, |before, after| {
        sink.frame(|frame| draw::changing(level, before, after, frame));
        sink.frame(|frame| draw::settled(level, after, frame));
    });
    match end {
        Walk::Refused => {
            blink(level, board, Mark::Target(Target::Creature(creature)), sink);
            Outcome::Continue
        }
        Walk::Stopped => end_turn(level, board, sink),
        Walk::Ate => {
            board.eater = creature as u8;
            draw::meal(level, board, sink);
            Outcome::Continue
        }
    }
}

fn end_turn(level: &Level, board: &Board, sink: &mut impl FrameSink) -> Outcome {
    if level.is_won(board) {
        blink(level, board, Mark::Goals, sink);
        return Outcome::LevelWon;
    }
    Outcome::Continue
}

/// Blinks `mark`, which shows the reason for a refusal, or a win.
fn blink(level: &Level, board: &Board, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, board, frame),
        |frame| draw::mark(level, board, mark, frame),
    );
}
