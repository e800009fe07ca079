//! `iv71`: the player steers one creature, and all others repeat their own last two moves.
//!
//! The rules:
//!
//! * A click on a tame creature selects it. No time passes.
//! * An arrow key replaces the next move of the selected creature. Then all creatures try their
//!   next moves at the same time; see [`habit`]. A creature remembers two moves and alternates
//!   between them. The habit of a steered creature therefore consists of the last two keys.
//! * A creature that runs into another one takes over its habit. Wild creatures cannot be selected,
//!   but they take over habits like all others.
//! * A creature that enters a pit falls, and the level starts again. Undo restores everything.
//! * The level is won when every creature is on its own nest in the same turn.

mod draw;
mod habit;
mod levels;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use crate::flash::flash;
use draw::Mark;
use habit::{Cell, CellSet, Creatures, Habit, MAX_CREATURES, Step, bit, turn};

const FACTS: Facts = Facts {
    id: "iv71-v1",
    baselines: &[
        Baseline::from_optimum(5),
        Baseline::from_optimum(12),
        Baseline::from_optimum(15),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
        Baseline::from_optimum(17),
        Baseline::from_optimum(19),
    ],
    actions: ActionSet::ARROWS
        .with(ActionKind::Action6)
        .with(ActionKind::Action7),
    tags: &["keyboard_click"],
    frames_per_second: 12,
    seeded: false,
    solutions: include_str!("iv71/solutions.txt"),
};

pub(crate) struct Iv71;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    walls: CellSet,
    pits: CellSet,
    /// The number of creatures.
    count: usize,
    /// Which creatures cannot be selected.
    wild: [bool; MAX_CREATURES],
    /// The nest of each creature.
    nests: [Cell; MAX_CREATURES],
    start: Creatures,
    background: Frame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    creatures: Creatures,
    selected: u8,
}

impl Level {
    fn is_home(&self, creatures: &Creatures, creature: usize) -> bool {
        creatures.cells[creature] == self.nests[creature]
    }

    /// Returns the creature on a cell.
    fn creature_at(&self, creatures: &Creatures, cell: Cell) -> Option<usize> {
        (0..self.count).find(|&creature| creatures.cells[creature] == cell)
    }
}

impl Game for Iv71 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Board;
    type Spent = ();

    fn level(index: LevelIndex, _seed: u64) -> Level {
        levels::level(index)
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: first_board(level),
            spent: (),
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        match (Direction::of(action), action) {
            (Some(direction), _) => play_turn(level, &mut state.board, direction, sink),
            (None, Action::Action6 { x, y }) => {
                select(level, &mut state.board, x, y, sink);
                Outcome::Continue
            }
            _ => Outcome::Continue,
        }
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
            blink(level, &state.board, Mark::Rim, sink);
        }
        Outcome::Continue
    }

    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        let Board {
            creatures,
            selected,
        } = state.board;
        (0..level.count)
            .filter(move |&creature| creature != usize::from(selected) && !level.wild[creature])
            .map(move |creature| draw::middle(creatures.cells[creature]))
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        let Board {
            creatures,
            selected,
        } = state.board;
        for (cell, habit) in creatures.cells.into_iter().zip(creatures.habits) {
            packer.put(u64::from(cell), 6);
            packer.put(habit.next as u64, 2);
            packer.put(habit.then as u64, 2);
        }
        packer.put(u64::from(selected), 2);
        packer.finish()
    }

    fn unpack(level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let selected = fields.take_u8(2);
        let mut creatures = level.start;
        for creature in (0..MAX_CREATURES).rev() {
            let then = Direction::ALL[fields.take(2) as usize];
            let next = Direction::ALL[fields.take(2) as usize];
            creatures.habits[creature] = Habit { next, then };
            creatures.cells[creature] = fields.take_u8(6);
        }
        Some(State {
            board: Board {
                creatures,
                selected,
            },
            spent: (),
        })
    }
}

const fn first_board(level: &Level) -> Board {
    Board {
        creatures: level.start,
        selected: 0,
    }
}

/// Steers the selected creature, then plays one turn of all creatures.
fn play_turn(
    level: &Level,
    board: &mut Board,
    direction: Direction,
    sink: &mut impl FrameSink,
) -> Outcome {
    board.creatures.habits[usize::from(board.selected)].next = direction;
    let turn = turn(level.walls, level.count, &board.creatures);
    sink.frame(|frame| draw::intent(level, board, frame));
    sink.frame(|frame| draw::halfway(level, board, &turn, frame));
    let copies = |step: &Step| matches!(step, Step::Creature(_));
    if turn.steps.iter().any(copies) {
        for part in 1..=draw::COPY_FRAMES {
            sink.frame(|frame| draw::copying(level, board, &turn, part, frame));
        }
    }
    board.creatures = turn.after;
    let fallen = (0..level.count)
        .filter(|&creature| level.pits & bit(board.creatures.cells[creature]) != 0)
        .fold(0, |set, creature| set | bit(creature as Cell));
    if fallen != 0 {
        for part in 0..draw::FALL_FRAMES {
            sink.frame(|frame| draw::falling(level, board, fallen, part, frame));
        }
        *board = first_board(level);
        return Outcome::Continue;
    }
    if (0..level.count).all(|creature| level.is_home(&board.creatures, creature)) {
        blink(level, board, Mark::Nests, sink);
        return Outcome::LevelWon;
    }
    Outcome::Continue
}

/// Selects the tame creature under a click. Any other click is refused.
fn select(level: &Level, board: &mut Board, x: u8, y: u8, sink: &mut impl FrameSink) {
    let clicked = draw::cell_at(x, y);
    match clicked.and_then(|cell| level.creature_at(&board.creatures, cell)) {
        Some(creature) if !level.wild[creature] && creature != usize::from(board.selected) => {
            board.selected = creature as u8;
        }
        Some(creature) => blink(level, board, Mark::Creature(creature), sink),
        None => blink(level, board, Mark::Rim, sink),
    }
}

/// Blinks `mark`, which shows the reason for a refusal, or a win.
fn blink(level: &Level, board: &Board, mark: Mark, sink: &mut impl FrameSink) {
    flash(
        sink,
        |frame| draw::settled(level, board, frame),
        |frame| draw::mark(level, board, mark, frame),
    );
}
