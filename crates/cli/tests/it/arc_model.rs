//! `rhae arc eval --solver model:NAME` against a local server that injects faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelServer, ServedRequest};
use serde_json::{Map, Value, json};

use crate::rhae::{Outcome, command};

const KEY: &str = "sk-test-arc-0123456789-do-not-print";

/// Writes `count` tasks with one or two tests each, whose rule adds one to each cell. Returns the
/// number of tests.
pub(crate) fn write_tasks(folder: &Path, count: usize) -> usize {
    let mut all = Map::new();
    let mut tests = 0;
    for number in 0..count {
        let cell = number % 8;
        let test = |shift: usize| json!({"input": [[cell, shift % 8]], "output": [[cell + 1, shift % 8 + 1]]});
        let list: Vec<Value> = (0..1 + usize::from(number % 3 == 0))
            .map(|index| test(number / 8 + index))
            .collect();
        tests += list.len();
        all.insert(
            format!("task{number:04}"),
            json!({"train": [{"input": [[1, 2]], "output": [[2, 3]]}], "test": list}),
        );
    }
    fs::write(folder.join("tasks.json"), Value::Object(all).to_string()).unwrap();
    tests
}

/// Returns the correct answer to a prompt, with text around the grid.
fn correct_answer(prompt: &str) -> String {
    let input = prompt
        .split("--Test Input--")
        .nth(1)
        .and_then(|rest| rest.trim().lines().next())
        .unwrap_or("[[0]]");
    let rows: Vec<Vec<u8>> = serde_json::from_str(input).unwrap_or_default();
    let rows: Vec<Vec<u8>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| cell + 1).collect())
        .collect();
    format!("The rule adds one (see example [0]): {}", json!(rows))
}

/// Writes a configuration with the model `m` on the server.
fn write_models(folder: &Path, server: &ModelServer, more: &str) {
    let text = format!(
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nkey_env = \"ARC_TEST_KEY\"\nbase_url = \"{}/v1\"\n\
         retries = {{ attempts = 12, first_pause_s = 0.002, longest_pause_s = 0.02 }}\nbreaker = {{ failures = 1000, cool_down_s = 0.1, rounds = 5 }}\n\
         request = {{ max_completion_tokens = 100 }}\nprices = {{ date = \"2026-11-01\", input = 1.0, output = 10.0 }}\n{more}",
        server.url()
    );
    fs::write(folder.join("models.toml"), text).unwrap();
}

fn rhae(folder: &Path, arguments: &[&str]) -> Outcome {
    command(folder, arguments)
        .env("ARC_TEST_KEY", KEY)
        .output()
        .unwrap()
        .into()
}

/// Returns what the server bills in US dollars.
fn billed_usd(served: &[ServedRequest]) -> f64 {
    let tokens = |request: &ServedRequest| request.input_tokens + 10 * request.output_tokens;
    served.iter().map(tokens).sum::<u64>() as f64 / 1e6
}

pub(crate) fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read(folder.join("run/journal.jsonl")).unwrap_or_default();
    let end = text
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |newline| newline + 1);
    String::from_utf8_lossy(&text[..end])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn count(lines: &[Value], event: &str) -> usize {
    lines.iter().filter(|line| line["event"] == event).count()
}

/// Starts or resumes a run and kills it when its journal contains `answers` answers.
fn kill_at(folder: &Path, arguments: &[&str], answers: usize) {
    let mut child = command(folder, arguments)
        .env("ARC_TEST_KEY", KEY)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while count(&journal(folder), "answered") < answers && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns the lines of an event.
fn lines_of<'a>(lines: &'a [Value], event: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["event"] == event)
}

fn request_number(line: &Value) -> u64 {
    line["request"].as_u64().unwrap()
}

fn transmission_id(line: &Value) -> &str {
    line["id"].as_str().unwrap()
}

/// Returns the input and output tokens of an object.
fn tokens(object: &Value) -> u64 {
    let tokens = |name: &str| object[name].as_u64().unwrap_or(0);
    tokens("input_tokens") + tokens("output_tokens")
}

/// Checks that each of two attempts at each test has exactly one outcome.
fn assert_one_outcome_per_attempt(lines: &[Value], tests: usize) {
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| {
        line["event"] == "answered" || (line["event"] == "failed" && line["lasting"] == true)
    }) {
        let attempt = format!("{} {} {}", line["task"], line["tests"], line["attempts"]);
        *outcomes.entry(attempt).or_default() += 1;
    }
    assert_eq!(outcomes.len(), tests * 2);
    assert!(outcomes.values().all(|&count| count == 1));
}

