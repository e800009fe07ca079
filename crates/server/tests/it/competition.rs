use rhae_engine::{Action, Catalog};
use rhae_games::Builtin;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::json;

use crate::test_server::TestServer;

#[test]
fn competition_card_counts_every_environment_and_is_readable_after_closing() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({"competition_mode": true}));
    let guid = client.open_play(&card, "kq19");
    client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19-v1"}),
        )
        .assert_error(400, "SERVER_ERROR");
    // Without an action since the play was opened, RESET returns the same frame again and is not
    // counted.
    let again = client.act("kq19", &guid, Action::Reset).success();
    assert_eq!(
        (&again["full_reset"], &again["action_input"]["id"]),
        (&false.into(), &0.into())
    );
    for level in 0..8 {
        client.solve("kq19", &guid, level);
        let again = client.act("kq19", &guid, Action::Reset).success();
        assert_eq!(
            (
                &again["levels_completed"],
                &again["frame"].as_array().unwrap().len()
            ),
            (&(level + 1).into(), &1)
        );
    }
    client
        .get(&format!("/api/scorecard/{card}"))
        .assert_error(403, "SERVER_ERROR");
    client
        .get(&format!("/api/scorecard/{card}/kq19"))
        .assert_error(403, "SERVER_ERROR");
    let closed = client.close(&card);
    let games = Builtin.list().len();
    assert_eq!(closed["environments"].as_array().unwrap().len(), games);
    assert_eq!(
        closed["environments"][0]["runs"].as_array().unwrap().len(),
        1
    );
    assert_eq!(
        (
            &closed["competition_mode"],
            &closed["environments"][0]["score"]
        ),
        (&true.into(), &100.0.into())
    );
    assert!((closed["score"].as_f64().unwrap() - 100.0 / games as f64).abs() < 1e-9);
    assert_eq!(client.card(&card), closed);
    // A card can opt out of competition mode explicitly.
    let card = client.open_card(&json!({"competition_mode": false}));
    client.open_play(&card, "kq19");
    client.open_play(&card, "kq19");
    assert_eq!(
        client.card(&card)["environments"][0]["runs"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn competition_server_allows_one_card_per_key_and_closes_it_when_idle() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        competition: true,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    // A refused request opens no card.
    client
        .post("/api/scorecard/open", &json!({"tags": "text"}))
        .assert_error(400, "VALIDATION_ERROR");
    let card = client.open_card(&json!({}));
    client
        .post("/api/scorecard/open", &json!({}))
        .assert_error(409, "SERVER_ERROR");
    server.client("other").open_card(&json!({}));
    client.open_play(&card, "ny40");
    server.clock.forward_minutes(16);
    server.runtime.block_on(server.inner.close_stale()).unwrap();
    let closed = client.card(&card);
    assert_eq!(closed["total_environments"], Builtin.list().len());
    client
        .post("/api/scorecard/open", &json!({}))
        .assert_error(409, "SERVER_ERROR");
}
