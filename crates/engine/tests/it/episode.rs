//! The semantics of an episode, tested with a minimal game.

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Environment, Episode, Facts, Frame, FrameBuffer,
    FrameSink, Game, LevelIndex, NativeEnvironment, NoFrames, Outcome, PlayState, State, StateOf,
    Step,
};

/// A game with three levels, each a counter that starts at 0. ACTION1 adds one, ACTION2 adds two
/// and shows one animation frame, ACTION5 loses. The first two levels are won at 3, the third at
/// 1,000. Every action and every undo adds one to `spent`; an undo that brings it to 2,000 loses
/// the level.
struct Counter;

impl Game for Counter {
    const FACTS: Facts = Facts {
        id: "cnt0-v1",
        baselines: &[
            Baseline::from_optimum(2),
            Baseline::from_optimum(2),
            Baseline::from_optimum(2),
        ],
        actions: ActionSet::of(&[
            ActionKind::Action1,
            ActionKind::Action2,
            ActionKind::Action5,
            ActionKind::Action7,
        ]),
        tags: &["keyboard"],
        frames_per_second: 10,
        seeded: false,
        solutions: "",
    };

    type Level = u8;
    type Board = u32;
    type Spent = u32;

    fn level(index: LevelIndex, _seed: u64) -> u8 {
        index.0
    }

    fn start(_level: &u8) -> StateOf<Self> {
        State { board: 0, spent: 0 }
    }

    fn step(
        level: &u8,
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
        // The third level is long enough to exceed the undo ring.
        let goal = if *level == 2 { 1_000 } else { 3 };
        if state.board >= goal {
            Outcome::LevelWon
        } else {
            Outcome::Continue
        }
    }

    fn on_undo(
        _level: &u8,
        state: &mut StateOf<Self>,
        _restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        state.spent += 1;
        if state.spent >= 2_000 {
            Outcome::GameOver
        } else {
            Outcome::Continue
        }
    }

    fn draw(level: &u8, state: &StateOf<Self>, frame: &mut Frame) {
        frame.clear(*level);
        frame.set(0, 0, (state.board % 16) as u8);
    }
}

const COUNTED: Step = Step {
    counted: true,
    changed: true,
    full_reset: false,
};

fn play(episode: &mut Episode<Counter>, actions: &[Action]) {
    for &action in actions {
        episode.act(action, &mut NoFrames);
    }
}

fn acted(episode: &mut Episode<Counter>, action: Action) -> (Step, Vec<u8>) {
    let mut frames = FrameBuffer::default();
    let step = episode.act(action, &mut frames);
    (
        step,
        frames
            .frames()
            .iter()
            .map(|frame| frame.get(9, 9))
            .collect(),
    )
}

#[test]
fn winning_a_level_shows_its_settled_frame_and_the_next_level() {
    let mut episode = Episode::<Counter>::new(0);
    assert_eq!(acted(&mut episode, Action::Action1), (COUNTED, vec![0]));
    assert_eq!(
        acted(&mut episode, Action::Action2),
        (COUNTED, vec![15, 0, 1]),
        "animation frame, settled frame of the old level, first frame of the new level"
    );
    assert_eq!(
        (episode.level(), episode.completed(), episode.status()),
        (LevelIndex(1), 1, PlayState::NotFinished)
    );
}

#[test]
fn actions_after_a_win_are_ignored_and_reset_restarts_the_game() {
    let mut episode =
        Episode::<Counter>::at(Episode::<Counter>::new(0).levels().clone(), LevelIndex(2));
    for _ in 0..500 {
        episode.act(Action::Action2, &mut NoFrames);
    }
    assert_eq!((episode.status(), episode.completed()), (PlayState::Win, 3));
    let key = episode.key();
    let (step, frames) = acted(&mut episode, Action::Action1);
    assert_eq!(
        (step.counted, step.changed, frames.len()),
        (false, false, 0)
    );
    assert_eq!((episode.key(), episode.completed()), (key, 3));
    // RESET after a win restarts the whole game and does not count as an action.
    assert_eq!(
        acted(&mut episode, Action::Reset),
        (
            Step {
                counted: false,
                changed: true,
                full_reset: true
            },
            vec![0]
        )
    );
    assert_eq!(
        (episode.level(), episode.completed(), episode.status()),
        (LevelIndex(0), 0, PlayState::NotFinished)
    );
}

