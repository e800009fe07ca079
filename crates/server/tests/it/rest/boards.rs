//! Responses about leaderboards: of a public and of a hidden set, to the organiser, to authors and
//! to visitors.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rhae_board_service::{BoardService, board_set};
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_harness::{HarnessError, LocationRequest, RunRequest};
use rhae_protocol::{BOARD_RULES, BoardDefinition, BoardKind, SetVisibility};
use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use serde_json::{Value, json};

use super::exchange::Exchanges;
use crate::client::Client;
use crate::test_server::{Access, TestServer};

const GAMES: &str = "kq19,ym39";
/// A budget that keeps recordings short.
const BUDGET: &str = "12";
/// A time before the clock of the server and after the start of every run.
const CREATED_MS: u64 = 1_799_999_000_000;

/// Starts a server with keys and with the boards `main`, whose set is public, and `closed`, whose
/// set is hidden.
fn start(folder: &Path) -> TestServer {
    let access = Access {
        keys: true,
        ..Access::default()
    };
    let options = SqliteOptions::default();
    let server = TestServer::start_with_access(folder, Config::default(), options, &access);
    let service = BoardService::new(server.board_store());
    for (id, visibility) in [
        ("main", SetVisibility::Public),
        ("closed", SetVisibility::SemiPrivate),
    ] {
        let games: Vec<_> = GAMES
            .split(',')
            .map(|game| Builtin.find(game).unwrap())
            .collect();
        let definition = BoardDefinition {
            rules_version: BOARD_RULES,
            kind: BoardKind::Community,
            title: format!("The board {id}"),
            set: board_set("two", visibility, &games),
            method: "docs-2026-04".to_owned(),
            budget: BUDGET.to_owned(),
            prompt_sha256: None,
            people: None,
        };
        let id = id.into();
        let created = service.create(CREATED_MS, &id, definition);
        server.runtime.block_on(created).unwrap();
    }
    server
}

/// Plays both environments with the random agent, and returns the files of the run.
fn play(folder: &Path, seed: u64) -> BTreeMap<String, String> {
    let out = folder.join(format!("run-{seed}"));
    let request = RunRequest {
        agent: "random".to_owned(),
        games: Some(GAMES.to_owned()),
        budget: BUDGET.parse().unwrap(),
        seed,
        out: Some(out.clone()),
        ..RunRequest::default()
    };
    let load =
        |_: &[std::path::PathBuf]| Ok::<_, HarnessError>(Arc::new(Builtin) as Arc<dyn Catalog>);
    let run = LocationRequest::default().prepare(request, load).unwrap();
    run.execute(&AtomicBool::new(false), &mut |_| {}, &|_| {})
        .unwrap();
    let names = ["config.json", "journal.jsonl"].map(str::to_owned);
    let recordings = std::fs::read_dir(out.join("recordings")).unwrap();
    let recordings = recordings.map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        format!("recordings/{name}")
    });
    let names = names.into_iter().chain(recordings);
    let read = |name: String| {
        let text = std::fs::read_to_string(out.join(&name)).unwrap();
        (name, text)
    };
    names.map(read).collect()
}

/// Adds the requests of a model to the first two actions of each recording.
fn with_requests(mut files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    for (name, text) in &mut files {
        if !name.starts_with("recordings/") {
            continue;
        }
        let mut lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for (line, requests) in lines[2..4].iter_mut().zip(1..) {
            line["usage"] = json!({"calls": requests, "input_tokens": 700, "output_tokens": 20});
            line["cost_usd"] = json!(0.25);
            line["reasoning"] = json!({"plan": "go on", "requests": [{"context_tokens": 720}]});
        }
        *text = lines.iter().map(|line| format!("{line}\n")).collect();
    }
    files
}

fn system(name: &str) -> Value {
    json!({
        "name": name, "version": "1",
        "authors": [{"name": "Ada", "link": "https://example.org/ada"}],
        "description": "It walks at random.", "code_url": "https://example.org/code",
        "models": ["none"], "exposure": "none"
    })
}

