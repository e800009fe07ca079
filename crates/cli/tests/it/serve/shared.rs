//! Several servers share one PostgreSQL database: clients switch between them while servers are
//! killed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rhae_store::{PostgresStore, Store};
use rhae_testkit::Postgres;
use serde_json::{Value, json};

use super::crash::{ClientLog, compare, hash, next_action, retry};
use super::process::{Remote, ServerProcess};
use crate::rhae::rhae;

const SERVERS: usize = 2;
const GAMES: [&str; 6] = ["kq19", "ny40", "ym39", "bx20", "hk26", "pz19"];
/// The number of answers between two kills.
const ANSWERS_BETWEEN_KILLS: usize = 40;
const POLL_INTERVAL: Duration = Duration::from_millis(1);

fn kills() -> usize {
    if rhae_testkit::full("10 instead of 200 kills") {
        200
    } else {
        10
    }
}

/// Selects a pseudo-random server for each request of a client.
struct ServerSelector(u64);

impl ServerSelector {
    fn next<'a>(&mut self, remotes: &'a [Remote]) -> &'a Remote {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        &remotes[usize::try_from(self.0 >> 33).unwrap() % remotes.len()]
    }
}

/// Opens a card and a play and acts until `stop` is set. Every request has an idempotency key, and
/// every attempt goes to a pseudo-random server.
fn play(
    remotes: &[Remote],
    index: usize,
    done: &AtomicUsize,
    stop: &AtomicBool,
) -> (String, ClientLog) {
    let (game, mut servers) = (GAMES[index], ServerSelector(index as u64));
    let mut send = |path: &str, body: &Value, key: &str| {
        retry(|| servers.next(remotes).post_with_key(path, body, Some(key)))
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let card = text(
        &send("/api/scorecard/open", &json!({}), &format!("{index}-card")).unwrap()["card_id"],
    );
    let opening = send(
        "/api/cmd/RESET",
        &json!({"card_id": card, "game_id": game}),
        &format!("{index}-play"),
    )
    .unwrap();
    let mut log = ClientLog {
        guid: text(&opening["guid"]),
        hashes: vec![Some(hash(&opening))],
    };
    let (mut over, mut turn) = (false, 0_u8);
    while !stop.load(Ordering::Relaxed) {
        turn = turn.wrapping_add(1);
        let action = next_action(turn, over);
        let key = format!("{index}-{}", log.hashes.len());
        match retry(|| {
            servers
                .next(remotes)
                .act_with_key(game, &log.guid, action, Some(&key))
        }) {
            Ok(frame) => {
                log.hashes.push(Some(hash(&frame)));
                done.fetch_add(1, Ordering::Relaxed);
                over = false;
            }
            Err(body) if body["error"] == "GAME_NOT_STARTED_ERROR" => over = true,
            Err(body) => panic!("{body}"),
        }
    }
    (card, log)
}

#[test]
fn actions_are_executed_exactly_once_across_killed_servers() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = postgres.url();
    let start = |address: &str| ServerProcess::start(folder.path(), address, &["--db", &database]);
    let mut servers: Vec<ServerProcess> = (0..SERVERS).map(|_| start("127.0.0.1:0")).collect();
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<(String, ClientLog)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..GAMES.len())
            .map(|index| {
                let remotes: Vec<Remote> = urls.iter().map(|url| Remote::new(url)).collect();
                let (done, stop) = (&done, &stop);
                scope.spawn(move || play(&remotes, index, done, stop))
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
            let server = &mut servers[kill % SERVERS];
            let address = server.address().to_owned();
            server.kill();
            // The other server continues alone for a while.
            wait_for(done.load(Ordering::Relaxed) + ANSWERS_BETWEEN_KILLS / 4);
            *server = start(&address);
        }
        wait_for(done.load(Ordering::Relaxed) + ANSWERS_BETWEEN_KILLS);
        stop.store(true, Ordering::Relaxed);
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect()
    });
    let acknowledged: usize = results.iter().map(|(_, log)| log.hashes.len()).sum();
    assert!(
        acknowledged >= ANSWERS_BETWEEN_KILLS * kills(),
        "{acknowledged}"
    );
    // Both servers return the same card.
    for (card, log) in &results {
        let cards = [0, 1].map(|index| {
            servers[index]
                .remote()
                .get(&format!("/api/scorecard/{card}"))
                .unwrap()
        });
        assert_eq!(cards[0], cards[1]);
        assert_eq!(cards[0]["total_actions"], log.hashes.len() - 1);
    }
    drop(servers);
    let checked = rhae(folder.path(), &["db", "check", "--json", "--db", &database])
        .succeeded()
        .json();
    assert_eq!(
        (checked["plays"].as_u64(), &checked["findings"]),
        (Some(results.len() as u64), &json!([]))
    );
    let logs: Vec<ClientLog> = results.into_iter().map(|(_, log)| log).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = PostgresStore::open(&database.parse().unwrap())
            .await
            .unwrap();
        compare(&store as &dyn Store, &logs).await;
        store.close().await;
    });
}

#[test]
fn database_password_is_never_printed() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let wrong = postgres.url().replace(postgres.password(), "Wrong-1234");
    let outcome = rhae(
        folder.path(),
        &["serve", "--addr", "127.0.0.1:0", "--db", &wrong],
    )
    .failed_with("cannot open the database");
    assert!(
        !outcome.err.contains("Wrong-1234") && !outcome.out.contains("Wrong-1234"),
        "{}",
        outcome.err
    );
    let invalid = format!("postgres://u:{}@host:port/db", postgres.password());
    let outcome = rhae(
        folder.path(),
        &["serve", "--addr", "127.0.0.1:0", "--db", &invalid],
    )
    .failed_with("postgres://user:password");
    assert!(
        !outcome.err.contains(postgres.password()),
        "{}",
        outcome.err
    );
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &["--db", &postgres.url()]);
    assert!(
        !serving.greeting.contains(postgres.password())
            && serving.greeting.contains("database postgres in"),
        "{}",
        serving.greeting
    );
    assert!(serving.terminate().success());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "a file was created"
    );
}
