//! Errors that do not depend on the handler: paths, methods and request bodies.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rhae_server::{Config, Limits};
use rhae_store::SqliteOptions;
use serde_json::json;

use super::exchange::{Exchanges, parse_answer};
use crate::test_server::TestServer;

const JSON: Option<&str> = Some("application/json");

fn limited(folder: &std::path::Path, limits: Limits) -> TestServer {
    let config = Config {
        limits,
        ..Config::default()
    };
    TestServer::start_with(folder, config, SqliteOptions::default())
}

#[test]
fn unknown_paths_and_wrong_methods_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    exchanges.get("path_unknown", &client, "/no/such/path");
    exchanges.get("path_unknown_below_api", &client, "/api/no-such-path");
    exchanges.get("method_GET_for_command", &client, "/api/cmd/RESET");
    exchanges.post("method_POST_for_games", &client, "/api/games", &json!({}));
    exchanges.send(
        "method_DELETE_for_games",
        &client,
        "DELETE",
        "/api/games",
        None,
        "",
    );
    exchanges.post("method_POST_for_page", &client, "/replay", &json!({}));
    exchanges.get("path_with_two_slashes", &client, "//api/healthcheck");
}

#[test]
fn bodies_that_are_not_json_objects_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let bodies = [
        ("empty", ""),
        ("incomplete", "{\"game_id\":"),
        ("not_json", "nonsense"),
        ("two_values", "{} {}"),
        ("number_not_json", "{\"x\": NaN}"),
        ("list", "[]"),
        ("null", "null"),
    ];
    for (case, body) in bodies {
        let name = format!("body_{case}");
        exchanges.send(&name, &client, "POST", "/api/cmd/ACTION1", JSON, body);
    }
    let paths = [
        ("command", "/api/cmd/RESET"),
        ("open", "/api/scorecard/open"),
        ("close", "/api/scorecard/close"),
        ("heartbeat", "/api/scorecard/heartbeat"),
    ];
    for (case, path) in paths {
        let name = format!("body_media_type_{case}");
        exchanges.send(&name, &client, "POST", path, Some("text/plain"), "{}");
    }
    let path = "/api/cmd/RESET";
    exchanges.send("body_without_media_type", &client, "POST", path, None, "{}");
}

#[test]
fn bodies_that_are_too_large_or_too_deep_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        body_bytes: 1000,
        json_depth: 7,
        ..Limits::default()
    };
    let server = limited(folder.path(), limits);
    let (client, exchanges) = (server.client("k"), Exchanges::default());
    let path = "/api/scorecard/open";
    let large = json!({"tags": ["x".repeat(1000)]});
    exchanges.post("body_too_large", &client, path, &large);
    let deep = format!("{{\"opaque\":{}{}}}", "[".repeat(7), "]".repeat(7));
    exchanges.send("body_too_deep", &client, "POST", path, JSON, &deep);
}

/// Sends the beginning of a request and returns the response. If `ends`, shuts down the sending
/// side of the connection first; otherwise keeps it open.
fn sent_in_part(server: &TestServer, request: &str, ends: bool) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    if ends {
        stream.shutdown(Shutdown::Write).unwrap();
    }
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

const HEAD: &str =
    "POST /api/cmd/RESET HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

#[test]
fn body_that_does_not_arrive_in_time_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        body_timeout: Duration::from_millis(150),
        ..Limits::default()
    };
    let server = limited(folder.path(), limits);
    let request = format!("{HEAD}Content-Length: 100\r\n\r\n{{");
    let answer = parse_answer(&sent_in_part(&server, &request, false));
    let shown = "> POST /api/cmd/RESET\n> (1 of 100 bytes, then nothing)\n";
    Exchanges::default().check("body_timeout", shown, &answer);
}

#[test]
fn body_with_an_invalid_chunk_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let request = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\nnot a chunk\r\n");
    let answer = parse_answer(&sent_in_part(&server, &request, true));
    let shown = "> POST /api/cmd/RESET\n> (an invalid chunk)\n";
    Exchanges::default().check("body_broken", shown, &answer);
}