fn submission(entry: &str, name: &str, runs: &[BTreeMap<String, String>]) -> Value {
    json!({"entry": entry, "system": system(name), "runs": runs})
}

/// Hides all hashes, ids and days of a document, which differ between runs of the test.
fn hide(exchanges: &Exchanges, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value.as_str()) {
                    ("run_id" | "guid" | "game_run", Some(text)) => exchanges.hide(text, "id"),
                    ("salt", Some(text)) => exchanges.hide(text, "salt"),
                    _ => hide(exchanges, value),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| hide(exchanges, value)),
        Value::Number(number)
            if number
                .as_u64()
                .is_some_and(|number| number > 1_000_000_000_000) =>
        {
            let text = number.to_string();
            if !text.starts_with("18000") && !text.starts_with("17999") {
                exchanges.hide(&text, "time");
            }
        }
        Value::String(text) if text.starts_with("sha256:") => {
            exchanges.hide(&text["sha256:".len()..], "name-hash");
        }
        Value::String(text)
            if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            exchanges.hide(text, "hash");
        }
        Value::String(text)
            if text.len() == 10 && text.starts_with("20") && !text.starts_with("2027") =>
        {
            exchanges.hide(text, "day");
        }
        _ => {}
    }
}

/// Reads a document, hides what differs between runs of the test, and compares the exchange.
fn get(exchanges: &Exchanges, name: &str, client: &Client, path: &str) {
    if let Ok(value) = serde_json::from_str(&client.get(path).text) {
        hide(exchanges, &value);
    }
    exchanges.get(name, client, path);
}

#[test]
fn public_board() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let author = server.client(&server.key(&[GameSet::Public]));
    let exchanges = Exchanges::default();
    let runs = [with_requests(play(folder.path(), 1))];
    let body = submission("walker", "Walker", &runs);
    // The folder of a run has another id in every run of the test.
    let length = body.to_string().len().to_string();
    exchanges.hide(&format!("{length} bytes"), "length");
    exchanges.post("board_submit", &author, "/api/boards/main/entries", &body);
    let claim = submission("claim", "Claimer", &[]);
    author.post("/api/boards/main/entries", &claim).success();

    get(&exchanges, "board_list", &author, "/api/boards");
    get(&exchanges, "board_read", &author, "/api/boards/main");
    get(
        &exchanges,
        "board_page",
        &author,
        "/api/boards/main?offset=1&limit=1",
    );
    let key = author.get("/api/boards/main/log?after=1").success();
    exchanges.hide(key[0]["actor"].as_str().unwrap(), "actor");
    let entry = "/api/boards/main/entries/walker";
    get(&exchanges, "board_entry", &author, entry);
    get(
        &exchanges,
        "board_log",
        &author,
        "/api/boards/main/log?after=1",
    );
    exchanges.get("board_plot", &author, "/api/boards/main/plot.svg");
    exchanges.get("board_table", &author, "/api/boards/main/rows.csv");
    let compared = "/api/boards/main/comparison?a=walker&b=walker";
    exchanges.get("board_comparison", &author, compared);
    let compared = "/api/boards/main/comparison?a=walker&b=claim";
    exchanges.get("board_comparison_nothing_in_common", &author, compared);

    let run = &author.get(entry).success()["runs"][0];
    let (digest, play) = (run["digest"].as_str().unwrap(), &run["plays"][0]);
    let recording = play["recording"].as_str().unwrap();
    let path = format!("/api/boards/main/runs/{digest}/recordings/{recording}");
    let text = author.get(&path).text;
    for line in text.lines() {
        hide(&exchanges, &serde_json::from_str(line).unwrap());
    }
    exchanges.get("board_recording", &author, &path);

    for (name, path) in [
        ("page_boards", "/boards"),
        ("page_board", "/boards/main"),
        ("page_board_entry", "/boards/main/walker"),
        ("page_board_unknown", "/boards/none"),
    ] {
        exchanges.get(name, &author, path);
    }
    for path in ["plot.svg", "rows.csv"] {
        let (page, api) = (
            format!("/boards/main/{path}"),
            format!("/api/boards/main/{path}"),
        );
        assert_eq!(author.get(&page).text, author.get(&api).text);
    }
    let page = path.strip_prefix("/api").unwrap();
    exchanges.get("page_board_replay", &author, page);
    assert_eq!(author.get(&format!("{page}/recording.jsonl")).text, text);
    exchanges.get("board_film", &author, &format!("{page}/film"));
    exchanges.get(
        "board_reasoning",
        &author,
        &format!("{page}/reasoning?from=0"),
    );
    exchanges.get("board_work", &author, &format!("{page}/work"));
    assert_eq!(author.get(&format!("{page}/other")).status, 404);
}

