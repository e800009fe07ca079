//! `rhae run --agent model:NAME`: a language model as the agent, against a local server that
//! implements a provider's API.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelServer, ServedRequest};
use serde_json::Value;

use crate::rhae::{Outcome, command};

const KEY: &str = "sk-agent-5556667778-do-not-print";

/// Creates a folder with a configuration of the models `big` and `unbounded`, on the server, and
/// `words`, a mock.
fn folder(server: &ModelServer) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[models.big]\nprovider = \"openai-responses\"\nmodel = \"test-model\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{0}/v1\"\nstream = true
retries = {{ attempts = 12, first_pause_s = 0.001, longest_pause_s = 0.01 }}
breaker = {{ failures = 1000 }}
request = {{ max_output_tokens = 100 }}
prices = {{ date = \"2026-11-01\", input = 1, output = 10 }}

[models.unbounded]\nprovider = \"openai-responses\"\nmodel = \"test-model\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{0}/v1\"
prices = {{ date = \"2026-11-01\", input = 1, output = 10 }}

[models.words]\nprovider = \"mock\"\nreplies = [\"ACTION1\", \"up: ACTION1, or rather ACTION3\", \"ACTION4\"]",
        server.url()
    );
    fs::write(folder.path().join("models.toml"), text).unwrap();
    folder
}

/// Runs `rhae run --json`. Checks that the output does not contain the key.
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

/// Starts a server whose model alternates between two actions.
fn alternating_model(faults: Faults) -> ModelServer {
    ModelServer::start(faults, |request| {
        if request.turns.len() % 4 == 1 {
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

fn billed(served: &[ServedRequest]) -> u64 {
    served
        .iter()
        .map(|entry| entry.input_tokens + entry.output_tokens)
        .sum()
}

/// Returns what the server bills in US dollars.
fn billed_usd(served: &[ServedRequest]) -> f64 {
    let tokens = |entry: &ServedRequest| entry.input_tokens + 10 * entry.output_tokens;
    served.iter().map(tokens).sum::<u64>() as f64 / 1e6
}

fn tokens(spent: &Value) -> u64 {
    spent["input_tokens"].as_u64().unwrap() + spent["output_tokens"].as_u64().unwrap()
}

/// Panics if a file of a folder contains the key.
fn assert_no_key(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(KEY), "{}", path.display());
        }
    }
}

#[test]
fn recording_of_a_mock_model_can_be_replayed() {
    let server = alternating_model(Faults::none());
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
fn scorecard_counts_every_token_despite_faults() {
    let server = alternating_model(Faults::mixed(30, 11));
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
    // Counted tokens plus those of calls marked as uncounted equal the tokens that the server
    // billed.
    let unknown: Vec<ServedRequest> = served
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
    for heading in ["Tokens", "Cost"] {
        assert!(page.contains(&format!("<th class=\"num\">{heading}</th>")));
    }
    assert!(served.iter().all(|entry| entry.head.contains(KEY)));
    assert_no_key(&folder.path().join("out"));
}

#[test]
fn killed_run_resumes_without_paying_twice() {
    let slow = |_: usize| Fault::Late(Duration::from_millis(60));
    let server = alternating_model(Faults::first((0..1000).map(slow)));
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
                "the run ended before it was killed"
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
    // Each kill interrupts at most one request of each play. All other requests are answered once.
    let uncounted = card["spent"]["uncounted"].as_u64().unwrap();
    assert!(uncounted <= 6, "{uncounted}");
    assert_eq!(card["spent"]["calls"].as_u64(), Some(20 + uncounted));
    // A request in flight at a kill counts at its worst case, which covers what the server billed.
    let spent = &card["spent"];
    let possibly_paid = spent["possibly_paid_usd"].as_f64().unwrap_or(0.0);
    assert_eq!(uncounted > 0, possibly_paid > 0.0, "{spent}");
    assert!(billed_usd(&served) <= spent["cost_usd"].as_f64().unwrap() + possibly_paid + 1e-9);
    // The process may have been killed between logging a request and sending it.
    assert!(
        (20..=20 + uncounted).contains(&(served.len() as u64)),
        "{}",
        served.len()
    );
}

#[test]
fn limit_refuses_a_run_or_stops_it_before_it_is_exceeded() {
    let server = alternating_model(Faults::none());
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
    let limited = |usd: &str| run(folder.path(), &[&arguments[..], &[usd]].concat());
    // The worst case of the first request does not fit, so the run is refused before it starts.
    let refused = limited("0.001").failed_with("the spend limit of 0.001 USD is too small");
    assert!(!folder.path().join("out").exists() && server.served().is_empty());
    let smallest = refused
        .err
        .split("the smallest limit that allows it is ")
        .nth(1);
    let smallest = smallest.unwrap().split(' ').next().unwrap();
    // The named limit suffices for one request, whose worst case covers more than it costs.
    let stopped = limited(smallest);
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped.err.contains("the spend limit is reached") && stopped.err.contains("--resume out"),
        "{}",
        stopped.err
    );
    let paid = server.served().len();
    assert!(paid >= 1 && billed_usd(&server.served()) <= smallest.parse().unwrap());
    // Earlier spending counts towards the limit. The next request is larger than the first, because
    // it repeats the conversation.
    let refused = run(folder.path(), &["--resume", "out"])
        .failed_with("the spend limit is reached")
        .failed_with("the next request may cost up to");
    assert_eq!((refused.code, server.served().len()), (Some(1), paid));
    let smallest = refused
        .err
        .split("the smallest limit that allows it is ")
        .nth(1);
    let smallest = smallest.unwrap().split(' ').next().unwrap();
    let raised = run(folder.path(), &["--resume", "out", "--max-cost", smallest]);
    assert_eq!(
        (raised.code, server.served().len()),
        (Some(130), paid + 1),
        "the named limit allows one more request: {}",
        raised.err
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
fn unbounded_requests_are_announced_and_stop_after_the_limit() {
    let server = alternating_model(Faults::none());
    let folder = folder(&server);
    let arguments = [
        "--agent",
        "model:unbounded",
        "--games",
        "kq19",
        "--budget",
        "8",
        "--out",
        "out",
        "--max-cost",
        "0.001",
    ];
    let stopped = run(folder.path(), &arguments);
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped
            .err
            .contains("note: the cost of a request has no upper bound")
            && stopped.err.contains("max_output_tokens"),
        "{}",
        stopped.err
    );
    // Only the request that was in flight exceeds the limit.
    assert_eq!(server.served().len(), 1);
    assert!(billed_usd(&server.served()) > 0.001);
}

#[test]
fn run_timeout_interrupts_a_run_that_can_be_resumed() {
    let server = alternating_model(Faults::first([Fault::Late(Duration::from_secs(3600))]));
    let folder = folder(&server);
    let arguments = [
        "--agent",
        "model:big",
        "--games",
        "kq19",
        "--budget",
        "3",
        "--run-timeout",
        "0.5",
        "--name",
        "short",
        "--tag",
        "test",
        "--out",
        "out",
    ];
    let stopped = run(folder.path(), &arguments);
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped.err.contains("the time limit of the run is reached"),
        "{}",
        stopped.err
    );
    let resume = ["--resume", "out", "--run-timeout", "1000"];
    let summary = run(folder.path(), &resume).succeeded().json();
    assert_eq!(
        (&summary["finished"], &summary["name"], &summary["tags"][0]),
        (&true.into(), &"short".into(), &"test".into())
    );
}

#[test]
fn invalid_model_settings_are_reported_immediately() {
    let server = alternating_model(Faults::first([Fault::Status(401, None)]));
    let folder = folder(&server);
    run(folder.path(), &["--agent", "model:small"]).failed_with("there is no model `small`");
    run(folder.path(), &["--agent", "random", "--max-cost", "1"])
        .failed_with("require `--agent model:NAME`");
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
    let rejected = run(folder.path(), &arguments);
    assert_eq!(
        (rejected.code, server.served().len()),
        (Some(130), 1),
        "an invalid key is tried once, not in every play: {}",
        rejected.err
    );
    assert!(
        rejected
            .err
            .contains("interrupted: the server answered 401"),
        "{}",
        rejected.err
    );
    // The run resumes with a valid key, but not with another model.
    let models = folder.path().join("models.toml");
    let text = fs::read_to_string(&models).unwrap();
    fs::write(&models, text.replace("test-model", "other-model")).unwrap();
    run(folder.path(), &["--resume", "out"])
        .failed_with("`model` of the model `big` differs from the start of the run");
    fs::write(&models, text).unwrap();
    assert_eq!(
        run(folder.path(), &["--resume", "out"]).succeeded().json()["finished"],
        true
    );
}
