//! Every agent with tools, through real HTTP: it completes two levels, a spend limit stops it, the
//! process is killed at random moments, and no journaled answer is requested again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::agents_with_tools::{billed, folder, micro, python, read, run, spawn};

/// The actions of the first two levels.
const ACTIONS: &str = "22";

/// Returns the solutions of the first two levels of kq19.
fn solutions() -> Vec<Vec<String>> {
    let text = include_str!("../../../games/src/kq19/solutions.txt");
    let actions = |line: &str| line.split(' ').map(|id| format!("ACTION{id}")).collect();
    text.lines().take(2).map(actions).collect()
}

/// Returns at most the next five actions, from the last text of the form `Step N, level L`.
fn next_actions(request: &ModelRequest) -> Vec<String> {
    let said = request.turns.iter().rev().filter(|(is_model, _)| !is_model);
    let position = said
        .filter_map(|(_, text)| {
            let (step, level) = text.split("Step ").nth(1)?.split_once(", level ")?;
            let level = level.split(' ').next()?;
            Some((step.parse::<usize>().ok()?, level.parse::<usize>().ok()?))
        })
        .next();
    let (step, level) = position.unwrap();
    let solutions = solutions();
    let earlier: usize = solutions.iter().take(level - 1).map(Vec::len).sum();
    let actions = solutions[level - 1].iter();
    actions.skip(step - earlier).take(5).cloned().collect()
}

fn rgb(request: &ModelRequest) -> ModelAnswer {
    crate::agents_with_tools::player_model(request)
}

fn duck(request: &ModelRequest) -> ModelAnswer {
    let key = |action: String| {
        let names = ["UP", "DOWN", "LEFT", "RIGHT"];
        let number: usize = action.trim_start_matches("ACTION").parse().unwrap();
        names[number - 1]
    };
    let keys: Vec<&str> = next_actions(request).into_iter().map(key).collect();
    ModelAnswer::call(
        "python",
        &json!({"code": format!("action({})", json!(keys))}),
    )
}

/// Acts without a program, so that each commit executes one action.
fn world_model(request: &ModelRequest) -> ModelAnswer {
    let last = &request.turns.last().unwrap().1;
    if last.contains("You have not written notes") {
        return ModelAnswer::call("notes", &json!({"text": "facts"}));
    }
    let actions = &next_actions(request)[..1];
    ModelAnswer::call("commit", &json!({"actions": actions, "reason": "a step"}))
}

/// Finds out within its code where the play is.
fn rlm(_: &ModelRequest) -> ModelAnswer {
    let code = format!(
        "const all = {};
const past = env.history();
const level = past.length ? past[past.length - 1].level : 1;
const done = past.filter((step) => step.level - (step.levelCompleted ? 1 : 0) === level).length;
for (const action of all[level - 1].slice(done, done + 2)) env.step(action);",
        json!(solutions())
    );
    format!("```js\n{code}\n```").into()
}

/// Lets a solver act and, after each of its tasks, three theorists think at the same time.
fn orchestrator(request: &ModelRequest) -> ModelAnswer {
    if request.tools.iter().any(|tool| tool == "spawn") {
        let number = request.results.len();
        if number.is_multiple_of(4) {
            let task = json!({"role": "solver", "agent": "solver-1", "task": "Act.", "actions": 5});
            let tool = if number == 0 { "spawn" } else { "ask" };
            return ModelAnswer::call(tool, &task);
        }
        let ask = |member: usize| {
            let agent = format!("theorist-{}", 2 + member);
            let task = format!("Explain part {member} after {number} reports.");
            let task = json!({"role": "theorist", "agent": agent, "task": task});
            let tool = if number == 1 { "spawn" } else { "ask" };
            (tool.to_owned(), task.to_string())
        };
        return ModelAnswer {
            text: "What do we know?".to_owned(),
            calls: (0..3).map(ask).collect(),
        };
    }
    let last = &request.turns.last().unwrap().1;
    if last.contains("actions were executed") || !request.tools.iter().any(|tool| tool == "act") {
        return ModelAnswer::call("report", &json!({"value": {"summary": "done"}}));
    }
    let actions = next_actions(request);
    ModelAnswer::call(
        "act",
        &json!({"actions": actions, "reason": "the solution"}),
    )
}

/// Returns for each id in a model log whether its transmission has ended.
fn transmissions(log: &Path) -> BTreeMap<String, bool> {
    let mut found = BTreeMap::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(id) = line["id"].as_str() {
            found.insert(id.to_owned(), line["event"] == "ended");
        }
    }
    found
}

