//! Responses about plays: facts, recordings and event streams.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::{Action, Catalog, CatalogError, Environment, GameInfo};
use rhae_games::Builtin;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::json;

use super::exchange::{Exchanges, parse_answer};
use crate::client::Client;
use crate::long_plays::corrupt;
use crate::test_server::TestServer;

const NO_PLAY: &str = "00000000-0000-0000-0000-000000000000";

/// Plays an action with reasoning, a click, a level reset and an action that changes nothing.
/// Returns the guid of the play.
fn played(exchanges: &Exchanges, client: &Client, card: &str) -> String {
    let guid = exchanges.open_play(client, card, "hk26");
    let body = json!({"game_id": "hk26", "guid": guid, "reasoning": {"why": "probe"}});
    client.post("/api/cmd/ACTION1", &body).success();
    for action in [
        Action::Action6 { x: 3, y: 60 },
        Action::Reset,
        Action::Action7,
    ] {
        client.act("hk26", &guid, action).success();
    }
    guid
}

#[test]
fn facts_recording_and_events_of_a_play_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = played(&exchanges, &client, &card);
    server.clock.forward_minutes(2);
    client.act("hk26", &guid, Action::Action4).success();
    let path = format!("/api/plays/{guid}");
    exchanges.get("play_on_open_card", &client, &path);
    exchanges.get("play_recording", &client, &format!("{path}/recording"));
    client.close(&card);
    exchanges.get("play_on_closed_card", &client, &path);
    // The stream of a play on a closed card ends.
    let from_first = format!("{path}/events?from=0");
    exchanges.get("play_events_from_first_entry", &client, &from_first);
    exchanges.get(
        "play_events_from_last_entry",
        &client,
        &format!("{path}/events"),
    );
    exchanges.send_raw(
        "play_events_after_last_event_id",
        server.address(),
        &format!("GET {path}/events HTTP/1.0\r\nX-API-Key: k\r\nLast-Event-ID: 3\r\n\r\n"),
    );
}

/// Reads an event stream up to its first comment, and closes the connection.
fn events_until_comment(server: &TestServer, path: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    // A response to HTTP/1.0 has no chunks.
    write!(stream, "GET {path} HTTP/1.0\r\nX-API-Key: k\r\n\r\n").unwrap();
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let length = stream.read(&mut buffer).unwrap();
        assert_ne!(length, 0, "the stream ended");
        text.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&text);
        if let Some(comment) = text.find("\n: ")
            && let Some(end) = text[comment..].find("\n\n")
        {
            return text[..comment + end + 2].to_owned();
        }
    }
}

#[test]
fn idle_event_stream_sends_a_comment() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        keep_alive_ms: 50,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    let path = format!("/api/plays/{guid}/events");
    let answer = parse_answer(&events_until_comment(&server, &path));
    exchanges.check(
        "play_events_keep_alive",
        &format!("> GET {path}\n"),
        &answer,
    );
}

#[test]
fn unknown_plays_and_plays_of_other_keys_are_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    for (part, suffix) in [
        ("facts", ""),
        ("recording", "/recording"),
        ("events", "/events"),
    ] {
        exchanges.get(
            &format!("play_unknown_guid_{part}"),
            &client,
            &format!("/api/plays/{NO_PLAY}{suffix}"),
        );
        exchanges.get(
            &format!("play_invalid_guid_{part}"),
            &client,
            &format!("/api/plays/no-guid{suffix}"),
        );
        exchanges.get(
            &format!("play_of_another_key_{part}"),
            &server.client("other"),
            &format!("/api/plays/{guid}{suffix}"),
        );
    }
    let path = format!("/api/plays/{guid}/events");
    exchanges.get("play_events_wrong_from", &client, &format!("{path}?from=x"));
    exchanges.send_raw(
        "play_events_wrong_last_event_id",
        server.address(),
        &format!("GET {path} HTTP/1.0\r\nX-API-Key: k\r\nLast-Event-ID: x\r\n\r\n"),
    );
}

#[test]
fn follower_above_the_limit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        listeners: 0,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    for part in ["recording", "events"] {
        exchanges.get(
            &format!("play_too_many_followers_{part}"),
            &client,
            &format!("/api/plays/{guid}/{part}"),
        );
    }
}

#[test]
fn frozen_play_rejects_commands_and_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = played(&exchanges, &client, &card);
    drop(client);
    server.stop();
    corrupt(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 2",
    );
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let path = format!("/api/plays/{guid}");
    exchanges.get(
        "play_frozen_events_begin_before_the_fault",
        &client,
        &format!("{path}/events?from=1"),
    );
    exchanges.get("play_frozen_events", &client, &format!("{path}/events"));
    let body = json!({"game_id": "hk26", "guid": guid});
    exchanges.post("command_play_frozen", &client, "/api/cmd/ACTION1", &body);
    exchanges.post(
        "command_RESET_play_frozen",
        &client,
        "/api/cmd/RESET",
        &body,
    );
    exchanges.get("play_frozen", &client, &path);
    drop(client);
    server.stop();
    // A recording cannot be sent if the environment is no longer available.
    let server = TestServer::start_catalog(
        folder.path(),
        Arc::new(WithoutEnvironments),
        Config::default(),
        SqliteOptions::default(),
    );
    let recording = format!("{path}/recording");
    exchanges.get("play_frozen_recording", &server.client("k"), &recording);
}

/// A catalogue that lists environments but cannot find or open any of them.
struct WithoutEnvironments;

impl Catalog for WithoutEnvironments {
    fn list(&self) -> Vec<GameInfo> {
        Builtin.list()
    }

    fn find(&self, _: &str) -> Result<GameInfo, CatalogError> {
        Builtin.find("zz99")
    }

    fn open(&self, _: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        Builtin.open("zz99", seed)
    }
}
