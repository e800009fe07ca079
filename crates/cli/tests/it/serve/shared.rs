//! Several servers on one PostgreSQL: clients hop between them, and one is killed now and then.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rhae_store::{PostgresStore, Store};
use rhae_testkit::Postgres;
use serde_json::{Value, json};

use super::crash::{Told, compare, hash, insist, next_action};
use super::process::{Remote, Serving};
use crate::rhae::rhae;

const SERVERS: usize = 2;
const GAMES: [&str; 6] = ["kq19", "ny40", "ym39", "bx20", "hk26", "pz19"];
/// Answers between two kills.
const BETWEEN: usize = 40;
const PAUSE: Duration = Duration::from_millis(1);

fn kills() -> usize {
    if std::env::var_os("RHAE_FULL").is_some() {
        200
    } else {
        10
    }
}

/// Which server a client asks next: any, in an order of its own.
struct Hops(u64);

impl Hops {
    fn next<'a>(&mut self, remotes: &'a [Remote]) -> &'a Remote {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        &remotes[usize::try_from(self.0 >> 33).unwrap() % remotes.len()]
    }
}

/// Opens a card and a play and goes on until it is told to stop, each request with a key and each attempt anywhere.
fn play(remotes: &[Remote], index: usize, done: &AtomicUsize, stop: &AtomicBool) -> (String, Told) {
    let (game, mut hops) = (GAMES[index], Hops(index as u64));
    let mut send = |path: &str, body: &Value, key: &str| {
        insist(|| hops.next(remotes).post_once(path, body, Some(key)))
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
    let mut told = Told {
        guid: text(&opening["guid"]),
        hashes: vec![Some(hash(&opening))],
    };
    let (mut over, mut turn) = (false, 0_u8);
    while !stop.load(Ordering::Relaxed) {
        turn = turn.wrapping_add(1);
        let action = next_action(turn, over);
        let key = format!("{index}-{}", told.hashes.len());
        match insist(|| {
            hops.next(remotes)
                .act_once(game, &told.guid, action, Some(&key))
        }) {
            Ok(frame) => {
                told.hashes.push(Some(hash(&frame)));
                done.fetch_add(1, Ordering::Relaxed);
                over = false;
            }
            Err(body) if body["error"] == "GAME_NOT_STARTED_ERROR" => over = true,
            Err(body) => panic!("{body}"),
        }
    }
    (card, told)
}

#[test]
fn clients_hop_between_servers_that_are_killed_and_nothing_is_lost_or_done_twice() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = postgres.url();
    let start = |address: &str| Serving::start(folder.path(), address, &["--db", &database]);
    let mut servers: Vec<Serving> = (0..SERVERS).map(|_| start("127.0.0.1:0")).collect();
    let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let told: Vec<(String, Told)> = std::thread::scope(|scope| {
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
                std::thread::sleep(PAUSE);
            }
        };
        for kill in 1..=kills() {
            wait_for(done.load(Ordering::Relaxed) + BETWEEN + kill % 7);
            let server = &mut servers[kill % SERVERS];
            let address = server.address().to_owned();
            server.kill();
            // The others carry on alone for a while.
            wait_for(done.load(Ordering::Relaxed) + BETWEEN / 4);
            *server = start(&address);
        }
        wait_for(done.load(Ordering::Relaxed) + BETWEEN);
        stop.store(true, Ordering::Relaxed);
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect()
    });
    let acknowledged: usize = told.iter().map(|(_, told)| told.hashes.len()).sum();
    assert!(acknowledged >= BETWEEN * kills(), "{acknowledged}");
    // Both servers give the same card.
    for (card, told) in &told {
        let cards = [0, 1].map(|index| {
            servers[index]
                .remote()
                .get(&format!("/api/scorecard/{card}"))
                .unwrap()
        });
        assert_eq!(cards[0], cards[1]);
        assert_eq!(cards[0]["total_actions"], told.hashes.len() - 1);
    }
    drop(servers);
    let checked = rhae(folder.path(), &["db", "check", "--json", "--db", &database])
        .succeeded()
        .json();
    assert_eq!(
        (checked["plays"].as_u64(), &checked["findings"]),
        (Some(told.len() as u64), &json!([]))
    );
    let told: Vec<Told> = told.into_iter().map(|(_, told)| told).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = PostgresStore::open(&database.parse().unwrap())
            .await
            .unwrap();
        compare(&store as &dyn Store, &told).await;
        store.close().await;
    });
}

#[test]
fn a_password_is_neither_printed_nor_part_of_an_error() {
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
    let unreadable = format!("postgres://u:{}@host:port/db", postgres.password());
    let outcome = rhae(
        folder.path(),
        &["serve", "--addr", "127.0.0.1:0", "--db", &unreadable],
    )
    .failed_with("postgres://user:password");
    assert!(
        !outcome.err.contains(postgres.password()),
        "{}",
        outcome.err
    );
    let serving = Serving::start(folder.path(), "127.0.0.1:0", &["--db", &postgres.url()]);
    assert!(
        !serving.line.contains(postgres.password())
            && serving.line.contains("database postgres in"),
        "{}",
        serving.line
    );
    assert!(serving.terminate().success());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "a file was made"
    );
}
