//! The limits of runs: the time of a play, the tokens of an evaluation, and the money of a run that
//! cannot afford its next request.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::rhae::{Outcome, command, rhae};
use crate::serve::process::ServerProcess;

const KEY: &str = "sk-limits-9998887776-do-not-print";
const PRICES: &str = "prices = { date = \"2026-11-01\", input = 1, output = 10 }";

/// Creates a folder with a configuration of the model `m` on a server.
fn folder(server: &ModelServer, more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[models.m]\nprovider = \"openai-responses\"\nmodel = \"test-model\"\nkey_env = \"RHAE_TEST_KEY\"\nbase_url = \"{}/v1\"
request = {{ max_output_tokens = 100 }}\n{more}",
        server.url()
    );
    fs::write(folder.path().join("models.toml"), text).unwrap();
    folder
}

fn with_model(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = command(folder, arguments);
    command.env("RHAE_TEST_KEY", KEY).env("ARC_API_KEY", "k");
    let output = command.output();
    output.unwrap().into()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the limit that a refusal names as the smallest one that works.
fn smallest_limit(refused: &Outcome) -> String {
    let (_, rest) = refused
        .err
        .split_once("the smallest limit that allows it is ")
        .unwrap_or_else(|| panic!("no limit is named: {}", refused.err));
    let limit = rest.split_whitespace().next().unwrap();
    limit.to_owned()
}

#[test]
fn task_timeout_ends_a_play_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let start = [
        "run",
        "--agent-cmd",
        "sleep 3600",
        "--games",
        "kq19,ny40",
        "--task-timeout",
        "0.3",
        "--out",
        "run",
    ];
    let run = rhae(folder.path(), &start).succeeded();
    let message = "the time limit of the play, 0.3 s, is reached";
    let line = format!("timeout: {message} (2 plays)");
    assert!(run.err.contains(&line), "{}", run.err);
    let out = folder.path().join("run");
    assert_eq!(read(&out.join("config.json"))["task_timeout_ms"], 300);
    let summary = read(&out.join("summary.json"));
    assert_eq!(
        (&summary["finished"], &summary["failed_plays"]),
        (&json!(true), &json!(0))
    );
    for environment in read(&out.join("scorecard.json"))["environments"]
        .as_array()
        .unwrap()
    {
        let run = &environment["runs"][0];
        assert_eq!(
            (&run["ending"], &run["message"]),
            (&json!("timeout"), &json!(message))
        );
    }
    let journal = fs::read_to_string(out.join("journal.jsonl")).unwrap();
    assert_eq!(journal.matches("\"ending\":\"timeout\"").count(), 2);
    assert!(
        fs::read_to_string(out.join("report.html"))
            .unwrap()
            .contains(message)
    );
    let recording = "run/recordings/1-kq19-v1.jsonl";
    let text = fs::read_to_string(folder.path().join(recording)).unwrap();
    assert!(text.contains("{\"end\":\"timeout\""), "{text}");
    rhae(folder.path(), &["replay", "verify", recording]).succeeded();
    // A play that reached its limit has ended. A resumed run does not repeat it.
    let resume = ["run", "--resume", "run", "--task-timeout", "1000"];
    rhae(folder.path(), &resume).succeeded();
    let resumed = fs::read_to_string(out.join("journal.jsonl")).unwrap();
    assert_eq!(resumed.matches("\"event\":\"play\"").count(), 2);
    rhae(folder.path(), &["run", "--task-timeout", "0"])
        .failed_with("--task-timeout must be more than 0 and at most 1e9");
}

#[test]
fn resumed_run_may_change_the_time_limit_of_a_play() {
    let folder = tempfile::tempdir().unwrap();
    let start = [
        "run",
        "--agent-cmd",
        "sleep 3600",
        "--games",
        "kq19",
        "--task-timeout",
        "1000",
        "--run-timeout",
        "0.2",
        "--out",
        "run",
    ];
    let stopped = rhae(folder.path(), &start);
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    let resume = [
        "run",
        "--resume",
        "run",
        "--task-timeout",
        "0.2",
        "--run-timeout",
        "1000",
    ];
    rhae(folder.path(), &resume).succeeded();
    let card = read(&folder.path().join("run/scorecard.json"));
    assert_eq!(card["environments"][0]["runs"][0]["ending"], "timeout");
}

#[test]
fn request_in_flight_at_the_task_timeout_counts_as_possibly_paid() {
    let late = Fault::Late(Duration::from_secs(3600));
    let server = ModelServer::start(Faults::first([late]), |_| "ACTION1".to_owned());
    let folder = folder(&server, PRICES);
    let start = [
        "run",
        "--agent",
        "model:m",
        "--games",
        "kq19",
        "--task-timeout",
        "2",
        "--out",
        "run",
    ];
    with_model(folder.path(), &start).succeeded();
    let card = read(&folder.path().join("run/scorecard.json"));
    let run = &card["environments"][0]["runs"][0];
    assert_eq!(run["ending"], "timeout");
    let spent = &card["spent"];
    assert_eq!(
        (&spent["calls"], &spent["uncounted"]),
        (&json!(1), &json!(1)),
        "{spent}"
    );
    assert!(
        spent["possibly_paid_usd"].as_f64().unwrap() > 0.0,
        "{spent}"
    );
}