/// Returns the limit that a refusal names.
fn smallest_limit(refusal: &str) -> String {
    let limit = refusal
        .split("the smallest limit that allows it is ")
        .nth(1);
    limit.unwrap().split(' ').next().unwrap().to_owned()
}

fn check(name: &str, model: fn(&ModelRequest) -> ModelAnswer) {
    let Some(python) = python() else { return };
    let agent = format!("{name}:big");
    let arguments = [
        "--agent", &agent, "--games", "kq19", "--budget", ACTIONS, "--out", "out",
    ];
    // An uninterrupted run says which requests there are.
    let server = ModelServer::start(Faults::none(), model);
    let whole = folder(&server);
    let summary = run(whole.path(), &python, &arguments).succeeded().json();
    assert_eq!(
        summary["environments"][0]["levels_completed"], 2.0,
        "{name}"
    );
    let expected = server.served();
    assert_eq!(
        micro(&summary["spent"]["cost_usd"]),
        billed(&expected),
        "{name}"
    );

    let late = |number: usize| Fault::Late(Duration::from_millis(10 + 13 * (number as u64 % 4)));
    let server = ModelServer::start(Faults::first((0..1000).map(late)), model);
    let folder = folder(&server);
    // The spend limit stops the run in the middle.
    let refused = [&arguments[..], &["--max-cost", "0.0001"]].concat();
    let refused = run(folder.path(), &python, &refused).failed_with("is too small");
    let smallest = smallest_limit(&refused.err);
    let limit = smallest.parse::<f64>().unwrap() + billed(&expected) as f64 / 3e6;
    let limit = format!("{limit:.6}");
    let limited = [&arguments[..], &["--max-cost", &limit]].concat();
    let stopped = run(folder.path(), &python, &limited);
    assert_eq!(stopped.code, Some(130), "{name}: {}", stopped.err);
    let paid = billed(&server.served());
    assert!(
        0 < paid && paid as f64 <= limit.parse::<f64>().unwrap() * 1e6,
        "{name}"
    );
    // A resumed run that cannot pay its next request is refused, and names the limit that suffices.
    let sent = server.served().len();
    let again = ["--resume", "out", "--max-cost", &limit];
    let refused = run(folder.path(), &python, &again).failed_with("the spend limit is reached");
    assert_eq!(
        (refused.code, server.served().len()),
        (Some(1), sent),
        "{name}: {}",
        refused.err
    );
    let smallest = smallest_limit(&refused.err);
    let enough = ["--resume", "out", "--max-cost", &smallest];
    let stopped = run(folder.path(), &python, &enough);
    assert_eq!(stopped.code, Some(130), "{name}: {}", stopped.err);
    let paid = billed(&server.served()) as f64;
    assert!(
        server.served().len() > sent && paid <= smallest.parse::<f64>().unwrap() * 1e6,
        "{name}"
    );
    // The rest is interrupted by kills.
    let resume = ["run", "--resume", "out", "--max-cost", "5"];
    let mut child = spawn(folder.path(), &python, &resume);
    let mut kills = 0;
    while kills < 3 && server.served().len() + 2 < expected.len() {
        let before = server.served().len();
        while server.served().len() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2 + 3 * kills));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        child = spawn(folder.path(), &python, &resume);
    }
    assert!(child.wait().unwrap().success(), "{name}");
    assert!(kills > 0, "{name}");

    assert_books_agree(name, folder.path(), &server.served(), expected.len());
}

/// Checks that every answer in the model log was requested once, and that the log and the server agree
/// on what each request cost.
fn assert_books_agree(name: &str, folder: &Path, served: &[ServedRequest], answers: usize) {
    let card = read(&folder.join("out/scorecard.json"));
    assert_eq!(card["total_actions"], 22, "{name}");
    let log = transmissions(&folder.join("out/recordings/1-kq19-v1.model.jsonl"));
    let ended = |id: &Option<String>| log[id.as_deref().unwrap()];
    // Every answer in the log was requested once.
    let mut answered: Vec<String> = served
        .iter()
        .filter(|entry| ended(&entry.id))
        .map(|entry| entry.body.to_string())
        .collect();
    let count = answered.len();
    answered.sort();
    answered.dedup();
    assert_eq!((answered.len(), count), (answers, answers), "{name}");
    // The books agree: what ended to the micro-dollar, the rest as possibly paid in both.
    let spent = &card["spent"];
    let (known, in_flight): (Vec<_>, Vec<_>) =
        served.iter().cloned().partition(|entry| ended(&entry.id));
    assert_eq!(micro(&spent["cost_usd"]), billed(&known), "{name}");
    let uncounted = log.values().filter(|ended| !**ended).count();
    assert_eq!(
        spent["uncounted"].as_u64().unwrap_or(0),
        uncounted as u64,
        "{name}"
    );
    // At each of three kills, at most the three theorists had a request in flight.
    let concurrent = if name == "orchestrator" { 3 } else { 1 };
    assert!(
        in_flight.len() <= uncounted && uncounted <= 3 * concurrent,
        "{name}"
    );
    assert!(
        billed(&in_flight) <= micro(&spent["possibly_paid_usd"]),
        "{name}"
    );
    assert!(fs::metadata(folder.join("out/report.html")).is_ok());
}

