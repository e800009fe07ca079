mod commands;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rhae_engine::Action;
use serde_json::{Value, json};

use crate::client::Client;
use crate::test_server::TestServer;
use commands::COMMANDS;

const JSON: Option<&str> = Some("application/json");

/// The ids that requests refer to.
struct Ids {
    open: String,
    closed: String,
    foreign: String,
    guid: String,
    closed_guid: String,
    foreign_guid: String,
}

impl Ids {
    /// Replaces placeholders such as `<open>` with ids.
    fn fill(&self, text: &str) -> String {
        let names = [
            ("<open>", &self.open),
            ("<closed>", &self.closed),
            ("<foreign>", &self.foreign),
            ("<guid>", &self.guid),
            ("<closed-guid>", &self.closed_guid),
            ("<foreign-guid>", &self.foreign_guid),
        ];
        names.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
    }
}

fn ids(server: &TestServer) -> (Client, Ids) {
    let (client, other) = (server.client("k"), server.client("other"));
    let cards = [
        client.open_card(&json!({})),
        client.open_card(&json!({})),
        other.open_card(&json!({})),
    ];
    let [guid, closed_guid] = [0, 1].map(|index: usize| client.open_play(&cards[index], "kq19"));
    let foreign_guid = other.open_play(&cards[2], "kq19");
    client.act("kq19", &guid, Action::Action4).success();
    client.close(&cards[1]);
    let [open, closed, foreign] = cards;
    (
        client,
        Ids {
            open,
            closed,
            foreign,
            guid,
            closed_guid,
            foreign_guid,
        },
    )
}

/// Returns the state that a request could have changed.
fn state(server: &TestServer, ids: &Ids) -> [Value; 3] {
    let (client, other) = (server.client("k"), server.client("other"));
    [
        client.card(&ids.open),
        client.card(&ids.closed),
        other.card(&ids.foreign),
    ]
}

#[test]
fn invalid_requests_are_refused_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, ids) = ids(&server);
    let before = state(&server, &ids);
    for (path, body, status, code) in COMMANDS {
        let (path, body) = (ids.fill(path), ids.fill(body));
        println!("{path} {body}");
        client
            .send("POST", &path, JSON, body.as_bytes())
            .assert_error(*status, code);
    }
    assert_eq!(state(&server, &ids), before);
    // The play continues from its last state.
    client.act("kq19", &ids.guid, Action::Action1).success();
    assert_eq!(client.card(&ids.open)["total_actions"], 2);
}

#[test]
fn oversized_and_malformed_bodies_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, ids) = ids(&server);
    let before = state(&server, &ids);
    let act = |kind: Option<&str>, body: &[u8]| client.send("POST", "/api/cmd/ACTION1", kind, body);
    let fine = ids.fill(r#"{"game_id":"kq19","guid":"<guid>"}"#);
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("application/jsonp"),
    ] {
        act(kind, fine.as_bytes()).assert_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let with = |reasoning: &str| {
        ids.fill(r#"{"game_id":"kq19","guid":"<guid>","reasoning":R}"#)
            .replace('R', reasoning)
    };
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    act(JSON, with(&deep).as_bytes()).assert_error(400, "VALIDATION_ERROR");
    act(
        JSON,
        with(&format!("\"{}\"", "x".repeat(20_000))).as_bytes(),
    )
    .assert_error(400, "VALIDATION_ERROR");
    act(
        JSON,
        with(&format!("\"{}\"", "x".repeat(300_000))).as_bytes(),
    )
    .assert_error(413, "PAYLOAD_TOO_LARGE");
    act(
        JSON,
        with(&format!("\"{}\"", "x".repeat(1_000_000))).as_bytes(),
    )
    .assert_error(413, "PAYLOAD_TOO_LARGE");
    act(JSON, &[0xEF, 0xBB, 0xBF]).assert_error(400, "VALIDATION_ERROR");
    act(
        JSON,
        &fine
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    )
    .assert_error(400, "VALIDATION_ERROR");
    let mut broken = with("\"?\"").into_bytes();
    let place = broken.iter().position(|&byte| byte == b'?').unwrap();
    broken[place] = 0xFF;
    act(JSON, &broken).assert_error(400, "VALIDATION_ERROR");
    let opaque = json!({"opaque": {"a": "x".repeat(16_384)}});
    client
        .post("/api/scorecard/open", &opaque)
        .assert_error(400, "VALIDATION_ERROR");
    for method in ["DELETE", "PUT", "PATCH"] {
        client
            .send(method, "/api/games", JSON, b"{}")
            .assert_error(405, "METHOD_NOT_ALLOWED");
    }
    client
        .get("/api/cmd/ACTION1")
        .assert_error(405, "METHOD_NOT_ALLOWED");
    client.get("/nothing").assert_error(404, "NOT_FOUND");
    client
        .get("/api/scorecard/no-card")
        .assert_error(404, "SERVER_ERROR");
    client
        .get("/api/games/%ff")
        .assert_error(400, "VALIDATION_ERROR");
    assert_eq!(state(&server, &ids), before);
    // An unusual but valid content type is accepted.
    act(Some("Application/JSON; charset=utf-8"), fine.as_bytes()).success();
}

/// Sends a request and returns everything received until the connection is closed.
fn exchange(server: &TestServer, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A reset instead of a clean close does not matter here.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn chunked_bodies_are_accepted_and_invalid_framing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let (client, ids) = ids(&server);
    let body = ids.fill(r#"{"game_id":"kq19","guid":"<guid>"}"#);
    let head = "POST /api/cmd/ACTION1 HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let chunks: String = body
        .as_bytes()
        .chunks(7)
        .fold(String::new(), |text, chunk| {
            text + &format!(
                "{:x}\r\n{}\r\n",
                chunk.len(),
                String::from_utf8_lossy(chunk)
            )
        });
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    let answer = exchange(&server, &format!("{chunked}{chunks}0\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let before = state(&server, &ids);
    for wrong in [
        format!("{chunked}zz\r\n{chunks}0\r\n\r\n"),
        format!("{chunked}ffffffffffffffffff\r\n{chunks}"),
        format!(
            "{head}Content-Length: {0}\r\nContent-Length: {1}\r\n\r\n{body}",
            body.len(),
            body.len() - 1
        ),
        format!("{head}Content-Length: -1\r\n\r\n{body}"),
        format!("{head}Content-Length: x\r\n\r\n{body}"),
        format!("{head}Transfer-Encoding: gzip\r\n\r\n{body}"),
        format!("{head}X-Long: {}\r\n\r\n", "x".repeat(100_000)),
        "\0\0\0\0\r\n\r\n".to_owned(),
    ] {
        let answer = exchange(&server, &wrong);
        assert!(answer.starts_with("HTTP/1.1 4"), "{wrong:.200}: {answer}");
    }
    // A truncated body has no effect.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .write_all(format!("{head}Content-Length: {}\r\n\r\n{}", body.len() + 1, body).as_bytes())
        .unwrap();
    drop(stream);
    assert_eq!(state(&server, &ids), before);
    client.act("kq19", &ids.guid, Action::Action1).success();
    assert_eq!(client.card(&ids.open)["total_actions"], 3);
}
