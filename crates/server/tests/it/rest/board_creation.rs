//! Responses about boards that the organiser creates, exports and corrects through the API.

use std::collections::BTreeMap;
use std::path::Path;

use rhae_board_service::{board_set, check_export, task_set, tasks_text};
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_protocol::{BoardSet, SetVisibility};
use rhae_server::Config;
use rhae_store::{GameSet, SqliteOptions};
use rhae_tasks::{Grid, Pair, Protocol, Task, TaskSet, Test};
use serde_json::{Value, json};

use super::exchange::Exchanges;
use crate::client::{Answer, Client};
use crate::test_server::{Access, TestServer};

fn start(folder: &Path) -> TestServer {
    let access = Access {
        keys: true,
        ..Access::default()
    };
    let options = SqliteOptions::default();
    TestServer::start_with_access(folder, Config::default(), options, &access)
}

fn creation(board: &str, visibility: SetVisibility) -> Value {
    let set = board_set("one", visibility, &[Builtin.find("kq19").unwrap()]);
    let set = serde_json::to_value(set).unwrap();
    json!({"board": board, "definition": {"rules_version": 1, "kind": "community",
        "title": "A board", "set": set, "method": "docs-2026-04", "budget": "5x"}})
}

/// Returns a set of one task, with the file that contains its solution.
fn tasks() -> (BoardSet, String) {
    let grid = |color: u8| Grid::new(&[vec![color]]).unwrap();
    let task = Task {
        train: vec![Pair {
            input: grid(1),
            output: grid(2),
        }],
        test: vec![Test {
            input: grid(3),
            output: Some(grid(4)),
        }],
    };
    let set = TaskSet {
        name: "arc-agi-2-one".to_owned(),
        tasks: [("t1".parse().unwrap(), task)].into(),
    };
    let rules = Protocol::Standard.rules();
    let fixed = task_set(
        SetVisibility::Public,
        &set,
        &set.all_tests(),
        Protocol::Standard,
        rules,
    );
    (fixed.unwrap(), tasks_text(&set))
}

/// An evaluation that answers the task with a grid.
fn evaluation(set: &BoardSet, grid: &str) -> BTreeMap<String, String> {
    let revision = &set.tasks.as_ref().unwrap().revision;
    let config = json!({"version": 1, "software": "rhae 0.1.0", "run_id": "one",
        "solver": "search", "solver_settings": {"work": 1}, "protocol": "standard", "attempts": 2,
        "parser": "lenient", "stop_at_failure": false, "data": ["/home/ada/data"],
        "sets": [{"name": "mine", "revision": revision, "tests": {"t1": [0]}}],
        "limits": {"concurrency": 1}});
    let lines = [
        json!({"event": "begun", "at_ms": 1_799_999_500_000_u64, "resumed": false,
            "limits": {"concurrency": 1}}),
        json!({"event": "answered", "request": 1, "at_ms": 1_799_999_500_001_u64, "ms": 1,
            "set": "mine", "task": "t1", "tests": [0], "attempts": [1],
            "answer": {"text": grid}}),
    ];
    let journal: String = lines.iter().map(|line| format!("{line}\n")).collect();
    [
        ("config.json", config.to_string()),
        ("journal.jsonl", journal),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into()
}

fn submission(entry: &str, runs: &[BTreeMap<String, String>]) -> Value {
    json!({"entry": entry, "runs": runs, "system": {
        "name": entry, "version": "1",
        "authors": [{"name": entry, "link": "https://example.org/ada"}],
        "description": "It answers.", "code_url": "https://example.org/code",
        "models": ["none"], "exposure": "none"}})
}

/// Compares the status and the headers of a response whose body is not text with a snapshot.
fn check_file(exchanges: &Exchanges, name: &str, client: &Client, path: &str) -> Answer {
    let answer = client.get(path);
    let short = Answer {
        text: format!("\"[{name}]\""),
        content_type: answer.content_type.clone(),
        retry_after: None,
        headers: answer.headers.clone(),
        request_id: answer.request_id.clone(),
        ..answer
    };
    exchanges.check(name, &format!("> GET {path}\n"), &short);
    answer
}

#[test]
fn organiser_creates_and_exports_boards() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let organiser = server.client(&server.admin_key());
    let author = server.client(&server.key(&[GameSet::Public]));
    let exchanges = Exchanges::default();
    let body = creation("new", SetVisibility::Public);
    exchanges.post("board_create", &organiser, "/api/boards", &body);
    exchanges.post("board_create_again", &organiser, "/api/boards", &body);
    exchanges.post("board_create_author", &author, "/api/boards", &body);
    let mut official = creation("official", SetVisibility::Public);
    official["definition"]["kind"] = "official".into();
    exchanges.post(
        "board_create_rejected",
        &organiser,
        "/api/boards",
        &official,
    );
    let invalid = json!({"board": "A b", "definition": body["definition"]});
    exchanges.post(
        "board_create_invalid_id",
        &organiser,
        "/api/boards",
        &invalid,
    );
    let plain = Some("text/plain");
    exchanges.send(
        "board_create_not_json",
        &organiser,
        "POST",
        "/api/boards",
        plain,
        "{}",
    );

    author
        .post("/api/boards/new/entries", &submission("claim", &[]))
        .success();
    let files = check_file(
        &exchanges,
        "board_export",
        &author,
        "/api/boards/new/export",
    );
    tar::Archive::new(files.text.as_bytes())
        .unpack(folder.path())
        .unwrap();
    let check = check_export(&folder.path().join("new"), &Builtin).unwrap();
    assert_eq!((check.rows, check.findings), (1, Vec::<String>::new()));
    let page = author.get("/boards/new/export.tar");
    assert_eq!(
        (page.status, page.content_type),
        (200, "application/x-tar".to_owned())
    );

    // Of a hidden set, only the organiser gets the records.
    let hidden = creation("hidden", SetVisibility::Private);
    organiser.post("/api/boards", &hidden).success();
    let export = "/api/boards/hidden/export";
    let rows = author.get(export).text;
    assert!(rows.contains("hidden/rows.json") && !rows.contains("events.jsonl"));
    assert!(!rows.contains("kq19"));
    let all = format!("{export}?organiser=true");
    exchanges.get("board_export_forbidden", &author, &all);
    assert!(organiser.get(&all).text.contains("hidden/events.jsonl"));
    assert_eq!(
        organiser.get(&format!("{export}?organiser=yes")).status,
        400
    );
    exchanges.get("board_export_unknown", &author, "/api/boards/none/export");
}

