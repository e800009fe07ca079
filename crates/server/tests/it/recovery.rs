use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::{Value, json};

use crate::client::Client;
use crate::test_server::TestServer;

fn actions(client: &Client, card: &str) -> Value {
    client.card(card)["total_actions"].clone()
}

#[test]
fn plays_continue_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    client.solve("hk26", &guid, 0);
    let before = client.card(&card);
    drop(client);
    server.stop();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    assert_eq!(client.card(&card), before);
    let last = client.solve("hk26", &guid, 1);
    assert_eq!(
        (&last["levels_completed"], &last["guid"]),
        (&2.into(), &guid.into())
    );
}

#[test]
fn concurrent_requests_of_one_play_are_serialised_and_rebuild_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let card = server.client("k").open_card(&json!({}));
    let guid = server.client("k").open_play(&card, "kq19");
    server.stop();
    let server = TestServer::start(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (client, guid) = (server.client("k"), &guid);
            scope.spawn(move || {
                for turn in 0..10 {
                    client
                        .act("kq19", guid, [Action::Action1, Action::Action3][turn % 2])
                        .success();
                }
            });
        }
    });
    let client = server.client("k");
    assert_eq!(
        (actions(&client, &card), server.inner.plays_in_memory()),
        (80.into(), 1)
    );
    // If the log did not replay, the restarted server would freeze the play.
    drop(client);
    server.stop();
    let server = TestServer::start(folder.path());
    server
        .client("k")
        .act("kq19", &guid, Action::Action1)
        .success();
}

#[test]
fn evicted_plays_are_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        plays_in_memory: 3,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guids: Vec<String> = (0..10).map(|_| client.open_play(&card, "kq19")).collect();
    for _ in 0..3 {
        for guid in &guids {
            client.act("kq19", guid, Action::Action4).success();
            assert!(server.inner.plays_in_memory() <= 3);
        }
    }
    assert_eq!(actions(&client, &card), 30);
}

#[test]
fn full_database_gives_503_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        max_pages: Some(40),
        ..SqliteOptions::default()
    };
    let server = TestServer::start_with(folder.path(), Config::default(), options);
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let act = |client: &Client| {
        let body = json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(16_000)});
        client.post("/api/cmd/ACTION4", &body)
    };
    let mut acknowledged = Vec::new();
    let refused = loop {
        let answer = act(&client);
        if answer.status != 200 {
            break answer;
        }
        acknowledged.push(answer.success());
    };
    refused.assert_error(503, "SERVICE_UNAVAILABLE");
    assert_eq!(refused.retry_after.as_deref(), Some("1"));
    act(&client).assert_error(503, "SERVICE_UNAVAILABLE");
    assert_eq!(actions(&client, &card), acknowledged.len());
    drop(client);
    server.stop();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    assert_eq!(actions(&client, &card), acknowledged.len());
    act(&client).success();
    assert_eq!(actions(&client, &card), acknowledged.len() + 1);
}

#[test]
fn read_only_database_gives_503_for_writes_and_serves_reads() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let card = server.client("k").open_card(&json!({}));
    let guid = server.client("k").open_play(&card, "kq19");
    server.stop();
    let options = SqliteOptions {
        read_only: true,
        ..SqliteOptions::default()
    };
    let server = TestServer::start_with(folder.path(), Config::default(), options);
    let client = server.client("k");
    client
        .act("kq19", &guid, Action::Action4)
        .assert_error(503, "SERVICE_UNAVAILABLE");
    client
        .post("/api/scorecard/open", &json!({}))
        .assert_error(503, "SERVICE_UNAVAILABLE");
    client
        .post("/api/scorecard/close", &json!({"card_id": card}))
        .assert_error(503, "SERVICE_UNAVAILABLE");
    assert_eq!(actions(&client, &card), 0);
}

#[test]
fn play_with_a_corrupt_log_is_frozen_but_readable() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let [broken, whole] = [(); 2].map(|()| client.open_play(&card, "kq19"));
    client.act("kq19", &broken, Action::Action4).success();
    client.act("kq19", &broken, Action::Action1).success();
    drop(client);
    server.stop();
    let server = TestServer::start(folder.path());
    let other = rusqlite::Connection::open(folder.path().join("rhae.db")).unwrap();
    other
        .execute_batch("UPDATE log SET hash = hash + 1 WHERE entry = 1")
        .unwrap();
    let client = server.client("k");
    for action in [Action::Action4, Action::Reset, Action::Action4] {
        client
            .act("kq19", &broken, action)
            .assert_error(409, "PLAY_FROZEN");
    }
    client.act("kq19", &whole, Action::Action4).success();
    assert_eq!(actions(&client, &card), 3);
}
