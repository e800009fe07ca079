//! Errors as pages, for requests that accept HTML.

use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use serde_json::json;

use super::exchange::Exchanges;
use crate::test_server::{Access, TestServer};

const NO_PLAY: &str = "00000000-0000-0000-0000-000000000000";

#[test]
fn errors_are_pages_on_a_server_with_open_access() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (
        server.client("k").with_accept("text/html"),
        Exchanges::default(),
    );
    exchanges.get("error_page_unknown_path", &client, "/no/such/path");
    exchanges.get(
        "error_page_unknown_path_below_api",
        &client,
        "/api/no-such-path",
    );
    exchanges.get("error_page_unknown_game", &client, "/play/zz99");
    exchanges.get(
        "error_page_unknown_replay",
        &client,
        &format!("/replay/{NO_PLAY}"),
    );
    exchanges.get(
        "error_page_unknown_watch",
        &client,
        &format!("/watch/{NO_PLAY}"),
    );
    exchanges.get(
        "error_page_unknown_scorecard",
        &client,
        &format!("/scorecards/{NO_PLAY}"),
    );
    exchanges.post(
        "error_page_wrong_method",
        &client,
        "/scorecards",
        &json!({}),
    );
}

#[test]
fn errors_are_pages_on_a_server_with_keys() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access {
        keys: true,
        ..Access::default()
    };
    let server = TestServer::start_with_access(
        folder.path(),
        Config::default(),
        SqliteOptions::default(),
        &access,
    );
    let exchanges = Exchanges::default();
    let nobody = server.client("").with_cookie(None).with_accept("text/html");
    exchanges.get("error_page_without_key", &nobody, "/no/such/path");
    let known = server
        .client(&server.key(&[GameSet::Public]))
        .with_accept("text/html");
    exchanges.get("error_page_with_key", &known, "/no/such/path");
    exchanges.get("error_page_with_key_unknown_game", &known, "/play/zz99");
}
