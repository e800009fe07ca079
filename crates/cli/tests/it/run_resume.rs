//! Tests of `rhae run --resume`: consent to what the folder asks for, and runs that have finished.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use serde_json::Value;

use crate::play::tmux::Terminal;
use crate::rhae::{Outcome, rhae};

const AGENT: &str = "echo executed >> log; exit 1";

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Creates the run folder `r`, of which the journal does not list any play.
fn started(folder: &Path) {
    let run = [
        "run",
        "--agent-cmd",
        AGENT,
        "--games",
        "ny40",
        "--out",
        "r",
        "--json",
    ];
    rhae(folder, &run).failed_with("exit status: 1");
    fs::remove_file(folder.join("r/journal.jsonl")).unwrap();
    fs::remove_file(folder.join("log")).unwrap();
}

fn summary(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("r/summary.json")).unwrap()).unwrap()
}

#[test]
fn command_of_a_folder_that_others_can_change_is_not_executed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    started(folder);
    let resume = ["run", "--resume", "r"];
    let refused = |outcome: Outcome, reason: &str| {
        let outcome = outcome.failed_with(reason);
        assert_eq!(outcome.code, Some(1), "{}", outcome.err);
        assert!(outcome.err.contains(AGENT), "{}", outcome.err);
        let advice = format!("repeat it with `--agent-cmd '{AGENT}'`");
        assert!(outcome.err.contains(&advice), "{}", outcome.err);
        assert!(!folder.join("log").exists(), "the command was executed");
    };
    set_mode(&folder.join("r"), 0o777);
    refused(rhae(folder, &resume), "other users can write to `");
    set_mode(&folder.join("r"), 0o755);
    if chown(folder.join("r/config.json"), Some(54_321), None).is_ok() {
        refused(
            rhae(folder, &resume),
            "belongs to another user (user id 54321)",
        );
    } else {
        rhae_testkit::skip("only root can give files to another user");
    }
    rhae(folder, &["run", "--resume", "r", "--agent-cmd", "true"])
        .failed_with("the run was started with `--agent-cmd 'echo executed");
    let repeated = ["run", "--resume", "r", "--agent-cmd", AGENT];
    rhae(folder, &repeated).failed_with("failed: the agent's process ended");
    assert_eq!(
        fs::read_to_string(folder.join("log")).unwrap(),
        "executed\n"
    );
}

#[test]
fn command_of_an_own_folder_is_executed_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    started(folder.path());
    rhae(folder.path(), &["run", "--resume", "r"]).failed_with("failed: the agent's process ended");
    assert!(folder.path().join("log").exists());
}

#[test]
fn user_confirms_a_command_on_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    started(folder);
    set_mode(&folder.join("r"), 0o777);
    let Some(terminal) = Terminal::open(100, 30) else {
        return;
    };
    let resume = format!(
        "cd {}; {} run --resume r; echo code=$?",
        folder.display(),
        env!("CARGO_BIN_EXE_rhae")
    );
    terminal.type_line(&resume);
    terminal.wait_for("[y/N]");
    terminal.type_line("no");
    terminal.wait_for("code=1");
    assert!(!folder.join("log").exists());
    terminal.type_line(&format!("clear; {resume}2"));
    terminal.wait_for("[y/N]");
    terminal.type_line("y");
    terminal.wait_for("code=12");
    assert!(folder.join("log").exists());
}

#[test]
fn finished_run_keeps_its_duration_and_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = [
        "run",
        "--agent",
        "random",
        "--games",
        "ny40,kq19",
        "--budget",
        "200",
        "--out",
        "r",
    ];
    rhae(folder, &run).succeeded();
    let journal = fs::read(folder.join("r/journal.jsonl")).unwrap();
    fs::remove_file(folder.join("r/report.html")).unwrap();
    for _ in 0..2 {
        rhae(folder, &["run", "--resume", "r"]).succeeded();
    }
    assert!(
        folder.join("r/report.html").exists(),
        "the report is written again"
    );
    assert_eq!(fs::read(folder.join("r/journal.jsonl")).unwrap(), journal);
    let times: Vec<u64> = String::from_utf8(journal)
        .unwrap()
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["at_ms"]
                .as_u64()
                .unwrap()
        })
        .collect();
    let (start, end) = (times[0], *times.last().unwrap());
    let again = summary(folder);
    assert_eq!(again["started_ms"], start);
    assert_eq!(again["ended_ms"], end);
    assert_eq!(again["seconds"], (end - start) as f64 / 1000.0);
}