/// Erases the names of a row, and checks that neither the row nor the log contains them any more.
fn erase_names(exchanges: &Exchanges, author: &Client, other: &Client, organiser: &Client) {
    let commands = "/api/boards/main/commands";
    let erase = json!({"command": "erase", "entry": "walker"});
    exchanges.post("board_erase_other", other, commands, &erase);
    exchanges.post("board_erase", author, commands, &erase);
    exchanges.post("board_erase_again", organiser, commands, &erase);
    let row = author.get("/api/boards/main/entries/walker").success();
    let authors = json!([{"name": "(erased)", "link": ""}]);
    assert_eq!(row["row"]["authors"], authors);
    let log = author.get("/api/boards/main/log").success();
    let log = log.to_string();
    assert!(!log.contains("Ada") && !log.contains("/ada"), "{log}");
}

#[test]
fn board_changes_and_their_refusals() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let author = server.client(&server.key(&[GameSet::Public]));
    let (other, visitor) = (
        server.client(&server.key(&[GameSet::Public])),
        server.client(&server.visitor_key()),
    );
    let organiser = server.client(&server.admin_key());
    let exchanges = Exchanges::default();
    let registrations = "/api/boards/main/registrations";
    let registration = json!({"registration": "r1", "system": system("Walker"), "seeds": [0, 1]});
    exchanges.post("board_register", &author, registrations, &registration);
    exchanges.post(
        "board_register_again",
        &author,
        registrations,
        &registration,
    );
    exchanges.post(
        "board_register_visitor",
        &visitor,
        registrations,
        &registration,
    );
    let entries = "/api/boards/main/entries";
    let claim = submission("walker", "Walker", &[]);
    author.post(entries, &claim).success();
    exchanges.post("board_submit_again", &author, entries, &claim);
    exchanges.post("board_submit_visitor", &visitor, entries, &claim);
    let invalid = submission("No Id", "Other", &[]);
    exchanges.post("board_submit_invalid_id", &author, entries, &invalid);

    let commands = "/api/boards/main/commands";
    let contest = json!({"command": "contest", "entry": "walker", "text": "It has no runs."});
    let by = other.post(commands, &contest).success();
    assert_eq!(by["events"], json!(["contested"]));
    let row = author.get("/api/boards/main/entries/walker").success();
    exchanges.hide(row["row"]["contest"]["by"].as_str().unwrap(), "actor");
    exchanges.post("board_contest_again", &other, commands, &contest);
    let answer = json!({"command": "answer", "entry": "walker", "text": "They follow."});
    exchanges.post("board_answer_author", &author, commands, &answer);
    exchanges.post("board_answer", &organiser, commands, &answer);
    erase_names(&exchanges, &author, &other, &organiser);
    let cards = ["00000000-0000-0000-0000-000000000000"];
    let witness = json!({"command": "witness", "entry": "walker", "cards": cards});
    exchanges.post("board_witness_unknown_card", &organiser, commands, &witness);
    let retract =
        json!({"command": "retract", "entry": "walker", "reason": "author", "note": "a mistake"});
    exchanges.post("board_retract_other", &other, commands, &retract);
    exchanges.post("board_retract", &author, commands, &retract);
    let release = json!({"command": "release"});
    exchanges.post("board_release", &organiser, commands, &release);
    let close = json!({"command": "close", "reason": "a newer set"});
    organiser.post(commands, &close).success();
    exchanges.post("board_closed", &organiser, commands, &release);

    let missing = |what: &str| format!("/api/boards/none{what}");
    for (name, what) in [
        ("board_unknown", ""),
        ("board_entry_unknown", "/entries/a"),
        ("board_comparison_unknown", "/comparison?a=a&b=b"),
        ("board_log_unknown", "/log"),
        ("board_plot_unknown", "/plot.svg"),
        ("board_table_unknown", "/rows.csv"),
        ("board_recording_unknown", "/runs/a/recordings/b"),
    ] {
        exchanges.get(name, &author, &missing(what));
    }
    for (name, what, body) in [
        ("board_register", "/registrations", registration),
        ("board_submit", "/entries", claim),
        ("board_change", "/commands", retract),
    ] {
        let (unknown, not_json) = (format!("{name}_unknown"), format!("{name}_not_json"));
        exchanges.post(&unknown, &author, &missing(what), &body);
        let (path, kind) = (format!("/api/boards/main{what}"), Some("text/plain"));
        exchanges.send(&not_json, &author, "POST", &path, kind, "{}");
    }
}

