use rhae_engine::Action;
use rhae_server::Config;
use rhae_session::{Builtin, Catalog};
use rhae_store::SqliteOptions;
use serde_json::json;

use crate::running::Running;

#[test]
fn a_competition_counts_every_environment_and_is_read_after_closing() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({"competition_mode": true}));
    let guid = client.open_play(&card, "kq19");
    client
        .post(
            "/api/cmd/RESET",
            &json!({"card_id": card, "game_id": "kq19-v1"}),
        )
        .refused(400, "SERVER_ERROR");
    // With no action since the opening a RESET shows the frame again and counts nothing.
    let again = client.act("kq19", &guid, Action::Reset).fine();
    assert_eq!(
        (&again["full_reset"], &again["action_input"]["id"]),
        (&false.into(), &0.into())
    );
    for level in 0..8 {
        client.solve("kq19", &guid, level);
        let again = client.act("kq19", &guid, Action::Reset).fine();
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
        .refused(403, "SERVER_ERROR");
    client
        .get(&format!("/api/scorecard/{card}/kq19"))
        .refused(403, "SERVER_ERROR");
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
    // A card may say that it is no competition's.
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
fn a_competitions_server_gives_each_key_one_card_and_the_clock_closes_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        competition: true,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
    // What is refused opens nothing.
    client
        .post("/api/scorecard/open", &json!({"tags": "text"}))
        .refused(400, "VALIDATION_ERROR");
    let card = client.open_card(&json!({}));
    client
        .post("/api/scorecard/open", &json!({}))
        .refused(409, "SERVER_ERROR");
    running.client("other").open_card(&json!({}));
    client.open_play(&card, "ny40");
    running.clock.forward_minutes(16);
    running
        .runtime
        .block_on(running.server.close_stale())
        .unwrap();
    let closed = client.card(&card);
    assert_eq!(closed["total_environments"], Builtin.list().len());
    client
        .post("/api/scorecard/open", &json!({}))
        .refused(409, "SERVER_ERROR");
}