/// The timeout of the models: half a second without data, scaled down from forty minutes.
pub(crate) const READ: Duration = Duration::from_millis(500);

/// Returns each kind of fault, among them answers just within and beyond the timeout [`READ`].
pub(crate) fn every_fault() -> [Fault; 13] {
    [
        Fault::Late(READ / 2),
        Fault::Status(429, Some("0.05")),
        Fault::Late(READ * 2),
        Fault::Status(503, None),
        Fault::Cut,
        Fault::None,
        Fault::Stall(READ * 2),
        Fault::Close,
        Fault::Malformed,
        Fault::None,
        Fault::ErrorInStream,
        Fault::Empty,
        Fault::Half,
    ]
}

/// Plays against a server with each kind of fault, among them answers just within and beyond the
/// timeout, and checks that every transmission is counted.
fn check_faults(name: &str, model: fn(&ModelRequest) -> ModelAnswer) {
    let Some(python) = python() else { return };
    let server = ModelServer::start(Faults::first(every_fault()), model);
    let folder = folder(&server);
    let models = folder.path().join("models.toml");
    let text = fs::read_to_string(&models).unwrap();
    let timeouts = format!("\ntimeouts = {{ read_s = {} }}\n", READ.as_secs_f64());
    fs::write(&models, text + &timeouts).unwrap();
    let agent = format!("{name}:big");
    let arguments = [
        "--agent", &agent, "--games", "kq19", "--budget", ACTIONS, "--out", "out",
    ];
    let summary = run(folder.path(), &python, &arguments).succeeded().json();
    let environment = &summary["environments"][0];
    assert_eq!(environment["levels_completed"], 2.0, "{name}");
    let served = server.served();
    let spent = &summary["spent"];
    assert_eq!(spent["calls"].as_u64(), Some(served.len() as u64), "{name}");
    // What the log knows is billed to the micro-dollar. The worst case of the rest covers its bill.
    let log = folder.path().join("out/recordings/1-kq19-v1.model.jsonl");
    let log = fs::read_to_string(log).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let ended: Vec<Value> = lines
        .filter(|line: &Value| line["event"] == "ended")
        .collect();
    assert_eq!(ended.len(), served.len(), "{name}");
    let known: Vec<&str> = ended
        .iter()
        .filter(|line| line["cost_usd"].is_number())
        .filter_map(|line| line["id"].as_str())
        .collect();
    let (known, unknown): (Vec<ServedRequest>, Vec<ServedRequest>) = served
        .into_iter()
        .partition(|entry| known.contains(&entry.id.as_deref().unwrap()));
    assert_eq!(micro(&spent["cost_usd"]), billed(&known), "{name}");
    let uncounted = spent["uncounted"].as_u64().unwrap();
    assert!(
        (4..=unknown.len() as u64).contains(&uncounted),
        "{name}: {spent}"
    );
    assert!(
        billed(&unknown) <= micro(&spent["possibly_paid_usd"]),
        "{name}"
    );
}

#[test]
fn rgb_counts_every_fault() {
    check_faults("rgb", rgb);
}

#[test]
fn duck_counts_every_fault() {
    check_faults("duck", duck);
}

#[test]
fn world_model_counts_every_fault() {
    check_faults("world-model", world_model);
}

#[test]
fn rlm_counts_every_fault() {
    check_faults("rlm", rlm);
}

#[test]
fn orchestrator_counts_every_fault() {
    check_faults("orchestrator", orchestrator);
}

#[test]
fn rgb_survives_limits_and_kills() {
    check("rgb", rgb);
}

#[test]
fn duck_survives_limits_and_kills() {
    check("duck", duck);
}

#[test]
fn world_model_survives_limits_and_kills() {
    check("world-model", world_model);
}

#[test]
fn rlm_survives_limits_and_kills() {
    check("rlm", rlm);
}

#[test]
fn orchestrator_survives_limits_and_kills() {
    check("orchestrator", orchestrator);
}
