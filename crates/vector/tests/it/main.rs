//! Many plays at once answer as each of them would alone.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::num::NonZero;

use rhae_engine::{Action, ActionKind, CELLS, LevelIndex, PlayState, Rng};
use rhae_session::{Builtin, Catalog, Play, ResetRule};
use rhae_vector::{Ending, Report, Rules, Vector, VectorError};

fn vector(id: &str, count: usize, threads: usize, rules: Rules) -> (Vector, Vec<u8>) {
    let nonzero = |number| NonZero::new(number).unwrap();
    let mut vector = Vector::new(id, nonzero(count), nonzero(threads), rules).unwrap();
    let mut frames = vec![99; count * CELLS];
    vector.reset(None, &mut frames).unwrap();
    (vector, frames)
}

/// Any action at all, RESET and those that are not offered included.
fn any_action(rng: &mut Rng) -> Action {
    let kind = ActionKind::ALL[rng.below(8) as usize];
    kind.simple().unwrap_or_else(|| Action::Action6 {
        x: rng.below(64) as u8,
        y: rng.below(64) as u8,
    })
}

fn ids() -> impl Iterator<Item = &'static str> {
    rhae_games::ALL.iter().map(|entry| entry.facts.id)
}

#[test]
fn every_play_answers_as_it_would_alone() {
    let rules = Rules {
        goes_on_after_loss: true,
        ..Rules::default()
    };
    for id in ids() {
        let (mut vector, mut frames) = vector(id, 3, 2, rules);
        let open = || Play::new(Builtin.open(id, 0).unwrap(), ResetRule::LevelsOnly);
        let mut alone: Vec<Play> = (0..3).map(|_| open()).collect();
        let mut rng = Rng::new(7, 0);
        for _ in 0..500 {
            let actions: Vec<Action> = (0..3).map(|_| any_action(&mut rng)).collect();
            vector.step(&actions, &mut frames).unwrap();
            for (index, (play, &action)) in alone.iter_mut().zip(&actions).enumerate() {
                let answer = play.command(action).unwrap();
                let report = vector.reports()[index];
                assert_eq!(
                    &frames[index * CELLS..][..CELLS],
                    answer.observation.settled().cells(),
                    "{id} after {action}"
                );
                assert_eq!(
                    (
                        report.state,
                        report.levels_completed,
                        report.changed,
                        report.available
                    ),
                    (
                        answer.seen.state,
                        answer.seen.levels_completed,
                        answer.seen.changed,
                        answer.observation.available
                    ),
                    "{id} after {action}"
                );
                assert_eq!(
                    u64::from(report.actions),
                    play.tally().actions(),
                    "{id} after {action}"
                );
            }
        }
    }
}

#[test]
fn threads_and_neighbours_make_no_difference() {
    for id in ids() {
        let rules = Rules {
            most_actions: Some(40),
            ..Rules::default()
        };
        let (mut many, mut many_frames) = vector(id, 100, 3, rules);
        let (mut few, mut few_frames) = vector(id, 7, 1, rules);
        let mut rngs: Vec<Rng> = (0..100).map(|stream| Rng::new(7, stream)).collect();
        for _ in 0..100 {
            let actions: Vec<Action> = rngs.iter_mut().map(any_action).collect();
            many.step(&actions, &mut many_frames).unwrap();
            few.step(&actions[..7], &mut few_frames).unwrap();
            assert_eq!(&many_frames[..7 * CELLS], &few_frames, "{id}");
            assert_eq!(&many.reports()[..7], few.reports(), "{id}");
        }
    }
}

#[test]
fn solutions_are_rewarded_and_end_the_episode() {
    for entry in rhae_games::ALL {
        let facts = entry.facts;
        let (mut all, mut frames) = vector(facts.id, 1, 1, Rules::default());
        let mut rewards = 0;
        for level in 0..facts.level_count() {
            let level = LevelIndex(u8::try_from(level).unwrap());
            let (mut one, mut own_frames) = vector(
                facts.id,
                1,
                1,
                Rules {
                    level: Some(level),
                    ..Rules::default()
                },
            );
            let solution = facts.solution(level);
            for (index, &action) in solution.iter().enumerate() {
                one.step(&[action], &mut own_frames).unwrap();
                let last = index + 1 == solution.len();
                let ending = if last {
                    Ending::Terminated
                } else {
                    Ending::None
                };
                let Report {
                    reward,
                    ending: found,
                    ..
                } = one.reports()[0];
                assert_eq!(
                    (reward, found),
                    (u8::from(last), ending),
                    "{} level {level}",
                    facts.id
                );
                all.step(&[action], &mut frames).unwrap();
                rewards += usize::from(all.reports()[0].reward);
            }
            // The step after the end begins a new episode, whatever the action.
            one.step(&[Action::Action1], &mut own_frames).unwrap();
            let Report {
                reward,
                ending,
                actions,
                level: begun,
                ..
            } = one.reports()[0];
            assert_eq!(
                (reward, ending, actions, begun),
                (0, Ending::None, 0, level.0),
                "{}",
                facts.id
            );
        }
        assert_eq!(rewards, facts.level_count());
        let Report { ending, state, .. } = all.reports()[0];
        assert_eq!((ending, state), (Ending::Terminated, PlayState::Win));
    }
}

