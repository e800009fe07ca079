//! Runs on a full disk: a write that ends in the middle of a line must not make a journal
//! unreadable.
//!
//! The processes run under a limit of the size of files. The write that reaches the limit is a real
//! partial write, followed by an error.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::rhae::{Outcome, rhae};

/// Runs `rhae` with files of at most `blocks` blocks of 512 or 1024 bytes, depending on the shell.
fn with_small_files(folder: &Path, blocks: u32, arguments: &[&str]) -> Outcome {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_rhae")])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
        .into()
}

/// Returns the lines of a journal. Each must be complete.
fn complete_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "the last line is incomplete: {text}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn count(lines: &[Value], event: &str) -> usize {
    lines.iter().filter(|line| line["event"] == event).count()
}

#[test]
fn evaluation_stops_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let task = json!({
        "train": [{"input": [[1, 2]], "output": [[2, 3]]}],
        "test": [{"input": [[4, 5]], "output": [[5, 6]]}]
    });
    let tasks: serde_json::Map<String, Value> = (0..40)
        .map(|number| (format!("task{number:02}"), task.clone()))
        .collect();
    fs::write(folder.path().join("tasks.json"), json!(tasks).to_string()).unwrap();
    let start = [
        "arc",
        "eval",
        "--solver",
        "random",
        "--data",
        "tasks.json",
        "--jobs",
        "2",
        "--out",
        "run",
    ];
    with_small_files(folder.path(), 8, &start).failed_with("journal.jsonl`: File too large");
    let journal = folder.path().join("run/journal.jsonl");
    let before = complete_lines(&journal);
    let answered = count(&before, "answered");
    // Each task has one test with two attempts.
    assert!(0 < answered && answered < 80, "{answered}");
    let resume = ["arc", "eval", "--resume", "run", "--json"];
    let results = rhae(folder.path(), &resume).succeeded().json();
    assert_eq!(
        (&results["finished"], &results["tasks"]),
        (&json!(true), &json!(40))
    );
    let after = complete_lines(&journal);
    assert_eq!(&after[..before.len()], before, "no line is lost");
    assert_eq!(count(&after, "answered"), 80);
}

#[test]
fn incomplete_line_of_an_older_version_does_not_hide_later_lines() {
    let folder = tempfile::tempdir().unwrap();
    let start = [
        "run",
        "--games",
        "kq19,ny40",
        "--budget",
        "9",
        "--out",
        "run",
    ];
    rhae(folder.path(), &start).succeeded();
    let journal = folder.path().join("run/journal.jsonl");
    let lines = complete_lines(&journal);
    let text = fs::read_to_string(&journal).unwrap();
    // The append of the second line failed in its middle and was repeated without a newline.
    let second = text.lines().nth(1).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let damaged = format!("{first}\n{}{rest}", &second[..second.len() / 2]);
    fs::write(&journal, &damaged).unwrap();
    let resumed = rhae(folder.path(), &["run", "--resume", "run", "--json"]);
    assert_eq!(resumed.succeeded().json()["finished"], true);
    let resumed = fs::read_to_string(&journal).unwrap();
    assert!(resumed.starts_with(&damaged), "no play is repeated");
    assert_eq!(count(&lines, "play"), 2);
    // A line that is damaged otherwise is named.
    fs::write(&journal, format!("{first}\n{}\n{rest}", &second[..40])).unwrap();
    rhae(folder.path(), &["run", "--resume", "run"])
        .failed_with("line 2 of the journal `run/journal.jsonl` cannot be read");
}

#[test]
fn run_stops_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let start = [
        "run", "--agent", "random", "--games", "kq19", "--budget", "2", "--repeat", "40", "--out",
        "run",
    ];
    with_small_files(folder.path(), 8, &start).failed_with("journal.jsonl`: File too large");
    let journal = folder.path().join("run/journal.jsonl");
    let plays = count(&complete_lines(&journal), "play");
    assert!(0 < plays && plays < 40, "{plays}");
    let resumed = rhae(folder.path(), &["run", "--resume", "run", "--json"]);
    assert_eq!(resumed.succeeded().json()["finished"], true);
    assert_eq!(count(&complete_lines(&journal), "play"), 40);
}