#[test]
fn remote_run_that_cannot_afford_its_first_request_is_refused() {
    let model = ModelServer::start(Faults::none(), |_| "ACTION1".to_owned());
    let folder = folder(&model, PRICES);
    let serving = ServerProcess::start(folder.path(), "127.0.0.1:0", &[]);
    let run = |limit: &str| {
        let arguments = [
            "run",
            "--server",
            &serving.url,
            "--agent",
            "model:m",
            "--games",
            "kq19",
            "--budget",
            "3",
            "--out",
            "run",
            "--max-cost",
            limit,
        ];
        with_model(folder.path(), &arguments)
    };
    let refused = run("0.001").failed_with("the spend limit of 0.001 USD is too small");
    assert!(!folder.path().join("run").exists() && model.served().is_empty());
    let smallest = smallest_limit(&refused);
    // The named limit allows one request, and the rest of it is too small for another.
    let stopped = run(&smallest);
    assert_eq!(
        (stopped.code, model.served().len()),
        (Some(130), 1),
        "{}",
        stopped.err
    );
    // The resumed run is refused before it opens a card or sends a request.
    let cards = || {
        read(&folder.path().join("run/server.json"))["cards"]
            .as_array()
            .unwrap()
            .len()
    };
    let opened = cards();
    let resume = |limit: &str| {
        with_model(
            folder.path(),
            &["run", "--resume", "run", "--max-cost", limit],
        )
    };
    let refused = resume(&smallest).failed_with("the spend limit is reached");
    assert_eq!((cards(), model.served().len()), (opened, 1));
    let stopped = resume(&smallest_limit(&refused));
    assert_eq!(
        (stopped.code, model.served().len()),
        (Some(130), 2),
        "{}",
        stopped.err
    );
    resume("5").succeeded();
    assert_eq!(model.served().len(), 3);
}

/// Writes tasks that differ, and returns the arguments of an evaluation.
fn evaluation<'a>(folder: &Path, more: &[&'a str]) -> Vec<&'a str> {
    let task = |number: usize| {
        json!({
            "train": [{"input": [[1, 2]], "output": [[2, 3]]}],
            "test": [{"input": [[number % 10, number / 10]], "output": [[1]]}]
        })
    };
    let tasks: serde_json::Map<String, Value> = (0..60)
        .map(|number| (format!("task{number:02}"), task(number)))
        .collect();
    fs::write(folder.join("tasks.json"), json!(tasks).to_string()).unwrap();
    let start = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--jobs",
        "32",
        "--out",
        "run",
        "--json",
    ];
    [&start[..], more].concat()
}

fn billed_tokens(served: &[ServedRequest]) -> u64 {
    let tokens = |request: &ServedRequest| request.input_tokens + request.output_tokens;
    served.iter().map(tokens).sum()
}

#[test]
fn token_limit_is_never_exceeded_without_prices() {
    let server = ModelServer::start(Faults::mixed(30, 5), |_| "[[1, 2], [3, 4]]".to_owned());
    let quick = "retries = { attempts = 12, first_pause_s = 0.001, longest_pause_s = 0.01 }\nbreaker = { failures = 1000 }\n";
    let folder = folder(&server, quick);
    let eval = |limit: &str| {
        let arguments = evaluation(folder.path(), &["--token-limit", limit]);
        with_model(folder.path(), &arguments)
    };
    let refused = eval("700").failed_with("the token limit of 700 is too small");
    assert!(!folder.path().join("run").exists() && server.served().is_empty());
    assert!(smallest_limit(&refused).parse::<u64>().unwrap() > 700);
    let stopped = eval("20000").failed_with("the token limit is reached");
    let results = stopped.json();
    assert_eq!(results["cost_usd"], Value::Null, "there are no prices");
    let tokens = |name: &str| results[name].as_u64().unwrap_or(0);
    let counted = tokens("input_tokens") + tokens("output_tokens") + tokens("possibly_used_tokens");
    let billed = billed_tokens(&server.served());
    assert!(billed <= counted && counted <= 20_000, "{billed} {counted}");
    assert!(server.max_concurrent_requests() > 1);
    // The resumed run is refused before it sends anything.
    let sent = server.served().len();
    with_model(folder.path(), &["arc", "eval", "--resume", "run"])
        .failed_with("the smallest limit that allows it is");
    assert_eq!(server.served().len(), sent);
}

#[test]
fn rate_limit_and_token_limit_are_validated() {
    let server = ModelServer::start(Faults::none(), |_| "[[1]]".to_owned());
    let folder = folder(&server, "");
    for (more, reason) in [
        (["--token-limit", "0"], "0 is not in 1.."),
        (["--rate-limit", "1e9/s"], "is not a rate"),
        (
            ["--task-timeout", "0"],
            "--task-timeout must be more than 0",
        ),
    ] {
        with_model(folder.path(), &evaluation(folder.path(), &more)).failed_with(reason);
    }
    assert!(!folder.path().join("run").exists());
}
