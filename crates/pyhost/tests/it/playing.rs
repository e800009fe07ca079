//! Playing hosted games: rules, shared processes, snapshots and names.

use rhae_engine::{Action, Catalog, Environment, EnvironmentError, Frame, PlayState};
use rhae_games::Builtin;
use rhae_session::{Play, ResetRule};

use crate::{fixtures, open};

/// Executes actions and returns the hash of each observation.
fn hashes(play: &mut dyn Environment, actions: &[Action]) -> Vec<u64> {
    let opening = Frame::hash_all(play.observation().frames.frames());
    let rest = actions
        .iter()
        .map(|&action| Frame::hash_all(play.act(action).unwrap().frames.frames()));
    [opening].into_iter().chain(rest).collect()
}

/// Returns clicks on every tile of tl32.
fn clicks() -> Vec<Action> {
    let places = (0..4).flat_map(|x| (0..4).map(move |y| (16 * x + 6, 16 * y + 6)));
    places.map(|(x, y)| Action::Action6 { x, y }).collect()
}

#[test]
fn python_game_behaves_like_a_native_one() {
    let Some(games) = fixtures("games") else {
        return;
    };
    let mut play = open(&games, "wk31");
    let seen = play.observation();
    assert_eq!(
        (
            seen.win_levels,
            seen.levels_completed,
            seen.full_reset,
            seen.counted
        ),
        (3, 0, true, false)
    );
    assert_eq!(
        seen.available
            .iter()
            .map(|kind| kind.id())
            .collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert!(seen.settled().is_valid());
    for _ in 0..4 {
        assert!(play.act(Action::Action4).unwrap().changed);
    }
    let won = play.act(Action::Action4).unwrap();
    assert_eq!(
        (won.levels_completed, won.frames.frames().len(), won.state),
        (1, 2, PlayState::NotFinished)
    );
    // RESET restarts the game if no action was taken on the level, and otherwise the level.
    let reset = play.act(Action::Reset).unwrap();
    assert_eq!(
        (reset.full_reset, reset.counted, reset.levels_completed),
        (true, false, 0)
    );
    play.act(Action::Action2).unwrap();
    let reset = play.act(Action::Reset).unwrap();
    assert_eq!((reset.full_reset, reset.counted), (false, true));
    // An unavailable action reaches the game and is counted, as in the official engine.
    let odd = play.act(Action::Action6 { x: 1, y: 1 }).unwrap();
    assert_eq!((odd.counted, odd.changed), (true, false));
    for _ in 0..40 {
        play.act(Action::Action1).unwrap();
    }
    let lost = play.observation();
    assert_eq!(lost.state, PlayState::GameOver);
    let settled = lost.settled().clone();
    let after = play.act(Action::Action1).unwrap();
    assert_eq!(
        (after.counted, after.changed, after.settled() == &settled),
        (false, false, true)
    );
    assert_eq!(
        play.act(Action::Reset).unwrap().state,
        PlayState::NotFinished
    );
}

#[test]
fn plays_in_one_process_do_not_share_randomness() {
    let Some(games) = fixtures("games") else {
        return;
    };
    let alone = hashes(open(&games, "tl32").as_mut(), &clicks());
    // More plays than processes, interleaved.
    let mut plays: Vec<_> = (0..5).map(|_| open(&games, "tl32")).collect();
    let mut seen: Vec<Vec<u64>> = plays
        .iter()
        .map(|play| vec![Frame::hash_all(play.observation().frames.frames())])
        .collect();
    for action in clicks() {
        for (play, seen) in plays.iter_mut().zip(&mut seen) {
            seen.push(Frame::hash_all(play.act(action).unwrap().frames.frames()));
        }
    }
    assert!(seen.iter().all(|seen| *seen == alone));
    let mut other = games.open("tl32", 1).unwrap();
    assert_ne!(
        hashes(other.as_mut(), &clicks()),
        alone,
        "another seed must give other frames"
    );
}

#[test]
fn snapshots_and_forks_continue_like_the_play() {
    let Some(games) = fixtures("games") else {
        return;
    };
    let (before, after) = (clicks()[..9].to_vec(), clicks()[9..].to_vec());
    let mut play = open(&games, "tl32");
    hashes(play.as_mut(), &before);
    let snapshot = play.snapshot().unwrap().unwrap();
    let mut fork = play.fork().unwrap();
    let expected = hashes(play.as_mut(), &after);
    assert_eq!(hashes(fork.as_mut(), &after), expected);
    let mut other = games.open("tl32", 7).unwrap();
    other.restore(&snapshot).unwrap();
    assert_eq!(hashes(other.as_mut(), &after), expected);
    let error = open(&games, "wk31")
        .restore(&snapshot)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("it is a snapshot of `tl32-v1`, not of `wk31-v1`"),
        "{error}"
    );
    assert!(other.restore(b"nonsense").is_err());
    assert_eq!(
        hashes(other.as_mut(), &[]),
        expected[expected.len() - 1..],
        "a rejected snapshot must change nothing"
    );
}

#[test]
fn restored_play_has_the_same_counts() {
    let Some(games) = fixtures("games") else {
        return;
    };
    let mut saved = Play::new(open(&games, "tl32"), ResetRule::LevelsOnly);
    let (before, after) = (clicks()[..9].to_vec(), clicks()[9..].to_vec());
    for action in before {
        saved.command(action).unwrap();
    }
    let snapshot = saved.snapshot().unwrap().unwrap();
    let mut restored = Play::restore(open(&games, "tl32"), ResetRule::LevelsOnly, &snapshot)
        .ok()
        .unwrap();
    let last = |play: &Play| play.current().observation.settled().clone();
    assert_eq!(last(&restored), last(&saved));
    for action in [Action::Reset].into_iter().chain(after) {
        let (expected, found) = (
            saved.command(action).unwrap(),
            restored.command(action).unwrap(),
        );
        assert_eq!(
            (found.outcome, Frame::hash_all(found.frames)),
            (expected.outcome, Frame::hash_all(expected.frames))
        );
    }
    assert_eq!(restored.tally(), saved.tally());
    let refused = Play::restore(open(&games, "wk31"), ResetRule::LevelsOnly, &snapshot)
        .err()
        .unwrap();
    assert!(
        matches!(refused, EnvironmentError::Snapshot(_)),
        "{refused}"
    );
}

#[test]
fn built_in_and_hosted_games_are_found_by_name() {
    let Some(games) = fixtures("games") else {
        return;
    };
    assert_eq!(games.list().len(), Builtin.list().len() + 2);
    assert_eq!(games.find("WK31").unwrap().id.as_str(), "wk31-v1");
    assert_eq!(games.find("kq19").unwrap().id.base(), "kq19");
    assert!(
        games
            .find("wk32")
            .unwrap_err()
            .to_string()
            .contains("the nearest is `wk31-v1`")
    );
    assert!(
        games
            .source("wk31-v1")
            .unwrap()
            .unwrap()
            .contains("class Wk31(ARCBaseGame)")
    );
    assert_eq!(games.source("kq19-v1").unwrap(), None);
}
