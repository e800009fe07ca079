//! `rhae arc eval --solver rlm:NAME`: a model that solves tasks with JavaScript code, killed and
//! resumed, with limits and faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rhae_testkit::{Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::arc_model::{journal, write_tasks};
use crate::rhae::{Outcome, command};

/// The first code of the scripted models: it looks at the task.
const LOOK: &str = "```js\nconst task = JSON.parse(context); print(task.train.length, JSON.stringify(task.test))\n```";
/// The second code: it applies the rule, which adds one to each cell.
const SOLVE: &str = "```js\nconst grids = task.test.map((test) => test.input.map((row) => row.map((cell) => cell + 1)));\nreturn(grids.length === 1 ? grids[0] : grids)\n```";

/// Writes a configuration with the model `mock`, which looks and solves, and needs no server.
fn write_mock(folder: &Path) {
    let replies = json!([LOOK, SOLVE]);
    let text = format!(
        "[models.mock]\nprovider = \"mock\"\nreplies = {replies}\nprices = {{ date = \"2026-11-01\", input = 1.0, output = 10.0 }}\n"
    );
    fs::write(folder.join("models.toml"), text).unwrap();
}

/// Writes a configuration with the model `m` on a server.
pub(crate) fn write_server(folder: &Path, server: &ModelServer) {
    let text = format!(
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nkey_env = \"\"\nbase_url = \"{}/v1\"\nstream = true
retries = {{ attempts = 12, first_pause_s = 0.002, longest_pause_s = 0.02 }}\nbreaker = {{ failures = 1000, cool_down_s = 0.1, rounds = 5 }}
request = {{ max_completion_tokens = 1000 }}\nprices = {{ date = \"2026-11-01\", input = 1.0, output = 10.0 }}\n",
        server.url()
    );
    fs::write(folder.join("models.toml"), text).unwrap();
}

pub(crate) fn rhae(folder: &Path, arguments: &[&str]) -> Outcome {
    command(folder, arguments).output().unwrap().into()
}

/// The command that starts a run with many conversations at a time.
fn start<'a>(solver: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![
        "arc",
        "eval",
        "--solver",
        solver,
        "--data",
        "tasks.json",
        "--jobs",
        "64",
        "--rate-limit",
        "100000/s",
        "--out",
        "run",
        "--json",
    ];
    arguments.extend(more);
    arguments
}

const RESUME: [&str; 5] = ["arc", "eval", "--resume", "run", "--json"];

pub(crate) fn lines_of<'a>(lines: &'a [Value], event: &'a str) -> Vec<&'a Value> {
    let of_event = |line: &&Value| line["event"] == event;
    lines.iter().filter(of_event).collect()
}

