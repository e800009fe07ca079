//! Servers are killed under load; what clients were told must be what the store replays to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rhae_engine::{Action, Frame};
use rhae_protocol::{Format, Header, Recording, SOFTWARE, frames_from_wire};
use rhae_session::{Builtin, replay};
use rhae_store::{PlayId, SqliteOptions, SqliteStore, Store};
use serde_json::Value;

use super::process::{Failure, Remote, Serving};

const CLIENTS: usize = 6;
const GAMES: [&str; CLIENTS] = ["kq19", "ny40", "ym39", "bx20", "hk26", "pz19"];
/// Answers between two kills.
const BETWEEN: usize = 60;
/// Between two looks at something that another process is about to do.
const PAUSE: Duration = Duration::from_millis(1);

/// How many kills: fifty, or a thousand in the long form.
fn kills() -> usize {
    if std::env::var_os("RHAE_FULL").is_some() {
        1000
    } else {
        50
    }
}

/// What a client was told: the hash of the frames of each entry of its log, where it got an answer.
pub(crate) struct Told {
    pub(crate) guid: String,
    pub(crate) hashes: Vec<Option<u64>>,
}

/// The next action of a play that nobody means to win.
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

/// Counted actions of the only play on a card, once there is a server to ask.
fn counted(remote: &Remote, card: &str) -> usize {
    loop {
        match remote.get(&format!("/api/scorecard/{card}")) {
            Ok(card) => return usize::try_from(card["total_actions"].as_u64().unwrap()).unwrap(),
            Err(Failure::Lost) => std::thread::sleep(PAUSE),
            Err(refused) => panic!("{refused:?}"),
        }
    }
}

/// As [`play`], with an idempotency key on every command: what got no answer is sent again until there is one, so that nothing stays
/// unknown.
fn play_with_keys(
    remote: &Remote,
    game: &str,
    guid: String,
    done: &AtomicUsize,
    stop: &AtomicBool,
) -> Told {
    let mut told = Told {
        guid,
        hashes: vec![None],
    };
    let (mut over, mut turn) = (false, 0_u8);
    while !stop.load(Ordering::Relaxed) {
        turn = turn.wrapping_add(1);
        let key = format!("{}-{}", told.guid, told.hashes.len());
        match insist(|| remote.act_once(game, &told.guid, next_action(turn, over), Some(&key))) {
            Ok(frame) => {
                told.hashes.push(Some(hash(&frame)));
                done.fetch_add(1, Ordering::Relaxed);
                over = false;
            }
            Err(body) if body["error"] == "GAME_NOT_STARTED_ERROR" => over = true,
            Err(body) => panic!("{body}"),
        }
    }
    told
}

/// Sends a request until it is answered by more than "try again"; gives the body of the answer or of the refusal.
pub(crate) fn insist(mut send: impl FnMut() -> Result<Value, Failure>) -> Result<Value, Value> {
    loop {
        match send() {
            Ok(body) => return Ok(body),
            Err(Failure::Lost | Failure::Refused(503, _)) => std::thread::sleep(PAUSE),
            Err(Failure::Refused(_, body)) => return Err(body),
        }
    }
}

/// Plays until it is told to stop. Every action counts, so the card says how long the log is.
fn play(
    remote: &Remote,
    game: &str,
    (card, guid): (String, String),
    done: &AtomicUsize,
    stop: &AtomicBool,
) -> Told {
    let mut told = Told {
        guid,
        hashes: vec![None],
    };
    let mut over = false;
    let mut turn = 0_u8;
    while !stop.load(Ordering::Relaxed) {
        turn = turn.wrapping_add(1);
        let action = next_action(turn, over);
        over = false;
        match remote.act(game, &told.guid, action) {
            Ok(frame) => {
                assert_eq!(frame["full_reset"], false);
                told.hashes.push(Some(hash(&frame)));
                done.fetch_add(1, Ordering::Relaxed);
            }
            Err(Failure::Refused(400, body)) if body["error"] == "GAME_NOT_STARTED_ERROR" => {
                over = true
            }
            Err(Failure::Lost) => {
                // Nobody knows whether the last command was carried out. What was acknowledged was, and nothing was twice.
                let length = counted(remote, &card) + 1;
                assert!(
                    [0, 1]
                        .map(|more| told.hashes.len() + more)
                        .contains(&length),
                    "{length} {}",
                    told.hashes.len()
                );
                told.hashes.resize(length, None);
            }
            Err(refused) => panic!("{refused:?}"),
        }
    }
    told
}

#[test]
fn what_clients_were_told_survives_every_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut serving = Serving::start(folder.path(), "127.0.0.1:0", &[]);
    let (address, url) = (serving.address().to_owned(), serving.url.clone());
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let begun: Vec<_> = GAMES
        .iter()
        .map(|game| serving.remote().begin(game))
        .collect();
    let told: Vec<Told> = std::thread::scope(|scope| {
        let clients: Vec<_> = GAMES
            .iter()
            .zip(begun)
            .enumerate()
            .map(|(index, (game, begun))| {
                let (remote, done, stop) = (Remote::new(&url), &done, &stop);
                scope.spawn(move || match index % 2 {
                    0 => play(&remote, game, begun, done, stop),
                    _ => play_with_keys(&remote, game, begun.1, done, stop),
                })
            })
            .collect();
        let wait_for = |count: usize| {
            while done.load(Ordering::Relaxed) < count
                && !clients.iter().any(|client| client.is_finished())
            {
                std::thread::sleep(PAUSE);
            }
        };
        for kill in 1..=kills() {
            wait_for(done.load(Ordering::Relaxed) + BETWEEN + kill % 7);
            serving.kill();
            serving = Serving::start(folder.path(), &address, &[]);
        }
        wait_for(done.load(Ordering::Relaxed) + BETWEEN);
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
    let acknowledged: usize = told
        .iter()
        .map(|told| told.hashes.iter().flatten().count())
        .sum();
    assert!(acknowledged >= BETWEEN * kills());
    runtime.block_on(async {
        let store = SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default())
            .await
            .unwrap();
        compare(&store, &told).await;
        store.close().await;
    });
}

/// Compares what clients were told with the logs, and the logs with their replays.
pub(crate) async fn compare(store: &dyn Store, told: &[Told]) {
    for told in told {
        let play = store
            .play(told.guid.parse::<PlayId>().unwrap())
            .await
            .unwrap()
            .unwrap();
        let entries = store.log(play.key).await.unwrap();
        assert_eq!(entries.len(), told.hashes.len(), "{}", play.game_id);
        for (index, (entry, told)) in entries.iter().zip(&told.hashes).enumerate() {
            assert!(
                told.is_none_or(|told| told == entry.hash),
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
        };
        let recording = Recording {
            format: Format::Rhae,
            header,
            entries,
            ending: None,
        };
        assert_eq!(replay(&Builtin, &recording).unwrap().mismatch, None);
    }
}
