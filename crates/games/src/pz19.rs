//! `pz19`: fold a sheet of paper, punch through all its layers, and make exactly the marked holes
//! with a limited number of punches.
//!
//! The rules:
//!
//! * An arrow key rolls the last fold further if that fold has the same direction, and starts a new
//!   fold otherwise. ACTION5 opens the last fold. A click punches through all layers at that place,
//!   up to the first plate.
//! * A hole at an unmarked cell ruins the sheet. The sheet is also ruined if a marked hole is still
//!   missing when the punches are used up. A spare sheet replaces a ruined one; the third ruined
//!   sheet loses the level.
//! * The level is won when exactly the marked holes are made.
//!
//! Levels are generated from the seed. The optimum of a level is the same for every seed; see
//! [`levels`].
//!
//! **Invariant:** after a step, a board has no hole at an unmarked cell, because a ruined sheet is
//! replaced within the step.

mod draw;
mod levels;
mod paper;
mod search;
mod sheet;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use draw::Canvas;
use paper::{Cells, Folds, cells_of};
use sheet::Sheet;

pub(crate) struct Pz19;

/// The number of sheets that a player has for a level. A packed state stores the sheets left in two
/// bits.
const SHEETS: u8 = 3;
const _: () = assert!(SHEETS < 4);

/// A level: the sheet and its background images.
pub(crate) struct Level {
    sheet: Sheet,
    canvas: Canvas,
}

/// The current sheet, including the punches left for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    /// The open cells of the sheet, including those that are open from the start.
    open: Cells,
    folds: Folds,
    punches: u8,
}

/// The number of sheets left, including the current one. It is not part of the board, because it
/// does not affect the shortest solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Sheets(u8);

impl Game for Pz19 {
    const FACTS: Facts = Facts {
        id: "pz19-v1",
        baselines: &[
            Baseline::from_optimum(levels::LEVELS[0].optimum),
            Baseline::from_optimum(levels::LEVELS[1].optimum),
            Baseline::from_optimum(levels::LEVELS[2].optimum),
            Baseline::from_optimum(levels::LEVELS[3].optimum),
            Baseline::from_optimum(levels::LEVELS[4].optimum),
            Baseline::from_optimum(levels::LEVELS[5].optimum),
            Baseline::from_optimum(levels::LEVELS[6].optimum),
            Baseline::from_optimum(levels::LEVELS[7].optimum),
        ],
        actions: ActionSet::ARROWS
            .with(ActionKind::Action5)
            .with(ActionKind::Action6),
        tags: &["keyboard_click"],
        frames_per_second: 8,
        seeded: true,
        solutions: include_str!("pz19/solutions.txt"),
    };

    type Level = Level;
    type Board = Board;
    type Spent = Sheets;

    fn level(index: LevelIndex, seed: u64) -> Level {
        let sheet = levels::sheet(index, seed);
        Level {
            sheet,
            canvas: Canvas::new(&sheet),
        }
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: fresh(&level.sheet),
            spent: Sheets(SHEETS),
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        match action {
            Action::Action6 { x, y } => return punch(level, state, (x, y), sink),
            Action::Action5 => open(level, state, sink),
            _ => {
                if let Some(toward) = Direction::of(action) {
                    roll(level, state, toward, sink);
                }
            }
        }
        Outcome::Continue
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        level.canvas.settled(&level.sheet, state, frame);
    }

    /// Returns every place where a punch makes only marked holes, and, if there is one, a place
    /// where it makes an unmarked hole. All punches of the second kind have the same effect: the
    /// sheet is ruined.
    #[inline]
    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        let look = level
            .sheet
            .look(&state.board.folds, state.board.open, false);
        let wrong = look.wrong & look.wrong.wrapping_neg();
        cells_of(look.right & !look.wrong | wrong).map(|place| level.canvas.middle_of(place))
    }

    #[inline]
    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put(state.board.open, 64);
        packer.put(
            u64::from(state.board.punches) << 2 | u64::from(state.spent.0),
            10,
        );
        state.board.folds.pack(&mut packer);
        packer.finish()
    }

    #[inline]
    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let folds = Folds::unpack(&mut fields);
        let (sheets, punches, open) = (fields.take_u8(2), fields.take_u8(8), fields.take(64));
        Some(State {
            board: Board {
                open,
                folds,
                punches,
            },
            spent: Sheets(sheets),
        })
    }
}