/// Starts or resumes a run and kills it when its journal contains `count` lines of an event.
pub(crate) fn kill_at(folder: &Path, arguments: &[&str], event: &str, count: usize) {
    let mut child = command(folder, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while lines_of(&journal(folder), event).len() < count && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Checks that no reply that is in the journal was requested again, and returns the number of
/// replies.
pub(crate) fn assert_no_reply_is_repeated(lines: &[Value]) -> usize {
    let tasks: BTreeMap<u64, &Value> = lines_of(lines, "sent")
        .into_iter()
        .map(|line| (line["request"].as_u64().unwrap(), &line["task"]))
        .collect();
    let replies = lines_of(lines, "reply");
    let keys: BTreeSet<String> = replies
        .iter()
        .map(|line| {
            let task = tasks[&line["request"].as_u64().unwrap()];
            format!("{task} {}", line["fingerprint"])
        })
        .collect();
    assert_eq!(keys.len(), replies.len(), "a reply was requested twice");
    replies.len()
}

#[test]
fn killed_run_of_120_tasks_resumes_with_exact_counts() {
    let folder = tempfile::tempdir().unwrap();
    let tests = write_tasks(folder.path(), 120);
    write_mock(folder.path());
    kill_at(folder.path(), &start("rlm:mock", &[]), "reply", 30);
    kill_at(folder.path(), &RESUME, "answered", 40);
    kill_at(folder.path(), &RESUME, "effect", 190);
    let results = rhae(folder.path(), &RESUME).succeeded().json();
    assert_eq!(
        (
            &results["finished"],
            &results["tasks"],
            &results["processes"]
        ),
        (&json!(true), &json!(120), &json!(4))
    );
    assert_eq!(results["test_inputs"], json!(tests));
    assert_eq!(results["headline"], "tasks_solved");
    assert_eq!(results["tasks_solved"]["count"], 120);
    assert!(
        results["results"][0]["task"]
            .as_str()
            .unwrap()
            .starts_with("arc-"),
        "{}",
        results["results"][0]
    );
    let lines = journal(folder.path());
    assert_eq!(assert_no_reply_is_repeated(&lines), 240);
    assert_eq!(lines_of(&lines, "effect").len(), 240);
    assert_eq!(lines_of(&lines, "answered").len(), 120);
    let sent = lines_of(&lines, "sent").len();
    assert_eq!(results["lost_in_flight"], json!(sent - 120));
    // An uninterrupted run gives the same answers and, except for lost transmissions, the same cost.
    let again = ["--out", "again"];
    let mut arguments = start("rlm:mock", &again);
    arguments.retain(|argument| *argument != "run");
    arguments.remove(arguments.iter().position(|one| *one == "--out").unwrap());
    let again = rhae(folder.path(), &arguments).succeeded().json();
    assert_eq!(again["results"], results["results"]);
    for field in ["input_tokens", "output_tokens"] {
        assert_eq!(again[field], results[field], "{field}");
    }
    let micro = |results: &Value| (results["cost_usd"].as_f64().unwrap() * 1e6).round() as u64;
    assert_eq!(micro(&again), micro(&results));
}

/// A model behind a server that looks, asks two other models to verify at the same time, and solves.
fn scripted(request: &ModelRequest) -> ModelAnswer {
    let replies = request.turns.iter().filter(|(is_model, _)| *is_model);
    let text = match (replies.count(), request.turns[0].1.as_str()) {
        (_, query) if query.starts_with("VERIFY") => "yes",
        (0, _) => LOOK,
        (1, _) => {
            "```js\nconst both = [task.train, task.test].map((part) => rlm('VERIFY', part)); print(await Promise.all(both))\n```"
        }
        _ => SOLVE,
    };
    text.to_owned().into()
}

fn tokens(value: &Value) -> u64 {
    let count = |name: &str| value[name].as_u64().unwrap_or(0);
    count("input_tokens") + count("output_tokens")
}

#[test]
fn faulty_server_and_kills_leave_every_token_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 12);
    let server = ModelServer::start(Faults::mixed(30, 11), scripted);
    write_server(folder.path(), &server);
    let depth = ["--max-depth", "1"];
    kill_at(folder.path(), &start("rlm:m", &depth), "reply", 8);
    kill_at(folder.path(), &RESUME, "reply", 25);
    let results = rhae(folder.path(), &RESUME).succeeded().json();
    assert_eq!(results["tasks_solved"]["count"], 12);
    let lines = journal(folder.path());
    // Five requests for each task, two of them at the same time. Replies without content are requested again as further samples.
    let replies = assert_no_reply_is_repeated(&lines);
    let is_empty = |line: &&&Value| line["reply"]["text"] == "";
    let empty = lines_of(&lines, "reply").iter().filter(is_empty).count();
    assert_eq!(replies - empty, 60);
    assert_books_agree(&lines, &results, &server);
}