#[test]
fn reset_restarts_the_level_and_a_second_reset_the_game() {
    let mut episode = Episode::<Counter>::new(0);
    play(
        &mut episode,
        &[Action::Action1, Action::Action2, Action::Action1],
    );
    assert_eq!(acted(&mut episode, Action::Reset), (COUNTED, vec![1]));
    assert_eq!(
        (episode.level(), episode.completed(), episode.state().board),
        (LevelIndex(1), 1, 0)
    );
    assert_eq!(
        acted(&mut episode, Action::Reset),
        (
            Step {
                counted: false,
                changed: true,
                full_reset: true
            },
            vec![0]
        )
    );
    assert_eq!((episode.level(), episode.completed()), (LevelIndex(0), 0));
    // The game is already at its start, so a third RESET changes nothing.
    let (step, _) = acted(&mut episode, Action::Reset);
    assert_eq!(
        step,
        Step {
            counted: false,
            changed: false,
            full_reset: true
        }
    );
}

#[test]
fn reset_directly_after_a_level_change_restarts_the_game() {
    let mut episode = Episode::<Counter>::new(0);
    play(&mut episode, &[Action::Action1, Action::Action2]);
    let (step, _) = acted(&mut episode, Action::Reset);
    assert!(step.full_reset && episode.level() == LevelIndex(0));
}

#[test]
fn lost_level_accepts_only_reset() {
    let mut episode = Episode::<Counter>::new(0);
    play(&mut episode, &[Action::Action1, Action::Action2]);
    assert_eq!(acted(&mut episode, Action::Action5).0, COUNTED);
    assert_eq!(episode.status(), PlayState::GameOver);
    let (step, frames) = acted(&mut episode, Action::Action7);
    assert_eq!(
        (step.counted, frames.len(), episode.completed()),
        (false, 0, 1)
    );
    let (step, _) = acted(&mut episode, Action::Reset);
    assert_eq!(
        (step, episode.level(), episode.status()),
        (COUNTED, LevelIndex(1), PlayState::NotFinished)
    );
}

#[test]
fn unavailable_action_is_counted_and_changes_nothing() {
    let mut episode = Episode::<Counter>::new(0);
    for action in [Action::Action3, Action::Action6 { x: 1, y: 2 }] {
        assert_eq!(
            acted(&mut episode, action),
            (
                Step {
                    counted: true,
                    changed: false,
                    full_reset: false
                },
                vec![0]
            )
        );
    }
    // The unavailable action still counts as an action, so the next RESET is a level reset.
    let (step, _) = acted(&mut episode, Action::Reset);
    assert_eq!(
        step,
        Step {
            counted: true,
            changed: false,
            full_reset: false
        }
    );
}

#[test]
fn undo_restores_all_boards_but_not_spent() {
    let mut episode =
        Episode::<Counter>::at(Episode::<Counter>::new(0).levels().clone(), LevelIndex(2));
    for _ in 0..300 {
        episode.act(Action::Action1, &mut NoFrames);
    }
    // Undo more actions than the ring retains boards for, with a new action in between.
    for board in (100..300).rev() {
        assert_eq!(episode.act(Action::Action7, &mut NoFrames), COUNTED);
        assert_eq!(episode.state().board, board);
    }
    episode.act(Action::Action2, &mut NoFrames);
    for board in (0..=100).rev() {
        episode.act(Action::Action7, &mut NoFrames);
        assert_eq!(episode.state().board, board);
    }
    assert_eq!(episode.state().spent, 300 + 200 + 1 + 101);
    // There is nothing left to undo, but the attempt is still charged.
    assert_eq!(episode.act(Action::Action7, &mut NoFrames), COUNTED);
    assert_eq!((episode.state().board, episode.state().spent), (0, 603));
}