/// Returns the tokens that the journal contains.
fn known_tokens(lines: &[Value]) -> u64 {
    // The last event of a request includes the tokens of its failed transmissions.
    let ends = || lines_of(lines, "answered").chain(lines_of(lines, "failed"));
    let ended: BTreeSet<u64> = ends().map(request_number).collect();
    let failed = lines_of(lines, "try_failed").filter(|line| {
        let request = line["request"].as_u64();
        !request.is_some_and(|request| ended.contains(&request))
    });
    ends().chain(failed).map(tokens).sum()
}

/// Returns the transmissions whose tokens the journal does not contain.
fn unknown_transmissions(lines: &[Value]) -> BTreeSet<&str> {
    let mut unknown: BTreeSet<&str> = lines_of(lines, "try").map(transmission_id).collect();
    for line in lines_of(lines, "try_failed") {
        if line["unmeasured"].as_u64().unwrap_or(0) == 0 {
            unknown.remove(transmission_id(line));
        }
    }
    // The last transmission of an answered request delivered the answer.
    let last: BTreeMap<u64, &str> = lines_of(lines, "try")
        .map(|line| (request_number(line), transmission_id(line)))
        .collect();
    for line in lines_of(lines, "answered") {
        unknown.remove(last[&request_number(line)]);
    }
    unknown
}

/// Checks that the server billed the tokens in the journal plus those of transmissions whose
/// outcome is unknown, and that the journal contains every request that the server received.
fn assert_every_token_is_accounted_for(lines: &[Value], served: &[ServedRequest], results: &Value) {
    let (known, unknown) = (known_tokens(lines), unknown_transmissions(lines));
    let total = |request: &ServedRequest| request.input_tokens + request.output_tokens;
    let is_in = |request: &ServedRequest, ids: &BTreeSet<&str>| {
        request.id.as_deref().is_some_and(|id| ids.contains(id))
    };
    let billed: u64 = served.iter().map(total).sum();
    let of_unknown = served.iter().filter(|request| is_in(request, &unknown));
    let of_unknown: u64 = of_unknown.map(total).sum();
    assert_eq!(
        known + of_unknown,
        billed,
        "{known} tokens in the journal, {of_unknown} of lost or broken transmissions"
    );
    assert_eq!(tokens(results), known);
    let tried: BTreeSet<&str> = lines_of(lines, "try").map(transmission_id).collect();
    assert!(served.iter().all(|request| is_in(request, &tried)));
}

#[test]
fn run_killed_five_times_accounts_for_every_token() {
    let folder = tempfile::tempdir().unwrap();
    let tests = write_tasks(folder.path(), 120);
    let faults = Faults::mixed(45, 7);
    let server = ModelServer::start(faults, |request| {
        correct_answer(request.turns.last().map_or("", |(_, text)| text))
    });
    write_models(folder.path(), &server, "");
    let start = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--concurrency",
        "64",
        "--out",
        "run",
    ];
    let resume = ["arc", "eval", "--resume", "run"];
    for (number, answers) in [1, 60, 120, 190, 260].into_iter().enumerate() {
        kill_at(
            folder.path(),
            if number == 0 { &start } else { &resume },
            answers,
        );
    }
    let results = rhae(folder.path(), &[&resume[..], &["--json"]].concat())
        .succeeded()
        .json();
    assert_eq!(
        (
            &results["finished"],
            &results["tasks"],
            &results["test_inputs"]
        ),
        (&json!(true), &json!(120), &json!(tests))
    );
    let lines = journal(folder.path());
    assert_one_outcome_per_attempt(&lines, tests);
    let table = fs::read_to_string(folder.path().join("run/results.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + tests * 2);
    let served = server.served();
    assert_every_token_is_accounted_for(&lines, &served, &results);
    assert!(results["lost_in_flight"].as_u64().unwrap() > 0 && results["processes"] == 6);
    // Lost and broken transmissions count at their worst case, which covers what the server billed.
    let billed_usd = billed_usd(&served);
    let (cost, possibly_paid) = (&results["cost_usd"], &results["possibly_paid_usd"]);
    assert!(cost.as_f64().unwrap() > 0.0 && possibly_paid.as_f64().unwrap() > 0.0);
    assert!(billed_usd <= cost.as_f64().unwrap() + possibly_paid.as_f64().unwrap() + 1e-9);
    // Grids are found although the answers have text around them. Only answers that the server left
    // empty have no grid.
    assert!(
        results["mean_task_score"]["value"].as_f64().unwrap() > 0.5,
        "{}",
        results["mean_task_score"]
    );
    for entry in fs::read_dir(folder.path().join("run")).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            !String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(KEY),
            "the key is in {}",
            path.display()
        );
    }
}

