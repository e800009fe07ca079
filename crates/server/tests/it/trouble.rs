use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::{Value, json};

use crate::client::Client;
use crate::running::Running;

fn actions(client: &Client, card: &str) -> Value {
    client.card(card)["total_actions"].clone()
}

#[test]
fn plays_go_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    client.solve("hk26", &guid, 0);
    let before = client.card(&card);
    drop(client);
    running.stop();
    let running = Running::start(folder.path());
    let client = running.client("k");
    assert_eq!(client.card(&card), before);
    let last = client.solve("hk26", &guid, 1);
    assert_eq!(
        (&last["levels_completed"], &last["guid"]),
        (&2.into(), &guid.into())
    );
}

#[test]
fn requests_of_one_play_take_turns_and_the_play_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let card = running.client("k").open_card(&json!({}));
    let guid = running.client("k").open_play(&card, "kq19");
    running.stop();
    let running = Running::start(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (client, guid) = (running.client("k"), &guid);
            scope.spawn(move || {
                for turn in 0..10 {
                    client
                        .act("kq19", guid, [Action::Action1, Action::Action3][turn % 2])
                        .fine();
                }
            });
        }
    });
    let client = running.client("k");
    assert_eq!(
        (actions(&client, &card), running.server.plays_in_memory()),
        (80.into(), 1)
    );
    // The log replays: otherwise the play would be frozen now.
    drop(client);
    running.stop();
    let running = Running::start(folder.path());
    running
        .client("k")
        .act("kq19", &guid, Action::Action1)
        .fine();
}

#[test]
fn plays_leave_memory_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        plays_in_memory: 3,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guids: Vec<String> = (0..10).map(|_| client.open_play(&card, "kq19")).collect();
    for _ in 0..3 {
        for guid in &guids {
            client.act("kq19", guid, Action::Action4).fine();
            assert!(running.server.plays_in_memory() <= 3);
        }
    }
    assert_eq!(actions(&client, &card), 30);
}

#[test]
fn a_full_database_is_a_503_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        max_pages: Some(40),
        ..SqliteOptions::default()
    };
    let running = Running::start_with(folder.path(), Config::default(), options);
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let act = |client: &Client| {
        let body = json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(16_000)});
        client.post("/api/cmd/ACTION4", &body)
    };
    let mut told = Vec::new();
    let refused = loop {
        let answer = act(&client);
        if answer.status != 200 {
            break answer;
        }
        told.push(answer.fine());
    };
    refused.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(refused.retry_after.as_deref(), Some("1"));
    act(&client).refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(actions(&client, &card), told.len());
    drop(client);
    running.stop();
    let running = Running::start(folder.path());
    let client = running.client("k");
    assert_eq!(actions(&client, &card), told.len());
    act(&client).fine();
    assert_eq!(actions(&client, &card), told.len() + 1);
}

#[test]
fn a_read_only_database_is_a_503_and_readable() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let card = running.client("k").open_card(&json!({}));
    let guid = running.client("k").open_play(&card, "kq19");
    running.stop();
    let options = SqliteOptions {
        read_only: true,
        ..SqliteOptions::default()
    };
    let running = Running::start_with(folder.path(), Config::default(), options);
    let client = running.client("k");
    client
        .act("kq19", &guid, Action::Action4)
        .refused(503, "SERVICE_UNAVAILABLE");
    client
        .post("/api/scorecard/open", &json!({}))
        .refused(503, "SERVICE_UNAVAILABLE");
    client
        .post("/api/scorecard/close", &json!({"card_id": card}))
        .refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(actions(&client, &card), 0);
}

#[test]
fn a_play_whose_log_does_not_replay_is_frozen_and_readable() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let [broken, whole] = [(); 2].map(|()| client.open_play(&card, "kq19"));
    client.act("kq19", &broken, Action::Action4).fine();
    client.act("kq19", &broken, Action::Action1).fine();
    drop(client);
    running.stop();
    let running = Running::start(folder.path());
    let other = rusqlite::Connection::open(folder.path().join("rhae.db")).unwrap();
    other
        .execute_batch("UPDATE log SET hash = hash + 1 WHERE entry = 1")
        .unwrap();
    let client = running.client("k");
    for action in [Action::Action4, Action::Reset, Action::Action4] {
        client
            .act("kq19", &broken, action)
            .refused(409, "PLAY_FROZEN");
    }
    client.act("kq19", &whole, Action::Action4).fine();
    assert_eq!(actions(&client, &card), 3);
}
