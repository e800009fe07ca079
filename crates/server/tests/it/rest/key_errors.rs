//! Errors for keys that are missing, unknown, revoked, without a required scope or above the rate
//! limit.

use std::collections::HashMap;
use std::path::Path;

use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_server::{Config, Limits};
use rhae_store::{GameSet, KeyStore, SqliteOptions};
use serde_json::json;

use super::exchange::Exchanges;
use crate::test_server::{Access, TestServer};

/// Starts a server with keys on which the environment `ny40` is private.
fn with_keys(folder: &Path, limits: Limits) -> TestServer {
    let set = |id: &str| match id {
        "ny40-v1" => GameSet::Private,
        _ => GameSet::Public,
    };
    let sets: HashMap<_, _> = Builtin
        .list()
        .into_iter()
        .map(|info| (info.id.clone(), set(info.id.as_str())))
        .collect();
    let access = Access {
        keys: true,
        sets: Some(sets),
        ..Access::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    TestServer::start_with_access(folder, config, SqliteOptions::default(), &access)
}

#[test]
fn missing_and_unknown_keys_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path(), Limits::default());
    let exchanges = Exchanges::default();
    let unknown = server.client("rhae_0000000000000000_0");
    exchanges.get("key_missing", &server.client(""), "/api/games");
    exchanges.get("key_unknown", &unknown, "/api/games");
    exchanges.get("key_missing_for_unknown_path", &unknown, "/no/such/path");
    let path = "/api/scorecard/open";
    exchanges.post("key_missing_to_open_scorecard", &unknown, path, &json!({}));
    exchanges.get("key_not_given_to_anybody", &unknown, "/api/games/anonkey");
    exchanges.get(
        "key_not_needed_for_healthcheck",
        &unknown,
        "/api/healthcheck",
    );
}

#[test]
fn key_without_the_scope_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path(), Limits::default());
    let exchanges = Exchanges::default();
    let client = server.client(&server.key(&[GameSet::Public]));
    exchanges.get("key_without_sources", &client, "/api/games/kq19/source");
    exchanges.get("key_game_not_visible", &client, "/api/games/ny40");
    let card = exchanges.open_card(&client, &json!({}));
    let body = json!({"card_id": card, "game_id": "ny40"});
    exchanges.post("key_game_not_available", &client, "/api/cmd/RESET", &body);
    let admin = server.client(&server.admin_key());
    exchanges.get("key_of_admin_sees_all_games", &admin, "/api/games/ny40");
}

#[test]
fn revoked_key_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = with_keys(folder.path(), Limits::default());
    let key = server.key(&[GameSet::Public]);
    let store = server.reopen_store();
    let id = key[5..21].parse().unwrap();
    assert!(server.runtime.block_on(store.revoke_key(id, 1)).unwrap());
    let client = server.client(&key);
    Exchanges::default().get("key_revoked", &client, "/api/games");
}

#[test]
fn request_above_the_rate_limit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        requests_per_minute: Some(2),
        ..Limits::default()
    };
    let server = with_keys(folder.path(), limits);
    let (client, exchanges) = (
        server.client(&server.key(&[GameSet::Public])),
        Exchanges::default(),
    );
    for _ in 0..2 {
        client.get("/api/games").success();
    }
    exchanges.get("rate_limit_exceeded", &client, "/api/games");
    let person = client.with_accept("text/html");
    exchanges.get("rate_limit_exceeded_page", &person, "/scorecards");
}
