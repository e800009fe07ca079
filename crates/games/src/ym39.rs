//! `ym39`: creatures that come to whom they look at, and then look where it looks.
//!
//! A click calls the creature under it. Whoever sees the called one walks up to it and takes over its gaze; the called one
//! itself does not move. The coloured creatures have to be brought to the nests of their colours, with all others as
//! waymarks. What a call does to the creatures is in `herd`, the levels are in `levels`, the pictures in `draw`.

mod draw;
mod herd;
mod levels;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    Packer, State, StateOf, Unpacker,
};

use herd::{Answer, Call, Cell, Herd, Kind, Land};

const FACTS: Facts = Facts {
    id: "ym39-v1",
    baselines: &[
        Baseline::solved(4),
        Baseline::solved(8),
        Baseline::solved(9),
        Baseline::solved(9),
        Baseline::solved(10),
        Baseline::solved(12),
        Baseline::solved(13),
        Baseline::solved(16),
    ],
    actions: ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]),
    tags: &["click"],
    frames_per_second: 10,
    seeded: false,
    solutions: include_str!("ym39/solutions.txt"),
};

/// The game's type.
pub(crate) struct Ym39;

/// The most nests in one level.
const NESTS: usize = 3;

/// A level: the land, its nests, where the creatures begin, and the picture of all that stays.
pub(crate) struct Level {
    land: Land,
    nests: [(Cell, Kind); NESTS],
    nest_count: usize,
    start: Herd,
    background: Frame,
}

impl Level {
    #[inline]
    fn nests(&self) -> &[(Cell, Kind)] {
        &self.nests[..self.nest_count]
    }

    /// Whether a creature of the nest's colour sits in the nest.
    #[inline]
    fn is_home(&self, herd: &Herd, (cell, kind): (Cell, Kind)) -> bool {
        herd.those_at(cell) & self.land.those_of(kind) != 0
    }

    #[inline]
    fn is_won(&self, herd: &Herd) -> bool {
        self.nests().iter().all(|&nest| self.is_home(herd, nest))
    }
}

impl Game for Ym39 {
    const FACTS: Facts = FACTS;

    type Level = Level;
    type Board = Herd;
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

    #[inline]
    fn step(
        level: &Level,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        let Action::Action6 { x, y } = action else {
            return Outcome::Going;
        };
        let herd = &mut state.board;
        let call = Call::new(&level.land, herd, draw::cell_at(x, y));
        if call.is_idle() {
            show_gazes(level, herd, call.cell, sink);
            return Outcome::Going;
        }
        answer(level, herd, &call, sink)
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::draw(level, &state.board, frame);
    }

    fn undone(
        level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if !restored {
            // Nobody has moved yet: everybody looks, and nobody was called.
            sink.frame(|frame| {
                draw::draw(level, &state.board, frame);
                draw::draw_all_gazes(level, &state.board, frame);
            });
        }
        Outcome::Going
    }

    #[inline]
    fn clicks(level: &Level, state: &StateOf<Self>) -> impl Iterator<Item = (u8, u8)> {
        state
            .board
            .first(level.land.count)
            .map(|creature| draw::MIDDLES[usize::from(creature.cell)])
    }

    #[inline]
    fn pack(_level: &Level, state: &StateOf<Self>) -> Option<u128> {
        let mut packer = Packer::new();
        state.board.pack(&mut packer);
        packer.finish()
    }

    #[inline]
    fn unpack(_level: &Level, packed: u128) -> Option<StateOf<Self>> {
        Some(State {
            board: Herd::unpack(&mut Unpacker::new(packed)),
            spent: (),
        })
    }
}

/// Those who see the called creature walk and look along, a restless one turns, and sleepers wake.
#[inline]
fn answer<S: FrameSink>(level: &Level, herd: &mut Herd, call: &Call, sink: &mut S) -> Outcome {
    let answer = herd::answer(&level.land, herd, call, S::DRAWS);
    let turns = call.turning != 0;
    if answer.is_empty() && !turns {
        show_gazes(level, herd, call.cell, sink);
        return Outcome::Going;
    }
    show_call(level, herd, &answer, call.cell, sink);
    if S::DRAWS {
        (1..=answer.longest()).for_each(|steps| {
            show_called(level, &herd::walked(herd, &answer, steps), call.cell, sink)
        });
    }
    *herd = answer.arrived;
    if turns {
        if !answer.is_empty() {
            // Those who came are seen to look along before the called one looks elsewhere.
            show_called(level, herd, call.cell, sink);
        }
        herd::turn(herd, call.turning);
    }
    let asleep = *herd;
    if herd::wake(herd, &answer) {
        show_called(level, &asleep, call.cell, sink);
    }
    if !level.is_won(herd) {
        return Outcome::Going;
    }
    for wide in [true, false, true] {
        sink.frame(|frame| {
            draw::draw(level, herd, frame);
            draw::draw_shining(level, wide, frame);
        });
    }
    Outcome::LevelWon
}

/// The called one lights up, and with it the gazes of those who see it.
fn show_call(level: &Level, herd: &Herd, answer: &Answer, cell: Cell, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        draw::draw(level, herd, frame);
        for walk in answer.walks() {
            draw::draw_gaze(level, herd, walk.who(), frame);
        }
        draw::draw_called(frame, cell);
    });
}

fn show_called(level: &Level, herd: &Herd, cell: Cell, sink: &mut impl FrameSink) {
    sink.frame(|frame| {
        draw::draw(level, herd, frame);
        draw::draw_called(frame, cell);
    });
}

/// Nobody answers: the clicked place lights up and all gazes are shown, none of which ends there.
fn show_gazes(level: &Level, herd: &Herd, cell: Cell, sink: &mut impl FrameSink) {
    for lit in [true, false] {
        sink.frame(|frame| {
            draw::draw(level, herd, frame);
            draw::draw_all_gazes(level, herd, frame);
            if lit {
                draw::draw_called(frame, cell);
            }
        });
    }
}
