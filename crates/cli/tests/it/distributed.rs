//! Tests of `--on` for evaluations, validations, explorations and agents with a model: equal results,
//! one spend limit, killed workers and killed coordinators.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::arc::fixture;
use crate::arc_model::write_tasks;
use crate::rhae::{Outcome, command, rhae};
use crate::shards::without_volatile;

const KEY: &str = "sk-test-work-0123456789-do-not-print";

/// Returns what `rhae` prints as JSON, without what differs between two executions.
fn results(folder: &Path, arguments: &[&str], volatile: &[&str]) -> Value {
    let mut value = rhae(folder, arguments).json();
    without_volatile(&mut value);
    without(&mut value, volatile);
    value
}

fn without(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&name.as_str()));
            fields.values_mut().for_each(|value| without(value, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| without(value, names)),
        _ => {}
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    // The last line may be incomplete while a process writes.
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn count(lines: &[Value], event: &str) -> usize {
    lines.iter().filter(|line| line["event"] == event).count()
}

/// Returns what the server bills in US dollars.
fn billed_usd(served: &[ServedRequest]) -> f64 {
    let tokens = |request: &ServedRequest| request.input_tokens + 10 * request.output_tokens;
    served.iter().map(tokens).sum::<u64>() as f64 / 1e6
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

/// Creates a folder with tasks and the model `m` on a server that answers in `delay`.
fn model_folder(delay: Duration) -> (tempfile::TempDir, ModelServer) {
    let late = move |_: usize| Fault::Late(delay);
    let server = ModelServer::start(Faults::first((0..2000).map(late)), |request| {
        if request.turns.len() % 4 == 1 {
            "ACTION1 [[1, 2]]"
        } else {
            "ACTION2 [[1, 2]]"
        }
        .to_owned()
    });
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[models.m]\nprovider = \"openai-chat\"\nmodel = \"test-model\"\nkey_env = \"WORK_TEST_KEY\"\nbase_url = \"{}/v1\"\n\
         request = {{ max_completion_tokens = 100 }}\nprices = {{ date = \"2026-11-01\", input = 1.0, output = 10.0 }}\n",
        server.url()
    );
    fs::write(folder.path().join("models.toml"), text).unwrap();
    (folder, server)
}

fn with_key(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, arguments);
    command
        .env("WORK_TEST_KEY", KEY)
        .env_remove("RHAE_MODELS")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn outcome(mut command: Command) -> Outcome {
    command.output().unwrap().into()
}

/// Returns the ids of the worker processes of a command.
fn workers_of(process: &Child) -> Vec<String> {
    let id = process.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

fn kill(process: &str) {
    let killed = Command::new("kill").args(["-KILL", process]).status();
    assert!(killed.unwrap().success());
}

#[test]
fn distributed_evaluation_equals_a_local_one() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let data = fixture("tasks");
    let eval = |out: &str, on: &[&str]| {
        let eval = [
            "arc", "eval", "--solver", "random", "--seed", "7", "--data", &data, "--json", "--out",
            out,
        ];
        results(folder, &[&eval[..], on].concat(), &["task_seconds"])
    };
    assert_eq!(eval("local", &[]), eval("r", &["--on", "local:2"]));
    let file = |run: &str, name: &str| fs::read_to_string(folder.join(run).join(name)).unwrap();
    assert_eq!(
        file("local", "submission.json"),
        file("r", "submission.json")
    );
    let leases = lines(&folder.join("r/leases.jsonl"));
    assert_eq!(
        (count(&leases, "leased"), count(&leases, "committed")),
        (3, 3)
    );
    // A finished run has nothing to do.
    let resumed = ["arc", "eval", "--resume", "r", "--on", "local:2", "--json"];
    rhae(folder, &resumed).succeeded();
    assert_eq!(count(&lines(&folder.join("r/leases.jsonl")), "leased"), 3);
}

#[test]
fn killed_evaluation_resumes_from_paid_answers() {
    let (temp, server) = model_folder(Duration::from_millis(40));
    let folder = temp.path();
    let tests = write_tasks(folder, 12);
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--jobs",
        "2",
        "--out",
        "run",
        "--on",
        "local:2",
    ];
    let mut child = with_key(folder, &run).spawn().unwrap();
    let journal = || lines(&folder.join("run/journal.jsonl"));
    while count(&journal(), "answered") < 4 {
        assert!(child.try_wait().unwrap().is_none(), "the run ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    // A worker is killed, and then the coordinator.
    kill(&workers_of(&child)[0]);
    while count(&journal(), "answered") < 8 {
        assert!(child.try_wait().unwrap().is_none(), "the run ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = [
        "arc", "eval", "--resume", "run", "--on", "local:2", "--json",
    ];
    let found = outcome(with_key(folder, &resume)).succeeded().json();
    assert_eq!(found["finished"], true);
    let journal = journal();
    assert_eq!(
        count(&journal, "answered"),
        2 * tests,
        "one answer for each attempt"
    );
    let mut requests: Vec<u64> = journal
        .iter()
        .filter(|line| line["event"] == "sent")
        .map(|line| line["request"].as_u64().unwrap())
        .collect();
    requests.sort_unstable();
    requests.dedup();
    assert_eq!(
        requests.len(),
        count(&journal, "sent"),
        "numbers are unique"
    );
    // What was in flight when a process was killed was possibly paid, and the rest is measured.
    let number = |name: &str| found[name].as_f64().unwrap_or(0.0);
    let known = number("cost_usd") + number("possibly_paid_usd");
    assert!(billed_usd(&server.served()) <= known + 1e-9, "{found}");
    assert_no_key(&folder.join("run"));
}

#[test]
fn workers_of_an_evaluation_share_the_spend_limit() {
    let (temp, server) = model_folder(Duration::from_millis(5));
    let folder = temp.path();
    write_tasks(folder, 12);
    let run = [
        "arc",
        "eval",
        "--solver",
        "model:m",
        "--data",
        "tasks.json",
        "--jobs",
        "6",
        "--out",
        "run",
        "--on",
        "local:3",
        "--json",
        "--max-cost",
        "0.008",
    ];
    let stopped = outcome(with_key(folder, &run));
    let stopped = stopped.failed_with("the spend limit is reached").json();
    let billed = billed_usd(&server.served());
    assert!(billed > 0.0 && billed <= 0.008, "{billed}");
    let spent = stopped["cost_usd"].as_f64().unwrap();
    assert!((spent - billed).abs() < 1e-9, "{spent} {billed}");
    let resume = [
        "arc",
        "eval",
        "--resume",
        "run",
        "--on",
        "local:3",
        "--max-cost",
        "5",
        "--json",
    ];
    let found = outcome(with_key(folder, &resume)).succeeded().json();
    assert_eq!(found["finished"], true);
}

#[test]
fn distributed_validation_equals_a_local_one() {
    let temp = tempfile::tempdir().unwrap();
    let validate = |on: &[&str]| {
        let validate = [
            "validate",
            "ny40",
            "kq19",
            "--steps",
            "2000",
            "--nodes",
            "5000",
            "--json",
            "--evidence",
            "e",
        ];
        let mut found = results(
            temp.path(),
            &[&validate[..], on].concat(),
            &["work_seconds"],
        );
        let environments = found["environments"].as_array_mut().unwrap();
        for environment in environments {
            let rules = environment["rules"].as_array_mut().unwrap();
            // These measure the machine.
            rules.retain(|rule| rule["rule"] != "memory" && rule["rule"] != "speed");
        }
        found
    };
    let local = validate(&[]);
    assert_eq!(local["environments"].as_array().unwrap().len(), 2);
    assert_eq!(local, validate(&["--on", "local:2"]));
}

#[test]
fn distributed_exploration_equals_a_local_one() {
    let temp = tempfile::tempdir().unwrap();
    let volatile = ["states_per_s", "peak_bytes"];
    let explore = |more: &[&str]| {
        let explore = [
            "explore", "ny40", "--level", "all", "--nodes", "5000", "--json",
        ];
        results(temp.path(), &[&explore[..], more].concat(), &volatile)
    };
    let local = explore(&["--picture", "local.html"]);
    assert!(local["levels"].as_array().unwrap().len() > 3);
    let distributed = explore(&["--picture", "on.html", "--on", "local:2"]);
    assert_eq!(local, distributed);
    assert!(temp.path().join("on.html").exists());
    let recorded = [
        "explore",
        "ny40",
        "--level",
        "1",
        "--recording",
        "win.jsonl",
        "--on",
        "local:1",
    ];
    rhae(temp.path(), &recorded).succeeded();
    rhae(temp.path(), &["replay", "verify", "win.jsonl"]).succeeded();
}

const PLAY: [&str; 9] = [
    "run",
    "--agent",
    "model:m",
    "--games",
    "kq19,ny40",
    "--budget",
    "10",
    "--out",
    "r",
];

#[test]
fn model_log_survives_a_killed_worker_and_a_killed_coordinator() {
    let (temp, server) = model_folder(Duration::from_millis(60));
    let folder = temp.path();
    let start = |arguments: &[&str]| {
        with_key(folder, &[arguments, &["--on", "local:2"]].concat())
            .spawn()
            .unwrap()
    };
    let wait_for_requests = |child: &mut Child, count: usize| {
        while server.served().len() < count {
            assert!(child.try_wait().unwrap().is_none(), "the run ended");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut child = start(&PLAY);
    wait_for_requests(&mut child, 5);
    kill(&workers_of(&child)[0]);
    wait_for_requests(&mut child, 10);
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = start(&["run", "--resume", "r", "--json"]);
    let summary: Outcome = resumed.wait_with_output().unwrap().into();
    let summary = summary.succeeded().json();
    assert_eq!(summary["finished"], true);
    let spent = &summary["spent"];
    // Each kill interrupts at most one request of each play. All other requests are answered once.
    let uncounted = spent["uncounted"].as_u64().unwrap_or(0);
    assert!(uncounted <= 3, "{spent}");
    assert_eq!(spent["calls"].as_u64(), Some(20 + uncounted), "{spent}");
    let possibly_paid = spent["possibly_paid_usd"].as_f64().unwrap_or(0.0);
    let known = spent["cost_usd"].as_f64().unwrap() + possibly_paid;
    assert!(billed_usd(&server.served()) <= known + 1e-9, "{spent}");
    assert_no_key(&folder.join("r"));
    // The same run in one process takes the same actions.
    let local = [&PLAY[..7], &["--out", "local", "--json"]].concat();
    outcome(with_key(folder, &local)).succeeded();
    let actions = |run: &str, play: &str| -> Vec<Value> {
        let entries = lines(&folder.join(run).join("recordings").join(play));
        entries
            .iter()
            .map(|entry| entry["action"].clone())
            .collect()
    };
    for play in ["1-kq19-v1.jsonl", "1-ny40-v1.jsonl"] {
        assert_eq!(actions("local", play), actions("r", play));
    }
}

#[test]
fn workers_of_a_run_share_the_spend_limit() {
    let (temp, server) = model_folder(Duration::from_millis(5));
    let folder = temp.path();
    let limited = [&PLAY[..], &["--max-cost", "0.03", "--on", "local:2"]].concat();
    let stopped = outcome(with_key(folder, &limited));
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(
        stopped.err.contains("the spend limit is reached"),
        "{}",
        stopped.err
    );
    let billed = billed_usd(&server.served());
    assert!(billed > 0.0 && billed <= 0.03, "{billed}");
    let before = server.served().len();
    let resume = [
        "run",
        "--resume",
        "r",
        "--max-cost",
        "5",
        "--on",
        "local:2",
        "--json",
    ];
    let summary = outcome(with_key(folder, &resume)).succeeded().json();
    assert_eq!(summary["spent"]["calls"], json!(20));
    assert_eq!(
        server.served().len(),
        20,
        "{before} answers were paid before"
    );
}

#[test]
fn joined_workers_outlive_a_killed_coordinator() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path();
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let on = format!("join:{unused}");
    let agent = "while test -e hold; do sleep 0.02; done; while read -r line; do \
        case \"$line\" in *observation*) echo '{\"action\":\"ACTION1\"}';; *'\"end\"'*) exit;; esac; done";
    fs::write(folder.join("hold"), "").unwrap();
    let run = [
        "run",
        "--agent-cmd",
        agent,
        "--games",
        "kq19,ny40,ym39",
        "--budget",
        "12",
        "--out",
        "r",
        "--on",
        &on,
    ];
    let mut first = with_key(folder, &run).spawn().unwrap();
    let token = folder.join("r/work-token");
    while fs::read_to_string(&token).unwrap_or_default().is_empty() {
        assert!(first.try_wait().unwrap().is_none(), "the run ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let url = format!("http://{unused}");
    let work = ["work", "--join", &url, "--token-file", "r/work-token"];
    let worker = with_key(folder, &work).spawn().unwrap();
    let leases = || lines(&folder.join("r/leases.jsonl"));
    while count(&leases(), "leased") < 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    fs::remove_file(folder.join("hold")).unwrap();
    let resume = [
        "run",
        "--resume",
        "r",
        "--on",
        &on,
        "--agent-cmd",
        agent,
        "--json",
    ];
    let summary = outcome(with_key(folder, &resume)).succeeded().json();
    assert_eq!(summary["finished"], true);
    let worker: Outcome = worker.wait_with_output().unwrap().into();
    let worker = worker.succeeded();
    assert!(worker.out.contains("reported"), "{}", worker.out);
    assert!(!token.exists());
}

#[test]
fn preempted_worker_of_a_model_passes_on_its_paid_answers() {
    let (temp, server) = model_folder(Duration::from_millis(60));
    let folder = temp.path();
    let run = [&PLAY[..], &["--on", "join", "--workers", "1", "--json"]].concat();
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut run = with_key(folder, &run).stderr(log).spawn().unwrap();
    let url = loop {
        assert!(run.try_wait().unwrap().is_none(), "the run ended");
        let log = fs::read_to_string(folder.join("log")).unwrap();
        if log.contains("--token-file") {
            let url = log
                .split_whitespace()
                .find(|word| word.starts_with("http://"));
            break url.unwrap().to_owned();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let work = ["work", "--join", &url, "--token-file", "r/work-token"];
    let mut preempted = with_key(folder, &work).spawn().unwrap();
    while server.served().len() < 5 {
        assert!(preempted.try_wait().unwrap().is_none(), "the worker ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = preempted.id().to_string();
    let sent = Command::new("kill").args(["-USR1", &id]).status();
    assert!(sent.unwrap().success());
    let ended: Outcome = preempted.wait_with_output().unwrap().into();
    ended.succeeded();
    let leases = lines(&folder.join("r/leases.jsonl"));
    assert_eq!(count(&leases, "released"), 1);
    outcome(with_key(folder, &work)).succeeded();
    let summary: Outcome = run.wait_with_output().unwrap().into();
    let summary = summary.succeeded().json();
    assert_eq!(summary["finished"], true);
    // At most the request in flight is sent again.
    let spent = &summary["spent"];
    let uncounted = spent["uncounted"].as_u64().unwrap_or(0);
    assert!(uncounted <= 1, "{spent}");
    assert_eq!(spent["calls"].as_u64(), Some(20 + uncounted), "{spent}");
    let possibly_paid = spent["possibly_paid_usd"].as_f64().unwrap_or(0.0);
    let known = spent["cost_usd"].as_f64().unwrap() + possibly_paid;
    assert!(billed_usd(&server.served()) <= known + 1e-9, "{spent}");
    assert_eq!(count(&lines(&folder.join("r/leases.jsonl")), "lost"), 0);
}