#[test]
fn environment_reports_ignored_commands_and_forks_independently() {
    let mut environment = NativeEnvironment::<Counter>::new(0);
    assert!(environment.observation().full_reset && !environment.observation().counted);
    environment.act(Action::Action1).unwrap();
    environment.act(Action::Action2).unwrap();
    environment.act(Action::Action5).unwrap();
    let seen = environment.act(Action::Action1).unwrap();
    assert_eq!(
        (seen.state, seen.levels_completed, seen.win_levels),
        (PlayState::GameOver, 1, 3)
    );
    assert_eq!(
        (seen.counted, seen.changed, seen.frames.frames().len()),
        (false, false, 1)
    );
    let mut fork = environment.fork().unwrap();
    fork.act(Action::Reset).unwrap();
    assert_eq!(
        environment.observation().state,
        PlayState::GameOver,
        "a fork is independent"
    );
}

#[test]
fn key_depends_on_whether_reset_would_be_full() {
    let mut episode = Episode::<Counter>::new(0);
    let start = episode.key();
    episode.act(Action::Action3, &mut NoFrames);
    assert_ne!(
        episode.key(),
        start,
        "RESET would now restart the level only"
    );
    episode.act(Action::Reset, &mut NoFrames);
    assert_eq!(episode.key(), start);
}

/// Returns a play of the long third level after `additions` additions and then `undos` undos.
fn added_and_undone(additions: usize, undos: usize) -> NativeEnvironment<Counter> {
    let mut play = NativeEnvironment::<Counter>::new(0);
    let wins = [Action::Action2; 4];
    let actions = wins
        .into_iter()
        .chain([Action::Action1].repeat(additions))
        .chain([Action::Action7].repeat(undos));
    for action in actions {
        play.act(action).expect("a native play does not fail");
    }
    play
}

#[test]
fn snapshot_preserves_the_undo_history() {
    // The undo history has no boards, a few, exactly as many as the ring retains, or more. All,
    // some or none of them are still in the ring.
    for (additions, undos) in [
        (0, 0),
        (5, 2),
        (64, 0),
        (64, 64),
        (300, 0),
        (300, 10),
        (300, 64),
        (70, 66),
    ] {
        let mut saved = added_and_undone(additions, undos);
        let mut restored = NativeEnvironment::<Counter>::new(0);
        restored
            .restore(&saved.snapshot().unwrap().unwrap())
            .unwrap();
        for action in [Action::Action1]
            .repeat(9)
            .into_iter()
            .chain([Action::Action7].repeat(320))
        {
            let (expected, found) = (saved.act(action).unwrap(), restored.act(action).unwrap());
            assert_eq!(
                (found.changed, found.counted, found.state),
                (expected.changed, expected.counted, expected.state)
            );
            assert_eq!(
                restored.episode().state(),
                saved.episode().state(),
                "{additions} additions, {undos} undos"
            );
        }
    }
}

#[test]
fn invalid_snapshot_is_rejected_and_changes_nothing() {
    let valid = added_and_undone(20, 3).snapshot().unwrap().unwrap();
    let mut play = NativeEnvironment::<Counter>::new(0);
    let rejection = |play: &mut NativeEnvironment<Counter>, bytes: &[u8]| {
        play.restore(bytes).map(|_| ()).unwrap_err().to_string()
    };
    for index in 0..valid.len() {
        let mut bytes = valid.clone();
        bytes[index] ^= 1;
        assert!(
            rejection(&mut play, &bytes).contains("checksum"),
            "byte {index}"
        );
        assert!(
            rejection(&mut play, &valid[..index]).contains("cannot restore the snapshot"),
            "{index} bytes"
        );
    }
    assert!(
        rejection(&mut NativeEnvironment::new(1), &valid)
            .contains("it is a play of `cnt0-v1` with seed 0, expected `cnt0-v1` with seed 1")
    );
    assert_eq!(
        play.snapshot(),
        NativeEnvironment::<Counter>::new(0).snapshot()
    );
    play.restore(&valid).unwrap();
    assert_eq!(play.snapshot().unwrap().unwrap(), valid);
}