#[test]
fn an_episode_is_cut_off_and_a_reset_is_an_action() {
    let (mut plays, mut frames) = vector(
        "kq19",
        1,
        1,
        Rules {
            most_actions: Some(2),
            ..Rules::default()
        },
    );
    let mut step = |action| {
        plays.step(&[action], &mut frames).unwrap();
        let report = plays.reports()[0];
        (report.actions, report.ending, report.mask()[0])
    };
    assert_eq!(
        step(Action::Reset),
        (0, Ending::None, false),
        "nothing was done since the beginning"
    );
    assert_eq!(step(Action::Action1), (1, Ending::None, true));
    assert_eq!(step(Action::Reset), (2, Ending::Truncated, false));
    assert_eq!(
        step(Action::Action1),
        (0, Ending::None, false),
        "a new episode"
    );
}

#[test]
fn snapshots_bring_back_every_play_or_one_in_all_places() {
    for id in ids() {
        let (mut plays, mut frames) = vector(id, 20, 2, Rules::default());
        let mut rngs: Vec<Rng> = (0..20).map(|stream| Rng::new(7, stream)).collect();
        let mut step = |plays: &mut Vector, frames: &mut [u8]| {
            let actions: Vec<Action> = rngs.iter_mut().map(any_action).collect();
            plays.step(&actions, frames).unwrap();
            actions
        };
        (0..30).for_each(|_| drop(step(&mut plays, &mut frames)));
        let (snapshot, then, then_reports) =
            (plays.snapshot(), frames.clone(), plays.reports().to_vec());
        let after: Vec<(Vec<Action>, Vec<u8>)> = (0..30)
            .map(|_| (step(&mut plays, &mut frames), frames.clone()))
            .collect();
        plays.restore(&snapshot, None, &mut frames).unwrap();
        assert_eq!(
            (&frames, plays.reports()),
            (&then, then_reports.as_slice()),
            "{id}"
        );
        for (actions, expected) in &after {
            plays.step(actions, &mut frames).unwrap();
            assert_eq!(&frames, expected, "{id}");
        }
        plays
            .restore(&snapshot, Some(&[4; 20]), &mut frames)
            .unwrap();
        assert!(
            frames
                .chunks_exact(CELLS)
                .all(|frame| frame == &then[4 * CELLS..][..CELLS]),
            "{id}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (mut plays, mut frames) = vector("kq19", 2, 1, Rules::default());
    let one = NonZero::<usize>::MIN;
    let make = |id: &str, level| {
        Vector::new(
            id,
            one,
            one,
            Rules {
                level,
                ..Rules::default()
            },
        )
        .err()
        .unwrap()
        .to_string()
    };
    assert_eq!(
        make("kq91", None),
        "there is no environment `kq91`, the nearest is `kq19-v1`; `rhae games list` shows all"
    );
    assert_eq!(
        make("kq19", Some(LevelIndex(8))),
        "`kq19-v1` has 8 levels, so there is no level 9"
    );
    let error = plays.step(&[Action::Action1], &mut frames).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected 2 actions, one for each play, found 1"
    );
    let error = plays
        .step(&[Action::Action1; 2], &mut frames[1..])
        .unwrap_err();
    assert_eq!(
        error,
        VectorError::Length {
            what: "frames of 4,096 cells",
            expected: 2,
            found: 0
        }
    );
    let (other, _) = vector("ny40", 2, 1, Rules::default());
    let error = plays
        .restore(&other.snapshot(), None, &mut frames)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the snapshot is of `ny40-v1`, the plays are of `kq19-v1`"
    );
    let own = plays.snapshot();
    let error = plays.restore(&own, Some(&[0, 2]), &mut frames).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the snapshot has 2 plays, so there is no play 2"
    );
}

#[test]
fn chosen_plays_begin_anew_and_others_go_on() {
    let (mut plays, mut frames) = vector("kq19", 2, 1, Rules::default());
    let first = frames.clone();
    plays.step(&[Action::Action1; 2], &mut frames).unwrap();
    plays.step(&[Action::Action4; 2], &mut frames).unwrap();
    plays.seed(&[1, 2]).unwrap();
    plays.reset(Some(&[true, false]), &mut frames).unwrap();
    assert_eq!(&frames[..CELLS], &first[..CELLS]);
    assert_eq!(
        (plays.reports()[0].actions, plays.reports()[1].actions),
        (0, 2)
    );
}
