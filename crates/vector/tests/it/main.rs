//! Tests that the plays of a vector behave as they would individually.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::num::NonZero;
use std::sync::Arc;

use rhae_engine::{
    Action, ActionKind, CELLS, Catalog, CatalogError, Environment, EnvironmentError, Frame,
    GameInfo, LevelIndex, Observation, PlayState, Rng,
};
use rhae_games::Builtin;
use rhae_session::{Play, ResetRule};
use rhae_vector::{Encoding, Ending, EpisodeRules, Report, Vector, VectorError};

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
        let (snapshot, then, then_reports) = (
            plays.snapshot().unwrap(),
            frames.clone(),
            plays.reports().to_vec(),
        );
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
fn loaded_plays_continue_as_the_saved_ones() {
    let rules = EpisodeRules {
        max_actions: Some(45),
        ..EpisodeRules::default()
    };
    for id in ids() {
        let (mut plays, mut frames) = vector(id, 6, 2, rules);
        plays.seed(&[0, 1, 2, 3, 4, 5]).unwrap();
        plays.reset(None, &mut frames).unwrap();
        let mut rng = Rng::new(3, 0);
        let mut actions = || -> Vec<Action> { (0..6).map(|_| any_action(&mut rng)).collect() };
        // The last step ends all episodes that have not ended before.
        for _ in 0..45 {
            plays.step(&actions(), &mut frames).unwrap();
        }
        let saved = plays.save().unwrap();
        let (mut others, mut other_frames) = vector(id, 6, 1, rules);
        others.load(&saved, &mut other_frames).unwrap();
        assert_eq!(other_frames, frames, "{id}");
        assert_eq!(others.reports(), plays.reports(), "{id}");
        for _ in 0..30 {
            let actions = actions();
            plays.step(&actions, &mut frames).unwrap();
            others.step(&actions, &mut other_frames).unwrap();
            assert_eq!(other_frames, frames, "{id}");
            assert_eq!(others.reports(), plays.reports(), "{id}");
        }
    }
}

#[test]
fn damaged_or_foreign_saved_plays_are_rejected() {
    let (mut plays, mut frames) = vector("kq19", 2, 1, EpisodeRules::default());
    let saved = plays.save().unwrap();
    let mut reject = |bytes: &[u8]| plays.load(bytes, &mut frames).unwrap_err().to_string();
    assert_eq!(reject(&[]), "cannot load the saved plays: they are empty");
    assert_eq!(
        reject(&[9]),
        "cannot load the saved plays: their format is 9, expected 1"
    );
    assert!(
        reject(&saved[..20]).starts_with("cannot load the saved plays: they cannot be decoded")
    );
    let other = vector("ny40", 2, 1, EpisodeRules::default()).0;
    assert_eq!(
        reject(&other.save().unwrap()),
        "the snapshot is of `ny40-v1`, the plays are of `kq19-v1`"
    );
    let more = vector("kq19", 3, 1, EpisodeRules::default()).0;
    assert_eq!(
        reject(&more.save().unwrap()),
        "expected 2 saved plays, one for each play, found 3"
    );
    let mut flipped = saved.clone();
    // The last bytes are the flags of the second play; before them is the checksum of its snapshot.
    let at = flipped.len() - 12;
    flipped[at] ^= 1;
    assert!(reject(&flipped).starts_with("play 1 failed: cannot restore the snapshot"));
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
        VectorError::Bytes {
            expected: 8192,
            found: 8191
        }
    );
    let (other, _) = vector("ny40", 2, 1, EpisodeRules::default());
    let error = plays
        .restore(&other.snapshot().unwrap(), None, &mut frames)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the snapshot is of `ny40-v1`, the plays are of `kq19-v1`"
    );
    let own = plays.snapshot().unwrap();
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

