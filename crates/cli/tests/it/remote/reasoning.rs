//! What a server shows of the agents that play on it: their reasoning, requests and cost.

use std::fs;
use std::path::Path;

use rhae_testkit::{Faults, ModelServer};
use serde_json::{Value, json};

use crate::agents_with_tools::{folder, player_model, python, read, run};
use crate::serve::process::ServerProcess;

/// Plays kq19 on a server with an agent of a scripted model. Returns the summary of the run.
fn play(folder: &Path, python: &Path, serving: &ServerProcess, agent: &str) -> Value {
    let arguments = [
        "--agent", agent, "--games", "kq19", "--out", "out", "--budget", "22",
    ];
    let server = ["--server", &serving.url, "--key", "k"];
    run(folder, python, &[&arguments[..], &server].concat())
        .succeeded()
        .json()
}

/// Returns what the server's replay of the only play is made of.
fn part(folder: &Path, serving: &ServerProcess, part: &str) -> Value {
    let record = read(&folder.join("out/server.json"));
    let card = &record["cards"][0];
    assert_eq!(card["differences"], json!([]));
    let guid = card["plays"][0]["guid"].as_str().unwrap();
    let path = format!("/replay/{guid}/{part}");
    serving.remote().get(&path).unwrap()
}

/// Returns the rows of requests that the recording of the agent implies.
fn recorded_rows(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("out/recordings/1-kq19-v1.jsonl")).unwrap();
    let lines = text.lines().skip(1).enumerate();
    let mut total = 0.0;
    let rows = lines.filter_map(|(index, line)| {
        let line: Value = serde_json::from_str(line).unwrap();
        let usage = line.get("usage")?;
        let cost = line["cost_usd"].as_f64().unwrap();
        total += cost;
        let requests = line["reasoning"]["requests"].as_array().unwrap();
        let context = requests
            .iter()
            .rev()
            .find_map(|one| one.get("context_tokens"));
        let counts = [
            &usage["calls"],
            &usage["input_tokens"],
            &usage["output_tokens"],
        ];
        Some(json!([
            index, counts[0], counts[1], counts[2], cost, total, context
        ]))
    });
    rows.collect()
}

#[test]
fn server_shows_the_requests_tools_and_cost_of_an_agent() {
    let Some(python) = python() else { return };
    let model = ModelServer::start(Faults::mixed(20, 3), player_model);
    let folder = folder(&model);
    let folder = folder.path();
    let serving = ServerProcess::start(folder, "127.0.0.1:0", &[]);
    let summary = play(folder, &python, &serving, "rgb:big");
    assert_eq!(summary["environments"][0]["levels_completed"], 2.0);
    let shown = part(folder, &serving, "work");
    let rows = shown.as_array().unwrap();
    let recorded = recorded_rows(folder);
    assert!(recorded.len() >= 4);
    assert_eq!(rows, &recorded);
    // What the last action does not report was spent after it.
    let calls: u64 = rows.iter().map(|row| row[1].as_u64().unwrap()).sum();
    assert!(calls <= summary["spent"]["calls"].as_u64().unwrap());
    let said = part(folder, &serving, "reasoning?from=0").to_string();
    assert!(said.contains("CALL OF python") && said.contains("print('STATE'"));
    assert!(!said.contains("spent"), "{said}");
}

#[test]
fn server_that_rejects_reasoning_gets_the_actions_without_it() {
    let Some(python) = python() else { return };
    let model = ModelServer::start(Faults::none(), player_model);
    let folder = folder(&model);
    let folder = folder.path();
    let limit = ["--extra-bytes", "64"];
    let serving = ServerProcess::start(folder, "127.0.0.1:0", &limit);
    let summary = play(folder, &python, &serving, "rgb:big");
    assert_eq!(summary["environments"][0]["levels_completed"], 2.0);
    assert_eq!(part(folder, &serving, "work"), json!([]));
    assert_eq!(
        part(folder, &serving, "reasoning?from=0")["said"],
        json!([])
    );
}
