//! `zc67`: passengers pull a raft towards their homes, and the raft moves in the direction with the
//! most pulls.
//!
//! The rules:
//!
//! * A plain passenger pulls once horizontally and once vertically towards its home, and a big
//!   passenger twice. An echo pulls once in the direction of the player's vote, and a contrarian
//!   twice in the opposite direction.
//! * An arrow key is the player's vote, and ACTION5 is an abstention. The raft moves in the
//!   direction with the most pulls, as long as this direction stays the same; see [`crew`]. The
//!   game refuses the key if there is a tie, or if a rock is ahead.
//! * A passenger gets off at its home. A click on a passenger blindfolds it, and another click
//!   takes the blindfold off. There is only one blindfold. A blindfolded passenger neither pulls
//!   nor gets off.
//! * If the raft enters a hole, the level is lost.
//! * The level is won when every passenger is at home.

mod crew;
mod draw;
mod levels;
#[cfg(test)]
mod tests;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Direction, Facts, Frame, FrameSink, Game, LevelIndex,
    Outcome, Packer, State, StateOf, Unpacker,
};

use crate::flash::flash;
use crew::{Board, NO_PASSENGER, Run, Sea, run};
use draw::Mark;

const FACTS: Facts = Facts {
    id: "zc67-v1",
    baselines: &[
        Baseline::from_optimum(5),
        Baseline::from_optimum(10),
        Baseline::from_optimum(12),
        Baseline::from_optimum(10),
        Baseline::from_optimum(12),
        Baseline::from_optimum(13),
        Baseline::from_optimum(14),
        Baseline::from_optimum(15),
    ],
    actions: ActionSet::ARROWS
        .with(ActionKind::Action5)
        .with(ActionKind::Action6)
        .with(ActionKind::Action7),
    tags: &["keyboard_click"],
    frames_per_second: 12,
    seeded: false,
    solutions: include_str!("zc67/solutions.txt"),
};

pub(crate) struct Zc67;

/// The data that does not change while a level is played.
pub(crate) struct Level {
    sea: Sea,
    start: Board,
    background: Frame,
}

impl Game for Zc67 {
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
        match action {
            Action::Action6 { x, y } => {
                blindfold(level, board, x, y, sink);
                Outcome::Continue
            }
            Action::Reset | Action::Action7 => Outcome::Continue,
            key => vote(level, board, Direction::of(key), sink),
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
            blink(level, &state.board, None, Mark::Panel, sink);
        }
        Outcome::Continue
    }

    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        let board = state.board;
        (0..level.sea.passengers.len())
            .filter(move |&passenger| board.is_aboard(passenger))
            .map(draw::seat_middle)
    }

    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put(u64::from(state.board.raft), 7);
        packer.put(u64::from(state.board.aboard), 5);
        packer.put(u64::from(state.board.blindfolded), 3);
        packer.finish()
    }

    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let (blindfolded, aboard) = (fields.take_u8(3), fields.take_u8(5));
        Some(State {
            board: Board {
                raft: fields.take_u8(7),
                aboard,
                blindfolded,
            },
            spent: (),
        })
    }
}

/// Counts the pulls together with the player's vote, and moves the raft. `None` is an abstention.
fn vote(
    level: &Level,
    board: &mut Board,
    vote: Option<Direction>,
    sink: &mut impl FrameSink,
) -> Outcome {
    let before = *board;
    sink.frame(|frame| draw::voting(level, &before, vote, frame));
    let end = run(&level.sea, board, vote, |board| {
        sink.frame(|frame| draw::voting(level, board, vote, frame));
    });
    match end {
        Run::Tie => blink(level, board, vote, Mark::Tie, sink),
        Run::Blocked(rock) => blink(level, board, vote, Mark::Cell(rock), sink),
        Run::Ended => {}
        Run::Lost => {
            blink(level, board, vote, Mark::Cell(board.raft), sink);
            return Outcome::GameOver;
        }
    }
    if board.aboard == 0 {
        blink(level, board, None, Mark::Homes, sink);
        return Outcome::LevelWon;
    }
    Outcome::Continue
}

/// Gives the blindfold to the passenger under a click, or takes it off. Any other click is refused.
fn blindfold(level: &Level, board: &mut Board, x: u8, y: u8, sink: &mut impl FrameSink) {
    let clicked = draw::passenger_at(level, x, y);
    match clicked.filter(|&passenger| board.is_aboard(passenger)) {
        Some(passenger) if board.is_blindfolded(passenger) => board.blindfolded = NO_PASSENGER,
        Some(passenger) => board.blindfolded = passenger as u8,
        None => blink(level, board, None, Mark::Panel, sink),
    }
}

/// Blinks `mark`, which shows the reason for a refusal, a win or a loss.
fn blink(
    level: &Level,
    board: &Board,
    vote: Option<Direction>,
    mark: Mark,
    sink: &mut impl FrameSink,
) {
    flash(
        sink,
        |frame| draw::voting(level, board, vote, frame),
        |frame| draw::mark(level, board, vote, mark, frame),
    );
}
