//! Each limit on its own.

use rhae_engine::Action;
use rhae_server::{Config, Limits};
use rhae_store::{GameSet, SqliteOptions};
use serde_json::json;

use crate::running::{Access, Running};

fn limited(folder: &std::path::Path, keys: bool, limits: Limits) -> Running {
    let config = Config {
        limits,
        ..Config::default()
    };
    Running::start_as(
        folder,
        config,
        SqliteOptions::default(),
        &Access { keys, sets: None },
    )
}

#[test]
fn requests_of_a_key_in_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let running = limited(
        folder.path(),
        true,
        Limits {
            requests_per_minute: Some(5),
            ..Limits::default()
        },
    );
    let (key, other) = (
        running.key(&[GameSet::Public]),
        running.key(&[GameSet::Public]),
    );
    let client = running.client(&key);
    for _ in 0..5 {
        client.get("/api/games").fine();
    }
    for _ in 0..3 {
        let refused = client.get("/api/games");
        refused.refused(429, "RATE_LIMIT_EXCEEDED");
        let seconds: u64 = refused.retry_after.as_deref().unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    // Others, and whoever asks whether the server lives, are not concerned.
    running.client(&other).get("/api/games").fine();
    assert_eq!(client.get("/api/healthcheck").status, 200);
    assert!(
        running
            .server
            .metrics()
            .contains("\nrhae_rate_limited_total 3\n")
    );
}

#[test]
fn open_cards_of_a_key_and_plays_of_a_card() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        open_cards: Some(2),
        plays_per_card: Some(3),
        ..Limits::default()
    };
    let running = limited(folder.path(), false, limits);
    let client = running.client("k");
    let [card, _] = [(); 2].map(|()| client.open_card(&json!({})));
    client
        .post("/api/scorecard/open", &json!({}))
        .refused(409, "LIMIT_REACHED");
    running.client("other").open_card(&json!({}));
    let plays = [(); 3].map(|()| client.open_play(&card, "kq19"));
    client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19"}),
        )
        .refused(409, "LIMIT_REACHED");
    client.act("kq19", &plays[0], Action::Action1).fine();
    client.close(&card);
    client.open_card(&json!({}));
}

#[test]
fn bytes_of_a_body() {
    let folder = tempfile::tempdir().unwrap();
    let running = limited(
        folder.path(),
        false,
        Limits {
            body_bytes: 1000,
            ..Limits::default()
        },
    );
    let client = running.client("k");
    let body = |length: usize| format!("{{\"tags\":[\"{}\"]}}", "x".repeat(length - 13));
    let open = |length: usize| {
        client.send(
            "POST",
            "/api/scorecard/open",
            Some("application/json"),
            body(length).as_bytes(),
        )
    };
    open(1000).fine();
    open(1001).refused(413, "PAYLOAD_TOO_LARGE");
    open(900_000).refused(413, "PAYLOAD_TOO_LARGE");
    open(1000).fine();
}

#[test]
fn levels_of_nesting() {
    let folder = tempfile::tempdir().unwrap();
    let open = |running: &Running, depth: usize| {
        let body = format!(
            "{{\"opaque\":{}{}}}",
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        );
        running.client("k").send(
            "POST",
            "/api/scorecard/open",
            Some("application/json"),
            body.as_bytes(),
        )
    };
    let running = limited(
        folder.path(),
        false,
        Limits {
            json_depth: 7,
            ..Limits::default()
        },
    );
    open(&running, 7).fine();
    open(&running, 8).refused(400, "VALIDATION_ERROR");
    running.stop();
    let running = Running::start(folder.path());
    open(&running, 127).fine();
    open(&running, 129).refused(400, "VALIDATION_ERROR");
}

#[test]
fn bytes_of_reasoning_and_opaque() {
    let folder = tempfile::tempdir().unwrap();
    let running = limited(
        folder.path(),
        false,
        Limits {
            extra_bytes: 50,
            ..Limits::default()
        },
    );
    let client = running.client("k");
    client
        .post("/api/scorecard/open", &json!({"opaque": "x".repeat(51)}))
        .refused(400, "VALIDATION_ERROR");
    let card = client.open_card(&json!({"opaque": "x".repeat(50)}));
    let guid = client.open_play(&card, "kq19");
    let act = |length: usize| {
        client.post(
            "/api/cmd/ACTION1",
            &json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(length)}),
        )
    };
    act(50).fine();
    act(51).refused(400, "VALIDATION_ERROR");
    assert_eq!(client.card(&card)["total_actions"], 1);
}