/// Checks that the results and the server agree on the tokens of all measured transmissions, and that
/// what the server billed beyond them is covered by what is listed as possibly paid.
pub(crate) fn assert_books_agree(lines: &[Value], results: &Value, server: &ModelServer) {
    let served = server.served();
    let measured: BTreeMap<&str, u64> = lines_of(lines, "reply")
        .into_iter()
        .chain(lines_of(lines, "try_failed"))
        .filter(|line| line["unmeasured"].as_u64().unwrap_or(0) == 0)
        .map(|line| (line["id"].as_str().unwrap(), tokens(line)))
        .collect();
    let total = |request: &ServedRequest| request.input_tokens + request.output_tokens;
    let is_measured =
        |request: &&ServedRequest| measured.contains_key(request.id.as_deref().unwrap());
    let known: u64 = measured.values().sum();
    assert_eq!(
        served.iter().filter(is_measured).map(total).sum::<u64>(),
        known
    );
    assert_eq!(tokens(results), known);
    // What the server billed beyond that is covered by what is listed as possibly paid.
    let cost = |request: &ServedRequest| request.input_tokens + 10 * request.output_tokens;
    let billed: u64 = served.iter().map(cost).sum();
    let micro = |name: &str| (results[name].as_f64().unwrap_or(0.0) * 1e6).round() as u64;
    assert!(micro("cost_usd") <= billed);
    assert!(billed <= micro("cost_usd") + micro("possibly_paid_usd"));
    let tried: BTreeSet<&str> = lines_of(lines, "try")
        .into_iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect();
    assert!(
        served
            .iter()
            .all(|request| tried.contains(request.id.as_deref().unwrap()))
    );
}

#[test]
fn spend_limit_stops_conversations_and_a_resumed_run_continues_them() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 8);
    let server = ModelServer::start(Faults::none(), scripted);
    write_server(folder.path(), &server);
    let limit = ["--max-cost", "0.03", "--max-depth", "1", "--jobs", "1"];
    let mut arguments = start("rlm:m", &limit);
    arguments.drain(6..8);
    let stopped = rhae(folder.path(), &arguments).failed_with("spend limit");
    assert_eq!(stopped.json()["finished"], false);
    let billed: u64 = server
        .served()
        .iter()
        .map(|request| request.input_tokens + 10 * request.output_tokens)
        .sum();
    assert!(0 < billed && billed <= 30_000, "{billed}");
    let resumed = [&RESUME[..], &["--max-cost", "10"]].concat();
    let results = rhae(folder.path(), &resumed).succeeded().json();
    assert_eq!(results["tasks_solved"]["count"], 8);
    assert_eq!(assert_no_reply_is_repeated(&journal(folder.path())), 40);
    assert_eq!(server.served().len(), 40);
}

#[test]
fn conversation_without_a_return_has_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 2);
    let server = ModelServer::start(Faults::none(), |request| {
        // It returns too early, and then never again.
        let is_first = request.turns.len() == 1;
        let code = if is_first {
            "return([[1]])"
        } else {
            "print('thinking')"
        };
        format!("```js\n{code}\n```")
    });
    write_server(folder.path(), &server);
    let iterations = ["--max-iterations", "3"];
    let results = rhae(folder.path(), &start("rlm:m", &iterations))
        .succeeded()
        .json();
    assert_eq!(
        (&results["finished"], &results["tasks_solved"]["count"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(server.served().len(), 6);
    let last = server.served().pop().unwrap().body.to_string();
    assert!(
        last.contains("was not accepted") && last.contains("IMPORTANT: only 1 more"),
        "{last}"
    );
    let csv = fs::read_to_string(folder.path().join("run/results.csv")).unwrap();
    assert!(csv.contains("no-answer"), "{csv}");
    let config = fs::read_to_string(folder.path().join("run/config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["solver_settings"]["max_iterations"], 3);
    assert_eq!(config["solver_settings"]["max_depth"], 2);
    assert_eq!(
        config["solver_settings"]["prompts_sha256"]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    assert_eq!(
        (&config["protocol"], &config["attempts"]),
        (&json!("plan"), &json!(1))
    );
    for (flag, value) in [
        ("--max-iterations", "3"),
        ("--max-depth", "1"),
        ("--prompts", "."),
    ] {
        let arguments = [
            "arc",
            "eval",
            "--solver",
            "search",
            "--data",
            "tasks.json",
            flag,
            value,
        ];
        rhae(folder.path(), &arguments).failed_with("requires `--solver rlm:NAME`");
    }
}
