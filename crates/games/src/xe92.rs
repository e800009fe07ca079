//! `xe92`: a cell that grows on a crystal also grows at every place to which the crystal's own
//! symmetry maps it.
//!
//! The rules:
//!
//! * A click on an empty cell next to a crystal grows a cell there and at all its images. A click on
//!   a crystal melts that cell and all its images. The images are those under the symmetries that
//!   the crystal has before the click; see [`crystal`].
//! * Nothing grows on rock or outside the board. Crystals that touch become one crystal. A crystal
//!   must not melt away completely or break into two; such a click is refused.
//! * Every click that is not refused costs one pip. Without pips, all clicks are refused. Undo gives
//!   the pip back.
//! * The level is won when the crystal cells are exactly the marked cells. A level cannot be lost.
//!
//! The seed turns and mirrors the levels, which does not change their optima.

mod crystal;
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
use crystal::{CELLS, CellSet, Click, Effect, cells, neighbours};
use draw::Look;

const FACTS: Facts = Facts {
    id: "xe92-v1",
    baselines: &[
        Baseline::from_optimum(levels::LEVELS[0].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[1].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[2].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[3].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[4].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[5].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[6].optimum as u32),
        Baseline::from_optimum(levels::LEVELS[7].optimum as u32),
    ],
    actions: ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]),
    tags: &["click"],
    frames_per_second: 10,
    seeded: true,
    solutions: include_str!("xe92/solutions.txt"),
};

pub(crate) struct Xe92;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    rocks: CellSet,
    start: CellSet,
    wanted: CellSet,
    /// The number of clicks that a player has.
    pips: u8,
    background: Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    /// The cells of all crystals.
    ice: CellSet,
    pips: u8,
}

impl Game for Xe92 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Board;
    type Spent = ();

    fn level(index: LevelIndex, seed: u64) -> Level {
        levels::level(index, seed)
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: Board {
                ice: level.start,
                pips: level.pips,
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
        let Some(cell) = draw::cell_at(x, y) else {
            show_refusal(level, board, Look::Outside, sink);
            return Outcome::Continue;
        };
        if board.pips == 0 {
            show_refusal(level, board, Look::NoPips, sink);
            return Outcome::Continue;
        }
        let click = Click::new(board.ice, level.rocks, cell);
        if click.effect == Effect::Refused {
            show_refusal(level, board, Look::Refused(click.refusing), sink);
            return Outcome::Continue;
        }
        show_images(level, board, &click, sink);
        board.ice = click.after;
        board.pips -= 1;
        if board.ice == level.wanted {
            flash(
                sink,
                |frame| draw::settled(level, board, frame),
                |frame| draw::won(board, frame),
            );
            return Outcome::LevelWon;
        }
        if board.pips == 0 {
            show_refusal(level, board, Look::NoPips, sink);
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
            show_refusal(level, &state.board, Look::Outside, sink);
        }
        Outcome::Continue
    }

    /// Returns every cell whose click changes something.
    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        let Board { ice, pips } = state.board;
        let near = (ice | neighbours(ice)) & !level.rocks;
        cells(if pips == 0 { 0 } else { near })
            .filter(move |&cell| Click::new(ice, level.rocks, cell).effect != Effect::Refused)
            .map(draw::middle_of)
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put_set(state.board.ice, 0, CELLS);
        packer.put(u64::from(state.board.pips), 4);
        packer.finish()
    }

    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let pips = fields.take_u8(4);
        Some(State {
            board: Board {
                ice: fields.take_set(0, CELLS),
                pips,
            },
            spent: (),
        })
    }
}

/// Shows the clicked cell and then its images, one in each frame.
fn show_images<S: FrameSink>(level: &Level, board: &Board, click: &Click, sink: &mut S) {
    if !S::DRAWS {
        return;
    }
    let images = click.images();
    for shown in 1..=images.len() {
        sink.frame(|frame| draw::images(level, board, &images[..shown], frame));
    }
}

fn show_refusal(level: &Level, board: &Board, look: Look, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, board, frame),
        |frame| draw::refused(level, board, look, frame),
    );
}
