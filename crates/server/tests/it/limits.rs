//! Tests each limit in isolation.

use rhae_engine::Action;
use rhae_server::{Config, Limits};
use rhae_store::{GameSet, KeyLimits, SqliteOptions};
use serde_json::json;

use crate::test_server::{Access, TestServer};

fn server_with_limits(folder: &std::path::Path, keys: bool, limits: Limits) -> TestServer {
    let config = Config {
        limits,
        ..Config::default()
    };
    TestServer::start_with_access(
        folder,
        config,
        SqliteOptions::default(),
        &Access {
            keys,
            ..Access::default()
        },
    )
}

#[test]
fn requests_per_key_and_minute_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_limits(
        folder.path(),
        true,
        Limits {
            requests_per_minute: Some(5),
            ..Limits::default()
        },
    );
    let (key, other) = (
        server.key(&[GameSet::Public]),
        server.key(&[GameSet::Public]),
    );
    let client = server.client(&key);
    for _ in 0..5 {
        client.get("/api/games").success();
    }
    for _ in 0..3 {
        let refused = client.get("/api/games");
        refused.assert_error(429, "RATE_LIMIT_EXCEEDED");
        let seconds: u64 = refused.retry_after.as_deref().unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    // Other keys and the health check are not affected.
    server.client(&other).get("/api/games").success();
    assert_eq!(client.get("/api/healthcheck").status, 200);
    assert!(
        server
            .inner
            .metrics()
            .contains("\nrhae_rate_limited_total 3\n")
    );
}

#[test]
fn open_cards_per_key_and_plays_per_card_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        open_cards: Some(2),
        plays_per_card: Some(3),
        ..Limits::default()
    };
    let server = server_with_limits(folder.path(), false, limits);
    let client = server.client("k");
    let [card, _] = [(); 2].map(|()| client.open_card(&json!({})));
    client
        .post("/api/scorecard/open", &json!({}))
        .assert_error(409, "LIMIT_REACHED");
    server.client("other").open_card(&json!({}));
    let plays = [(); 3].map(|()| client.open_play(&card, "kq19"));
    client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19"}),
        )
        .assert_error(409, "LIMIT_REACHED");
    client.act("kq19", &plays[0], Action::Action1).success();
    client.close(&card);
    client.open_card(&json!({}));
}

#[test]
fn body_size_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_limits(
        folder.path(),
        false,
        Limits {
            body_bytes: 1000,
            ..Limits::default()
        },
    );
    let client = server.client("k");
    let body = |length: usize| format!("{{\"opaque\":\"{}\"}}", "x".repeat(length - 13));
    let open = |length: usize| {
        client.send(
            "POST",
            "/api/scorecard/open",
            Some("application/json"),
            body(length).as_bytes(),
        )
    };
    open(1000).success();
    open(1001).assert_error(413, "PAYLOAD_TOO_LARGE");
    open(900_000).assert_error(413, "PAYLOAD_TOO_LARGE");
    open(1000).success();
}

#[test]
fn json_depth_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let open = |server: &TestServer, depth: usize| {
        let body = format!(
            "{{\"opaque\":{}{}}}",
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        );
        server.client("k").send(
            "POST",
            "/api/scorecard/open",
            Some("application/json"),
            body.as_bytes(),
        )
    };
    let server = server_with_limits(
        folder.path(),
        false,
        Limits {
            json_depth: 7,
            ..Limits::default()
        },
    );
    open(&server, 7).success();
    open(&server, 8).assert_error(400, "VALIDATION_ERROR");
    server.stop();
    let server = TestServer::start(folder.path());
    open(&server, 127).success();
    open(&server, 129).assert_error(400, "VALIDATION_ERROR");
}

#[test]
fn reasoning_and_opaque_sizes_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_with_limits(
        folder.path(),
        false,
        Limits {
            extra_bytes: 50,
            ..Limits::default()
        },
    );
    let client = server.client("k");
    client
        .post("/api/scorecard/open", &json!({"opaque": "x".repeat(51)}))
        .assert_error(400, "VALIDATION_ERROR");
    let card = client.open_card(&json!({"opaque": "x".repeat(50)}));
    let guid = client.open_play(&card, "kq19");
    let act = |length: usize| {
        client.post(
            "/api/cmd/ACTION1",
            &json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(length)}),
        )
    };
    act(50).success();
    act(51).assert_error(400, "VALIDATION_ERROR");
    assert_eq!(client.card(&card)["total_actions"], 1);
}

#[test]
fn limits_of_a_key_replace_those_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let strict = Limits {
        requests_per_minute: Some(2),
        open_cards: Some(1),
        plays_per_card: Some(1),
        stored_bytes_per_key: Some(1),
        ..Limits::default()
    };
    let server = server_with_limits(folder.path(), true, strict);
    let unlimited = server.limited_key(KeyLimits {
        requests_per_minute: Some(0),
        open_cards: Some(0),
        plays_per_card: Some(2),
        stored_bytes: Some(4000),
    });
    let client = server.client(&unlimited);
    let card = client.open_card(&json!({}));
    client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    client.open_play(&card, "kq19");
    let body = json!({"card_id": card, "game_id": "kq19"});
    let refused = client.post("/api/cmd/RESET", &body);
    refused.assert_error(409, "LIMIT_REACHED");
    assert!(refused.text.contains("limit of 2 plays"), "{refused:?}");
    // Entries take 128 bytes each besides the cards and plays.
    let full = (0..40).find_map(|_| {
        let answer = client.act("kq19", &guid, Action::Action1);
        (answer.status != 200).then_some(answer)
    });
    let full = full.unwrap();
    full.assert_error(409, "LIMIT_REACHED");
    assert!(full.text.contains("4000 stored bytes"), "{full:?}");
    // Another key has the limits of the server, and one may also be stricter.
    let own = server.limited_key(KeyLimits {
        requests_per_minute: Some(1),
        ..KeyLimits::default()
    });
    for (key, max) in [(server.key(&[GameSet::Public]), 2), (own, 1)] {
        let client = server.client(&key);
        for _ in 0..max {
            client.get("/api/games").success();
        }
        let refused = client.get("/api/games");
        refused.assert_error(429, "RATE_LIMIT_EXCEEDED");
        assert!(refused.text.contains(&format!("{max} requests")));
    }
}
