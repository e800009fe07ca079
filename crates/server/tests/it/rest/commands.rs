//! Responses to commands: frames and refusals.

use rhae_engine::Action;
use rhae_server::{Config, Limits};
use rhae_store::SqliteOptions;
use serde_json::{Value, json};

use super::exchange::Exchanges;
use crate::client::Client;
use crate::test_server::TestServer;

const NO_PLAY: &str = "00000000-0000-0000-0000-000000000000";
/// A number of actions that is enough to lose any of the games.
const MAX_ATTEMPTS: usize = 10;

#[test]
fn every_command_returns_a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let opening = exchanges.post(
        "command_RESET_opens_a_play",
        &client,
        "/api/cmd/RESET",
        &json!({"card_id": card, "game_id": "hk26", "reasoning": {"why": ["ä", null]}}),
    );
    let guid = opening.success()["guid"].as_str().unwrap().to_owned();
    for number in [1, 2, 3, 4, 5, 7] {
        exchanges.post(
            &format!("command_ACTION{number}"),
            &client,
            &format!("/api/cmd/ACTION{number}"),
            &json!({"game_id": "hk26-v1", "guid": guid, "reasoning": "text"}),
        );
    }
    exchanges.post(
        "command_ACTION6",
        &client,
        "/api/cmd/ACTION6",
        &json!({"game_id": "hk26", "guid": guid, "x": 3, "y": 60}),
    );
    let reset = json!({"game_id": "hk26", "guid": guid});
    exchanges.post(
        "command_RESET_restarts_the_level",
        &client,
        "/api/cmd/RESET",
        &reset,
    );
    exchanges.post(
        "command_RESET_restarts_the_game",
        &client,
        "/api/cmd/RESET",
        &reset,
    );
}

#[test]
fn compact_response_has_packed_frames() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let exchanges = Exchanges::default();
    let client = server
        .client("k")
        .with_accept("application/vnd.rhae.compact+json");
    let card = exchanges.open_card(&client, &json!({}));
    let opening = json!({"card_id": card, "game_id": "kq19"});
    let opened = exchanges.post("command_RESET_compact", &client, "/api/cmd/RESET", &opening);
    let guid = opened.success()["guid"].clone();
    let body = json!({"game_id": "kq19", "guid": guid});
    exchanges.post(
        "command_ACTION1_compact",
        &client,
        "/api/cmd/ACTION1",
        &body,
    );
}

#[test]
fn repeated_command_returns_the_first_response() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    let client = client.with_idempotency_key("a");
    client.act("kq19", &guid, Action::Action4).success();
    let body = json!({"game_id": "kq19", "guid": guid});
    exchanges.post("command_repeated", &client, "/api/cmd/ACTION4", &body);
    exchanges.post("command_key_reused", &client, "/api/cmd/ACTION1", &body);
    let invalid = server.client("k").with_idempotency_key("a b");
    exchanges.post("command_invalid_key", &invalid, "/api/cmd/ACTION1", &body);
}

#[test]
fn action_after_a_win_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    for level in 0..7 {
        client.solve("kq19", &guid, level);
    }
    let mut solution = rhae_games::find("kq19")
        .unwrap()
        .facts
        .solution(rhae_engine::LevelIndex(7));
    let last = solution.pop().unwrap();
    for action in solution {
        client.act("kq19", &guid, action).success();
    }
    let body = json!({"game_id": "kq19", "guid": guid});
    let path = format!("/api/cmd/{}", last.kind().name());
    exchanges.post("command_wins", &client, &path, &body);
    exchanges.post("command_after_win", &client, "/api/cmd/ACTION1", &body);
    exchanges.post("command_RESET_after_win", &client, "/api/cmd/RESET", &body);
}

/// Ruins one sheet of pz19 after the other until the game is lost, and returns the last response.
fn lose(client: &Client, guid: &str) -> Value {
    let punch = Action::Action6 { x: 16, y: 21 };
    (0..MAX_ATTEMPTS)
        .map(|_| client.act("pz19", guid, punch).success())
        .find(|frame| frame["state"] == "GAME_OVER")
        .expect("the game is lost when all sheets are ruined")
}

