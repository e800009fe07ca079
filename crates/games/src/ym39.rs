//! `ym39`: a called creature attracts the creatures that look at it, and they adopt its gaze.
//!
//! The rules:
//!
//! * A click calls the creature under it. Every creature that sees the called one walks up to it
//!   and then looks in the same direction. The called creature does not move.
//! * Shy, restless and sleeping creatures behave differently; see [`herd`].
//! * The level is won when every nest contains a creature of its colour. A level cannot be lost.
//!
//! The effect of a call is in `herd`, the levels are in `levels`, the drawing code is in `draw`.

mod draw;
mod herd;
mod levels;

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    Packer, State, StateOf, Unpacker,
};

use herd::{Call, Cell, Herd, Kind, Land, Responses};

const FACTS: Facts = Facts {
    id: "ym39-v1",
    baselines: &[
        Baseline::from_optimum(3),
        Baseline::from_optimum(8),
        Baseline::from_optimum(9),
        Baseline::from_optimum(9),
        Baseline::from_optimum(10),
        Baseline::from_optimum(12),
        Baseline::from_optimum(13),
        Baseline::from_optimum(16),
    ],
    actions: ActionSet::of(&[ActionKind::Action6, ActionKind::Action7]),
    tags: &["click"],
    frames_per_second: 10,
    seeded: false,
    solutions: include_str!("ym39/solutions.txt"),
};

pub(crate) struct Ym39;

/// The maximum number of nests in a level.
const MAX_NESTS: usize = 3;

/// A level: the land, its nests, the initial position of the creatures, and the background.
pub(crate) struct Level {
    land: Land,
    nests: [(Cell, Kind); MAX_NESTS],
    nest_count: usize,
    start: Herd,
    background: Frame,
}

impl Level {
    #[inline]
    fn nests(&self) -> &[(Cell, Kind)] {
        &self.nests[..self.nest_count]
    }

    /// Returns whether a creature of the nest's colour is in the nest.
    #[inline]
    fn is_home(&self, herd: &Herd, (cell, kind): (Cell, Kind)) -> bool {
        herd.creatures_at(cell) & self.land.creatures_of(kind) != 0
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
            return Outcome::Continue;
        };
        let herd = &mut state.board;
        let call = Call::new(&level.land, herd, draw::cell_at(x, y));
        if call.is_idle() {
            show_gazes(level, herd, call.cell, sink);
            return Outcome::Continue;
        }
        respond(level, herd, &call, sink)
    }

    fn draw(level: &Level, state: &StateOf<Self>, frame: &mut Frame) {
        draw::draw(level, &state.board, frame);
    }

    fn on_undo(
        level: &Level,
        state: &mut StateOf<Self>,
        restored: bool,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        if !restored {
            // There is nothing to undo: all gazes are shown, and no creature is marked as called.
            sink.frame(|frame| {
                draw::draw(level, &state.board, frame);
                draw::draw_all_gazes(level, &state.board, frame);
            });
        }
        Outcome::Continue
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

/// Executes a call: the creatures that see the called one walk and adopt its gaze, the called
/// creature turns if it is restless, and sleepers wake.
#[inline]
fn respond<S: FrameSink>(level: &Level, herd: &mut Herd, call: &Call, sink: &mut S) -> Outcome {
    let responses = herd::respond(&level.land, herd, call, S::DRAWS);
    let turns = call.turning != 0;
    if responses.is_empty() && !turns {
        show_gazes(level, herd, call.cell, sink);
        return Outcome::Continue;
    }
    show_call(level, herd, &responses, call.cell, sink);
    if S::DRAWS {
        (1..responses.longest()).for_each(|steps| {
            show_called(
                level,
                &herd::walked(herd, &responses, steps),
                call.cell,
                sink,
            );
        });
    }
    *herd = responses.arrived;
    let arrived = *herd;
    if turns {
        herd::turn(herd, call.turning);
    }
    herd::wake(herd, &responses);
    if *herd != arrived && !responses.is_empty() {
        // Show the adopted gazes before the called creature turns and sleepers wake.
        show_called(level, &arrived, call.cell, sink);
    }
    if !level.is_won(herd) {
        // Every call ends with all gazes, so that the next one can be planned without a failed
        // click.
        sink.frame(|frame| {
            draw::draw(level, herd, frame);
            draw::draw_all_gazes(level, herd, frame);
            draw::draw_called(frame, call.cell);
        });
        return Outcome::Continue;
    }
    for wide in [true, false, true] {
        sink.frame(|frame| {
            draw::draw(level, herd, frame);
            draw::draw_shining(level, wide, frame);
        });
    }
    Outcome::LevelWon
}

/// Lights up the called creature and the gazes of those that see it.
fn show_call(
    level: &Level,
    herd: &Herd,
    responses: &Responses,
    cell: Cell,
    sink: &mut impl FrameSink,
) {
    sink.frame(|frame| {
        draw::draw(level, herd, frame);
        for walk in responses.walks() {
            draw::draw_gaze(level, herd, walk.index(), frame);
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

/// Shows that a call had no effect: the clicked cell lights up and the gazes of all creatures are
/// drawn, which shows that none of them looks at a creature in the clicked cell.
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