fn fresh(sheet: &Sheet) -> Board {
    Board {
        open: sheet.gaps,
        folds: Folds::NONE,
        punches: sheet.punches,
    }
}

fn roll(level: &Level, state: &mut StateOf<Pz19>, toward: Direction, sink: &mut impl FrameSink) {
    let (canvas, sheet, before) = (&level.canvas, &level.sheet, state.board.folds);
    match before.rolled(toward, sheet.size) {
        Ok(folds) => {
            state.board.folds = folds;
            sink.frame(|frame| canvas.lifted(sheet, state, frame));
        }
        Err(refusal) => sink.frame(|frame| canvas.refused(sheet, state, refusal, toward, frame)),
    }
}

fn open(level: &Level, state: &mut StateOf<Pz19>, sink: &mut impl FrameSink) {
    let (canvas, sheet) = (&level.canvas, &level.sheet);
    match state.board.folds.opened() {
        Some(folds) => {
            sink.frame(|frame| canvas.lifted(sheet, state, frame));
            state.board.folds = folds;
        }
        None => sink.frame(|frame| canvas.nothing_to_open(sheet, state, frame)),
    }
}

fn punch(
    level: &Level,
    state: &mut StateOf<Pz19>,
    click: (u8, u8),
    sink: &mut impl FrameSink,
) -> Outcome {
    let (canvas, sheet) = (&level.canvas, &level.sheet);
    let place = canvas.place_of(click);
    let holes =
        place.map_or(0, |(x, y)| sheet.punched(&state.board.folds, x, y)) & !state.board.open;
    let Some(place) = place.filter(|_| holes != 0) else {
        sink.frame(|frame| canvas.missed(sheet, state, click, frame));
        return Outcome::Continue;
    };
    sink.frame(|frame| canvas.punching(sheet, state, place, frame));
    state.board.open |= holes;
    state.board.punches -= 1;
    sink.frame(|frame| canvas.punched(sheet, state, holes, frame));
    let wrong = state.board.open & !sheet.finished();
    let missing = sheet.finished() & !state.board.open;
    if wrong == 0 && missing == 0 {
        unfold(level, state, sink);
        sink.frame(|frame| canvas.finished(sheet, state, 0, frame));
        sink.frame(|frame| canvas.finished(sheet, state, 1, frame));
        return Outcome::LevelWon;
    }
    if wrong == 0 && state.board.punches > 0 {
        return Outcome::Continue;
    }
    state.board.folds = Folds::NONE;
    for lit in [true, false] {
        let blinking = if wrong != 0 { wrong } else { missing };
        sink.frame(|frame| canvas.ruined(sheet, state, blinking, lit, frame));
    }
    if state.spent.0 > 1 {
        for moved in [false, true] {
            sink.frame(|frame| canvas.spare_taken(sheet, state, moved, frame));
        }
    }
    state.board = fresh(sheet);
    state.spent.0 -= 1;
    if state.spent.0 == 0 {
        Outcome::GameOver
    } else {
        Outcome::Continue
    }
}

/// Opens all folds of a finished sheet, one after the other.
fn unfold(level: &Level, state: &mut StateOf<Pz19>, sink: &mut impl FrameSink) {
    while !state.board.folds.list().is_empty() {
        sink.frame(|frame| level.canvas.lifted(&level.sheet, state, frame));
        state.board.folds = state.board.folds.unfolded();
        sink.frame(|frame| level.canvas.settled(&level.sheet, state, frame));
    }
}
