//! Tests that the plays of a vector behave as they would individually.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::num::NonZero;

use rhae_engine::{Action, ActionKind, CELLS, Catalog, LevelIndex, PlayState, Rng};
use rhae_games::Builtin;
use rhae_session::{Play, ResetRule};
use rhae_vector::{Ending, EpisodeRules, Report, Vector, VectorError};

fn vector(id: &str, count: usize, threads: usize, rules: EpisodeRules) -> (Vector, Vec<u8>) {
    let nonzero = |number| NonZero::new(number).unwrap();
    let mut vector = Vector::new(id, nonzero(count), nonzero(threads), rules).unwrap();
    let mut frames = vec![99; count * CELLS];
    vector.reset(None, &mut frames).unwrap();
    (vector, frames)
}

/// Returns a random action, including RESET and actions that are not offered.
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
fn every_play_behaves_as_it_would_individually() {
    let rules = EpisodeRules {
        continue_after_loss: true,
        ..EpisodeRules::default()
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
                        answer.outcome.state,
                        answer.outcome.levels_completed,
                        answer.outcome.changed,
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
fn results_do_not_depend_on_threads_or_other_plays() {
    for id in ids() {
        let rules = EpisodeRules {
            max_actions: Some(40),
            ..EpisodeRules::default()
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
fn solving_a_level_is_rewarded_and_ends_the_episode() {
    for entry in rhae_games::ALL {
        let facts = entry.facts;
        let (mut all, mut frames) = vector(facts.id, 1, 1, EpisodeRules::default());
        let mut rewards = 0;
        for level in 0..facts.level_count() {
            let level = LevelIndex(u8::try_from(level).unwrap());
            let (mut one, mut own_frames) = vector(
                facts.id,
                1,
                1,
                EpisodeRules {
                    level: Some(level),
                    ..EpisodeRules::default()
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
            // The step after the end starts a new episode and ignores its action.
            one.step(&[Action::Action1], &mut own_frames).unwrap();
            let Report {
                reward,
                ending,
                actions,
                level: started,
                ..
            } = one.reports()[0];
            assert_eq!(
                (reward, ending, actions, started),
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
fn episode_is_truncated_and_reset_counts_as_an_action() {
    let (mut plays, mut frames) = vector(
        "kq19",
        1,
        1,
        EpisodeRules {
            max_actions: Some(2),
            ..EpisodeRules::default()
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
        "no action was taken since the episode started"
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
fn snapshot_restores_each_play_or_one_play_everywhere() {
    for id in ids() {
        let (mut plays, mut frames) = vector(id, 20, 2, EpisodeRules::default());
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
fn invalid_arguments_are_rejected() {
    let (mut plays, mut frames) = vector("kq19", 2, 1, EpisodeRules::default());
    let one = NonZero::<usize>::MIN;
    let make = |id: &str, level| {
        Vector::new(
            id,
            one,
            one,
            EpisodeRules {
                level,
                ..EpisodeRules::default()
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
    let (other, _) = vector("ny40", 2, 1, EpisodeRules::default());
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
fn reset_affects_chosen_plays_only() {
    let (mut plays, mut frames) = vector("kq19", 2, 1, EpisodeRules::default());
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
