use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rhae_engine::Action;
use rhae_server::serve_metrics;
use serde_json::json;
use tokio::net::TcpListener;

use crate::test_server::TestServer;

/// Sends a request with this id and returns the id in the response.
fn echoed_id(server: &TestServer, id: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = [
        b"GET /api/games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: ",
        id,
        b"\r\n\r\n",
    ]
    .concat();
    stream.write_all(&request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = answer
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: "));
    line.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn every_response_has_a_request_id() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    assert_eq!(echoed_id(&server, b"Client-7_a.b"), "Client-7_a.b");
    let long = "x".repeat(65);
    for strange in [
        &b""[..],
        b"a b",
        b"a\"b",
        b"a;b",
        b"\xff",
        b"a\tb",
        long.as_bytes(),
    ] {
        let given = echoed_id(&server, strange);
        assert!(given.as_bytes() != strange && given.len() < 30, "{given}");
    }
    let client = server.client("k");
    let answers = [
        client.get("/api/games"),
        client.get("/nothing"),
        client.get("/api/cmd/RESET"),
        client.get("/api/healthcheck"),
    ];
    let ids: HashSet<&str> = answers
        .iter()
        .map(|answer| answer.request_id.as_str())
        .collect();
    assert!(ids.len() == answers.len() && !ids.contains(""));
}

#[test]
fn metrics_count_requests_actions_and_rebuilds() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    drop(client);
    server.stop();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    for _ in 0..3 {
        client.act("kq19", &guid, Action::Action1).success();
    }
    client
        .act("kq19", "no guid", Action::Action1)
        .assert_error(400, "SERVER_ERROR");
    client.get("/somewhere/else").assert_error(404, "NOT_FOUND");
    let listener = server
        .runtime
        .block_on(TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let address = listener.local_addr().unwrap();
    server.runtime.spawn(serve_metrics(
        listener,
        Arc::clone(&server.inner),
        std::future::pending(),
    ));
    let text = crate::client::Client::new(&format!("http://{address}"), "")
        .get("/metrics")
        .text;
    for line in [
        "# TYPE rhae_requests counter",
        r#"rhae_requests_total{route="/api/cmd/{name}",status="200"} 3"#,
        r#"rhae_requests_total{route="/api/cmd/{name}",status="400"} 1"#,
        r#"rhae_requests_total{route="",status="404"} 1"#,
        r#"rhae_request_seconds_bucket{le="+Inf",route="/api/cmd/{name}"} 4"#,
        r#"rhae_request_seconds_count{route="/api/cmd/{name}"} 4"#,
        "rhae_actions_total 3",
        "rhae_play_rebuilds_total 1",
        "rhae_plays_frozen_total 0",
        "rhae_plays_in_memory 1",
        "rhae_rate_limited_total 0",
        "rhae_connections 1",
        "# TYPE rhae_connections gauge",
        "# TYPE rhae_connections_total unknown",
        r#"rhae_connections_timed_out_total{waiting_for="request"} 0"#,
        r#"rhae_connections_timed_out_total{waiting_for="handshake"} 0"#,
        "# EOF",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line} is missing in:\n{text}"
        );
    }
    let commits = text
        .lines()
        .find_map(|line| line.strip_prefix("rhae_commits_total "))
        .unwrap();
    assert!(commits.parse::<u64>().unwrap() >= 3, "{commits}");
    // Every line is valid OpenMetrics text.
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with("rhae_") && value.parse::<f64>().is_ok(),
            "{line}"
        );
    }
}
