//! Kills servers under load and checks that every acknowledged action is in the store and replays
//! to the same frames.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rhae_engine::{Action, Frame};
use rhae_games::Builtin;
use rhae_protocol::{Format, Header, Recording, SOFTWARE, frames_from_wire};
use rhae_session::replay;
use rhae_store::{PlayId, SqliteOptions, SqliteStore, Store};
use serde_json::Value;

use super::process::{Remote, RequestError, ServerProcess};

const CLIENTS: usize = 6;
const GAMES: [&str; CLIENTS] = ["kq19", "ny40", "ym39", "bx20", "hk26", "pz19"];
/// The number of answers between two kills.
const ANSWERS_BETWEEN_KILLS: usize = 60;
/// The interval at which a condition of another process is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Returns the number of kills: 50, or 1,000 with `RHAE_FULL`.
fn kills() -> usize {
    if rhae_testkit::full("50 instead of 1,000 kills") {
        1000
    } else {
        50
    }
}

/// The answers that a client received. Each entry of its play's action log has the hash of the
/// frames in the answer, or `None` if the answer was lost.
pub(crate) struct ClientLog {
    pub(crate) guid: String,
    pub(crate) hashes: Vec<Option<u64>>,
}

/// Returns the next action of a fixed sequence of keys, clicks and resets.
pub(crate) fn next_action(turn: u8, over: bool) -> Action {
    let keys = [
        Action::Action1,
        Action::Action4,
        Action::Action2,
        Action::Action3,
    ];
    let click = Action::Action6 {
        x: turn.wrapping_mul(37) % 64,
        y: turn.wrapping_mul(11) % 64,
    };
    let action = if turn.is_multiple_of(3) {
        click
    } else {
        keys[usize::from(turn / 3 % 4)]
    };
    if over { Action::Reset } else { action }
}

pub(crate) fn hash(frame: &Value) -> u64 {
    let frames: Vec<Vec<Vec<u8>>> = serde_json::from_value(frame["frame"].clone()).unwrap();
    Frame::hash_all(&frames_from_wire(&frames).unwrap())
}

/// Returns the action count of a card with one play. Waits for the server to come back.
fn total_actions(remote: &Remote, card: &str) -> usize {
    loop {
        match remote.get(&format!("/api/scorecard/{card}")) {
            Ok(card) => return usize::try_from(card["total_actions"].as_u64().unwrap()).unwrap(),
            Err(RequestError::Disconnected) => std::thread::sleep(POLL_INTERVAL),
            Err(refused) => panic!("{refused:?}"),
        }
    }
}

/// Like [`play`], but with an idempotency key on every command. A command without an answer is sent
/// again until it is answered, so the log has no gaps.
fn play_with_keys(
    remote: &Remote,
    game: &str,
    guid: String,
    done: &AtomicUsize,
    stop: &AtomicBool,
) -> ClientLog {
    let mut log = ClientLog {
        guid,
        hashes: vec![None],
    };
    let (mut over, mut turn) = (false, 0_u8);
    while !stop.load(Ordering::Relaxed) {
        turn = turn.wrapping_add(1);
        let key = format!("{}-{}", log.guid, log.hashes.len());
        match retry(|| remote.act_with_key(game, &log.guid, next_action(turn, over), Some(&key))) {
            Ok(frame) => {
                log.hashes.push(Some(hash(&frame)));
                done.fetch_add(1, Ordering::Relaxed);
                over = false;
            }
            Err(body) if body["error"] == "GAME_NOT_STARTED_ERROR" => over = true,
            Err(body) => panic!("{body}"),
        }
    }
    log
}

/// Sends a request until it is answered with a status other than 503. Returns the body of the
/// answer, as `Err` if it is an error.
pub(crate) fn retry(mut send: impl FnMut() -> Result<Value, RequestError>) -> Result<Value, Value> {
    loop {
        match send() {
            Ok(body) => return Ok(body),
            Err(RequestError::Disconnected | RequestError::Status(503, _)) => {
                std::thread::sleep(POLL_INTERVAL);
            }
            Err(RequestError::Status(_, body)) => return Err(body),
        }
    }
}

