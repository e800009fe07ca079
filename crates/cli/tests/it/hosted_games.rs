//! Hosted games in every command: real Python games in the real sandbox.

mod busy;
mod server;
mod unusual;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::play::tmux::Terminal;
use crate::rhae::{Outcome, rhae};
use crate::serve::official::python;

/// Returns the path of a folder in the repository's `fixtures`.
pub(crate) fn fixtures(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    root.join("fixtures").join(name).display().to_string()
}

/// Runs a command with the flags for a folder of games.
pub(crate) fn with_games(at: &Path, folder: &str, python: &Path, arguments: &[&str]) -> Outcome {
    let python = python.display().to_string();
    let flags = [
        "--games-dir",
        folder,
        "--python",
        &python,
        "--host-seconds",
        "60",
    ];
    rhae(
        at,
        &arguments.iter().copied().chain(flags).collect::<Vec<_>>(),
    )
}

fn recordings(run: &Path) -> Vec<String> {
    let files = fs::read_dir(run.join("recordings"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn folder_is_listed_and_its_errors_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let list = rhae(
        folder.path(),
        &["games", "list", "--json", "--games-dir", &fixtures("games")],
    )
    .succeeded()
    .json();
    let game = list
        .as_array()
        .unwrap()
        .iter()
        .find(|game| game["game_id"] == "wk31-v1")
        .unwrap();
    assert_eq!(
        (&game["baseline_actions"], &game["baseline_source"][0]),
        (&json!([6, 9, 12]), &json!("metadata"))
    );
    let shown = rhae(
        folder.path(),
        &["games", "info", "wk31", "--games-dir", &fixtures("games")],
    )
    .succeeded();
    assert!(
        shown.out.contains("sandbox: ") && shown.out.contains("seccomp"),
        "{}",
        shown.out
    );
    // A folder that is named twice is loaded once.
    let twice = [
        "games",
        "list",
        "--games-dir",
        &fixtures("games"),
        "--games-dir",
        &fixtures("games"),
    ];
    let loaded = rhae(folder.path(), &twice).succeeded();
    assert_eq!(loaded.out.matches("tl32-v1").count(), 1, "{}", loaded.out);
    assert_eq!(loaded.err, "");
    fs::write(
        folder.path().join("metadata.json"),
        r#"{"game_id": "kq19-v1", "command": ["./x"]}"#,
    )
    .unwrap();
    let list = rhae(folder.path(), &["games", "list", "--games-dir", "."]).succeeded();
    assert!(
        list.err
            .contains("has the id `kq19-v1`, which a built-in environment also has"),
        "{}",
        list.err
    );
    fs::write(
        folder.path().join("metadata.json"),
        r#"{"game_id": "ab12-v1", "baseline_actions": ["x"]}"#,
    )
    .unwrap();
    rhae(folder.path(), &["run", "--games-dir", "."])
        .failed_with("metadata.json`: `baseline_actions[0]` must be a whole number");
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn python_games_are_run_verified_scored_and_rendered() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "--games",
        "wk31,tl32,kq19",
        "--agent",
        "random",
        "--budget",
        "60",
        "--out",
        "run",
        "--json",
    ];
    let summary = with_games(folder.path(), &fixtures("games"), &python, &run)
        .succeeded()
        .json();
    assert_eq!(
        (
            &summary["failed_plays"],
            &summary["environments"][0]["game_id"]
        ),
        (&json!(0), &json!("wk31-v1"))
    );
    assert_eq!(
        summary["environments"][1]["baseline_actions"],
        json!([4, 6])
    );
    let files = recordings(&folder.path().join("run"));
    assert_eq!(files.len(), 3);
    let verify: Vec<&str> = ["replay", "verify"]
        .into_iter()
        .chain(files.iter().map(String::as_str))
        .collect();
    let verified = with_games(folder.path(), &fixtures("games"), &python, &verify).succeeded();
    assert!(
        verified.out.contains("3 of 3 recordings verified"),
        "{}",
        verified.out
    );
    // The run folder stores the games folder, so neither `verify` nor `score run` needs it again.
    let python_name = python.display().to_string();
    let flags = ["--python", &python_name, "--host-seconds", "60"];
    let again = rhae(folder.path(), &[&verify[..], &flags].concat()).succeeded();
    assert!(
        again.out.contains("3 of 3 recordings verified"),
        "{}",
        again.out
    );
    rhae(folder.path(), &["score", "run", "run"]).succeeded();
    let report = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("wk31-v1"));
    let file = files.iter().find(|file| file.contains("tl32")).unwrap();
    with_games(
        folder.path(),
        &fixtures("games"),
        &python,
        &["replay", "render", file, "--format", "gif"],
    )
    .succeeded();
    // Outside its run folder, a recording does not name its games.
    fs::copy(file, folder.path().join("copy.jsonl")).unwrap();
    rhae(folder.path(), &["replay", "verify", "copy.jsonl"])
        .failed_with("there is no environment `tl32-v1`");
}

