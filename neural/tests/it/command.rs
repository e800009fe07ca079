use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs `rhae run --agent-cmd` with `rhae-neural` and returns the summary.
fn run(out: &Path, agent: &str, threads: &str, flags: &[&str]) -> Value {
    let program = std::env::var_os("RHAE_PROGRAM")
        .expect("RHAE_PROGRAM names the program `rhae`; `cargo xtask test --full` sets it");
    let command = format!("{} {agent}", env!("CARGO_BIN_EXE_rhae-neural"));
    let output = Command::new(program)
        .args(["run", "--json", "--jobs", "1", "--agent-cmd", &command])
        .args(flags)
        .arg("--out")
        .arg(out)
        .env("RAYON_NUM_THREADS", threads)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the actions of a recording.
fn actions(out: &Path, game: &str) -> Vec<String> {
    let folder = out.join("recordings");
    let recording = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.contains(game) && name.ends_with(".jsonl")
        })
        .unwrap();
    let text = std::fs::read_to_string(recording).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|line| Some(line.get("action")?.to_string()))
        .collect()
}

#[test]
fn goose_plays_through_the_command_and_does_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--games", "hk26", "--budget", "90", "--seed", "3"];
    let played = |threads: &str| {
        let out = folder.path().join(threads);
        let summary = run(&out, "goose --network lite", threads, &flags);
        assert_eq!(summary["failed_plays"], 0, "{summary}");
        actions(&out, "hk26")
    };
    let first = played("1");
    assert!(first.len() >= 90, "{}", first.len());
    assert_eq!(first, played("2"));
}

#[test]
fn faithful_network_plays_through_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let flags = ["--games", "ny40", "--budget", "4"];
    let summary = run(&out, "goose --network faithful --seed 5", "2", &flags);
    assert_eq!(summary["failed_plays"], 0, "{summary}");
    assert!(actions(&out, "ny40").len() >= 4);
}

#[test]
fn blind_squirrel_with_a_network_plays_through_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--games", "kq19", "--budget", "300", "--seed", "1"];
    let played = |name: &str| {
        let out = folder.path().join(name);
        let summary = run(&out, "blind-squirrel", "2", &flags);
        assert_eq!(summary["failed_plays"], 0, "{summary}");
        actions(&out, "kq19")
    };
    let first = played("first");
    assert!(first.len() >= 300);
    assert_eq!(first, played("second"));
}
