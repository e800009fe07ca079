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

#[test]
fn processes_execute_the_source_that_was_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = crate::root().join("fixtures/games/wk31/v1/wk31.py");
    let source = std::fs::read_to_string(fixture).unwrap();
    let file = folder.path().join("wk31.py");
    std::fs::write(&file, &source).unwrap();
    std::fs::write(
        folder.path().join("metadata.json"),
        r#"{"game_id": "wk31"}"#,
    )
    .unwrap();
    let limits = rhae_pyhost::Limits {
        action: std::time::Duration::from_secs(60),
        ..rhae_pyhost::Limits::default()
    };
    let Some(games) = crate::games(folder.path(), limits) else {
        return;
    };
    let changed = source.replace("(9, \"walker\")", "(12, \"walker\")");
    assert_ne!(changed, source);
    std::fs::write(&file, changed).unwrap();
    let id = games.find("wk31").unwrap().id;
    assert_eq!(games.find("wk31").unwrap().level_count(), 0);
    let play = open(&games, id.as_str());
    let mut original = fixtures("games").map(|games| open(&games, "wk31")).unwrap();
    assert_eq!(
        hashes(original.as_mut(), &[]),
        [Frame::hash_all(play.observation().frames.frames())]
    );
    assert_eq!(games.source(id.as_str()).unwrap().unwrap(), source);
    // The game states its number of levels when a play is opened.
    assert_eq!(games.find("wk31").unwrap().level_count(), 3);
    // Another catalogue loads the new source, which has another digest.
    let reloaded = crate::games(folder.path(), limits).unwrap();
    let digest = |games: &rhae_pyhost::Games| games.find("wk31").unwrap().source_digest.unwrap();
    assert_ne!(digest(&games), digest(&reloaded));
    let play = open(&reloaded, "wk31");
    assert_ne!(
        hashes(original.as_mut(), &[]),
        [Frame::hash_all(play.observation().frames.frames())]
    );
}