#[test]
fn games_of_one_vector_play_as_in_vectors_of_their_own() {
    let names = ["pz19".to_owned(), "bx20-v1".to_owned(), "kq19".to_owned()];
    let catalog: Arc<dyn Catalog> = Arc::new(Builtin);
    let (count, threads) = (NonZero::new(8).unwrap(), NonZero::new(2).unwrap());
    let rules = EpisodeRules {
        max_actions: Some(30),
        ..EpisodeRules::default()
    };
    let mut all = Vector::of_games(&catalog, &names, count, threads, rules).unwrap();
    let ranges: Vec<_> = all.blocks().map(|block| block.plays.clone()).collect();
    assert_eq!(ranges, [0..3, 3..6, 6..8]);
    let mut frames = vec![99; 8 * CELLS];
    all.reset(None, &mut frames).unwrap();
    let mut own: Vec<(Vector, Vec<u8>)> = names
        .iter()
        .zip(&ranges)
        .map(|(name, range)| vector(name, range.len(), 1, rules))
        .collect();
    let mut rng = Rng::new(7, 0);
    for _ in 0..100 {
        let actions: Vec<Action> = (0..8).map(|_| any_action(&mut rng)).collect();
        all.step(&actions, &mut frames).unwrap();
        for ((one, own_frames), range) in own.iter_mut().zip(&ranges) {
            one.step(&actions[range.clone()], own_frames).unwrap();
            assert_eq!(&frames[range.start * CELLS..range.end * CELLS], own_frames);
            assert_eq!(&all.reports()[range.clone()], one.reports());
        }
    }
    let snapshot = all.snapshot().unwrap();
    let error = all.restore(&snapshot, Some(&[0, 1, 3, 3, 4, 5, 6, 7]), &mut frames);
    assert_eq!(
        error.unwrap_err().to_string(),
        "play 2 is of `pz19-v1`, so it cannot take the state of play 3"
    );
    all.restore(&snapshot, Some(&[2, 2, 2, 5, 5, 5, 6, 6]), &mut frames)
        .unwrap();
    let frame = |play: usize| &frames[play * CELLS..][..CELLS];
    assert_eq!(
        (frame(0), frame(3), frame(7)),
        (frame(2), frame(5), frame(6))
    );

    let refused = |names: &[String], count| {
        let refused = Vector::of_games(&catalog, names, count, threads, rules);
        refused.err().unwrap().to_string()
    };
    assert_eq!(
        refused(&names, NonZero::new(2).unwrap()),
        "2 plays cannot be divided among 3 environments"
    );
    assert_eq!(
        refused(&[], count),
        "expected at least one environment, found none"
    );
}

/// A catalogue whose games have other ids than the built-in ones, as hosted games do.
struct Renamed;

/// A built-in environment under another id that fails at the action ACTION7.
struct Fragile {
    info: GameInfo,
    play: Box<dyn Environment>,
}

impl Environment for Fragile {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        self.play.observation()
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        if action == Action::Action7 {
            return Err(EnvironmentError::Failed("it broke".to_owned()));
        }
        self.play.act(action)
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        Some(Box::new(Self {
            info: self.info.clone(),
            play: self.play.fork()?,
        }))
    }
}

fn renamed(mut info: GameInfo) -> GameInfo {
    info.id = format!("x{}", &info.id.as_str()[1..]).parse().unwrap();
    info
}

impl Catalog for Renamed {
    fn list(&self) -> Vec<GameInfo> {
        Builtin.list().into_iter().map(renamed).collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        let mut games = self.list().into_iter();
        let found = games.find(|info| info.id.as_str().starts_with(name));
        Ok(found.expect("the tests name existing games"))
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        let info = self.find(name)?;
        let builtin = Builtin.list().into_iter();
        let original = builtin
            .map(|original| original.id)
            .find(|id| id.as_str()[1..] == info.id.as_str()[1..])
            .unwrap();
        let play = Builtin.open(original.as_str(), seed)?;
        Ok(Box::new(Fragile { info, play }))
    }
}

