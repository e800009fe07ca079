//! Idempotency keys over HTTP.

use rhae_engine::{Action, LevelIndex};
use serde_json::json;

use crate::client::Client;
use crate::running::Running;

/// Everything that a client does in a short play, each with its key, and the texts of the answers.
fn play(client: &Client) -> Vec<String> {
    let mut answers = Vec::new();
    let mut send = |path: &str, body: &serde_json::Value| {
        let answer = client
            .once(&format!("key-{}", answers.len()))
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
fn repeated_requests_get_the_first_answers_byte_for_byte_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let first = play(&client);
    assert!(first.last().unwrap().contains("\"WIN\""));
    // The play has ended, and is repeated from its beginning.
    assert_eq!(play(&client), first);
    let card = serde_json::from_str::<serde_json::Value>(&first[0]).unwrap()["card_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let counts = client.card(&card);
    client.close(&card);
    assert_eq!(play(&client), first);
    drop(client);
    running.stop();
    let running = Running::start(folder.path());
    let client = running.client("k");
    assert_eq!(play(&client), first);
    assert_eq!(client.card(&card), counts);
    // A day later the keys are gone, and so is what they stood for: the card is closed.
    running.clock.forward_minutes(24 * 60 + 1);
    assert_eq!(
        running
            .runtime
            .block_on(running.server.forget_keys())
            .unwrap(),
        first.len() as u64
    );
    let guid = serde_json::from_str::<serde_json::Value>(&first[1]).unwrap()["guid"]
        .as_str()
        .unwrap()
        .to_owned();
    client
        .once("key-2")
        .act("kq19", &guid, Action::Action1)
        .refused(400, "GAME_NOT_STARTED_ERROR");
}

#[test]
fn a_key_belongs_to_one_request_of_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.once("card").open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let act = |client: &Client, key: &str, action| client.once(key).act("kq19", &guid, action);
    act(&client, "a", Action::Action4).fine();
    for (key, action) in [
        ("a", Action::Action1),
        ("card", Action::Action4),
        ("a", Action::Reset),
    ] {
        act(&client, key, action).refused(422, "IDEMPOTENCY_KEY_REUSED");
    }
    client
        .once("a")
        .post("/api/scorecard/open", &json!({}))
        .refused(422, "IDEMPOTENCY_KEY_REUSED");
    client
        .once("card")
        .post("/api/scorecard/open", &json!({"tags": []}))
        .refused(422, "IDEMPOTENCY_KEY_REUSED");
    client
        .once("a")
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19"}),
        )
        .refused(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(client.card(&card)["total_actions"], 1);
    // Somebody else may use the same key, and learns nothing by it.
    let other = running.client("other");
    assert_ne!(other.once("card").open_card(&json!({})), card);
    act(&other, "a", Action::Action4).refused(400, "SERVER_ERROR");

    // What was refused has taken no key.
    client
        .once("b")
        .post(
            "/api/cmd/ACTION6",
            &json!({"game_id": "kq19", "guid": guid}),
        )
        .refused(400, "VALIDATION_ERROR");
    act(&client, "b", Action::Action4).fine();
    for key in ["", " ", "a b", "\t", &"x".repeat(256)] {
        act(&client, key, Action::Action4).refused(400, "VALIDATION_ERROR");
    }
    act(&client, &"x".repeat(255), Action::Action4).fine();
    assert_eq!(client.card(&card)["total_actions"], 3);
}

#[test]
fn of_many_requests_with_one_key_at_once_one_is_carried_out_and_all_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let at_once = |send: &(dyn Fn(&Client) -> String + Sync)| -> String {
        let answers: Vec<String> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| send(&running.client("k"))))
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
    let card = at_once(&|client| client.once("card").open_card(&json!({})));
    let guid = at_once(&|client| client.once("play").open_play(&card, "kq19"));
    for key in ["a", "b", "c"] {
        at_once(&|client| {
            let answer = client.once(key).act("kq19", &guid, Action::Action4);
            answer.fine();
            answer.text
        });
    }
    let card = running.client("k").card(&card);
    assert_eq!(
        (
            &card["total_actions"],
            card["environments"][0]["runs"].as_array().unwrap().len()
        ),
        (&3.into(), 1)
    );
}