/// Plays until `stop` is set. Every action counts, so the card shows how long the action log is.
fn play(
    remote: &Remote,
    game: &str,
    (card, guid): (String, String),
    done: &AtomicUsize,
    stop: &AtomicBool,
) -> ClientLog {
    let mut log = ClientLog {
        guid,
        hashes: vec![None],
    };
    let mut over = false;
    let mut turn = 0_u8;
    while !stop.load(Ordering::Relaxed) {
        turn = turn.wrapping_add(1);
        let action = next_action(turn, over);
        over = false;
        match remote.act(game, &log.guid, action) {
            Ok(frame) => {
                assert_eq!(frame["full_reset"], false);
                log.hashes.push(Some(hash(&frame)));
                done.fetch_add(1, Ordering::Relaxed);
            }
            Err(RequestError::Status(400, body)) if body["error"] == "GAME_NOT_STARTED_ERROR" => {
                over = true;
            }
            Err(RequestError::Disconnected) => {
                // The command without an answer may have been executed or not. All acknowledged
                // commands were executed, and none was executed twice.
                let length = total_actions(remote, &card) + 1;
                assert!(
                    [0, 1].map(|more| log.hashes.len() + more).contains(&length),
                    "{length} {}",
                    log.hashes.len()
                );
                log.hashes.resize(length, None);
            }
            Err(refused) => panic!("{refused:?}"),
        }
    }
    log
}

#[test]
fn acknowledged_actions_survive_every_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let (address, url) = (serving.address().to_owned(), serving.url.clone());
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let plays: Vec<_> = GAMES
        .iter()
        .map(|game| serving.remote().start_play(game))
        .collect();
    let logs: Vec<ClientLog> = std::thread::scope(|scope| {
        let clients: Vec<_> = GAMES
            .iter()
            .zip(plays)
            .enumerate()
            .map(|(index, (game, ids))| {
                let (remote, done, stop) = (Remote::new(&url), &done, &stop);
                scope.spawn(move || match index % 2 {
                    0 => play(&remote, game, ids, done, stop),
                    _ => play_with_keys(&remote, game, ids.1, done, stop),
                })
            })
            .collect();
        let wait_for = |count: usize| {
            while done.load(Ordering::Relaxed) < count
                && !clients.iter().any(|client| client.is_finished())
            {
                std::thread::sleep(POLL_INTERVAL);
            }
        };
        for kill in 1..=kills() {
            wait_for(done.load(Ordering::Relaxed) + ANSWERS_BETWEEN_KILLS + kill % 7);
            serving.kill();
            serving = ServerProcess::start(folder.path(), &address, &[]);
        }
        wait_for(done.load(Ordering::Relaxed) + ANSWERS_BETWEEN_KILLS);
        stop.store(true, Ordering::Relaxed);
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect()
    });
    serving.kill();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let acknowledged: usize = logs
        .iter()
        .map(|log| log.hashes.iter().flatten().count())
        .sum();
    assert!(acknowledged >= ANSWERS_BETWEEN_KILLS * kills());
    runtime.block_on(async {
        let store = SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default())
            .await
            .unwrap();
        compare(&store, &logs).await;
        store.close().await;
    });
}

/// Compares the clients' logs with the action logs in the store, and those with their replays.
pub(crate) async fn compare(store: &dyn Store, logs: &[ClientLog]) {
    for log in logs {
        let play = store
            .play(log.guid.parse::<PlayId>().unwrap())
            .await
            .unwrap()
            .unwrap();
        let entries = store.log(play.key).await.unwrap();
        assert_eq!(entries.len(), log.hashes.len(), "{}", play.game_id);
        for (index, (entry, hash)) in entries.iter().zip(&log.hashes).enumerate() {
            assert!(
                hash.is_none_or(|hash| hash == entry.hash),
                "{} entry {index}",
                play.game_id
            );
        }
        let header = Header {
            game_id: play.game_id.clone(),
            seed: play.seed,
            agent: String::new(),
            agent_seed: None,
            software: SOFTWARE.to_owned(),
            guid: None,
            resets: play.rule,
            win_levels: play.win_levels,
            available: rhae_engine::ActionSet::EMPTY,
            source_digest: None,
        };
        let recording = Recording {
            format: Format::Rhae,
            header,
            entries,
            ending: None,
            message: None,
        };
        assert_eq!(replay(&Builtin, &recording).unwrap().mismatch, None);
    }
}