#[test]
fn run_survives_failing_games() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let games = fixtures("games-hostile");
    let python_name = python.display().to_string();
    let arguments = [
        "run",
        "--games",
        "init,loop,exit,rais,prnt,kq19",
        "--agent-cmd",
        "while read line; do echo '{\"action\": 1}'; done",
        "--budget",
        "5",
        "--out",
        "run",
        "--games-dir",
        &games,
        "--python",
        &python_name,
        "--host-seconds",
        "8",
        "--step-timeout",
        "60",
    ];
    let outcome = rhae(folder.path(), &arguments);
    assert_eq!(
        outcome.code,
        Some(3),
        "results are missing: {}",
        outcome.err
    );
    assert!(!outcome.err.lines().any(|line| line.starts_with("failed:")));
    let summary: Value =
        serde_json::from_slice(&fs::read(folder.path().join("run/summary.json")).unwrap()).unwrap();
    assert_eq!(
        (&summary["failed_plays"], &summary["failed_environments"]),
        (&json!(0), &json!(4))
    );
    let valid = &summary["valid_results"];
    assert_eq!(
        (&valid["n"], &valid["of"]),
        (&json!(2), &json!(6)),
        "{valid}"
    );
    for line in [
        "total (n = 6)",
        "valid (n = 2)",
        "4 plays ended because the environment failed.",
    ] {
        assert!(outcome.out.contains(line), "{line}: {}", outcome.out);
    }
    for reason in [
        "environment failed: `init-v1`: the game did not respond within 8 s (1 play)",
        "`loop-v1`: the game did not respond within 8 s",
        "`exit-v1`: the game's process ended (exit status: 3)",
        "`rais-v1`: the game raised ZeroDivisionError",
    ] {
        assert!(
            outcome.err.contains(reason),
            "expected `{reason}` in: {}",
            outcome.err
        );
    }
    assert!(
        !outcome.err.contains("prnt") && !outcome.err.contains("kq19"),
        "{}",
        outcome.err
    );
}

#[test]
fn defects_in_the_source_of_a_game_are_failures_of_the_environment() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let games = at.path().join("games");
    for (id, source) in [
        ("sx01", "class Sx01(:\n"),
        ("mc01", "import math\n"),
        ("rs01", "raise RuntimeError('no luck')\n"),
    ] {
        let folder = games.join(id);
        fs::create_dir_all(&folder).unwrap();
        let metadata = json!({"game_id": format!("{id}-v1"), "baseline_actions": [5]});
        fs::write(folder.join("metadata.json"), metadata.to_string()).unwrap();
        fs::write(folder.join(format!("{id}.py")), source).unwrap();
    }
    let run = [
        "run", "--agent", "random", "--budget", "20", "--out", "run", "--json",
    ];
    let games = games.display().to_string();
    let outcome = with_games(at.path(), &games, &python, &run);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let summary = outcome.json();
    assert_eq!(
        (&summary["failed_plays"], &summary["failed_environments"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(
        summary["valid_results"],
        json!({"score": null, "n": 0, "of": 3})
    );
    for environment in summary["environments"].as_array().unwrap() {
        assert_eq!(environment["endings"], json!(["environment failed"]));
    }
    for reason in ["SyntaxError", "mc01-v1", "no luck"] {
        let named = |line: &str| line.starts_with("environment failed: ") && line.contains(reason);
        assert!(outcome.err.lines().any(named), "{reason}: {}", outcome.err);
    }
    let report = fs::read_to_string(at.path().join("run/report.html")).unwrap();
    assert!(report.contains("3 plays ended because the environment failed."));
}

#[test]
fn nondeterministic_game_is_reported() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let agent = "while read line; do echo '{\"action\": 1}'; done";
    let run = [
        "run",
        "--games",
        "rand",
        "--agent-cmd",
        agent,
        "--budget",
        "8",
        "--out",
        "run",
    ];
    with_games(folder.path(), &fixtures("games-hostile"), &python, &run).succeeded();
    let file = recordings(&folder.path().join("run")).remove(0);
    with_games(
        folder.path(),
        &fixtures("games-hostile"),
        &python,
        &["replay", "verify", &file],
    )
    .failed_with("`rand-v1` is not deterministic: two replays of these actions differ at entry");
}

#[test]
fn server_and_games_dir_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "--server",
        "http://127.0.0.1:1",
        "--games-dir",
        &fixtures("games"),
    ];
    rhae(folder.path(), &arguments)
        .failed_with("this run uses the server at http://127.0.0.1:1; remove one of the two");
}

#[test]
fn python_game_is_playable_in_the_terminal() {
    let Some(python) = python() else { return };
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    let rhae = PathBuf::from(env!("CARGO_BIN_EXE_rhae"));
    let flags = format!(
        "--games-dir {} --python {} --host-seconds 60",
        fixtures("games"),
        python.display()
    );
    terminal.type_line(&format!(
        "{} play wk31 {flags}; echo code=$?",
        rhae.display()
    ));
    terminal.wait_for("level 1 of 3");
    for actions in 1..=4 {
        terminal.send("Right");
        terminal.wait_for(&format!("actions {actions}"));
    }
    terminal.send("Right");
    terminal.wait_for("Level 1 completed with 5 actions");
    terminal.send("Space");
    terminal.wait_for("level 2 of 3");
    terminal.send("q");
    terminal.wait_for("code=0");
}
