//! Responses about scorecards.

use rhae_engine::Action;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::json;

use super::exchange::Exchanges;
use crate::test_server::TestServer;

const NO_CARD: &str = "00000000-0000-0000-0000-000000000000";

#[test]
fn scorecard_is_opened_read_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let opened = exchanges.post(
        "scorecard_open",
        &client,
        "/api/scorecard/open",
        &json!({"tags": ["mine"], "source_url": "https://example.org", "opaque": {"a": [1, null]}}),
    );
    let card = opened.success()["card_id"].as_str().unwrap().to_owned();
    let path = format!("/api/scorecard/{card}");
    let named = json!({"card_id": card});
    exchanges.post(
        "scorecard_heartbeat",
        &client,
        "/api/scorecard/heartbeat",
        &named,
    );
    exchanges.get("scorecard_without_plays", &client, &path);
    // Two runs of one play, a second play of the same environment, and another environment.
    let won = exchanges.open_play(&client, &card, "kq19");
    client.act("kq19", &won, Action::Action1).success();
    client.act("kq19", &won, Action::Reset).success();
    client.act("kq19", &won, Action::Reset).success();
    for level in 0..8 {
        client.solve("kq19", &won, level);
    }
    let partial = exchanges.open_play(&client, &card, "kq19");
    client.solve("kq19", &partial, 0);
    client.act("kq19", &partial, Action::Action1).success();
    let untouched = exchanges.open_play(&client, &card, "ny40");
    assert_ne!(partial, untouched);
    exchanges.get("scorecard_open_with_plays", &client, &path);
    exchanges.get("scorecard_of_one_game", &client, &format!("{path}/kq19"));
    exchanges.get(
        "scorecard_of_one_game_by_id",
        &client,
        &format!("{path}/ny40-v1"),
    );
    exchanges.get(
        "scorecard_of_a_game_without_plays",
        &client,
        &format!("{path}/hk26"),
    );
    exchanges.get(
        "scorecard_csv",
        &client,
        &format!("/scorecards/{card}/scorecard.csv"),
    );
    exchanges.get(
        "scorecard_json_download",
        &client,
        &format!("/scorecards/{card}/scorecard.json"),
    );
    exchanges.post("scorecard_close", &client, "/api/scorecard/close", &named);
    exchanges.get("scorecard_closed", &client, &path);
    exchanges.post(
        "scorecard_close_closed",
        &client,
        "/api/scorecard/close",
        &named,
    );
    exchanges.post(
        "scorecard_heartbeat_closed",
        &client,
        "/api/scorecard/heartbeat",
        &named,
    );
    exchanges.get("scorecard_of_another_key", &server.client("other"), &path);
}

#[test]
fn scorecard_is_opened_without_a_body() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let path = "/api/scorecard/open";
    exchanges.send(
        "scorecard_open_without_body",
        &client,
        "POST",
        path,
        None,
        "",
    );
}

#[test]
fn repeated_opening_returns_the_same_scorecard() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (
        server.client("k").with_idempotency_key("a"),
        Exchanges::default(),
    );
    exchanges.open_card(&client, &json!({}));
    let path = "/api/scorecard/open";
    exchanges.post("scorecard_open_repeated", &client, path, &json!({}));
    let other = json!({"tags": ["other"]});
    exchanges.post("scorecard_open_key_reused", &client, path, &other);
}

#[test]
fn competition_scorecard_is_hidden_until_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({"competition_mode": true}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    client.solve("kq19", &guid, 0);
    let path = format!("/api/scorecard/{card}");
    exchanges.get("competition_scorecard_open", &client, &path);
    exchanges.get(
        "competition_scorecard_open_game",
        &client,
        &format!("{path}/kq19"),
    );
    exchanges.get(
        "competition_play_open",
        &client,
        &format!("/api/plays/{guid}"),
    );
    for part in ["recording", "events"] {
        exchanges.get(
            &format!("competition_play_open_{part}"),
            &client,
            &format!("/api/plays/{guid}/{part}"),
        );
    }
    exchanges.post(
        "competition_second_play",
        &client,
        "/api/cmd/RESET",
        &json!({"card_id": card, "game_id": "kq19"}),
    );
    exchanges.post(
        "competition_scorecard_close",
        &client,
        "/api/scorecard/close",
        &json!({"card_id": card}),
    );
}

#[test]
fn second_scorecard_on_a_competition_server_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        competition: true,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    client.open_card(&json!({}));
    let path = "/api/scorecard/open";
    exchanges.post("competition_second_scorecard", &client, path, &json!({}));
}

#[test]
fn invalid_fields_of_scorecard_requests_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let refused = [
        ("tags_no_list", "open", json!({"tags": "text"})),
        ("tags_not_text", "open", json!({"tags": ["a", 1]})),
        ("source_url_not_text", "open", json!({"source_url": 1})),
        (
            "competition_mode_not_bool",
            "open",
            json!({"competition_mode": "yes"}),
        ),
        (
            "opaque_too_long",
            "open",
            json!({"opaque": "x".repeat(16_385)}),
        ),
        ("without_card_id", "close", json!({})),
        ("card_id_not_text", "close", json!({"card_id": 1})),
        ("unknown_card", "close", json!({"card_id": NO_CARD})),
        ("without_card_id", "heartbeat", json!({})),
        (
            "unknown_card",
            "heartbeat",
            json!({"card_id": "no-such-card"}),
        ),
    ];
    for (case, action, body) in refused {
        let path = format!("/api/scorecard/{action}");
        exchanges.post(&format!("scorecard_{action}_{case}"), &client, &path, &body);
    }
    let unknown = format!("/api/scorecard/{NO_CARD}");
    exchanges.get("scorecard_unknown_card", &client, &unknown);
    exchanges.get(
        "scorecard_unknown_card_game",
        &client,
        &format!("{unknown}/kq19"),
    );
    exchanges.get(
        "scorecard_invalid_card_id",
        &client,
        "/api/scorecard/no-such-card",
    );
}
