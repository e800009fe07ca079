//! The endpoints of plays: facts, recordings and event streams.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use rhae_engine::Action;
use rhae_games::Builtin;
use rhae_protocol::{Format, Recording, ResetRule};
use rhae_server::Config;
use rhae_session::replay;
use rhae_store::SqliteOptions;
use serde_json::{Value, json};

use crate::client::Client;
use crate::test_server::TestServer;

fn played(client: &Client, card: &str) -> String {
    let guid = client.open_play(card, "hk26");
    client.solve("hk26", &guid, 0);
    for action in [
        Action::Action7,
        Action::Action6 { x: 3, y: 60 },
        Action::Reset,
        Action::Action4,
    ] {
        client.act("hk26", &guid, action).success();
    }
    guid
}

#[test]
fn owner_can_read_the_facts_of_a_play() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    server.clock.forward_minutes(2);
    let last = client.solve("hk26", &guid, 0);
    let facts = client.get(&format!("/api/plays/{guid}")).success();
    let actions = client.card(&card)["total_actions"].clone();
    assert_eq!(
        facts,
        json!({
            "guid": guid, "game_id": "hk26-v1", "card_id": card, "card_open": true, "state": "NOT_FINISHED", "level": 2,
            "levels_completed": 1, "win_levels": last["win_levels"], "actions": actions, "entries": actions.as_u64().unwrap() + 1,
            "opened_at": "2027-01-15T08:00:00.000Z", "last_action_at": "2027-01-15T08:02:00.000Z", "frozen": null,
        })
    );
    client.close(&card);
    assert_eq!(
        client.get(&format!("/api/plays/{guid}")).success()["card_open"],
        false
    );
    for part in ["", "/recording", "/events"] {
        let asked = |client: &Client, guid: &str| client.get(&format!("/api/plays/{guid}{part}"));
        asked(&server.client("other"), &guid).assert_error(404, "SERVER_ERROR");
        for nothing in ["00000000-0000-0000-0000-000000000000", "nonsense", "%20"] {
            asked(&client, nothing).assert_error(404, "SERVER_ERROR");
        }
        // A play of another owner gets the same response as one that does not exist.
        let unknown = asked(&client, "00000000-0000-0000-0000-000000000000")
            .text
            .replace("00000000-0000-0000-0000-000000000000", &guid);
        assert_eq!(asked(&server.client("other"), &guid).text, unknown);
        let competing = client.open_card(&json!({"competition_mode": true}));
        let hidden = client.open_play(&competing, "hk26");
        asked(&client, &hidden).assert_error(403, "SERVER_ERROR");
        client.close(&competing);
        assert_eq!(asked(&client, &hidden).status, 200);
    }
}

#[test]
fn recording_has_the_toolkit_format_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = played(&client, &card);
    let body = json!({"game_id": "hk26", "guid": guid, "reasoning": {"why": "probe"}});
    let last = client.post("/api/cmd/ACTION1", &body).success();
    let answer = client.get(&format!("/api/plays/{guid}/recording"));
    assert_eq!(
        (answer.status, answer.content_type.as_str()),
        (200, "application/x-ndjson")
    );
    let recording = Recording::parse(&answer.text).unwrap();
    assert_eq!(
        (recording.format, recording.header.guid.as_deref()),
        (Format::Toolkit, Some(guid.as_str()))
    );
    let replayed = replay(&Builtin, &recording).unwrap();
    assert_eq!(replayed.mismatch, None);
    assert_eq!(replayed.play.rule(), ResetRule::Official);
    assert_eq!(
        replayed.play.tally().actions(),
        client.card(&card)["total_actions"].as_u64().unwrap()
    );
    let line: Value = serde_json::from_str(answer.text.lines().last().unwrap()).unwrap();
    assert_eq!(line["timestamp"], "2027-01-15T08:00:00.000000+00:00");
    assert_eq!(
        (&line["data"]["frame"], &line["data"]["state"]),
        (&last["frame"], &last["state"])
    );
    assert_eq!(line["data"]["available_actions"], last["available_actions"]);
    assert_eq!(
        line["data"]["action_input"],
        json!({"id": "ACTION1", "data": {}, "reasoning": {"why": "probe"}})
    );
}

