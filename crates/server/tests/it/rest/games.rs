//! Responses about environments, keys and the server itself.

use std::sync::Arc;

use rhae_engine::{Catalog, CatalogError, Environment, EnvironmentError, GameInfo};
use rhae_games::Builtin;
use rhae_server::Config;
use rhae_store::SqliteOptions;

use super::exchange::Exchanges;
use crate::test_server::TestServer;

/// A catalogue of the environments that ship with Rhae. One of them has a Python source, and the
/// source of another cannot be read.
struct WithSources;

impl Catalog for WithSources {
    fn list(&self) -> Vec<GameInfo> {
        Builtin.list()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Builtin.find(name)
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        Builtin.open(name, seed)
    }

    fn source(&self, id: &str) -> Result<Option<String>, CatalogError> {
        match id {
            "kq19-v1" => Ok(Some("class Kq19:\n    pass\n".to_owned())),
            "ny40-v1" => Err(EnvironmentError::Failed("no such file".to_owned()).into()),
            _ => Ok(None),
        }
    }
}

#[test]
fn environments_are_listed_and_unknown_ones_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    exchanges.get("games_list", &client, "/api/games");
    exchanges.get("games_details_by_id", &client, "/api/games/kq19-v1");
    exchanges.get("games_details_by_base_id", &client, "/api/games/hk26");
    exchanges.get("games_details_unknown_game", &client, "/api/games/zz99");
    exchanges.get(
        "games_details_unknown_version",
        &client,
        "/api/games/kq19-v9",
    );
}

#[test]
fn sources_are_served_only_for_games_that_have_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start_catalog(
        folder.path(),
        Arc::new(WithSources),
        Config::default(),
        SqliteOptions::default(),
    );
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    exchanges.get("games_source", &client, "/api/games/kq19/source");
    exchanges.get(
        "games_source_of_native_game",
        &client,
        "/api/games/hk26/source",
    );
    exchanges.get(
        "games_source_unknown_game",
        &client,
        "/api/games/zz99/source",
    );
    exchanges.get("games_source_unreadable", &client, "/api/games/ny40/source");
}

#[test]
fn anonymous_key_health_and_openapi_document_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    exchanges.get("games_anonkey", &client, "/api/games/anonkey");
    exchanges.get("healthcheck", &client, "/api/healthcheck");
    let mut document = client.get("/api/openapi.json");
    // `openapi.rs` compares the document itself with a snapshot.
    document.text = "{}".to_owned();
    exchanges.check(
        "openapi_document_headers",
        "> GET /api/openapi.json\n",
        &document,
    );
}