#[test]
fn server_with_open_access_refuses_registrations() {
    let folder = tempfile::tempdir().unwrap();
    let open = TestServer::start(folder.path());
    let registration = json!({"registration": "r1", "system": system("Walker"), "seeds": [0]});
    let refused = open
        .client("k")
        .post("/api/boards/main/registrations", &registration);
    refused.assert_error(403, "FORBIDDEN");
}

#[test]
fn hidden_set_shows_only_aggregates() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let author = server.client(&server.key(&[GameSet::Public]));
    let organiser = server.client(&server.admin_key());
    let exchanges = Exchanges::default();
    for (entry, name, seed) in [("walker", "Walker", 1), ("runner", "Runner", 2)] {
        let mut body = submission(entry, name, &[play(folder.path(), seed)]);
        body["system"]["authors"][0]["name"] = name.into();
        author.post("/api/boards/closed/entries", &body).success();
    }
    let entry = "/api/boards/closed/entries/walker";
    let all = organiser.get(entry).success();
    assert_eq!(all["runs"].as_array().unwrap().len(), 1);
    assert_eq!(all["row"]["environments"].as_array().unwrap().len(), 2);
    exchanges.hide(all["history"][0]["actor"].as_str().unwrap(), "actor");
    get(&exchanges, "board_hidden_entry", &author, entry);
    get(
        &exchanges,
        "board_hidden_read",
        &author,
        "/api/boards/closed",
    );
    let log = "/api/boards/closed/log";
    exchanges.get("board_log_hidden", &author, log);
    assert!(organiser.get(log).success().as_array().unwrap().len() > 2);
    let (run, play) = (&all["runs"][0], &all["runs"][0]["plays"][0]);
    let (run, recording) = (
        run["digest"].as_str().unwrap(),
        play["recording"].as_str().unwrap(),
    );
    exchanges.hide(run, "hash");
    exchanges.hide(recording, "hash");
    let path = format!("/api/boards/closed/runs/{run}/recordings/{recording}");
    exchanges.get("board_recording_hidden", &author, &path);
    assert_eq!(organiser.get(&path).status, 200);
    exchanges.get("page_board_hidden", &author, "/boards/closed");
    for path in [
        "",
        "/entries/walker",
        "/rows.csv",
        "/comparison?a=walker&b=runner",
    ] {
        let text = author.get(&format!("/api/boards/closed{path}")).text;
        for hidden in ["kq19", "ym39"] {
            assert!(!text.contains(hidden), "{path}: {text}");
        }
    }
}
