//! The game that the fixtures are derived from: a combination lock with a lamp.
//!
//! Arrow keys enter a code of twelve digits. A wrong digit returns to the start of the code, and
//! thirty mistakes lose the level. The last digit is accepted only while the lamp is lit; a click
//! toggles the lamp. Undo restores digits and the lamp, but not mistakes. The const parameter of
//! [`Lock`] selects a fault.

use std::hash::{Hash, Hasher};
use std::sync::Mutex;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    State, StateOf,
};
use serde::{Deserialize, Serialize};

pub(crate) const SOUND: u8 = 0;
pub(crate) const HIDDEN: u8 = 1;
pub(crate) const FORGETFUL_UNDO: u8 = 2;
pub(crate) const MASHABLE: u8 = 3;
pub(crate) const SOFT_LOCK: u8 = 4;
pub(crate) const UNSOLVABLE: u8 = 5;
pub(crate) const SECRET_CLICK: u8 = 6;
pub(crate) const LEAK: u8 = 7;
pub(crate) const CORNER_PANIC: u8 = 8;
pub(crate) const LOW_BASELINE: u8 = 9;
pub(crate) const ONE_CELL: u8 = 10;
pub(crate) const ALIKE: u8 = 11;
pub(crate) const UNUSED_ACTION: u8 = 12;
pub(crate) const SHORTCUT: u8 = 13;
pub(crate) const DETOUR: u8 = 14;
pub(crate) const THREE_LEVELS: u8 = 15;
pub(crate) const WRONG_SOLUTION: u8 = 16;
pub(crate) const NO_TAGS: u8 = 17;
pub(crate) const COLOUR_16: u8 = 18;
pub(crate) const LATE_COLOUR: u8 = 19;
pub(crate) const DRIFT: u8 = 20;
pub(crate) const STILL: u8 = 21;

const CODES: [&str; 6] = [
    "124",
    "133241124232",
    "242113432413",
    "314422131324",
    "421334212431",
    "113244231342",
];
const MISTAKES: u8 = 30;
const LAMP: (u8, u8) = (50, 50);
const STUCK: u8 = 100;

pub(crate) struct Lock<const F: u8>;

pub(crate) struct Level {
    index: u8,
    code: Vec<u8>,
}

/// The part of the state that undo restores. The faults `HIDDEN` and `DRIFT` omit the field
/// `hidden` from the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Board<const F: u8> {
    entered: u8,
    lit: bool,
    hidden: u8,
}

impl<const F: u8> Hash for Board<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.entered, self.lit).hash(state);
        if F != HIDDEN && F != DRIFT {
            self.hidden.hash(state);
        }
    }
}

static LEAKED: Mutex<Vec<[u8; 4096]>> = Mutex::new(Vec::new());

const fn baselines(fault: u8) -> &'static [Baseline] {
    const SOUND_ONES: [Baseline; 6] = [
        Baseline::from_optimum(4),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
        Baseline::from_optimum(13),
    ];
    match fault {
        MASHABLE => {
            const {
                &[
                    Baseline::from_optimum(4),
                    Baseline::from_optimum(3),
                    Baseline::from_optimum(3),
                    SOUND_ONES[3],
                    SOUND_ONES[4],
                    SOUND_ONES[5],
                ]
            }
        }
        LOW_BASELINE => {
            const {
                &[
                    SOUND_ONES[0],
                    SOUND_ONES[1],
                    Baseline::from_optimum(5),
                    SOUND_ONES[3],
                    SOUND_ONES[4],
                    SOUND_ONES[5],
                ]
            }
        }
        THREE_LEVELS => const { &[SOUND_ONES[0], SOUND_ONES[1], SOUND_ONES[2]] },
        ONE_CELL => const { &[Baseline::from_optimum(9); 6] },
        _ => const { &SOUND_ONES },
    }
}

const fn solutions(fault: u8) -> &'static str {
    match fault {
        MASHABLE => {
            "6@50,50 1 2 4\n6@50,50 1 3\n6@50,50 2 4\n6@50,50 3 1 4 4 2 2 1 3 1 3 2 4\n6@50,50 4 2 1 3 3 4 2 1 2 4 3 1\n6@50,50 1 1 3 2 4 4 2 3 1 3 4 2"
        }
        SHORTCUT => {
            "6@50,50 1 2 4\n6@50,50 1 3 3 2 4 1 1 2 4 2 3 2\n6@50,50 2 4 2 1 1 3 4 3 2 4 1 3\n6@50,50 3 1 4 4 2 2 1 3 1 3 2 4\n6@50,50 3 1 4 4 2 2 1 3 1 3 2 4\n6@50,50 1 1 3 2 4 4 2 3 1 3 4 2"
        }
        DETOUR => {
            "6@50,50 1 2 4\n6@50,50 6@50,50 6@50,50 1 3 3 2 4 1 1 2 4 2 3 2\n6@50,50 2 4 2 1 1 3 4 3 2 4 1 3\n6@50,50 3 1 4 4 2 2 1 3 1 3 2 4\n6@50,50 4 2 1 3 3 4 2 1 2 4 3 1\n6@50,50 1 1 3 2 4 4 2 3 1 3 4 2"
        }
        WRONG_SOLUTION => {
            "6@50,50 1 2 4\n6@50,50 1 3 3 2 4 1 1 2 4 2 3 1\n6@50,50 2 4 2 1 1 3 4 3 2 4 1 3\n6@50,50 3 1 4 4 2 2 1 3 1 3 2 4\n6@50,50 4 2 1 3 3 4 2 1 2 4 3 1\n6@50,50 1 1 3 2 4 4 2 3 1 3 4 2"
        }
        ONE_CELL => {
            "6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50\n6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50\n6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50\n6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50\n6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50\n6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50 6@50,50"
        }
        THREE_LEVELS => {
            "6@50,50 1 2 4\n6@50,50 1 3 3 2 4 1 1 2 4 2 3 2\n6@50,50 2 4 2 1 1 3 4 3 2 4 1 3"
        }
        _ => {
            "6@50,50 1 2 4\n6@50,50 1 3 3 2 4 1 1 2 4 2 3 2\n6@50,50 2 4 2 1 1 3 4 3 2 4 1 3\n6@50,50 3 1 4 4 2 2 1 3 1 3 2 4\n6@50,50 4 2 1 3 3 4 2 1 2 4 3 1\n6@50,50 1 1 3 2 4 4 2 3 1 3 4 2"
        }
    }
}

