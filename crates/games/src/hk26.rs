//! `hk26`: beings exchange tokens along closed loops of wants.
//!
//! The rules:
//!
//! * Arrow keys move the chosen being by one square. A click chooses another being. ACTION5 rings
//!   the bell.
//! * Each being wants the token of at most one neighbour; see [`wants`]. A hand is drawn from each
//!   being to the neighbour whose token it wants.
//! * When the bell rings, all beings in a closed loop of wants trade at once: each receives the
//!   token that it wants. A level allows a few rings. A bell without a closed loop is refused and
//!   not counted.
//! * The level is won when every shrine has a being on it that holds a token of the shrine's
//!   colour. It cannot be lost; undo restores the rings, too.
//!
//! Other files compute the wants (`wants.rs`), define the levels (`levels.rs`) and draw them
//! (`draw.rs`).

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

/// The maximum number of beings in a level.
const MAX_BEINGS: usize = 8;

/// The squares of the board are stored with a closed border around them, so that a step never
/// leaves the array.
const STRIDE: usize = 9;
const SQUARES: usize = STRIDE * 8;

/// The offsets of the neighbouring squares in that array: up, right, down, left. If a being likes
/// the tokens of several neighbours equally, it prefers the first neighbour in this order.
const AHEAD: [u8; 4] = [
    (STRIDE as u8).wrapping_neg(),
    1,
    STRIDE as u8,
    1_u8.wrapping_neg(),
];

/// Returns the neighbour of a square inside the border.
#[inline]
const fn next_to(square: u8, direction: usize) -> u8 {
    square.wrapping_add(AHEAD[direction])
}

pub(crate) struct Hk26;

/// The position and token of every being, and the chosen being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    square: [u8; MAX_BEINGS],
    /// The colour of the token that each being holds.
    token: [u8; MAX_BEINGS],
    /// The being that the keys move.
    chosen: u8,
    /// The number of rings left.
    rings: u8,
}

impl Game for Hk26 {
    const FACTS: Facts = Facts {
        id: "hk26-v1",
        baselines: &[
            Baseline::from_optimum(7),
            Baseline::from_optimum(24),
            Baseline::from_optimum(22),
            Baseline::from_optimum(20),
            Baseline::from_optimum(25),
            Baseline::from_optimum(27),
            Baseline::from_optimum(23),
            Baseline::from_optimum(31),
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
    type Spent = ();

    fn level(index: LevelIndex, _seed: u64) -> Level {
        Level::new(&levels::ALL[index.get()])
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
        match action {
            Action::Action1 => walk(level, state, 0, sink),
            Action::Action4 => walk(level, state, 1, sink),
            Action::Action2 => walk(level, state, 2, sink),
            Action::Action3 => walk(level, state, 3, sink),
            Action::Action5 => ring(level, state, sink),
            Action::Action6 { x, y } => choose(level, state, x, y, sink),
            Action::Reset | Action::Action7 => Outcome::Continue,
        }
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        View::of(level, state).settled(frame);
    }

    fn on_undo(
        level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if !restored {
            draw::nothing_to_undo(level, state, sink);
        }
        Outcome::Continue
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
        packer.put(u64::from(state.board.rings), 4);
        packer.finish()
    }

    #[inline]
    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        let mut fields = Unpacker::new(packed);
        let (rings, chosen) = (fields.take_u8(4), fields.take_u8(3));
        let (token, square) = (fields.take_bytes(4), fields.take_bytes(7));
        Some(State {
            board: Board {
                square,
                token,
                chosen,
                rings,
            },
            spent: (),
        })
    }
}

/// Moves the chosen being by one square. If the way is blocked, shows the obstacle.
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
        return Outcome::Continue;
    }
    let before = state.clone();
    state.board.square[chosen] = goal;
    draw::slide(level, &before, state, direction, sink);
    outcome(level, state, sink)
}

/// Rings the bell: every closed loop of wants trades. Without a closed loop, or without rings left,
/// the bell is refused.
fn ring(level: &Level, state: &mut StateOf<Hk26>, sink: &mut impl FrameSink) -> Outcome {
    let wants = Wants::of(level, &state.board);
    if wants.in_loop == 0 || state.board.rings == 0 {
        draw::refusal(level, state, &wants, sink);
        return Outcome::Continue;
    }
    draw::trade(level, state, &wants, sink);
    state.board.token = wants.traded(&state.board.token, level.count);
    state.board.rings -= 1;
    outcome(level, state, sink)
}

/// Makes the being under the click the chosen one. Any other click changes nothing.
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
            Outcome::Continue
        }
        _ => {
            draw::idle_click(level, state, x, y, sink);
            Outcome::Continue
        }
    }
}

/// Returns the outcome of an action that changed positions or tokens.
fn outcome(level: &Level, state: &StateOf<Hk26>, sink: &mut impl FrameSink) -> Outcome {
    if level.is_won(&state.board) {
        draw::triumph(level, state, sink);
        Outcome::LevelWon
    } else {
        Outcome::Continue
    }
}
