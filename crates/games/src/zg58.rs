//! `zg58`: rubber bands around pegs decide which beads the keys move. Beads cannot cross a band.
//!
//! The rules:
//!
//! * A click on a free peg pulls its band over that peg. The band then also contains each of its
//!   other pegs that it encloses or touches. A click on a corner of the band lets it slip off that
//!   peg.
//! * An arrow key moves the beads inside the first band. Beads inside the second band move in the
//!   opposite direction. Beads inside both bands, or in no band, do not move. See [`band`].
//! * The game refuses a key that moves no bead, and every other click.
//! * The level is won when every bead is on its frame and in no band. It cannot be lost.
//!
//! The seed rotates and mirrors the levels. This does not change their optima.

mod band;
mod draw;
mod levels;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use crate::flash::flash;
use band::{BANDS, Band, Cell, CellSet, MAX_BEADS, PegSet, Step, bit, steps};
use draw::{Line, Mark};

const FACTS: Facts = Facts {
    id: "zg58-v1",
    baselines: &[
        Baseline::from_optimum(5),
        Baseline::from_optimum(9),
        Baseline::from_optimum(10),
        Baseline::from_optimum(11),
        Baseline::from_optimum(11),
        Baseline::from_optimum(12),
        Baseline::from_optimum(14),
        Baseline::from_optimum(15),
    ],
    actions: ActionSet::ARROWS
        .with(ActionKind::Action6)
        .with(ActionKind::Action7),
    tags: &["keyboard_click"],
    frames_per_second: 10,
    seeded: true,
    solutions: include_str!("zg58/solutions.txt"),
};

pub(crate) struct Zg58;

/// The data that does not change while a level is played.
#[derive(Clone)]
pub(crate) struct Level {
    /// The second band has no pegs in levels with one band.
    bands: Arc<[Band; BANDS]>,
    /// The line of each band around each set of pegs.
    lines: Arc<[Vec<Line>; BANDS]>,
    rocks: CellSet,
    /// The number of beads.
    count: usize,
    start: Board,
    /// The frame of each bead.
    frames: [Cell; MAX_BEADS],
    background: Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    /// The pegs that each band encloses.
    enclosed: [PegSet; BANDS],
    beads: [Cell; MAX_BEADS],
}

impl Level {
    /// Returns the cells inside each band.
    fn inside(&self, board: &Board) -> [CellSet; BANDS] {
        std::array::from_fn(|band| self.bands[band].shape(board.enclosed[band]).inside)
    }

    /// Returns whether a bead is on its frame and in no band.
    fn is_home(&self, board: &Board, bead: usize) -> bool {
        let [first, second] = self.inside(board);
        let cell = board.beads[bead];
        cell == self.frames[bead] && (first | second) & bit(cell) == 0
    }
}

impl Game for Zg58 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Board;
    type Spent = ();

    fn level(index: LevelIndex, seed: u64) -> Level {
        levels::level(index, seed)
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
        match (Direction::of(action), action) {
            (Some(key), _) => move_beads(level, board, key, sink),
            (None, Action::Action6 { x, y }) => click(level, board, x, y, sink),
            _ => return Outcome::Continue,
        }
        if (0..level.count).all(|bead| level.is_home(board, bead)) {
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
        level
            .bands
            .iter()
            .flat_map(|band| band.pegs.iter().map(|&peg| draw::pixel(peg)))
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        for enclosed in state.board.enclosed {
            packer.put(u64::from(enclosed), 8);
        }
        for bead in state.board.beads {
            packer.put(u64::from(bead), 6);
        }
        packer.finish()
    }

    fn unpack(level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let mut board = level.start;
        for bead in board.beads.iter_mut().rev() {
            *bead = fields.take_u8(6);
        }
        for enclosed in board.enclosed.iter_mut().rev() {
            *enclosed = fields.take_u8(8);
        }
        Some(State { board, spent: () })
    }
}

/// Moves the beads that are inside exactly one band. If none of them can move, shows the obstacles.
fn move_beads(level: &Level, board: &mut Board, key: Direction, sink: &mut impl FrameSink) {
    let steps = steps(
        level.rocks,
        level.inside(board),
        &board.beads,
        level.count,
        key,
    );
    if !steps.iter().any(|step| matches!(step, Step::Moves(_))) {
        let is_held = steps.iter().any(|step| *step != Step::Still);
        let mark = if is_held {
            Mark::Stopped(steps)
        } else {
            Mark::Bands
        };
        blink(level, board, mark, sink);
        return;
    }
    sink.frame(|frame| draw::moving(level, board, &steps, frame));
    for (bead, step) in board.beads.iter_mut().zip(steps) {
        if let Step::Moves(goal) = step {
            *bead = goal;
        }
    }
}

/// Pulls a band over the clicked peg or lets it slip off.
fn click(level: &Level, board: &mut Board, x: u8, y: u8, sink: &mut impl FrameSink) {
    let Some((band, peg)) = draw::peg_at(level, x, y) else {
        blink(level, board, Mark::Border, sink);
        return;
    };
    let Some(enclosed) = level.bands[band].toggled(board.enclosed[band], peg) else {
        blink(level, board, Mark::Peg(band, peg), sink);
        return;
    };
    sink.frame(|frame| draw::touched(level, board, band, peg, frame));
    board.enclosed[band] = enclosed;
    sink.frame(|frame| draw::touched(level, board, band, peg, frame));
}

/// Blinks `mark`, which shows the reason for a refusal, or a win.
fn blink(level: &Level, board: &Board, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, board, frame),
        |frame| draw::mark(level, board, mark, frame),
    );
}