#[test]
fn board_of_static_tasks_is_created_scored_and_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path());
    let organiser = server.client(&server.admin_key());
    let author = server.client(&server.key(&[GameSet::Public]));
    let exchanges = Exchanges::default();
    let (set, text) = tasks();
    let mut body = creation("arc", SetVisibility::Public);
    let definition = &mut body["definition"];
    definition["set"] = serde_json::to_value(&set).unwrap();
    definition["method"] = "mean-task-score".into();
    definition["budget"] = "none".into();
    exchanges.post(
        "board_create_without_tasks",
        &organiser,
        "/api/boards",
        &body,
    );
    body["tasks"] = text.into();
    organiser.post("/api/boards", &body).success();

    let entries = "/api/boards/arc/entries";
    for (entry, grid) in [("right", "[[4]]"), ("wrong", "I think:\n[[5]]")] {
        let body = submission(entry, &[evaluation(&set, grid)]);
        let submitted = author.post(entries, &body).success();
        assert_eq!(submitted["state"], "replayed");
    }
    let mut other = evaluation(&set, "[[4]]");
    let config = other.get_mut("config.json").unwrap();
    *config = config.replace("\"attempts\":2", "\"attempts\":3");
    let body = submission("other", &[other]);
    let length = body.to_string().len().to_string();
    exchanges.hide(&format!("{length} bytes"), "length");
    exchanges.post("board_submit_other_attempts", &author, entries, &body);
    let board = author.get("/api/boards/arc").success();
    for row in board["rows"].as_array().unwrap() {
        exchanges.hide(row["date"].as_str().unwrap(), "day");
    }
    exchanges.hide(board["head"].as_str().unwrap(), "head");
    exchanges.get("board_of_tasks", &author, "/api/boards/arc");
    let entry = author.get("/api/boards/arc/entries/right").success();
    exchanges.hide(entry["history"][0]["actor"].as_str().unwrap(), "actor");
    exchanges.get(
        "board_entry_of_tasks",
        &author,
        "/api/boards/arc/entries/right",
    );
    exchanges.get("page_board_of_tasks", &author, "/boards/arc");

    let picture = check_file(
        &exchanges,
        "board_picture",
        &author,
        "/api/boards/arc/plot.png",
    );
    assert_eq!(picture.content_type, "image/png");
    let over_time = author.get("/boards/arc/plot.png?x=time");
    assert_eq!(
        (over_time.status, over_time.content_type.as_str()),
        (200, "image/png")
    );
    exchanges.get(
        "board_picture_unknown",
        &author,
        "/api/boards/none/plot.png",
    );
    assert_eq!(author.get("/api/boards/arc/plot.png?x=3").status, 400);

    let commands = "/api/boards/arc/commands";
    let rescore = json!({"command": "rescore", "note": "an error of the parser"});
    exchanges.post("board_rescore_nothing", &organiser, commands, &rescore);
    exchanges.post("board_rescore_author", &author, commands, &rescore);
}
