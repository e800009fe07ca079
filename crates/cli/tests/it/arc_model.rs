//! `rhae arc eval --solver model:NAME` against a local server that misbehaves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelServer};
use serde_json::{Map, Value, json};

use crate::rhae::{Outcome, command};

const KEY: &str = "sk-test-arc-0123456789-do-not-print";

/// Tasks with one or two tests: the rule adds one to each cell.
fn tasks(folder: &Path, many: usize) -> usize {
    let mut all = Map::new();
    let mut tests = 0;
    for number in 0..many {
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

/// Answers as a good model would, with some talk around it.
fn solved(prompt: &str) -> String {
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

fn models(folder: &Path, server: &ModelServer, more: &str) {
    let text = format!(
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nkey_env = \"ARC_TEST_KEY\"\nbase_url = \"{}/v1\"\n\
         retries = {{ attempts = 12, first_pause_s = 0.002, longest_pause_s = 0.02 }}\nbreaker = {{ failures = 1000, cool_down_s = 0.1, rounds = 5 }}\n\
         prices = {{ date = \"2026-11-01\", input = 1.0, output = 10.0 }}\n{more}",
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

fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read(folder.join("run/journal.jsonl")).unwrap_or_default();
    let whole = text
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    String::from_utf8_lossy(&text[..whole])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn count(lines: &[Value], event: &str) -> usize {
    lines.iter().filter(|line| line["event"] == event).count()
}

/// Starts or resumes a run and kills it when its journal has so many answers.
fn killed_at(folder: &Path, arguments: &[&str], answers: usize) {
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

#[test]
fn killed_five_times_and_every_token_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let tests = tasks(folder.path(), 120);
    let faults = Faults::mixed(45, 7);
    let server = ModelServer::start(faults, |asked| {
        solved(asked.turns.last().map_or("", |(_, text)| text))
    });
    models(folder.path(), &server, "");
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
        killed_at(
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

    // Exactly one outcome for each attempt at each test.
    let lines = journal(folder.path());
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| {
        line["event"] == "answered" || (line["event"] == "failed" && line["lasting"] == true)
    }) {
        *outcomes
            .entry(format!(
                "{} {} {}",
                line["task"], line["tests"], line["attempts"]
            ))
            .or_default() += 1;
    }
    assert_eq!(outcomes.len(), tests * 2);
    assert!(outcomes.values().all(|&many| many == 1));
    assert_eq!(
        fs::read_to_string(folder.path().join("run/results.csv"))
            .unwrap()
            .lines()
            .count(),
        1 + tests * 2
    );

    // The books: what the journal knows, and what the server billed for transmissions without a known end.
    let tokens = |line: &Value| {
        line["input_tokens"].as_u64().unwrap_or(0) + line["output_tokens"].as_u64().unwrap_or(0)
    };
    let ended: BTreeSet<u64> = lines
        .iter()
        .filter(|line| line["event"] == "answered" || line["event"] == "failed")
        .map(|line| line["request"].as_u64().unwrap())
        .collect();
    let mut known = 0;
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    for line in &lines {
        let request = line["request"].as_u64();
        match line["event"].as_str().unwrap() {
            // The end of a request includes its failed transmissions.
            "answered" | "failed" => known += tokens(line),
            "try_failed" if !request.is_some_and(|request| ended.contains(&request)) => {
                known += tokens(line)
            }
            _ => {}
        }
        match line["event"].as_str().unwrap() {
            "try" => {
                unknown.insert(line["id"].as_str().unwrap());
            }
            "try_failed" if line["unmeasured"].as_u64().unwrap_or(0) == 0 => {
                unknown.remove(line["id"].as_str().unwrap());
            }
            _ => {}
        }
    }
    // The last transmission of an answered request is the answer.
    let mut last: BTreeMap<u64, &str> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["event"] == "try") {
        last.insert(
            line["request"].as_u64().unwrap(),
            line["id"].as_str().unwrap(),
        );
    }
    for line in lines.iter().filter(|line| line["event"] == "answered") {
        unknown.remove(last[&line["request"].as_u64().unwrap()]);
    }
    let served = server.served();
    let billed: u64 = served
        .iter()
        .map(|one| one.input_tokens + one.output_tokens)
        .sum();
    let of_unknown = served
        .iter()
        .filter(|one| one.id.as_deref().is_some_and(|id| unknown.contains(id)));
    let of_unknown: u64 = of_unknown
        .map(|one| one.input_tokens + one.output_tokens)
        .sum();
    assert_eq!(
        known + of_unknown,
        billed,
        "{known} tokens are known, {of_unknown} were in flight or broke off"
    );
    assert_eq!(
        results["input_tokens"].as_u64().unwrap() + results["output_tokens"].as_u64().unwrap(),
        known
    );
    // Every request that the server saw had been written down before.
    let tried: BTreeSet<&str> = lines
        .iter()
        .filter(|line| line["event"] == "try")
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert!(
        served
            .iter()
            .all(|one| one.id.as_deref().is_some_and(|id| tried.contains(id)))
    );
    assert!(results["lost_in_flight"].as_u64().unwrap() > 0 && results["processes"] == 6);
    assert!(results["cost_usd"].as_f64().unwrap() > 0.0);
    // Answers with a talk around the grid are read; only what the server left empty is missing.
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
fn a_limit_on_spending_is_kept_and_can_be_raised() {
    let folder = tempfile::tempdir().unwrap();
    tasks(folder.path(), 12);
    let server = ModelServer::start(Faults::none(), |asked| {
        solved(asked.turns.last().map_or("", |(_, text)| text))
    });
    models(folder.path(), &server, "");
    let limit = 0.002;
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--concurrency",
        "8",
        "--spend-limit",
        "0.002",
        "--out",
        "run",
        "--json",
    ];
    let stopped = rhae(folder.path(), &run)
        .failed_with("USD are spent, and the limit is 0.002")
        .json();
    let spent = stopped["cost_usd"].as_f64().unwrap();
    let billed: u64 = server
        .served()
        .iter()
        .map(|one| one.input_tokens + 10 * one.output_tokens)
        .sum();
    assert!(
        (spent - billed as f64 / 1e6).abs() < 1e-9,
        "measured: {spent}, billed: {billed}"
    );
    let dearest = server
        .served()
        .iter()
        .map(|one| one.input_tokens + 10 * one.output_tokens)
        .max()
        .unwrap() as f64
        / 1e6;
    assert!(
        spent >= limit && spent <= limit + dearest,
        "{spent} for a limit of {limit}, a request costs up to {dearest}"
    );
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
    assert!(report.contains("US dollars a task") && report.contains("The rule adds one"));
}

#[test]
fn a_model_without_prices_costs_an_unknown_amount_and_not_nothing() {
    let folder = tempfile::tempdir().unwrap();
    tasks(folder.path(), 2);
    let server = ModelServer::start(Faults::none(), |asked| {
        solved(asked.turns.last().map_or("", |(_, text)| text))
    });
    models(folder.path(), &server, "");
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
        .failed_with("give the model `prices`");
    let outcome = rhae(folder.path(), &run).succeeded();
    assert!(
        outcome.err.contains("without any thinking: cost not known"),
        "{}",
        outcome.err
    );
    assert!(
        outcome.out.contains(" out, cost not known") && !outcome.out.contains("USD"),
        "{}",
        outcome.out
    );
    rhae(
        folder.path(),
        &["arc", "eval", "--resume", "run", "--spend-limit", "1"],
    )
    .failed_with("give the model `prices`");
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
    assert!(read("results.md").contains("| money | cost not known |"));
    let report = read("report.html");
    assert!(
        report.contains("cost not known")
            && report.contains("seconds a task")
            && !report.contains("USD")
    );
}

#[test]
fn a_wrong_key_ends_the_run_and_costs_no_attempt() {
    let folder = tempfile::tempdir().unwrap();
    tasks(folder.path(), 5);
    let server = ModelServer::start(Faults::first(vec![Fault::Status(401, None); 100]), |_| {
        String::new()
    });
    models(folder.path(), &server, "");
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
fn prompts_can_be_seen_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    tasks(folder.path(), 3);
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
    assert!(!folder.path().join("runs").exists(), "nothing was run");
    fs::write(folder.path().join("bad.txt"), "{tst} {examples}").unwrap();
    rhae(
        folder.path(),
        &[&common[..], &["--prompt", "bad.txt"]].concat(),
    )
    .failed_with("bad.txt");
    // The mock is an ordinary provider, and its answers differ by attempt.
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
    // What changed since cannot be mixed in.
    fs::write(
        folder.path().join("models.toml"),
        "[models.m]\nprovider = \"mock\"\nreplies = [\"[[3]]\"]\n",
    )
    .unwrap();
    rhae(folder.path(), &["arc", "eval", "--resume", "run"])
        .failed_with("is not the one that the run was begun with");
}
