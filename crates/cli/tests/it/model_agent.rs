//! `rhae run --agent model:NAME`: a language model as the player, against a local server that speaks like a provider.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelServer, Served};
use serde_json::Value;

use crate::rhae::{Outcome, command};

const KEY: &str = "sk-agent-5556667778-do-not-print";

/// A folder with a file of models, one of them on a server.
fn folder(server: &ModelServer) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[models.big]\nprovider = \"openai-responses\"\nmodel = \"test-model\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{}/v1\"\nstream = true
retries = {{ attempts = 12, first_pause_s = 0.001, longest_pause_s = 0.01 }}
breaker = {{ failures = 1000 }}
prices = {{ date = \"2026-11-01\", input = 1, output = 10 }}

[models.words]\nprovider = \"mock\"\nreplies = [\"ACTION1\", \"up: ACTION1, or rather ACTION3\", \"ACTION4\"]",
        server.url()
    );
    fs::write(folder.path().join("models.toml"), text).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = command(folder, &[&["run", "--json"], arguments].concat());
    let outcome: Outcome = command
        .env("RHAE_TEST_KEY", KEY)
        .env_remove("RHAE_MODELS")
        .output()
        .unwrap()
        .into();
    assert!(
        !outcome.out.contains(KEY) && !outcome.err.contains(KEY),
        "{}{}",
        outcome.out,
        outcome.err
    );
    outcome
}

/// A model that walks up and down.
fn walker(faults: Faults) -> ModelServer {
    ModelServer::start(faults, |asked| {
        if asked.turns.len() % 4 == 1 {
            "ACTION1"
        } else {
            "ACTION2"
        }
        .to_owned()
    })
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn billed(served: &[Served]) -> u64 {
    served
        .iter()
        .map(|entry| entry.input_tokens + entry.output_tokens)
        .sum()
}

fn tokens(spent: &Value) -> u64 {
    spent["input_tokens"].as_u64().unwrap() + spent["output_tokens"].as_u64().unwrap()
}

/// Fails if the key is in any file of a folder.
fn no_key_in(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_key_in(&path);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(KEY), "{}", path.display());
        }
    }
}

#[test]
fn a_mock_plays_and_its_recording_replays() {
    let server = walker(Faults::none());
    let folder = folder(&server);
    let arguments = [
        "--agent",
        "model:words",
        "--games",
        "kq19",
        "--budget",
        "9",
        "--out",
        "out",
    ];
    let summary = run(folder.path(), &arguments).succeeded().json();
    assert_eq!(
        (&summary["agent"], &summary["finished"]),
        (&"model:words".into(), &true.into())
    );
    assert_eq!(
        (
            summary["spent"]["calls"].as_u64(),
            summary["environments"][0]["endings"][0].as_str()
        ),
        (Some(9), Some("budget"))
    );
    let recording =
        fs::read_to_string(folder.path().join("out/recordings/1-kq19-v1.jsonl")).unwrap();
    let lines: Vec<Value> = recording
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines[3]
            .to_string()
            .contains("up: ACTION1, or rather ACTION3"),
        "{}",
        lines[3]
    );
    assert!(
        lines[3].to_string().contains("input_tokens"),
        "{}",
        lines[3]
    );
    command(
        folder.path(),
        &["replay", "verify", "out/recordings/1-kq19-v1.jsonl"],
    )
    .status()
    .unwrap()
    .success()
    .then_some(())
    .unwrap();
    let config = read(&folder.path().join("out/config.json"));
    assert!(
        config["model"]["system_prompt"]
            .as_str()
            .unwrap()
            .starts_with("You are playing a game.")
    );
    assert_eq!(server.served().len(), 0);
}

#[test]
fn every_token_is_on_the_card_whatever_goes_wrong() {
    let server = walker(Faults::mixed(30, 11));
    let folder = folder(&server);
    let arguments = [
        "--agent",
        "model:big",
        "--games",
        "kq19,ny40",
        "--budget",
        "12",
        "--out",
        "out",
    ];
    let summary = run(folder.path(), &arguments).succeeded().json();
    assert_eq!(summary["finished"], true);
    let served = server.served();
    let spent = &summary["spent"];
    assert_eq!(spent["calls"].as_u64(), Some(served.len() as u64));
    // What is counted and what is marked as uncounted is all that the server billed.
    let unknown: Vec<Served> = served
        .iter()
        .filter(|entry| matches!(entry.fault, Fault::Cut | Fault::Close | Fault::Malformed))
        .cloned()
        .collect();
    assert_eq!(spent["uncounted"].as_u64(), Some(unknown.len() as u64));
    assert_eq!(tokens(spent) + billed(&unknown), billed(&served), "{spent}");
    let card = read(&folder.path().join("out/scorecard.json"));
    assert_eq!(tokens(&card["spent"]), tokens(spent));
    let levels = card["environments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|environment| {
            let levels = environment["runs"][0]["level_spent"].as_array().unwrap();
            let sum: u64 = levels.iter().map(tokens).sum();
            assert_eq!(sum, tokens(&environment["spent"]));
            sum
        });
    assert_eq!(levels.sum::<u64>(), tokens(spent));
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("<th class=\"num\">Tokens</th><th class=\"num\">Cost</th>"));
    assert!(served.iter().all(|entry| entry.head.contains(KEY)));
    no_key_in(&folder.path().join("out"));
}