#[test]
fn spend_limit_stops_the_run_and_can_be_raised() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 12);
    let server = ModelServer::start(Faults::none(), |request| {
        correct_answer(request.turns.last().map_or("", |(_, text)| text))
    });
    write_models(folder.path(), &server, "");
    let eval = |limit: &str| {
        let run = [
            "arc",
            "eval",
            "--solver",
            "model:m",
            "--data",
            "tasks.json",
            "--jobs",
            "8",
            "--max-cost",
            limit,
            "--out",
            "run",
            "--json",
        ];
        rhae(folder.path(), &run)
    };
    eval("0.0001").failed_with("the smallest limit that allows it is");
    assert!(!folder.path().join("run").exists() && server.served().is_empty());
    let stopped = eval("0.008")
        .failed_with("the spend limit is reached")
        .json();
    let spent = stopped["cost_usd"].as_f64().unwrap();
    let billed = billed_usd(&server.served());
    assert!(
        (spent - billed).abs() < 1e-9,
        "measured: {spent}, billed: {billed}"
    );
    assert!(spent > 0.0 && spent <= 0.008, "spent {spent}");
    rhae(folder.path(), &["arc", "eval", "--resume", "run"])
        .failed_with("the smallest limit that allows it is");
    let more = rhae(
        folder.path(),
        &[
            "arc",
            "eval",
            "--resume",
            "run",
            "--spend-limit",
            "5",
            "--json",
        ],
    )
    .succeeded()
    .json();
    assert_eq!(
        (&more["finished"], &more["tasks_solved"]["count"]),
        (&json!(true), &json!(12))
    );
    let report = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("US dollars per task") && report.contains("The rule adds one"));
}

#[test]
fn limit_is_never_exceeded_by_64_concurrent_requests() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 120);
    let server = ModelServer::start(Faults::mixed(30, 3), |request| {
        correct_answer(request.turns.last().map_or("", |(_, text)| text))
    });
    write_models(folder.path(), &server, "");
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--concurrency",
        "64",
        "--spend-limit",
        "0.1",
        "--out",
        "run",
        "--json",
    ];
    let results = rhae(folder.path(), &run)
        .failed_with("the spend limit is reached")
        .json();
    let possibly_paid = results["possibly_paid_usd"].as_f64().unwrap_or(0.0);
    let counted = results["cost_usd"].as_f64().unwrap() + possibly_paid;
    let billed = billed_usd(&server.served());
    assert!(counted <= 0.1 && billed <= counted + 1e-9, "{billed}");
    assert!(server.max_concurrent_requests() > 1);
    // The limit is used as far as the worst case of one more request allows.
    assert!(counted > 0.09, "{counted}");
}

#[test]
fn cost_of_a_model_without_prices_is_unknown_rather_than_zero() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 2);
    let server = ModelServer::start(Faults::none(), |request| {
        correct_answer(request.turns.last().map_or("", |(_, text)| text))
    });
    write_models(folder.path(), &server, "");
    let priced = fs::read_to_string(folder.path().join("models.toml")).unwrap();
    let unpriced: Vec<&str> = priced
        .lines()
        .filter(|line| !line.starts_with("prices"))
        .collect();
    fs::write(folder.path().join("models.toml"), unpriced.join("\n")).unwrap();
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--out",
        "run",
    ];
    rhae(folder.path(), &[&run[..], &["--spend-limit", "1"]].concat())
        .failed_with("--max-cost requires `prices`");
    let outcome = rhae(folder.path(), &run).succeeded();
    assert!(
        outcome.err.contains(" output tokens, cost not known"),
        "{}",
        outcome.err
    );
    assert!(
        outcome.out.contains(" output tokens, cost not known") && !outcome.out.contains("USD"),
        "{}",
        outcome.out
    );
    rhae(
        folder.path(),
        &["arc", "eval", "--resume", "run", "--spend-limit", "1"],
    )
    .failed_with("--max-cost requires `prices`");
    let read = |name: &str| fs::read_to_string(folder.path().join("run").join(name)).unwrap();
    let results: Value = serde_json::from_str(&read("results.json")).unwrap();
    assert_eq!(
        (&results["unpriced"], &results["cost_usd"]),
        (&results["requests"], &Value::Null)
    );
    let csv = read("results.csv");
    let cost = csv
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == "cost_usd")
        .unwrap();
    assert!(
        csv.lines()
            .skip(1)
            .all(|line| line.split(',').nth(cost) == Some("")),
        "{csv}"
    );
    assert!(read("results.md").contains("| cost | cost not known |"));
    let report = read("report.html");
    // The scripts of the player can show costs of other runs.
    let text = report.split("<script type=\"module\">").next().unwrap();
    assert!(text.contains("cost not known") && text.contains("seconds per task"));
    assert!(!text.contains("USD"));
}

