// The game that several examples in the engine's documentation use. They include this file.
//
// Both levels are a counter that starts at 0. ACTION1 adds one, ACTION2 adds two and shows one
// animation frame, ACTION5 loses the level, ACTION7 is undo. A level is won at 3 or more. Every
// action and every undo adds one to `spent`, which undo does not restore.

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Facts, Frame, FrameSink, Game, LevelIndex, Outcome,
    State, StateOf,
};

struct Counter;

impl Game for Counter {
    const FACTS: Facts = Facts {
        id: "cnt0-v1",
        baselines: &[Baseline::from_optimum(2), Baseline::from_optimum(2)],
        actions: ActionSet::of(&[
            ActionKind::Action1,
            ActionKind::Action2,
            ActionKind::Action5,
            ActionKind::Action7,
        ]),
        tags: &["keyboard"],
        frames_per_second: 10,
        seeded: false,
        solutions: "1 2\n2 1",
    };

    type Level = u8;
    type Board = u8;
    type Spent = u32;

    fn level(index: LevelIndex, _seed: u64) -> u8 {
        index.0
    }

    fn start(_level: &u8) -> StateOf<Self> {
        State { board: 0, spent: 0 }
    }

    fn step(
        _level: &u8,
        state: &mut StateOf<Self>,
        action: Action,
        sink: &mut impl FrameSink,
    ) -> Outcome {
        state.spent += 1;
        match action {
            Action::Action1 => state.board += 1,
            Action::Action2 => {
                sink.frame(|frame| frame.clear(15));
                state.board += 2;
            }
            _ => return Outcome::GameOver,
        }
        if state.board >= 3 {
            Outcome::LevelWon
        } else {
            Outcome::Continue
        }
    }

    fn draw(level: &u8, state: &StateOf<Self>, frame: &mut Frame) {
        frame.clear(*level);
        frame.set(0, 0, state.board + 8);
    }

    fn on_undo(
        _level: &u8,
        state: &mut StateOf<Self>,
        _restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        state.spent += 1;
        Outcome::Continue
    }
}
