use std::path::Path;
use std::process::Command;

use rhae_agents::{Agent, BlindSquirrel, View};
use rhae_engine::{Action, Catalog};
use rhae_games::Builtin;
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

/// Returns the actions of a play of `kq19` with a seed.
fn squirrel(out: &Path, agent: &str) -> Vec<String> {
    let flags = ["--games", "kq19", "--budget", "300", "--seed", "1"];
    let summary = run(out, agent, "2", &flags);
    assert_eq!(summary["failed_plays"], 0, "{summary}");
    actions(out, "kq19")
}

#[test]
fn blind_squirrel_with_a_network_plays_through_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let first = squirrel(&folder.path().join("first"), "blind-squirrel");
    assert!(first.len() >= 300);
    let command = "blind-squirrel --value network";
    assert_eq!(first, squirrel(&folder.path().join("second"), command));
    let faithful = "blind-squirrel --faithful";
    assert_ne!(first, squirrel(&folder.path().join("faithful"), faithful));
}

#[test]
fn blind_squirrel_with_trees_plays_as_the_built_in_agent() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, command) in [
        ("blind-squirrel", "blind-squirrel --value tree"),
        (
            "blind-squirrel:faithful",
            "blind-squirrel --value tree --faithful",
        ),
    ] {
        let mut built_in = BlindSquirrel::new(1);
        if agent != "blind-squirrel" {
            built_in = BlindSquirrel::faithful(1);
        }
        let played = squirrel(&folder.path().join(agent), command);
        assert_eq!(played, in_process(built_in, played.len()), "{agent}");
    }
}

/// Returns the first commands of a play of `kq19`, beginning with the RESET that opens it.
fn in_process(mut agent: impl Agent, commands: usize) -> Vec<String> {
    let mut environment = Builtin.open("kq19", 0).unwrap();
    let name = |action: Action| Value::from(action.to_string()).to_string();
    let mut played = vec![name(Action::Reset)];
    while played.len() < commands {
        let observation = environment.observation();
        let view = View {
            frames: observation.frames.frames(),
            state: observation.state,
            levels_completed: observation.levels_completed,
            win_levels: observation.win_levels,
            available: observation.available,
            full_reset: observation.full_reset,
        };
        let action = agent.act(&view).unwrap().action;
        environment.act(action).unwrap();
        played.push(name(action));
    }
    played
}