#[test]
fn other_environments_play_like_built_in_ones() {
    let catalog: Arc<dyn Catalog> = Arc::new(Renamed);
    let (count, threads) = (NonZero::new(4).unwrap(), NonZero::new(2).unwrap());
    let rules = EpisodeRules {
        max_actions: Some(60),
        ..EpisodeRules::default()
    };
    for id in ids() {
        let other = [format!("x{}", &id[1..])];
        let mut theirs = Vector::of_games(&catalog, &other, count, threads, rules).unwrap();
        let (mut ours, mut our_frames) = vector(id, 4, 1, rules);
        let mut frames = vec![99; 4 * CELLS];
        theirs.seed(&[0, 1, 2, 3]).unwrap();
        ours.seed(&[0, 1, 2, 3]).unwrap();
        theirs.reset(None, &mut frames).unwrap();
        ours.reset(None, &mut our_frames).unwrap();
        let mut rng = Rng::new(7, 0);
        let mut saved = None;
        for step in 0..300 {
            let action = |_| match any_action(&mut rng) {
                Action::Action7 => Action::Action1,
                action => action,
            };
            let actions: Vec<Action> = (0..4).map(action).collect();
            theirs.step(&actions, &mut frames).unwrap();
            ours.step(&actions, &mut our_frames).unwrap();
            assert_eq!(frames, our_frames, "{id}");
            assert_eq!(theirs.reports(), ours.reports(), "{id}");
            if step == 150 {
                saved = Some((theirs.snapshot().unwrap(), frames.clone()));
            }
        }
        let (snapshot, then) = saved.unwrap();
        theirs.restore(&snapshot, None, &mut frames).unwrap();
        assert_eq!(frames, then, "{id}");
    }
}

#[test]
fn failed_play_is_named_and_can_be_reset() {
    let catalog: Arc<dyn Catalog> = Arc::new(Renamed);
    let names = ["xq19".to_owned(), "xy40".to_owned()];
    let (count, threads) = (NonZero::new(4).unwrap(), NonZero::new(2).unwrap());
    let rules = EpisodeRules::default();
    let mut plays = Vector::of_games(&catalog, &names, count, threads, rules).unwrap();
    let mut frames = vec![99; 4 * CELLS];
    plays.reset(None, &mut frames).unwrap();
    let (move_up, fail) = (Action::Action1, Action::Action7);
    let error = plays.step(&[move_up, move_up, move_up, fail], &mut frames);
    assert_eq!(
        error.unwrap_err().to_string(),
        "play 3 failed: environment failed: it broke"
    );
    let actions: Vec<u32> = plays
        .reports()
        .iter()
        .map(|report| report.actions)
        .collect();
    assert_eq!(actions, [1, 1, 1, 0], "the other plays have acted");
    let error = plays.step(&[move_up; 4], &mut frames).unwrap_err();
    assert_eq!(
        error.to_string(),
        "play 3 failed: the play failed before: reset it"
    );
    let failed = [false, false, false, true];
    plays.reset(Some(&failed), &mut frames).unwrap();
    plays.step(&[move_up; 4], &mut frames).unwrap();
    let level = EpisodeRules {
        level: Some(LevelIndex(1)),
        ..rules
    };
    let refused = Vector::of_games(&catalog, &names, count, threads, level);
    assert_eq!(
        refused.err().unwrap().to_string(),
        "`xq19-v1` is a hosted game, whose plays start at level 1, found level 2"
    );
}

#[test]
fn observations_have_the_chosen_encoding() {
    let one = NonZero::<usize>::MIN;
    for encoding in [Encoding::OneHot, Encoding::Packed, Encoding::Rgb] {
        let (_, cells) = vector("kq19", 1, 1, EpisodeRules::default());
        let plays = Vector::new("kq19", one, one, EpisodeRules::default());
        let mut plays = plays.unwrap().with_encoding(encoding);
        let mut bytes = vec![99; encoding.bytes()];
        plays.reset(None, &mut bytes).unwrap();
        let mut expected = vec![0; encoding.bytes()];
        let frame = Frame::from_cells(cells.try_into().unwrap());
        encoding.write(&frame, &mut expected);
        assert_eq!(bytes, expected, "{encoding:?}");
    }
}
