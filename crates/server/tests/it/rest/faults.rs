//! Errors of a database that cannot be written and of environments that fail.

use std::sync::Arc;

use rhae_engine::{
    Action, Catalog, CatalogError, Environment, EnvironmentError, GameInfo, Observation,
};
use rhae_games::Builtin;
use rhae_server::Config;
use rhae_store::SqliteOptions;
use serde_json::json;

use super::exchange::Exchanges;
use crate::test_server::TestServer;

/// A catalogue with an environment that cannot be opened (`ny40`), one that fails at the first
/// action (`kq19`) and one that panics at the first action (`hk26`).
struct Failing;

impl Catalog for Failing {
    fn list(&self) -> Vec<GameInfo> {
        Builtin.list()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Builtin.find(name)
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        if name == "ny40-v1" {
            return Err(EnvironmentError::Failed("no interpreter".to_owned()).into());
        }
        Ok(Box::new(FailingEnvironment(Builtin.open(name, seed)?)))
    }
}

struct FailingEnvironment(Box<dyn Environment>);

impl Environment for FailingEnvironment {
    fn info(&self) -> &GameInfo {
        self.0.info()
    }

    fn observation(&self) -> &Observation {
        self.0.observation()
    }

    fn act(&mut self, _: Action) -> Result<&Observation, EnvironmentError> {
        assert_ne!(self.info().id.base(), "hk26", "this panic is expected");
        Err(EnvironmentError::Failed("the process ended".to_owned()))
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        self.0.snapshot()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        self.0.restore(snapshot)
    }
}

#[test]
fn failing_environment_is_a_server_error() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_catalog(
        folder.path(),
        Arc::new(Failing),
        Config::default(),
        SqliteOptions::default(),
    );
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    exchanges.post(
        "environment_cannot_be_opened",
        &client,
        "/api/cmd/RESET",
        &json!({"card_id": card, "game_id": "ny40"}),
    );
    for (name, game) in [
        ("environment_fails", "kq19"),
        ("environment_panics", "hk26"),
    ] {
        let guid = exchanges.open_play(&client, &card, game);
        let body = json!({"game_id": game, "guid": guid});
        exchanges.post(name, &client, "/api/cmd/ACTION1", &body);
    }
}

#[test]
fn writes_to_a_read_only_database_are_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let exchanges = Exchanges::default();
    let card = exchanges.open_card(&server.client("k"), &json!({}));
    let guid = exchanges.open_play(&server.client("k"), &card, "kq19");
    server.stop();
    let options = SqliteOptions {
        read_only: true,
        ..SqliteOptions::default()
    };
    let server = TestServer::start_with(folder.path(), Config::default(), options);
    let client = server.client("k");
    let named = json!({"card_id": card});
    let refused = [
        (
            "command",
            "/api/cmd/ACTION4",
            json!({"game_id": "kq19", "guid": guid}),
        ),
        ("open", "/api/scorecard/open", json!({})),
        ("heartbeat", "/api/scorecard/heartbeat", named.clone()),
        ("close", "/api/scorecard/close", named),
    ];
    for (case, path, body) in refused {
        exchanges.post(&format!("database_read_only_{case}"), &client, path, &body);
    }
}

#[test]
fn writes_to_a_full_database_are_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        max_pages: Some(40),
        ..SqliteOptions::default()
    };
    let server = TestServer::start_with(folder.path(), Config::default(), options);
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    let body = json!({"game_id": "kq19", "guid": guid, "reasoning": "x".repeat(16_000)});
    while client.post("/api/cmd/ACTION4", &body).status == 200 {}
    exchanges.post("database_full", &client, "/api/cmd/ACTION4", &body);
}
