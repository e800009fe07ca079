//! Plays seen from outside: their facts, their recordings, their events.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use rhae_engine::Action;
use rhae_protocol::{Format, Recording, ResetRule};
use rhae_server::Config;
use rhae_session::{Builtin, replay};
use rhae_store::SqliteOptions;
use serde_json::{Value, json};

use crate::client::Client;
use crate::running::Running;

fn played(client: &Client, card: &str) -> String {
    let guid = client.open_play(card, "hk26");
    client.solve("hk26", &guid, 0);
    for action in [
        Action::Action7,
        Action::Action6 { x: 3, y: 60 },
        Action::Reset,
        Action::Action4,
    ] {
        client.act("hk26", &guid, action).fine();
    }
    guid
}

#[test]
fn a_play_tells_its_facts_to_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "hk26");
    running.clock.forward_minutes(2);
    let last = client.solve("hk26", &guid, 0);
    let facts = client.get(&format!("/api/plays/{guid}")).fine();
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
        client.get(&format!("/api/plays/{guid}")).fine()["card_open"],
        false
    );
    for part in ["", "/recording", "/events"] {
        let asked = |client: &Client, guid: &str| client.get(&format!("/api/plays/{guid}{part}"));
        asked(&running.client("other"), &guid).refused(404, "SERVER_ERROR");
        for nothing in ["00000000-0000-0000-0000-000000000000", "nonsense", "%20"] {
            asked(&client, nothing).refused(404, "SERVER_ERROR");
        }
        // A foreign play is answered like one that does not exist.
        let unknown = asked(&client, "00000000-0000-0000-0000-000000000000")
            .text
            .replace("00000000-0000-0000-0000-000000000000", &guid);
        assert_eq!(asked(&running.client("other"), &guid).text, unknown);
        let competing = client.open_card(&json!({"competition_mode": true}));
        let hidden = client.open_play(&competing, "hk26");
        asked(&client, &hidden).refused(403, "SERVER_ERROR");
        client.close(&competing);
        assert_eq!(asked(&client, &hidden).status, 200);
    }
}

#[test]
fn a_recording_is_the_toolkits_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = played(&client, &card);
    let body = json!({"game_id": "hk26", "guid": guid, "reasoning": {"why": "probe"}});
    let last = client.post("/api/cmd/ACTION1", &body).fine();
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

/// A client that follows a play, line by line.
struct Follower(BufReader<TcpStream>);

#[derive(Debug, PartialEq)]
enum Heard {
    Event {
        kind: String,
        id: Option<u32>,
        data: Value,
    },
    Comment,
    End,
}

