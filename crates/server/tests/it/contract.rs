use rhae_engine::{Action, Catalog};
use rhae_games::Builtin;
use serde_json::json;

use crate::test_server::TestServer;

#[test]
fn environments_are_listed_with_their_baselines() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let list = client.get("/api/games").success();
    assert_eq!(list.as_array().unwrap().len(), Builtin.list().len());
    let full = client.get("/api/games/kq19-v1").success();
    assert_eq!(full, client.get("/api/games/kq19").success());
    assert_eq!(full, client.get("//api/games/kq19").success());
    assert!(list.as_array().unwrap().contains(&full));
    assert_eq!(full["baseline_actions"].as_array().unwrap().len(), 8);
    client
        .get("/api/games/zz99")
        .assert_error(404, "SERVER_ERROR");
    client
        .get("/api/games/kq19-v1/source")
        .assert_error(404, "SERVER_ERROR");
    client
        .get("/api/games/zz99-v1/source")
        .assert_error(404, "SERVER_ERROR");
    let keys = [(); 2].map(|()| {
        client.get("/api/games/anonkey").success()["api_key"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    assert_ne!(keys[0], keys[1]);
    let health = client.get("/api/healthcheck");
    assert_eq!((health.status, health.text.as_str()), (200, "okay"));
    assert!(health.content_type.starts_with("text/plain"));
}

#[test]
fn game_can_be_reset_won_and_scored() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(
        &json!({"tags": ["mine"], "source_url": "https://example.org", "opaque": {"a": 1}}),
    );
    let opening = client
        .post(
            "//api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19"}),
        )
        .success();
    assert_eq!(
        (&opening["full_reset"], &opening["level"]),
        (&true.into(), &1.into())
    );
    assert_eq!(
        opening["action_input"],
        json!({"id": 0, "data": {}, "reasoning": null})
    );
    let guid = opening["guid"].as_str().unwrap();
    // The four-character name and the full id refer to the same play.
    let first = client.act("kq19-v1", guid, Action::Action1).success();
    assert_eq!(
        (&first["game_id"], &first["full_reset"]),
        (&"kq19-v1".into(), &false.into())
    );
    let level_reset = client.act("kq19", guid, Action::Reset).success();
    assert_eq!(
        (&level_reset["full_reset"], &level_reset["frame"]),
        (&false.into(), &opening["frame"])
    );
    let full_reset = client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19", "guid": guid}),
        )
        .success();
    assert_eq!(
        (&full_reset["full_reset"], &full_reset["guid"]),
        (&true.into(), &guid.into())
    );
    for level in 0..8 {
        let last = client.solve("kq19", guid, level);
        assert_eq!(
            (&last["levels_completed"], &last["level"]),
            (&(level + 1).into(), &(level + 2).min(8).into())
        );
    }
    assert_won_card(&server, &card, guid);
}

/// Asserts that the card of a game that was reset and then won has its final result, before and
/// after it is closed.
fn assert_won_card(server: &TestServer, card: &str, guid: &str) {
    let client = server.client("k");
    let before = client.card(card);
    client
        .act("kq19", guid, Action::Action1)
        .assert_error(400, "GAME_NOT_STARTED_ERROR");
    assert_eq!(client.card(card), before);
    assert_eq!(
        (&before["score"], &before["tags"]),
        (&100.0.into(), &json!(["mine", "agent"]))
    );
    let runs = before["environments"][0]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(
        (&runs[0]["actions"], &runs[0]["resets"], &runs[0]["score"]),
        (&2.into(), &1.into(), &0.0.into())
    );
    assert_eq!(
        (&runs[1]["state"], &runs[1]["completed"], &runs[1]["guid"]),
        (&"WIN".into(), &true.into(), &guid.into())
    );
    assert_eq!(
        client.get(&format!("/api/scorecard/{card}/kq19")).success()["environments"],
        before["environments"]
    );
    client
        .get(&format!("/api/scorecard/{card}/ny40"))
        .assert_error(404, "SERVER_ERROR");
    let closed = client.close(card);
    assert_eq!(closed, before);
    assert_eq!(client.card(card), before);
    server
        .client("other")
        .get(&format!("/api/scorecard/{card}"))
        .assert_error(404, "SERVER_ERROR");
}

#[test]
fn reasoning_is_returned_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    // Opening a card needs no body.
    let card = client
        .send("POST", "/api/scorecard/open", None, b"")
        .success()["card_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let guid = client.open_play(&card, "kq19");
    for reasoning in [
        json!({"why": ["ä", null]}),
        json!("{\"why\": \"text\"}"),
        json!("x".repeat(16_384)),
        json!(null),
    ] {
        let body =
            json!({"game_id": "kq19", "guid": guid, "card_id": "ignored", "reasoning": reasoning});
        assert_eq!(
            client.post("/api/cmd/ACTION2", &body).success()["action_input"]["reasoning"],
            reasoning
        );
    }
    let too_long = json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(16_385)});
    client
        .post("/api/cmd/ACTION2", &too_long)
        .assert_error(400, "VALIDATION_ERROR");
    assert_eq!(client.card(&card)["total_actions"], 4);
}

#[test]
fn unavailable_action_is_executed_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "ym39");
    let offered = client
        .act("ym39", &guid, Action::Action6 { x: 63, y: 0 })
        .success()["available_actions"]
        .clone();
    assert!(!offered.as_array().unwrap().contains(&1.into()));
    let frame = client.act("ym39", &guid, Action::Action1).success();
    assert_eq!(frame["action_input"]["id"], 1);
    assert_eq!(client.card(&card)["total_actions"], 2);
}
