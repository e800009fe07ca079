//! Errors of clients that use more than their share, have a foreign host name or act for a page of
//! another site.

use rhae_server::{Config, Limits};
use rhae_store::SqliteOptions;
use serde_json::json;

use super::exchange::Exchanges;
use crate::test_server::{Access, TestServer};

fn limited(folder: &std::path::Path, limits: Limits) -> TestServer {
    let config = Config {
        limits,
        ..Config::default()
    };
    TestServer::start_with(folder, config, SqliteOptions::default())
}

#[test]
fn follower_above_the_limit_of_its_key_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        streams_per_key: Some(0),
        ..Limits::default()
    };
    let server = limited(folder.path(), limits);
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let guid = exchanges.open_play(&client, &card, "kq19");
    let path = format!("/api/plays/{guid}/events");
    exchanges.get("play_events_limit_of_key", &client, &path);
}

#[test]
fn connection_above_the_limit_of_its_address_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        connections_per_address: Some(0),
        ..Limits::default()
    };
    let server = limited(folder.path(), limits);
    let request = "GET /api/games HTTP/1.1\r\nConnection: close\r\n\r\n";
    Exchanges::default().send_raw("connection_limit_of_address", server.address(), request);
}

#[test]
fn client_above_the_limit_of_stored_bytes_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        stored_bytes_per_key: Some(1000),
        ..Limits::default()
    };
    let server = limited(folder.path(), limits);
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let card = exchanges.open_card(&client, &json!({}));
    let path = "/api/scorecard/open";
    let body = json!({"opaque": "x".repeat(900)});
    exchanges.post("card_open_storage_full", &client, path, &body);
    exchanges.open_play(&client, &card, "kq19");
    let body = json!({"card_id": card, "game_id": "kq19"});
    exchanges.post(
        "command_RESET_storage_full",
        &client,
        "/api/cmd/RESET",
        &body,
    );
}

#[test]
fn foreign_host_is_rejected_with_open_access() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access {
        hosts: vec!["Arc.example.org".to_owned()],
        ..Access::default()
    };
    let options = SqliteOptions::default();
    let server = TestServer::start_with_access(folder.path(), Config::default(), options, &access);
    let exchanges = Exchanges::default();
    let request = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: {more}\r\nConnection: close\r\n\r\n")
    };
    exchanges.send_raw(
        "host_not_allowed",
        server.address(),
        &request("/api/games", "evil.example:8001"),
    );
    exchanges.send_raw(
        "host_not_allowed_page",
        server.address(),
        &request("/scorecards", "evil.example\r\nAccept: text/html"),
    );
    for host in ["localhost:1", "127.0.0.1", "[::1]:8001", "arc.EXAMPLE.org"] {
        let answer =
            super::exchange::read_answer(server.address(), &request("/api/healthcheck", host));
        assert_eq!(answer.status, 200, "{host}");
    }
}

/// A page of another site can make a browser send a request without a body to this server.
#[test]
fn page_of_another_site_changes_nothing_with_open_access() {
    let folder = tempfile::tempdir().unwrap();
    let server = limited(folder.path(), Limits::default());
    let request = |method: &str, path: &str, site: &str| {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: {site}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    };
    let opening = |site: &str| request("POST", "/api/scorecard/open", site);
    Exchanges::default().send_raw("foreign_site", server.address(), &opening("cross-site"));
    let status = |request: &str| super::exchange::read_answer(server.address(), request).status;
    assert_eq!(status(&opening("same-site")), 403);
    assert_eq!(status(&opening("same-origin")), 200);
    assert_eq!(status(&opening("none")), 200);
    // Reading is harmless, because the page does not see the response.
    assert_eq!(status(&request("GET", "/api/games", "cross-site")), 200);
}

#[test]
fn host_is_not_checked_if_keys_are_required() {
    let folder = tempfile::tempdir().unwrap();
    let access = Access {
        keys: true,
        ..Access::default()
    };
    let options = SqliteOptions::default();
    let server = TestServer::start_with_access(folder.path(), Config::default(), options, &access);
    let request =
        "GET /api/healthcheck HTTP/1.1\r\nHost: arc.example.org\r\nConnection: close\r\n\r\n";
    let answer = super::exchange::read_answer(server.address(), request);
    assert_eq!(answer.status, 200);
}
