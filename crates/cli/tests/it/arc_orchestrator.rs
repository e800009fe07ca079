//! `rhae arc eval --solver orchestrator:NAME`: a model that solves tasks with programs, killed and
//! resumed.

use rhae_testkit::{Faults, ModelAnswer, ModelRequest, ModelServer};
use serde_json::json;

use crate::agents_with_tools::python;
use crate::arc_model::{journal, write_tasks};
use crate::arc_rlm::{assert_no_reply_is_repeated, kill_at, lines_of, rhae, write_server};

/// Submits a program that fails on the training pair, then the right one.
fn scripted(request: &ModelRequest) -> ModelAnswer {
    let submit = |body: &str| {
        let code = format!("def transform(grid):\n    return {body}");
        ModelAnswer::call("submit", &json!({"code": code, "explanation": "a rule"}))
    };
    match request.results.first() {
        None => submit("grid"),
        Some(result) => {
            assert!(
                result.contains("rejected: training pair 1: 2 wrong cells"),
                "{result}"
            );
            submit("[[cell + 1 for cell in row] for row in grid]")
        }
    }
}

#[test]
fn tasks_are_solved_with_checked_programs_across_kills() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let tests = write_tasks(folder.path(), 8);
    let server = ModelServer::start(Faults::mixed(15, 7), scripted);
    write_server(folder.path(), &server);
    let python = ["--python", python.to_str().unwrap()];
    let start = [
        "arc",
        "eval",
        "--solver",
        "orchestrator:m",
        "--data",
        "tasks.json",
        "--jobs",
        "4",
        "--out",
        "run",
        "--json",
    ];
    let resume = ["arc", "eval", "--resume", "run", "--json"];
    kill_at(folder.path(), &[&start[..], &python].concat(), "reply", 5);
    kill_at(
        folder.path(),
        &[&resume[..], &python].concat(),
        "effect",
        15,
    );
    let results = rhae(folder.path(), &[&resume[..], &python].concat())
        .succeeded()
        .json();
    assert_eq!(
        (&results["finished"], &results["tasks"]),
        (&json!(true), &json!(8))
    );
    assert_eq!(results["test_inputs"], json!(tests));
    assert_eq!(results["headline"], "mean_task_score");
    assert_eq!(results["tasks_solved"]["count"], 8);
    // Two attempts at each task, with two programs each.
    let lines = journal(folder.path());
    let replies = assert_no_reply_is_repeated(&lines);
    let is_empty = |line: &&&serde_json::Value| {
        line["reply"]["text"] == ""
            && line["reply"]["tool_calls"]
                .as_array()
                .is_none_or(Vec::is_empty)
    };
    let empty = lines_of(&lines, "reply").iter().filter(is_empty).count();
    assert_eq!(replies - empty, 32);
    assert_eq!(lines_of(&lines, "answered").len(), 16);
    let how = &results["results"][0]["how"];
    if let Some(how) = how.as_str() {
        assert_eq!(
            how,
            "a program that solves 1 of 1 training pairs, by 1 agent"
        );
    }
}