#[test]
fn action_after_game_over_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "pz19");
    lose(&client, &guid);
    let body = json!({"game_id": "pz19", "guid": guid});
    exchanges.post(
        "command_after_game_over",
        &client,
        "/api/cmd/ACTION1",
        &body,
    );
    exchanges.get(
        "play_after_game_over",
        &client,
        &format!("/api/plays/{guid}"),
    );
    exchanges.post(
        "command_RESET_after_game_over",
        &client,
        "/api/cmd/RESET",
        &body,
    );
}

/// Returns commands with an invalid field: a name of the case, the command and its body.
fn invalid_commands(card: &str, guid: &str) -> Vec<(&'static str, &'static str, Value)> {
    let click = |x: Value, y: Value| json!({"game_id": "kq19", "guid": guid, "x": x, "y": y});
    let long = "x".repeat(16_385);
    vec![
        ("without_game_id", "ACTION1", json!({"guid": guid})),
        (
            "game_id_not_text",
            "ACTION1",
            json!({"game_id": 7, "guid": guid}),
        ),
        ("without_guid", "ACTION1", json!({"game_id": "kq19"})),
        (
            "guid_not_text",
            "ACTION1",
            json!({"game_id": "kq19", "guid": []}),
        ),
        (
            "invalid_guid",
            "ACTION1",
            json!({"game_id": "kq19", "guid": "no-guid"}),
        ),
        (
            "unknown_guid",
            "ACTION1",
            json!({"game_id": "kq19", "guid": NO_PLAY}),
        ),
        (
            "wrong_game",
            "ACTION1",
            json!({"game_id": "ny40", "guid": guid}),
        ),
        (
            "reasoning_too_long",
            "ACTION1",
            json!({"game_id": "kq19", "guid": guid, "reasoning": long}),
        ),
        (
            "without_x_and_y",
            "ACTION6",
            json!({"game_id": "kq19", "guid": guid}),
        ),
        ("x_too_large", "ACTION6", click(64.into(), 0.into())),
        ("x_negative", "ACTION6", click((-1).into(), 0.into())),
        ("y_not_integer", "ACTION6", click(0.into(), json!(1.5))),
        (
            "unknown_game",
            "RESET",
            json!({"game_id": "zz99", "card_id": card}),
        ),
        ("without_card_id", "RESET", json!({"game_id": "kq19"})),
        (
            "card_id_not_text",
            "RESET",
            json!({"game_id": "kq19", "card_id": 1}),
        ),
        (
            "unknown_card",
            "RESET",
            json!({"game_id": "kq19", "card_id": NO_PLAY}),
        ),
        (
            "unknown_guid",
            "RESET",
            json!({"game_id": "kq19", "guid": NO_PLAY}),
        ),
    ]
}

#[test]
fn invalid_fields_of_commands_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    for (case, command, body) in invalid_commands(&card, &guid) {
        let path = format!("/api/cmd/{command}");
        exchanges.post(&format!("command_{command}_{case}"), &client, &path, &body);
    }
    let body = json!({"game_id": "kq19", "guid": guid});
    exchanges.post(
        "command_unknown_command",
        &client,
        "/api/cmd/ACTION8",
        &body,
    );
    exchanges.post(
        "command_play_of_another_key",
        &server.client("other"),
        "/api/cmd/ACTION1",
        &body,
    );
    client.close(&card);
    exchanges.post("command_card_closed", &client, "/api/cmd/ACTION1", &body);
    let reopened = json!({"game_id": "kq19", "card_id": card});
    exchanges.post(
        "command_RESET_card_closed",
        &client,
        "/api/cmd/RESET",
        &reopened,
    );
}

#[test]
fn cards_and_plays_above_the_limit_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        open_cards: Some(1),
        plays_per_card: Some(1),
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let path = "/api/scorecard/open";
    exchanges.post("scorecard_open_limit_reached", &client, path, &json!({}));
    exchanges.open_play(&client, &card, "kq19");
    let body = json!({"card_id": card, "game_id": "kq19"});
    exchanges.post(
        "command_RESET_limit_reached",
        &client,
        "/api/cmd/RESET",
        &body,
    );
}
