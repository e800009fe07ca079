//! Idempotency keys over HTTP.

use rhae_engine::{Action, LevelIndex};
use serde_json::json;

use crate::client::Client;
use crate::test_server::TestServer;

/// Plays a short game with an idempotency key on each request, and returns the response texts.
fn play(client: &Client) -> Vec<String> {
    let mut answers = Vec::new();
    let mut send = |path: &str, body: &serde_json::Value| {
        let answer = client
            .with_idempotency_key(&format!("key-{}", answers.len()))
            .post(path, body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answers.push(answer.text.clone());
        answer.json()
    };
    let card = send("/api/scorecard/open", &json!({"tags": ["a"]}))["card_id"].clone();
    let guid = send(
        "/api/cmd/RESET",
        &json!({"card_id": card, "game_id": "kq19", "reasoning": {"b": 1, "a": 2}}),
    )["guid"]
        .clone();
    send(
        "/api/cmd/ACTION1",
        &json!({"game_id": "kq19", "guid": guid, "reasoning": "why"}),
    );
    for _ in 0..2 {
        send("/api/cmd/RESET", &json!({"game_id": "kq19", "guid": guid}));
    }
    for level in 0..8 {
        for action in rhae_games::find("kq19")
            .unwrap()
            .facts
            .solution(LevelIndex(level))
        {
            send(
                &format!("/api/cmd/{}", action.kind().name()),
                &json!({"game_id": "kq19-v1", "guid": guid}),
            );
        }
    }
    answers
}

#[test]
fn repeated_requests_get_identical_responses_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let first = play(&client);
    assert!(first.last().unwrap().contains("\"WIN\""));
    // The play has ended; repeat all of its requests.
    assert_eq!(play(&client), first);
    let card = serde_json::from_str::<serde_json::Value>(&first[0]).unwrap()["card_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let counts = client.card(&card);
    client.close(&card);
    assert_eq!(play(&client), first);
    drop(client);
    server.stop();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    assert_eq!(play(&client), first);
    assert_eq!(client.card(&card), counts);
    // After a day the keys are deleted, so the request is evaluated again and refused.
    server.clock.forward_minutes(24 * 60 + 1);
    assert_eq!(
        server
            .runtime
            .block_on(server.inner.delete_expired_keys())
            .unwrap(),
        first.len() as u64
    );
    let guid = serde_json::from_str::<serde_json::Value>(&first[1]).unwrap()["guid"]
        .as_str()
        .unwrap()
        .to_owned();
    client
        .with_idempotency_key("key-2")
        .act("kq19", &guid, Action::Action1)
        .assert_error(400, "GAME_NOT_STARTED_ERROR");
}

#[test]
fn key_is_bound_to_one_request_of_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.with_idempotency_key("card").open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let act = |client: &Client, key: &str, action| {
        client.with_idempotency_key(key).act("kq19", &guid, action)
    };
    act(&client, "a", Action::Action4).success();
    for (key, action) in [
        ("a", Action::Action1),
        ("card", Action::Action4),
        ("a", Action::Reset),
    ] {
        act(&client, key, action).assert_error(422, "IDEMPOTENCY_KEY_REUSED");
    }
    client
        .with_idempotency_key("a")
        .post("/api/scorecard/open", &json!({}))
        .assert_error(422, "IDEMPOTENCY_KEY_REUSED");
    client
        .with_idempotency_key("card")
        .post("/api/scorecard/open", &json!({"tags": []}))
        .assert_error(422, "IDEMPOTENCY_KEY_REUSED");
    client
        .with_idempotency_key("a")
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19"}),
        )
        .assert_error(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(client.card(&card)["total_actions"], 1);
    // Another owner may use the same key, and learns nothing from it.
    let other = server.client("other");
    assert_ne!(
        other.with_idempotency_key("card").open_card(&json!({})),
        card
    );
    act(&other, "a", Action::Action4).assert_error(400, "SERVER_ERROR");

    // A refused request does not use up its key.
    client
        .with_idempotency_key("b")
        .post(
            "/api/cmd/ACTION6",
            &json!({"game_id": "kq19", "guid": guid}),
        )
        .assert_error(400, "VALIDATION_ERROR");
    act(&client, "b", Action::Action4).success();
    for key in ["", " ", "a b", "\t", &"x".repeat(256)] {
        act(&client, key, Action::Action4).assert_error(400, "VALIDATION_ERROR");
    }
    act(&client, &"x".repeat(255), Action::Action4).success();
    assert_eq!(client.card(&card)["total_actions"], 3);
}

#[test]
fn concurrent_requests_with_one_key_execute_once_and_all_get_the_response() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let at_once = |send: &(dyn Fn(&Client) -> String + Sync)| -> String {
        let answers: Vec<String> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| send(&server.client("k"))))
                .collect();
            clients
                .into_iter()
                .map(|client| client.join().unwrap())
                .collect()
        });
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{answers:?}"
        );
        answers[0].clone()
    };
    let card = at_once(&|client| client.with_idempotency_key("card").open_card(&json!({})));
    let guid = at_once(&|client| client.with_idempotency_key("play").open_play(&card, "kq19"));
    for key in ["a", "b", "c"] {
        at_once(&|client| {
            let answer = client
                .with_idempotency_key(key)
                .act("kq19", &guid, Action::Action4);
            answer.success();
            answer.text
        });
    }
    let card = server.client("k").card(&card);
    assert_eq!(
        (
            &card["total_actions"],
            card["environments"][0]["runs"].as_array().unwrap().len()
        ),
        (&3.into(), 1)
    );
}
