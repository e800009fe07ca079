//! Solvers that hold conversations, against a server with each kind of fault.

use std::fs;

use rhae_testkit::{Faults, ModelAnswer, ModelRequest, ModelServer};
use serde_json::json;

use crate::agents_killed::{READ, every_fault};
use crate::agents_with_tools::python;
use crate::arc_model::{journal, write_tasks};
use crate::arc_rlm::{assert_books_agree, assert_no_reply_is_repeated, rhae, write_server};

fn check(solver: &str, model: fn(&ModelRequest) -> ModelAnswer) {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    write_tasks(folder.path(), 4);
    let server = ModelServer::start(Faults::first(every_fault()), model);
    write_server(folder.path(), &server);
    let models = folder.path().join("models.toml");
    let text = fs::read_to_string(&models).unwrap();
    let timeouts = format!("timeouts = {{ read_s = {} }}\n", READ.as_secs_f64());
    fs::write(&models, text + &timeouts).unwrap();
    let python = python.to_str().unwrap();
    let arguments = [
        "arc",
        "eval",
        "--solver",
        solver,
        "--data",
        "tasks.json",
        "--jobs",
        "2",
        "--python",
        python,
        "--out",
        "run",
        "--json",
    ];
    let results = rhae(folder.path(), &arguments).succeeded().json();
    assert_eq!(results["finished"], json!(true), "{solver}");
    assert_eq!(results["tasks_solved"]["count"], 4, "{solver}");
    let lines = journal(folder.path());
    assert_no_reply_is_repeated(&lines);
    // Answers that came too late and broken streams have an unknown cost.
    assert!(
        results["possibly_paid_usd"].as_f64().unwrap() > 0.0,
        "{solver}"
    );
    assert_books_agree(&lines, &results, &server);
}

#[test]
fn rlm_counts_every_fault() {
    check("rlm:m", |_| {
        let code = "const task = JSON.parse(context);
const grids = task.test.map((test) => test.input.map((row) => row.map((cell) => cell + 1)));
return(grids.length === 1 ? grids[0] : grids)";
        format!("```js\n{code}\n```").into()
    });
}

#[test]
fn orchestrator_counts_every_fault() {
    check("orchestrator:m", |_| {
        let code = "def transform(grid):\n    return [[cell + 1 for cell in row] for row in grid]";
        ModelAnswer::call("submit", &json!({"code": code, "explanation": "a rule"}))
    });
}
