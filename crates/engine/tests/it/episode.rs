//! The semantics of an episode, shown on a game that is as small as a game can be.

use rhae_engine::{
    Action, ActionKind, ActionSet, Baseline, Environment, Episode, Facts, Frame, FrameBuffer,
    FrameSink, Game, LevelIndex, Native, NoFrames, Outcome, PlayState, State, StateOf, Step,
};

/// A counter: ACTION1 adds one, ACTION2 adds two with an animation of one frame, ACTION5 loses. Three wins a level of three.
/// Every action and every undo costs one of a hundred coins, which undo does not give back.
struct Counter;

impl Game for Counter {
    const FACTS: Facts = Facts {
        id: "cnt0-v1",
        baselines: &[
            Baseline::solved(2),
            Baseline::solved(2),
            Baseline::solved(2),
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
        // The third level is long, for undo.
        let goal = if *level == 2 { 1_000 } else { 3 };
        if state.board >= goal {
            Outcome::LevelWon
        } else {
            Outcome::Going
        }
    }

    fn undone(
        _level: &u8,
        state: &mut StateOf<Self>,
        _restored: bool,
        _sink: &mut impl FrameSink,
    ) -> Outcome {
        state.spent += 1;
        if state.spent >= 2_000 {
            Outcome::GameOver
        } else {
            Outcome::Going
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
fn a_won_level_shows_its_end_and_then_the_next_levels_start() {
    let mut episode = Episode::<Counter>::new(0);
    assert_eq!(acted(&mut episode, Action::Action1), (COUNTED, vec![0]));
    assert_eq!(
        acted(&mut episode, Action::Action2),
        (COUNTED, vec![15, 0, 1]),
        "animation, settled old level, new level"
    );
    assert_eq!(
        (episode.level(), episode.completed(), episode.status()),
        (LevelIndex(1), 1, PlayState::NotFinished)
    );
}

#[test]
fn the_last_level_ends_the_game_and_nothing_counts_after_it() {
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
    // RESET after a win starts the whole game anew and is no action.
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
fn reset_restarts_the_level_and_twice_in_a_row_the_game() {
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
    // Nothing was done since: the third one changes nothing.
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
fn directly_after_a_level_change_reset_restarts_the_game() {
    let mut episode = Episode::<Counter>::new(0);
    play(&mut episode, &[Action::Action1, Action::Action2]);
    let (step, _) = acted(&mut episode, Action::Reset);
    assert!(step.full_reset && episode.level() == LevelIndex(0));
}

#[test]
fn a_lost_level_takes_only_reset_which_restarts_it() {
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
fn an_action_that_is_not_offered_counts_and_changes_nothing() {
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
    // It is an action all the same: the next RESET is a level reset.
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
fn undo_goes_back_to_the_start_and_what_is_spent_stays_spent() {
    let mut episode =
        Episode::<Counter>::at(Episode::<Counter>::new(0).levels().clone(), LevelIndex(2));
    for _ in 0..300 {
        episode.act(Action::Action1, &mut NoFrames);
    }
    // Farther back than boards are kept at hand, with undone and repeated steps on the way.
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
    // There is nothing left to take back, but trying costs.
    assert_eq!(episode.act(Action::Action7, &mut NoFrames), COUNTED);
    assert_eq!((episode.state().board, episode.state().spent), (0, 603));
}

#[test]
fn an_environment_tells_the_truth_after_the_end() {
    let mut environment = Native::<Counter>::new(0);
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
fn the_key_tells_levels_states_and_whether_reset_would_be_full() {
    let mut episode = Episode::<Counter>::new(0);
    let start = episode.key();
    episode.act(Action::Action3, &mut NoFrames);
    assert_ne!(episode.key(), start, "RESET would now do something else");
    episode.act(Action::Reset, &mut NoFrames);
    assert_eq!(episode.key(), start);
}

/// A play of the long third level after so many additions and then so many undos.
fn added_and_undone(additions: usize, undos: usize) -> Native<Counter> {
    let mut play = Native::<Counter>::new(0);
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
fn a_snapshot_keeps_all_that_undo_can_go_back_to() {
    // None, few, exactly as many as are kept, and more; with all, some and none of them at hand.
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
        let mut restored = Native::<Counter>::new(0);
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
fn a_snapshot_that_does_not_fit_is_refused_and_changes_nothing() {
    let whole = added_and_undone(20, 3).snapshot().unwrap().unwrap();
    let mut play = Native::<Counter>::new(0);
    let refusal = |play: &mut Native<Counter>, bytes: &[u8]| {
        play.restore(bytes).map(|_| ()).unwrap_err().to_string()
    };
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        assert!(
            refusal(&mut play, &bytes).contains("checksum"),
            "byte {place}"
        );
        assert!(
            refusal(&mut play, &whole[..place]).contains("does not fit"),
            "{place} bytes"
        );
    }
    assert!(
        refusal(&mut Native::new(1), &whole)
            .contains("it is of `cnt0-v1` with seed 0, and this is `cnt0-v1` with seed 1")
    );
    assert_eq!(play.snapshot(), Native::<Counter>::new(0).snapshot());
    play.restore(&whole).unwrap();
    assert_eq!(play.snapshot().unwrap().unwrap(), whole);
}
