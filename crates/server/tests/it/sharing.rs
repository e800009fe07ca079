//! Clients share connections and event streams fairly. The clients connect from different loopback
//! addresses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use rhae_server::{AddressRange, Config, Limits};
use rhae_store::{GameSet, SqliteOptions};
use serde_json::json;

use crate::test_server::{Access, TestServer};

const LONG: Duration = Duration::from_secs(600);
/// The line that ends a response of unknown length.
const LAST_CHUNK: &str = "0\r\n";

fn start(folder: &std::path::Path, config: Config, access: &Access) -> TestServer {
    let limits = Limits {
        header_timeout: LONG,
        idle_timeout: LONG,
        ..config.limits
    };
    let config = Config { limits, ..config };
    TestServer::start_with_access(folder, config, SqliteOptions::default(), access)
}

/// Connects from another loopback address.
fn connect_from(server: &TestServer, from: &str) -> TcpStream {
    let from: IpAddr = from.parse().unwrap();
    let connecting = async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(from, 0)).unwrap();
        socket.connect(server.address()).await.unwrap()
    };
    let stream = server.runtime.block_on(connecting).into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    // Without this timeout, a failing test would hang.
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Sends a request and returns the connection, with the head of the response.
fn request(
    server: &TestServer,
    from: &str,
    path: &str,
    headers: &str,
) -> (BufReader<TcpStream>, String) {
    let mut stream = connect_from(server, from);
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"
    )
    .unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap() > 2 {}
    (reader, head)
}

fn assert_refused(head: &str, status: u16) {
    assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
    assert!(
        head.to_ascii_lowercase().contains("\r\nretry-after: "),
        "{head}"
    );
}

/// A server with a play that the key may follow. Returns the path of its events and the header
/// with the key.
fn followed(server: &TestServer, key: &str) -> (String, String) {
    let client = server.client(key);
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    (
        format!("/api/plays/{guid}/events"),
        format!("X-API-Key: {key}\r\n"),
    )
}

#[test]
fn streams_per_key_and_per_address_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        limits: Limits {
            streams_per_key: Some(2),
            streams_per_address: Some(3),
            ..Limits::default()
        },
        ..Config::default()
    };
    let access = Access {
        keys: true,
        ..Access::default()
    };
    let server = start(folder.path(), config, &access);
    let [first, second] = [(); 2].map(|()| server.key(&[GameSet::Public]));
    let (path, key) = followed(&server, &first);
    let held = [(); 2].map(|()| request(&server, "127.0.0.2", &path, &key));
    for (_, head) in &held {
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
    // The key has used up its streams, also from another address and for downloads.
    for (from, path) in [
        ("127.0.0.2", path.clone()),
        ("127.0.0.3", path.replace("/events", "/recording")),
    ] {
        let (mut body, head) = request(&server, from, &path, &key);
        assert_refused(&head, 429);
        let mut text = vec![0; 120];
        body.read_exact(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(
            text.contains("LIMIT_REACHED") && text.contains("2 event streams"),
            "{text}"
        );
    }
    // Another key may open one more stream from the same address.
    let (path, key) = followed(&server, &second);
    let (_held, head) = request(&server, "127.0.0.2", &path, &key);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_refused(&request(&server, "127.0.0.2", &path, &key).1, 429);
    let (_other, head) = request(&server, "127.0.0.3", &path, &key);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
}

#[test]
fn client_with_many_streams_does_not_keep_out_others() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        listeners: 4,
        ..Config::default()
    };
    let server = start(folder.path(), config, &Access::default());
    let (path, key) = followed(&server, "k");
    let mut greedy: Vec<_> = (0..4)
        .map(|_| request(&server, "127.0.0.2", &path, &key).0)
        .collect();
    assert_refused(&request(&server, "127.0.0.2", &path, &key).1, 503);
    let (_modest, head) = request(&server, "127.0.0.3", &path, &key);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    // The newest stream of the other client has ended.
    let mut lines = std::iter::repeat_with(|| {
        let mut line = String::new();
        greedy[3].read_line(&mut line).unwrap();
        line
    });
    let last = lines.find(|line| line.is_empty() || line == LAST_CHUNK);
    assert_eq!(last.as_deref(), Some(LAST_CHUNK));
    // An older one continues.
    server
        .client("k")
        .act(
            "kq19",
            path.split('/').nth(3).unwrap(),
            rhae_engine::Action::Action1,
        )
        .success();
    let mut events = String::new();
    while !events.contains("id: 1\n") {
        assert_ne!(greedy[0].read_line(&mut events).unwrap(), 0, "{events}");
    }
}

#[test]
fn proxy_names_the_address_of_its_clients_if_it_is_trusted() {
    for (trusted, other_client) in [(true, "200"), (false, "429")] {
        let folder = tempfile::tempdir().unwrap();
        let config = Config {
            limits: Limits {
                streams_per_address: Some(1),
                ..Limits::default()
            },
            ..Config::default()
        };
        let access = Access {
            trusted_proxies: if trusted {
                AddressRange::LOOPBACK.to_vec()
            } else {
                Vec::new()
            },
            ..Access::default()
        };
        let server = start(folder.path(), config, &access);
        let (path, key) = followed(&server, "k");
        let forwarded = |client: &str| {
            let headers = format!("{key}X-Forwarded-For: {client}\r\n");
            request(&server, "127.0.0.1", &path, &headers)
        };
        let (_held, head) = forwarded("2001:db8::1");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        // All addresses of an IPv6 network count as one.
        assert_refused(&forwarded("2001:db8::2").1, 429);
        let (_other, head) = forwarded("2001:db8:0:1::1");
        assert!(
            head.starts_with(&format!("HTTP/1.1 {other_client}")),
            "{head}"
        );
    }
}

#[test]
fn connections_per_address_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        connections_per_address: Some(2),
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let server = start(folder.path(), config, &Access::default());
    let held = [(); 2].map(|()| request(&server, "127.0.0.2", "/api/healthcheck", "").0);
    let mut refused = String::new();
    connect_from(&server, "127.0.0.2")
        .read_to_string(&mut refused)
        .unwrap();
    assert_refused(&refused, 429);
    assert!(
        refused.contains("\"LIMIT_REACHED\"") && refused.contains("2 connections per address"),
        "{refused}"
    );
    let (_, head) = request(&server, "127.0.0.3", "/api/healthcheck", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    // A closed connection makes room for another.
    drop(held);
    while !request(&server, "127.0.0.2", "/api/healthcheck", "")
        .1
        .starts_with("HTTP/1.1 200")
    {}
}

#[test]
fn client_with_many_connections_does_not_keep_out_others() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        connections: 3,
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let server = start(folder.path(), config, &Access::default());
    let mut greedy = [(); 3].map(|()| request(&server, "127.0.0.2", "/api/healthcheck", "").0);
    let (_modest, head) = request(&server, "127.0.0.3", "/api/healthcheck", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    // The newest connection of the other client was closed.
    let mut rest = Vec::new();
    greedy[2].read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"okay");
    let older = greedy[0].get_mut();
    older
        .write_all(b"GET /api/healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut status = vec![0; 12 + "okay".len()];
    greedy[0].read_exact(&mut status).unwrap();
    assert_eq!(status, b"okayHTTP/1.1 200");
}
