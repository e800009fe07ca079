//! `fm36`: every click is a breath about the clicked cell. Breaths alternate: a breath out doubles
//! the distance of every piece from that cell, and a breath in halves it.
//!
//! The rules:
//!
//! * A click on a live cell makes it the centre of the next breath; see [`breath`]. Breaths out and
//!   in alternate.
//! * A piece stays where it is if it would leave the board, land on a rock, land on a piece that
//!   stays, or land between cells.
//! * The game refuses a click on a rock or on inert floor, and a breath that moves no piece.
//! * The level is won when every piece is on its frame. It cannot be lost.

mod breath;
mod draw;
mod levels;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use crate::flash::flash;
use breath::{Breath, CellSet, Fate, Pieces, breathe, cells};
use draw::Mark;

const FACTS: Facts = Facts {
    id: "fm36-v1",
    baselines: &[
        Baseline::from_optimum(2),
        Baseline::from_optimum(4),
        Baseline::from_optimum(4),
        Baseline::from_optimum(4),
        Baseline::from_optimum(5),
        Baseline::from_optimum(6),
        Baseline::from_optimum(7),
        Baseline::from_optimum(8),
    ],
    actions: ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]),
    tags: &["click"],
    frames_per_second: 8,
    seeded: false,
    solutions: include_str!("fm36/solutions.txt"),
};

pub(crate) struct Fm36;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    rocks: CellSet,
    /// The cells that react to clicks.
    live: CellSet,
    /// The number of pieces.
    count: usize,
    start: Pieces,
    frames: Pieces,
    /// The backgrounds before a breath out and before a breath in.
    backgrounds: [Frame; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    pieces: Pieces,
    /// The breath of the next click.
    breath: Breath,
}

impl Game for Fm36 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Board;
    type Spent = ();

    fn level(index: LevelIndex, _seed: u64) -> Level {
        levels::level(index)
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: Board {
                pieces: level.start,
                breath: Breath::Out,
            },
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
        let Some(centre) = draw::cell_at(x, y) else {
            blink(level, board, Mark::Border, sink);
            return Outcome::Continue;
        };
        if level.live & centre.set() == 0 {
            blink(level, board, Mark::Cell(centre), sink);
            return Outcome::Continue;
        }
        let fates = breathe(
            level.rocks,
            &board.pieces,
            level.count,
            board.breath,
            centre,
        );
        for part in 1..=draw::BREATH_FRAMES {
            sink.frame(|frame| draw::breathing(level, board, centre, &fates, part, frame));
        }
        let mut has_moved = false;
        for (piece, fate) in board.pieces.iter_mut().zip(fates).take(level.count) {
            if let Fate::Moves(goal) = fate {
                *piece = goal;
                has_moved = true;
            }
        }
        if !has_moved {
            blink(level, board, Mark::Cell(centre), sink);
            return Outcome::Continue;
        }
        board.breath = board.breath.next();
        if board.pieces == level.frames {
            blink(level, board, Mark::Frames, sink);
            return Outcome::LevelWon;
        }
        Outcome::Continue
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
            blink(level, &state.board, Mark::Border, sink);
        }
        Outcome::Continue
    }

    fn clicks(level: &Level, _state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        cells(level.live).map(draw::middle)
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        for piece in state.board.pieces {
            packer.put(piece.x as u64, 4);
            packer.put(piece.y as u64, 4);
        }
        packer.put(u64::from(state.board.breath == Breath::In), 1);
        packer.finish()
    }

    fn unpack(level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let breath = if fields.take(1) == 1 {
            Breath::In
        } else {
            Breath::Out
        };
        let mut pieces = level.start;
        for piece in pieces.iter_mut().rev() {
            piece.y = fields.take_u8(4) as i8;
            piece.x = fields.take_u8(4) as i8;
        }
        Some(State {
            board: Board { pieces, breath },
            spent: (),
        })
    }
}

/// Blinks `mark`, which shows the reason for a refusal, or a win.
fn blink(level: &Level, board: &Board, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, board, frame),
        |frame| draw::mark(level, mark, frame),
    );
}