/// A client that reads an event stream.
struct Follower(BufReader<TcpStream>);

#[derive(Debug, PartialEq)]
enum Received {
    Event {
        kind: String,
        id: Option<u32>,
        data: Value,
    },
    Comment,
    End,
}

impl Follower {
    fn start(server: &TestServer, path: &str, more: &str) -> Self {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        // With HTTP/1.0 the body is not chunked and ends with the connection.
        write!(stream, "GET {path} HTTP/1.0\r\nX-API-Key: k\r\n{more}\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let head: Vec<String> = reader
            .by_ref_lines()
            .take_while(|line| !line.is_empty())
            .collect();
        assert!(head[0].contains("200"), "{head:?}");
        assert!(
            head.iter()
                .any(|line| line.eq_ignore_ascii_case("content-type: text/event-stream")),
            "{head:?}"
        );
        Self(reader)
    }

    fn next(&mut self) -> Received {
        let lines: Vec<String> = self
            .0
            .by_ref_lines()
            .take_while(|line| !line.is_empty())
            .collect();
        let field = |name: &str| {
            lines
                .iter()
                .find_map(|line| line.strip_prefix(name))
                .map(str::to_owned)
        };
        match lines.first() {
            None => Received::End,
            Some(line) if line.starts_with(':') => Received::Comment,
            Some(_) => Received::Event {
                kind: field("event: ").unwrap(),
                id: field("id: ").map(|id| id.parse().unwrap()),
                data: serde_json::from_str(&field("data: ").unwrap()).unwrap(),
            },
        }
    }

    /// Returns the data of the next `action` event.
    fn action(&mut self) -> Value {
        loop {
            match self.next() {
                Received::Comment => {}
                Received::Event { kind, id, data } if kind == "action" => {
                    assert_eq!(id.map(Value::from), Some(data["index"].clone()));
                    return data;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

trait Lines {
    fn by_ref_lines(&mut self) -> impl Iterator<Item = String>;
}

impl Lines for BufReader<TcpStream> {
    fn by_ref_lines(&mut self) -> impl Iterator<Item = String> {
        std::iter::from_fn(|| {
            let mut line = String::new();
            (self.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
        })
    }
}

#[test]
fn events_follow_a_play_from_any_entry_until_its_card_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        keep_alive_ms: 50,
        snapshot_every: 10,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = played(&client, &card);
    let path = format!("/api/plays/{guid}/events");
    let last = client.get(&format!("/api/plays/{guid}")).success()["entries"]
        .as_u64()
        .unwrap()
        - 1;
    // A new listener gets the current state, then each new action.
    let mut live = Follower::start(&server, &path, "");
    let first = live.action();
    assert_eq!(
        (first["index"].as_u64(), &first["whole"], &first["action"]),
        (Some(last), &true.into(), &"ACTION4".into())
    );
    assert_eq!(live.next(), Received::Comment);
    client
        .act("hk26", &guid, Action::Action6 { x: 7, y: 9 })
        .success();
    let second = live.action();
    assert_eq!(
        (second["index"].as_u64(), &second["whole"]),
        (Some(last + 1), &false.into())
    );
    assert_eq!(
        (
            &second["x"],
            &second["y"],
            &second["level"],
            &second["levels_completed"]
        ),
        (&7.into(), &9.into(), &2.into(), &1.into())
    );
    // A listener that resumes gets the later events, and one that asks for all gets the same
    // events.
    let mut all = Follower::start(&server, &format!("{path}?from=0"), "");
    let mut resumed = Follower::start(&server, &path, "Last-Event-ID: 4\r\n");
    let expected: Vec<Value> = (0..=last + 1).map(|_| all.action()).collect();
    assert_eq!(
        expected
            .iter()
            .map(|event| event["index"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        (0..=last + 1).collect::<Vec<_>>()
    );
    assert_eq!(
        (&expected[0]["action"], &expected[0]["whole"]),
        (&"RESET".into(), &true.into())
    );
    assert_eq!(resumed.action()["index"], 5);
    for event in &expected[6..] {
        assert_eq!(&resumed.action(), event);
    }
    assert_eq!(second, expected[last as usize + 1]);
    // A listener that reads nothing does not affect the play or other listeners.
    let silent = Follower::start(&server, &format!("{path}?from=0"), "");
    for turn in 0..300 {
        let answer = client.act("hk26", &guid, [Action::Action1, Action::Action2][turn % 2]);
        if answer.status == 400 {
            client.act("hk26", &guid, Action::Reset).success();
        }
    }
    for follower in [&mut live, &mut all, &mut resumed] {
        (0..300).for_each(|turn| {
            assert_eq!(follower.action()["index"].as_u64(), Some(last + 2 + turn));
        });
    }
    drop(silent);
    client.close(&card);
    for follower in [&mut live, &mut all, &mut resumed] {
        while follower.next() == Received::Comment {}
        assert_eq!(follower.next(), Received::End);
    }
    let mut late = Follower::start(&server, &path, "");
    assert_eq!(late.action()["index"].as_u64(), Some(last + 301));
    assert!(matches!(late.next(), Received::Event { kind, .. } if kind == "end"));
}

#[test]
fn listeners_are_limited_and_end_at_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        listeners: 2,
        keep_alive_ms: 20,
        ..Config::default()
    };
    let server = TestServer::start_with(folder.path(), config, SqliteOptions::default());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let path = format!("/api/plays/{guid}/events");
    for wrong in ["?from=x", "?from=-1", "?from="] {
        client
            .get(&format!("{path}{wrong}"))
            .assert_error(400, "VALIDATION_ERROR");
    }
    let mut first = Follower::start(&server, &path, "");
    let second = Follower::start(&server, &path, "");
    client.get(&path).assert_error(503, "SERVICE_UNAVAILABLE");
    client
        .get(&format!("/api/plays/{guid}/recording"))
        .assert_error(503, "SERVICE_UNAVAILABLE");
    client.get(&format!("/api/plays/{guid}")).success();
    drop(second);
    // The server notices a closed connection at its next keep-alive, and then frees the slot.
    while client.get(&format!("/api/plays/{guid}/recording")).status == 503 {
        std::thread::sleep(Duration::from_millis(10));
    }
    first.action();
    drop(client);
    server.stop();
    while first.next() != Received::End {}
}

#[test]
fn listener_of_a_corrupt_log_gets_a_frozen_event() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path());
    let client = server.client("k");
    let card = client.open_card(&json!({}));
    let guid = played(&client, &card);
    crate::long_plays::corrupt(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 4",
    );
    let mut follower = Follower::start(&server, &format!("/api/plays/{guid}/events?from=2"), "");
    assert_eq!(
        (
            follower.action()["index"].as_u64(),
            follower.action()["index"].as_u64()
        ),
        (Some(2), Some(3))
    );
    let Received::Event { kind, data, .. } = follower.next() else {
        panic!()
    };
    assert_eq!(kind, "frozen");
    assert!(
        data["reason"]
            .as_str()
            .unwrap()
            .contains("at entry 4 of its log the frames differ")
    );
    assert_eq!(follower.next(), Received::End);
    client
        .get(&format!("/api/plays/{guid}/events"))
        .assert_error(409, "PLAY_FROZEN");
    // The response is aborted, so that a partial recording cannot be mistaken for a complete one.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(stream, "GET /api/plays/{guid}/recording HTTP/1.1\r\nHost: localhost\r\nX-API-Key: k\r\nConnection: close\r\n\r\n").unwrap();
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut all).unwrap();
    assert!(!all.ends_with(b"0\r\n\r\n"));
}