const fn actions(fault: u8) -> ActionSet {
    let keys = ActionSet::ARROWS.with(ActionKind::Action6);
    match fault {
        SOFT_LOCK => keys,
        UNUSED_ACTION => keys.with(ActionKind::Action5).with(ActionKind::Action7),
        ONE_CELL => ActionSet::of(&[ActionKind::Action6]),
        _ => keys.with(ActionKind::Action7),
    }
}

impl<const F: u8> Game for Lock<F> {
    const FACTS: Facts = Facts {
        id: "lk00-v1",
        baselines: baselines(F),
        actions: actions(F),
        tags: if F == NO_TAGS {
            &[]
        } else {
            &["keyboard_click"]
        },
        frames_per_second: 10,
        seeded: false,
        solutions: solutions(F),
    };

    type Level = Level;
    type Board = Board<F>;
    type Spent = u8;

    fn level(index: LevelIndex, _seed: u64) -> Level {
        let code = match (F, index.0) {
            (MASHABLE, 1 | 2) => &CODES[index.get()][..2],
            (SHORTCUT, 4) => CODES[3],
            _ => CODES[index.get()],
        };
        Level {
            index: index.0,
            code: code.bytes().map(|digit| digit - b'0').collect(),
        }
    }

    fn start(_level: &Level) -> StateOf<Self> {
        State {
            board: Board {
                entered: 0,
                lit: false,
                hidden: 0,
            },
            spent: 0,
        }
    }

    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if F == LEAK {
            // Enough to be measured, but limited to keep the test process small.
            let mut leaked = LEAKED.lock().unwrap();
            if leaked.len() < 8_000 {
                leaked.push([action.kind().id(); 4096]);
            }
        }
        let board = &mut state.board;
        if let Action::Action6 { x, y } = action {
            assert!(
                F != CORNER_PANIC || (x, y) != (63, 63),
                "no cell at the corner"
            );
            if F == SECRET_CLICK && x < 16 && y < 16 && board.entered > 0 {
                board.entered -= 1;
            }
            if F == DRIFT && (x, y) == (0, 0) {
                board.hidden = 1;
            }
            let reach = if F == ONE_CELL { 1 } else { 4 };
            if x.abs_diff(LAMP.0) < reach && y.abs_diff(LAMP.1) < reach {
                board.lit = !board.lit;
                if F == ONE_CELL {
                    board.entered += 1;
                    return if board.entered == 9 {
                        Outcome::LevelWon
                    } else {
                        Outcome::Continue
                    };
                }
            }
            return Outcome::Continue;
        }
        if board.entered == STUCK || action == Action::Action5 {
            return Outcome::Continue;
        }
        let due = level.code[usize::from(board.entered)];
        let due = if F == HIDDEN && board.hidden == 1 {
            due % 4 + 1
        } else {
            due
        };
        let last = usize::from(board.entered) + 1 == level.code.len();
        if action.kind().id() != due || last && !board.lit {
            if F == HIDDEN && board.entered > 0 {
                board.hidden = 1 - board.hidden;
            }
            board.entered = if F == SOFT_LOCK && board.entered == 5 {
                STUCK
            } else {
                0
            };
            state.spent += 1;
            return if state.spent == MISTAKES {
                Outcome::GameOver
            } else {
                Outcome::Continue
            };
        }
        if last {
            if F == UNSOLVABLE && level.index == 3 {
                board.entered = 0;
                return Outcome::Continue;
            }
            board.entered += 1;
            sink.frame(|frame| frame.clear(14));
            return Outcome::LevelWon;
        }
        board.entered += 1;
        Outcome::Continue
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        let Board {
            entered,
            lit,
            hidden,
        } = state.board;
        frame.clear(5);
        let (width, height) = if F == STILL || F == ONE_CELL {
            (1, 1)
        } else {
            (4, 4)
        };
        let shown = if entered == STUCK {
            0
        } else {
            usize::from(entered)
        };
        for digit in 0..shown {
            frame.rect(2 + digit * 5, 10, width, height, 11);
        }
        let size = if F == STILL || F == ONE_CELL { 1 } else { 7 };
        frame.rect(
            usize::from(LAMP.0) - 3,
            usize::from(LAMP.1) - 3,
            size,
            size,
            if lit { 11 } else { 2 },
        );
        if F != STILL && F != ONE_CELL {
            frame.rect(0, 63, usize::from(MISTAKES - state.spent), 1, 8);
        }
        if F != ALIKE {
            frame.rect(2, 30, 5 + 5 * usize::from(level.index), 6, 1 + level.index);
        }
        if F == COLOUR_16 && level.index == 1 || F == LATE_COLOUR && state.spent > 10 {
            frame.set(60, 60, 16);
        }
        if F == DRIFT && hidden == 1 {
            frame.set(60, 60, 3);
        }
    }

    fn on_undo(
        _level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        if F == FORGETFUL_UNDO && restored {
            state.board.lit = false;
        }
        Outcome::Continue
    }

    fn clicks(_level: &Level, _state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        [LAMP].into_iter()
    }
}