#[test]
fn a_run_that_is_killed_goes_on_without_paying_twice() {
    let slow = |_: usize| Fault::Late(Duration::from_millis(60));
    let server = walker(Faults::first((0..1000).map(slow)));
    let folder = folder(&server);
    let arguments = [
        "run",
        "--agent",
        "model:big",
        "--games",
        "kq19,ny40",
        "--budget",
        "10",
        "--jobs",
        "2",
        "--out",
        "out",
    ];
    let mut child = command(folder.path(), &arguments)
        .env("RHAE_TEST_KEY", KEY)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for kill in 1..4 {
        while server.served().len() < 4 * kill {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended before it was killed"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        child = command(folder.path(), &["run", "--resume", "out", "--jobs", "2"])
            .env("RHAE_TEST_KEY", KEY)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    }
    assert!(child.wait().unwrap().success());
    let card = read(&folder.path().join("out/scorecard.json"));
    let served = server.served();
    assert_eq!(card["total_actions"], 20);
    // Each kill cuts off at most one request of each play; all others were answered once and for all.
    let uncounted = card["spent"]["uncounted"].as_u64().unwrap();
    assert!(uncounted <= 6, "{uncounted}");
    assert_eq!(card["spent"]["calls"].as_u64(), Some(20 + uncounted));
    // A request that was written down may have been cut off before it left.
    assert!(
        (20..=20 + uncounted).contains(&(served.len() as u64)),
        "{}",
        served.len()
    );
}

#[test]
fn a_limit_on_money_stops_a_run_that_can_be_gone_on_with() {
    let server = walker(Faults::none());
    let folder = folder(&server);
    let arguments = [
        "--agent",
        "model:big",
        "--games",
        "kq19",
        "--budget",
        "8",
        "--out",
        "out",
        "--max-cost",
    ];
    // A request has some 3,200 tokens at a dollar a million; the third is the one that passes the limit.
    let stopped = run(folder.path(), &[&arguments[..], &["0.015"]].concat());
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped.err.contains("of at most $0.015 are spent") && stopped.err.contains("--resume out"),
        "{}",
        stopped.err
    );
    let paid = server.served().len();
    assert_eq!(
        paid, 3,
        "the limit is measured, and stops before the next request"
    );
    let still = run(folder.path(), &["--resume", "out"]);
    assert_eq!(
        (still.code, server.served().len()),
        (Some(130), paid),
        "what was spent before counts"
    );
    let summary = run(folder.path(), &["--resume", "out", "--max-cost", "5"])
        .succeeded()
        .json();
    assert_eq!(
        (
            summary["finished"].as_bool(),
            summary["spent"]["calls"].as_u64()
        ),
        (Some(true), Some(8))
    );
    assert_eq!(server.served().len(), 8);
}

#[test]
fn what_cannot_be_played_is_said_at_once() {
    let server = walker(Faults::first([Fault::Status(401, None)]));
    let folder = folder(&server);
    run(folder.path(), &["--agent", "model:small"]).failed_with("there is no model `small`");
    run(folder.path(), &["--agent", "random", "--max-cost", "1"])
        .failed_with("are for `--agent model:NAME`");
    run(
        folder.path(),
        &["--agent", "model:words", "--max-cost", "1"],
    )
    .failed_with("`prices`");
    let arguments = [
        "--agent",
        "model:big",
        "--games",
        "kq19,ny40",
        "--jobs",
        "1",
        "--budget",
        "4",
        "--out",
        "out",
    ];
    let refused = run(folder.path(), &arguments);
    assert_eq!(
        (refused.code, server.served().len()),
        (Some(130), 1),
        "a wrong key is tried once, not in every play: {}",
        refused.err
    );
    assert!(
        refused.err.contains("left: the server answered 401"),
        "{}",
        refused.err
    );
    // With the right key the run goes on; with another model it does not.
    let models = folder.path().join("models.toml");
    let text = fs::read_to_string(&models).unwrap();
    fs::write(&models, text.replace("test-model", "other-model")).unwrap();
    run(folder.path(), &["--resume", "out"])
        .failed_with("`model` of the model `big` is not what the run was begun with");
    fs::write(&models, text).unwrap();
    assert_eq!(
        run(folder.path(), &["--resume", "out"]).succeeded().json()["finished"],
        true
    );
}