impl Follower {
    fn start(running: &Running, path: &str, more: &str) -> Self {
        let mut stream = TcpStream::connect(running.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        // HTTP/1.0 gives the body as it is, up to the end of the connection.
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

    fn next(&mut self) -> Heard {
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
            None => Heard::End,
            Some(line) if line.starts_with(':') => Heard::Comment,
            Some(_) => Heard::Event {
                kind: field("event: ").unwrap(),
                id: field("id: ").map(|id| id.parse().unwrap()),
                data: serde_json::from_str(&field("data: ").unwrap()).unwrap(),
            },
        }
    }

    /// The next event of an action.
    fn action(&mut self) -> Value {
        loop {
            match self.next() {
                Heard::Comment => {}
                Heard::Event { kind, id, data } if kind == "action" => {
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
fn a_play_is_followed_live_from_any_entry_until_its_card_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        keep_alive_ms: 50,
        snapshot_every: 10,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = played(&client, &card);
    let path = format!("/api/plays/{guid}/events");
    let last = client.get(&format!("/api/plays/{guid}")).fine()["entries"]
        .as_u64()
        .unwrap()
        - 1;
    // Who comes new sees where the play stands, then what happens.
    let mut live = Follower::start(&running, &path, "");
    let first = live.action();
    assert_eq!(
        (first["index"].as_u64(), &first["whole"], &first["action"]),
        (Some(last), &true.into(), &"ACTION4".into())
    );
    assert_eq!(live.next(), Heard::Comment);
    client
        .act("hk26", &guid, Action::Action6 { x: 7, y: 9 })
        .fine();
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
    // Whoever comes back goes on after what it has; whoever asks gets all of it, the same.
    let mut all = Follower::start(&running, &format!("{path}?from=0"), "");
    let mut resumed = Follower::start(&running, &path, "Last-Event-ID: 4\r\n");
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
    // A listener that reads nothing changes nothing for the play or for others.
    let silent = Follower::start(&running, &format!("{path}?from=0"), "");
    for turn in 0..300 {
        let answer = client.act("hk26", &guid, [Action::Action1, Action::Action2][turn % 2]);
        if answer.status == 400 {
            client.act("hk26", &guid, Action::Reset).fine();
        }
    }
    for follower in [&mut live, &mut all, &mut resumed] {
        (0..300).for_each(|turn| {
            assert_eq!(follower.action()["index"].as_u64(), Some(last + 2 + turn))
        });
    }
    drop(silent);
    client.close(&card);
    for follower in [&mut live, &mut all, &mut resumed] {
        while follower.next() == Heard::Comment {}
        assert_eq!(follower.next(), Heard::End);
    }
    let mut late = Follower::start(&running, &path, "");
    assert_eq!(late.action()["index"].as_u64(), Some(last + 301));
    assert!(matches!(late.next(), Heard::Event { kind, .. } if kind == "end"));
}

#[test]
fn listeners_are_bounded_and_leave_when_the_server_ends() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        listeners: 2,
        keep_alive_ms: 20,
        ..Config::default()
    };
    let running = Running::start_with(folder.path(), config, SqliteOptions::default());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = client.open_play(&card, "kq19");
    let path = format!("/api/plays/{guid}/events");
    for wrong in ["?from=x", "?from=-1", "?from="] {
        client
            .get(&format!("{path}{wrong}"))
            .refused(400, "VALIDATION_ERROR");
    }
    let mut first = Follower::start(&running, &path, "");
    let second = Follower::start(&running, &path, "");
    client.get(&path).refused(503, "SERVICE_UNAVAILABLE");
    client
        .get(&format!("/api/plays/{guid}/recording"))
        .refused(503, "SERVICE_UNAVAILABLE");
    client.get(&format!("/api/plays/{guid}")).fine();
    drop(second);
    // A place is free as soon as the server finds out that nobody is there, which it does at its next sign of life.
    while client.get(&format!("/api/plays/{guid}/recording")).status == 503 {
        std::thread::sleep(Duration::from_millis(10));
    }
    first.action();
    drop(client);
    running.stop();
    while first.next() != Heard::End {}
}

#[test]
fn who_follows_a_play_whose_log_does_not_replay_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path());
    let client = running.client("k");
    let card = client.open_card(&json!({}));
    let guid = played(&client, &card);
    crate::long_plays::spoil(
        folder.path(),
        "UPDATE log SET hash = hash + 1 WHERE entry = 4",
    );
    let mut follower = Follower::start(&running, &format!("/api/plays/{guid}/events?from=2"), "");
    assert_eq!(
        (
            follower.action()["index"].as_u64(),
            follower.action()["index"].as_u64()
        ),
        (Some(2), Some(3))
    );
    let Heard::Event { kind, data, .. } = follower.next() else {
        panic!()
    };
    assert_eq!(kind, "frozen");
    assert!(
        data["reason"]
            .as_str()
            .unwrap()
            .contains("at entry 4 of its log the frames differ")
    );
    assert_eq!(follower.next(), Heard::End);
    client
        .get(&format!("/api/plays/{guid}/events"))
        .refused(409, "PLAY_FROZEN");
    // A part of a recording cannot be taken for the whole: the answer breaks off.
    let mut stream = TcpStream::connect(running.address()).unwrap();
    write!(stream, "GET /api/plays/{guid}/recording HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\nConnection: close\r\n\r\n").unwrap();
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut all).unwrap();
    assert!(!all.ends_with(b"0\r\n\r\n"));
}
