//! `rhae arc eval --resume`: killed runs and runs that a limit stopped.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::arc::fixture;
use crate::rhae::{command, rhae};

/// Returns the complete lines of a run's journal. A killed process can leave a partial last line.
fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read(folder.join("journal.jsonl")).unwrap_or_default();
    let end = text
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |newline| newline + 1);
    String::from_utf8_lossy(&text[..end])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn events(lines: &[Value], event: &str) -> Vec<Value> {
    lines
        .iter()
        .filter(|line| line["event"] == event)
        .cloned()
        .collect()
}

/// Returns the fields of an answer that do not depend on time.
fn answer_key(line: &Value) -> Value {
    json!([
        line["task"],
        line["tests"],
        line["attempts"],
        line["answer"]
    ])
}

/// Starts a run and kills it with SIGKILL when its journal has `count` more lines of an event.
fn kill_after(folder: &Path, arguments: &[&str], event: &str, count: usize) {
    let before = events(&journal(&folder.join("run")), event).len();
    let mut child = command(folder, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while events(&journal(&folder.join("run")), event).len() < before + count
        && child.try_wait().unwrap().is_none()
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The command that resumes the run.
const RESUME: [&str; 4] = ["arc", "eval", "--resume", "run"];

/// Starts a run and kills it five times. Returns the answers in its journal, and checks that no
/// kill loses one.
fn kill_five_times(folder: &Path, data: &str) -> Vec<Value> {
    let start = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        data,
        "--work",
        "20",
        "--concurrency",
        "2",
        "--out",
        "run",
    ];
    let mut kept: Vec<Value> = Vec::new();
    for (number, (event, count)) in [
        ("begun", 1),
        ("sent", 3),
        ("answered", 2),
        ("sent", 2),
        ("answered", 3),
    ]
    .into_iter()
    .enumerate()
    {
        kill_after(
            folder,
            if number == 0 { &start } else { &RESUME },
            event,
            count,
        );
        let lines = journal(&folder.join("run"));
        let arrived: Vec<Value> = events(&lines, "answered").iter().map(answer_key).collect();
        assert!(
            arrived.starts_with(&kept),
            "an answer is missing after kill {number}"
        );
        kept = arrived;
    }
    kept
}

/// Checks that the run folder is accepted as a submission, and that its answers can be replayed.
fn assert_scored_and_replayed_alike(folder: &Path, data: &str, results: &Value) {
    let score = rhae(folder, &["arc", "score", "run", "--data", data, "--json"])
        .succeeded()
        .json();
    assert_eq!(
        score["tasks_solved"]["count"],
        results["tasks_solved"]["count"]
    );
    for (source, out) in [
        ("replay:run", "again"),
        ("replay:run/submission.json", "third"),
    ] {
        let again = [
            "arc", "eval", "--solver", source, "--data", data, "--out", out, "--json",
        ];
        let again = rhae(folder, &again).succeeded().json();
        assert_eq!(again["tasks_solved"], results["tasks_solved"], "{source}");
    }
}

#[test]
fn killed_run_keeps_all_answers_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("solve");
    let kept = kill_five_times(folder.path(), &data);
    let results = rhae(folder.path(), &[&RESUME[..], &["--json"]].concat())
        .succeeded()
        .json();
    let lines = journal(&folder.path().join("run"));
    let answered = events(&lines, "answered");
    assert!(
        answered
            .iter()
            .map(answer_key)
            .collect::<Vec<_>>()
            .starts_with(&kept)
    );
    // Every test has exactly one answer. Requests in flight at a kill were sent again.
    assert_eq!(
        (answered.len(), &results["finished"], &results["tasks"]),
        (11, &json!(true), &json!(11))
    );
    assert_eq!(
        results["lost_in_flight"],
        json!(events(&lines, "sent").len() - answered.len())
    );
    assert_eq!(results["processes"], 6);
    // An uninterrupted run gives the same results.
    let uninterrupted = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        &data,
        "--work",
        "20",
        "--out",
        "uninterrupted",
        "--json",
    ];
    let uninterrupted = rhae(folder.path(), &uninterrupted).succeeded().json();
    assert_eq!(
        (&uninterrupted["results"], &uninterrupted["tasks_solved"]),
        (&results["results"], &results["tasks_solved"])
    );
    for name in [
        "config.json",
        "results.json",
        "results.csv",
        "results.md",
        "report.html",
        "submission.json",
    ] {
        assert!(folder.path().join("run").join(name).is_file(), "{name}");
    }
    assert_scored_and_replayed_alike(folder.path(), &data, &results);
    let csv = fs::read_to_string(folder.path().join("run/results.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 11);
}

#[test]
fn run_stopped_by_a_limit_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("solve");
    let run = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        &data,
        "--run-timeout",
        "0.000001",
        "--out",
        "run",
        "--json",
    ];
    let stopped = rhae(folder.path(), &run).failed_with("the time limit of the run is reached");
    assert_eq!(stopped.json()["finished"], false);
    // Missing answers count as not solved.
    assert_eq!(stopped.json()["tasks_solved"]["count"], 0);
    let resume = [
        "arc",
        "eval",
        "--resume",
        "run",
        "--run-timeout",
        "3600",
        "--json",
    ];
    assert_eq!(
        rhae(folder.path(), &resume).succeeded().json()["finished"],
        true
    );
    let late = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        &data,
        "--task-timeout",
        "0.000001",
        "--out",
        "late",
        "--json",
    ];
    let late = rhae(folder.path(), &late).succeeded().json();
    assert_eq!(
        late["finished"], true,
        "a task that exceeds its time limit has no answer, and this is final"
    );
}
