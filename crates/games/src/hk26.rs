//! hk26: beings that want each other's tokens; a ring of the bell lets every closed loop of wants trade at once.
//!
//! The player walks one being at a time (keys), chooses which (click) and rings (ACTION5). Who wants whose token follows
//! from where the beings stand and is always drawn: a hand reaches from each being to the neighbour it would take from.
//!
//! What this file does not know: how wants are computed (`wants.rs`), what the levels are (`levels.rs`), pictures (`draw.rs`).

mod draw;
mod levels;
mod wants;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    Packer, State, StateOf, Unpacker,
};
use serde::{Deserialize, Serialize};

use self::draw::View;
use self::levels::Level;
use self::wants::Wants;

/// The most beings a level may have.
const MOST: usize = 8;

/// The squares of the board with a closed rim round them, so that a step never leaves the array.
const STRIDE: usize = 9;
const SQUARES: usize = STRIDE * 8;

/// How far the next square is in that array: up, right, down, left. Between equally good neighbours the first wins.
const AHEAD: [u8; 4] = [
    (STRIDE as u8).wrapping_neg(),
    1,
    STRIDE as u8,
    1_u8.wrapping_neg(),
];

/// The square next to one inside the rim.
#[inline]
const fn next_to(square: u8, direction: usize) -> u8 {
    square.wrapping_add(AHEAD[direction])
}

/// Barter.
pub(crate) struct Hk26;

/// Where everybody stands, what each holds, and who walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    /// The square of each being.
    square: [u8; MOST],
    /// The colour of the token each holds.
    token: [u8; MOST],
    /// The being that the keys move.
    chosen: u8,
}

impl Game for Hk26 {
    const FACTS: Facts = Facts {
        id: "hk26-v1",
        baselines: &[
            Baseline::solved(7),
            Baseline::solved(17),
            Baseline::solved(22),
            Baseline::solved(20),
            Baseline::solved(25),
            Baseline::solved(27),
            Baseline::solved(23),
            Baseline::solved(41),
        ],
        actions: ActionSet::ARROWS
            .with(ActionKind::Action5)
            .with(ActionKind::Action6)
            .with(ActionKind::Action7),
        tags: &["keyboard_click"],
        frames_per_second: 12,
        seeded: false,
        solutions: include_str!("hk26/solutions.txt"),
    };

    type Level = Level;
    type Board = Board;
    /// How many actions are left before the level is lost.
    type Spent = u16;

    fn level(index: LevelIndex, _seed: u64) -> Level {
        Level::new(&levels::ALL[index.get()])
    }

    fn start(level: &Level) -> StateOf<Self> {
        State {
            board: level.start,
            spent: level.budget,
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        match action {
            Action::Action1 => walk(level, state, 0, sink),
            Action::Action4 => walk(level, state, 1, sink),
            Action::Action2 => walk(level, state, 2, sink),
            Action::Action3 => walk(level, state, 3, sink),
            Action::Action5 => ring(level, state, sink),
            Action::Action6 { x, y } => choose(level, state, x, y, sink),
            Action::Reset | Action::Action7 => Outcome::Going,
        }
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        View::of(level, state).settled(frame);
    }

    fn undone(
        _level: &Level,
        state: &mut StateOf<Self>,
        _restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        state.spent = state.spent.saturating_sub(1);
        if state.spent == 0 {
            Outcome::GameOver
        } else {
            Outcome::Going
        }
    }

    #[inline]
    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        let others = (0..level.count)
            .filter(|&being| being != usize::from(state.board.chosen) && level.walks(being));
        others.map(|being| draw::middle(state.board.square[being]))
    }

    #[inline]
    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        packer.put_bytes(state.board.square, 7);
        packer.put_bytes(state.board.token, 4);
        packer.put(u64::from(state.board.chosen), 3);
        packer.put(u64::from(state.spent), 16);
        packer.finish()
    }

    #[inline]
    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let (spent, chosen) = (fields.take(16) as u16, fields.take_u8(3));
        let (token, square) = (fields.take_bytes(4), fields.take_bytes(7));
        Some(State {
            board: Board {
                square,
                token,
                chosen,
            },
            spent,
        })
    }
}

/// Moves the chosen being by one square, or shows what is in its way.
fn walk(
    level: &Level,
    state: &mut StateOf<Hk26>,
    direction: usize,
    sink: &mut impl FrameSink,
) -> Outcome {
    let chosen = usize::from(state.board.chosen);
    let square = state.board.square[chosen];
    let goal = next_to(square, direction);
    let free =
        level.is_open(square, direction) && !state.board.square[..level.count].contains(&goal);
    if !free {
        draw::bump(level, state, direction, sink);
        return Outcome::Going;
    }
    let before = state.clone();
    state.board.square[chosen] = goal;
    draw::slide(level, &before, state, direction, sink);
    charge(level, state, sink)
}

/// Lets every closed loop of wants trade.
fn ring(level: &Level, state: &mut StateOf<Hk26>, sink: &mut impl FrameSink) -> Outcome {
    let wants = Wants::of(level, &state.board);
    if wants.in_loop == 0 {
        draw::refusal(level, state, &wants, sink);
    } else {
        draw::trade(level, state, &wants, sink);
        state.board.token = wants.traded(&state.board.token, level.count);
    }
    charge(level, state, sink)
}

/// Makes the being under the click the one that walks.
fn choose(
    level: &Level,
    state: &mut StateOf<Hk26>,
    x: u8,
    y: u8,
    sink: &mut impl FrameSink,
) -> Outcome {
    let clicked = draw::square_at(x, y);
    let being = clicked.and_then(|square| {
        state.board.square[..level.count]
            .iter()
            .position(|&taken| taken == square)
    });
    match being {
        Some(being) if being != usize::from(state.board.chosen) && level.walks(being) => {
            state.board.chosen = being as u8;
            draw::greeting(level, state, sink);
            charge(level, state, sink)
        }
        _ => {
            draw::idle_click(level, state, x, y, sink);
            Outcome::Going
        }
    }
}

/// Pays for an action, and tells whether it ended the level.
fn charge(level: &Level, state: &mut StateOf<Hk26>, sink: &mut impl FrameSink) -> Outcome {
    state.spent -= 1;
    if level.is_won(&state.board) {
        draw::triumph(level, state, sink);
        Outcome::LevelWon
    } else if state.spent == 0 {
        draw::exhaustion(level, state, sink);
        Outcome::GameOver
    } else {
        Outcome::Going
    }
}
