//! Clients that take their time, on real sockets. They lose their connections; others never notice.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rhae_server::{Config, Limits};
use rhae_store::SqliteOptions;
use serde_json::json;

use crate::running::{Access, Running};

const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(600);

/// No limit is met but those that a test shortens.
fn patient() -> Limits {
    Limits {
        header_timeout: LONG,
        body_timeout: LONG,
        answer_timeout: LONG,
        idle_timeout: LONG,
        ..Limits::default()
    }
}

fn start(folder: &std::path::Path, limits: Limits) -> Running {
    let config = Config {
        limits,
        ..Config::default()
    };
    Running::start_as(folder, config, SqliteOptions::default(), &Access::default())
}

fn connect(running: &Running) -> TcpStream {
    let stream = TcpStream::connect(running.address()).unwrap();
    // Only so that a test that fails ends.
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Sends a byte now and then until the server ends the connection, and gives what it said.
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

fn counted(running: &Running, waiting_for: &str) -> bool {
    let line = format!("rhae_connections_timed_out_total{{waiting_for=\"{waiting_for}\"}} 1\n");
    // The connection's end is seen by the client a moment before it is counted.
    (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(2));
        running.server.metrics().contains(&line)
    })
}

#[test]
fn a_head_that_drips_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(
        folder.path(),
        Limits {
            header_timeout: SHORT,
            ..patient()
        },
    );
    let mut stream = connect(&running);
    stream
        .write_all(b"GET /api/games HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        .unwrap();
    assert_eq!(drip(&mut stream, b"z"), "");
    assert!(counted(&running, "head"));
    running.client("k").get("/api/games").fine();
}

#[test]
fn a_body_that_drips_is_answered_and_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(
        folder.path(),
        Limits {
            body_timeout: SHORT,
            ..patient()
        },
    );
    let head = "POST /api/cmd/RESET HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    for length in [
        "Content-Length: 100000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n",
    ] {
        let mut stream = connect(&running);
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
fn a_connection_without_requests_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(
        folder.path(),
        Limits {
            idle_timeout: SHORT,
            ..patient()
        },
    );
    let mut fresh = connect(&running);
    assert_eq!(fresh.read(&mut [0; 64]).unwrap(), 0);
    let mut used = connect(&running);
    used.write_all(b"GET /api/healthcheck HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    used.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("okay"),
        "{answer}"
    );
}

#[test]
fn a_client_that_never_reads_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(
        folder.path(),
        Limits {
            answer_timeout: SHORT,
            ..patient()
        },
    );
    let mut stream = connect(&running);
    stream
        .set_write_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let requests = "GET /api/games HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
    // Answers fill all buffers between; then the server takes no more requests, and in the end the connection breaks.
    let broken = loop {
        if let Err(error) = stream.write_all(requests.as_bytes()) {
            break error.kind();
        }
        running.client("k").get("/api/healthcheck");
    };
    assert!(
        [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset].contains(&broken),
        "{broken}"
    );
    assert!(counted(&running, "reading"));
    running.client("k").get("/api/games").fine();
}

#[test]
fn connections_beyond_the_most_wait_for_their_turn() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(
        folder.path(),
        Limits {
            connections: 2,
            idle_timeout: SHORT,
            ..patient()
        },
    );
    let held = [connect(&running), connect(&running)];
    // It is answered after the two are closed for being idle.
    running.client("k").get("/api/games").fine();
    for mut stream in held {
        assert_eq!(stream.read(&mut [0; 64]).unwrap(), 0);
    }
}

#[test]
fn what_is_under_way_is_finished_when_the_server_stops() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(folder.path(), patient());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let body = json!({"game_id": "kq19", "guid": guid}).to_string();
    let idle = connect(&running);
    let mut stream = connect(&running);
    let head = format!(
        "POST /api/cmd/ACTION1 HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..10]).unwrap();
    let connections = |running: &Running, count: usize| {
        let line = format!("\nrhae_connections {count}\n");
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(2));
            running.server.metrics().contains(&line)
        })
    };
    // The third is the client's own, which it keeps.
    assert!(connections(&running, 3));
    drop(client);
    running.tell_to_stop();
    // Those without a request are gone before the request is complete.
    assert!(connections(&running, 1));
    drop(idle);
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains(&guid),
        "{answer}"
    );
    running.stop();
    let running = Running::start(folder.path());
    assert_eq!(running.client("k").card(&card)["total_actions"], 1);
}