#[test]
fn invalid_key_stops_the_run_without_using_up_attempts() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 5);
    let server = ModelServer::start(Faults::first(vec![Fault::Status(401, None); 100]), |_| {
        String::new()
    });
    write_models(folder.path(), &server, "");
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--out",
        "run",
        "--json",
    ];
    let stopped = rhae(folder.path(), &run).failed_with("not finished");
    assert_eq!(stopped.json()["finished"], false);
    assert!(
        journal(folder.path())
            .iter()
            .all(|line| line["lasting"] != true)
    );
    assert!(!stopped.out.contains(KEY) && !stopped.err.contains(KEY));
}

#[test]
fn dump_prompts_writes_prompts_without_sending_requests() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 3);
    fs::write(
        folder.path().join("models.toml"),
        "[models.m]\nprovider = \"mock\"\nreplies = [\"[[1]]\", \"[[2]]\"]\n",
    )
    .unwrap();
    let common = ["arc", "eval", "--solver", "model:m", "--data", "tasks.json"];
    let dump = |prompt: &str| {
        rhae(
            folder.path(),
            &[&common[..], &["--prompt", prompt, "--dump-prompts", "-"]].concat(),
        )
        .succeeded()
        .out
    };
    assert!(dump("official").contains("--Example 0-- \n\n INPUT: \n\n[[1, 2]]"));
    assert!(dump("nejumi-ja").contains("--例 0--"));
    assert!(dump("whole-task").contains("\"test\":[{\"input\":[[0,0]]},{\"input\":[[0,1]]}]"));
    fs::write(
        folder.path().join("mine.txt"),
        "=== grid: digits\n=== example\n{input} gives {output};\n=== prompt\n{examples}{test} gives?\n",
    )
    .unwrap();
    assert!(dump("mine.txt").contains("1 2 gives 2 3;0 0 gives?"));
    assert!(!folder.path().join("runs").exists(), "no run was started");
    fs::write(folder.path().join("bad.txt"), "{tst} {examples}").unwrap();
    rhae(
        folder.path(),
        &[&common[..], &["--prompt", "bad.txt"]].concat(),
    )
    .failed_with("bad.txt");
    // The mock provider gives a different reply to each attempt.
    let run = rhae(
        folder.path(),
        &[
            &common[..],
            &["--prompt", "text-grid", "--out", "run", "--json"],
        ]
        .concat(),
    )
    .succeeded()
    .json();
    assert_eq!(
        (&run["finished"], &run["requests"]),
        (&json!(true), &json!(8))
    );
    let config: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/config.json")).unwrap())
            .unwrap();
    assert_eq!(config["solver_settings"]["prompt"], "text-grid");
    assert_eq!(
        config["solver_settings"]["prompt_sha256"]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    // A run cannot be resumed with a changed model configuration.
    fs::write(
        folder.path().join("models.toml"),
        "[models.m]\nprovider = \"mock\"\nreplies = [\"[[3]]\"]\n",
    )
    .unwrap();
    rhae(folder.path(), &["arc", "eval", "--resume", "run"])
        .failed_with("differ from the start of the run");
}

#[test]
fn provider_and_model_need_no_file() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 2);
    let server = ModelServer::start(Faults::none(), |request| {
        correct_answer(request.turns.last().map_or("", |(_, text)| text))
    });
    let rhae = |arguments: &[&str]| -> Outcome {
        command(folder.path(), arguments)
            .env("OPENAI_API_KEY", KEY)
            .env("OPENAI_BASE_URL", format!("{}/v1", server.url()))
            .env_remove("RHAE_MODELS")
            .output()
            .unwrap()
            .into()
    };
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:openai/test-model",
        "--data",
        "tasks.json",
        "--out",
        "run",
    ];
    rhae(&[&run[..], &["--spend-limit", "1"]].concat())
        .failed_with("without them the cost is unknown");
    let outcome = rhae(&run).succeeded();
    assert!(
        outcome.out.contains(" output tokens, cost not known"),
        "{}",
        outcome.out
    );
}
