//! Slow clients on real sockets: they lose their connections, and other clients are not affected.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rhae_server::{Config, Limits};
use rhae_store::SqliteOptions;
use serde_json::json;

use crate::test_server::{Access, TestServer};

const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(600);

/// Returns limits with timeouts so long that no test reaches them unless it shortens them.
fn long_timeouts() -> Limits {
    Limits {
        header_timeout: LONG,
        body_timeout: LONG,
        answer_timeout: LONG,
        idle_timeout: LONG,
        ..Limits::default()
    }
}

fn start(folder: &std::path::Path, limits: Limits) -> TestServer {
    let config = Config {
        limits,
        ..Config::default()
    };
    TestServer::start_with_access(folder, config, SqliteOptions::default(), &Access::default())
}

fn connect(server: &TestServer) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    // Without this timeout, a failing test would hang.
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Sends bytes slowly until the server ends the connection, and returns the response.
fn drip(stream: &mut TcpStream, bytes: &[u8]) -> String {
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).is_err() {
            break;
        }
        stream
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let mut answer = [0; 4096];
        match stream.read(&mut answer) {
            Ok(length) => return String::from_utf8_lossy(&answer[..length]).into_owned(),
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
            Err(_) => break,
        }
    }
    String::new()
}

fn counted(server: &TestServer, waiting_for: &str) -> bool {
    let line = format!("rhae_connections_timed_out_total{{waiting_for=\"{waiting_for}\"}} 1\n");
    // The client sees the end of the connection slightly before the server counts it.
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(2));
        server.inner.metrics().contains(&line)
    })
}

#[test]
fn slow_request_head_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(
        folder.path(),
        Limits {
            header_timeout: SHORT,
            ..long_timeouts()
        },
    );
    let mut stream = connect(&server);
    stream
        .write_all(b"GET /api/games HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        .unwrap();
    assert_eq!(drip(&mut stream, b"z"), "");
    assert!(counted(&server, "head"));
    server.client("k").get("/api/games").success();
}

#[test]
fn slow_request_body_gets_a_408_and_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(
        folder.path(),
        Limits {
            body_timeout: SHORT,
            ..long_timeouts()
        },
    );
    let head =
        "POST /api/cmd/RESET HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for length in [
        "Content-Length: 100000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n",
    ] {
        let mut stream = connect(&server);
        stream
            .write_all(format!("{head}{length}").as_bytes())
            .unwrap();
        let chunk: &[u8] = if length.starts_with('C') {
            b" "
        } else {
            b"1\r\n \r\n"
        };
        let answer = drip(&mut stream, chunk);
        assert!(
            answer.starts_with("HTTP/1.1 408") && answer.contains("REQUEST_TIMEOUT"),
            "{answer}"
        );
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        assert!(
            matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)),
            "the connection is still open"
        );
    }
}

#[test]
fn idle_connection_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(
        folder.path(),
        Limits {
            idle_timeout: SHORT,
            ..long_timeouts()
        },
    );
    let mut fresh = connect(&server);
    assert_eq!(fresh.read(&mut [0; 64]).unwrap(), 0);
    let mut used = connect(&server);
    used.write_all(b"GET /api/healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    used.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("okay"),
        "{answer}"
    );
}

#[test]
fn client_that_never_reads_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(
        folder.path(),
        Limits {
            answer_timeout: SHORT,
            ..long_timeouts()
        },
    );
    let mut stream = connect(&server);
    stream
        .set_write_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let requests = "GET /api/games HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    // Responses fill all buffers; then the server reads no more requests, and finally closes the
    // connection.
    let broken = loop {
        if let Err(error) = stream.write_all(requests.as_bytes()) {
            break error.kind();
        }
        server.client("k").get("/api/healthcheck");
    };
    assert!(
        [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset].contains(&broken),
        "{broken}"
    );
    assert!(counted(&server, "reading"));
    server.client("k").get("/api/games").success();
}

#[test]
fn connections_beyond_the_limit_wait() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(
        folder.path(),
        Limits {
            connections: 2,
            idle_timeout: SHORT,
            ..long_timeouts()
        },
    );
    let held = [connect(&server), connect(&server)];
    // This request is served only after the two idle connections have been closed.
    server.client("k").get("/api/games").success();
    for mut stream in held {
        assert_eq!(stream.read(&mut [0; 64]).unwrap(), 0);
    }
}

#[test]
fn shutdown_finishes_the_request_in_progress() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), long_timeouts());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let body = json!({"game_id": "kq19", "guid": guid}).to_string();
    let idle = connect(&server);
    let mut stream = connect(&server);
    let head = format!(
        "POST /api/cmd/ACTION1 HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..10]).unwrap();
    let connections = |server: &TestServer, count: usize| {
        let line = format!("\nrhae_connections {count}\n");
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(2));
            server.inner.metrics().contains(&line)
        })
    };
    // The third connection is the one that `client` keeps open.
    assert!(connections(&server, 3));
    drop(client);
    server.request_shutdown();
    // Idle connections are closed before the pending request is complete.
    assert!(connections(&server, 1));
    drop(idle);
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains(&guid),
        "{answer}"
    );
    server.stop();
    let server = TestServer::start(folder.path());
    assert_eq!(server.client("k").card(&card)["total_actions"], 1);
}
