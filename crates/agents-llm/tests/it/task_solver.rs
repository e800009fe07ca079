//! Static tasks, solved by scripted models that write programs.

use std::sync::Arc;
use std::time::Duration;

use rhae_agents::LoggedCalls;
use rhae_agents_llm::{ChatSettings, Engine, Limits, TaskOutcome, TaskSolver};
use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer};
use serde_json::{Value, json};

use crate::setup::{FORMS, LIMITS, player, python, settings};

/// A task whose rule adds one to each cell.
fn task() -> Value {
    json!({
        "train": [
            {"input": [[1, 2]], "output": [[2, 3]]},
            {"input": [[0], [4]], "output": [[1], [5]]},
        ],
        "test": [[[3, 3, 3]], [[7]]],
    })
}

/// Makes one attempt with a scripted model, and returns what the server was asked.
fn solve(
    form: (&str, &str, &str),
    limits: Limits,
    answer: impl Fn(&ModelRequest) -> ModelAnswer + Send + Sync + 'static,
) -> Option<(TaskOutcome, Vec<String>)> {
    let (outcome, bodies, _) = solve_with(Faults::mixed(10, 5), form, limits, answer)?;
    Some((outcome, bodies))
}

/// Also returns the largest number of requests that were sent at the same time.
fn solve_with(
    faults: Faults,
    form: (&str, &str, &str),
    limits: Limits,
    answer: impl Fn(&ModelRequest) -> ModelAnswer + Send + Sync + 'static,
) -> Option<(TaskOutcome, Vec<String>, usize)> {
    let python = python()?;
    let server = ModelServer::start(faults, answer);
    let player = Arc::new(player(&server, form));
    let chat = ChatSettings::of_model(&player.model, false, player.context_tokens);
    let runtime = settings(python, LIMITS).open().unwrap();
    let solver = TaskSolver::open(None, chat, runtime).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let attempt = || {
        let calls = LoggedCalls::open(&player, &folder.path().join("log")).unwrap();
        solver
            .solve(&task(), &mut Engine::new(calls, limits))
            .unwrap()
    };
    let outcome = attempt();
    let served = server.served();
    // A repeated attempt takes everything from the log.
    assert_eq!(attempt(), outcome);
    assert_eq!(server.served().len(), served.len());
    let bodies = served.iter().map(|entry| entry.body.to_string());
    let concurrent = server.max_concurrent_requests();
    Some((outcome, bodies.collect(), concurrent))
}

fn submit(code: &str) -> ModelAnswer {
    ModelAnswer::call("submit", &json!({"code": code, "explanation": "a rule"}))
}

const RIGHT: &str = "def transform(grid):\n    print('noise')\n    return [[cell + 1 for cell in row] for row in grid]";
/// A program that solves only the first pair.
const HALF: &str = "def transform(grid):\n    return [[2, 3]]";

#[test]
fn wrong_program_is_rejected_and_corrected_with_the_help_of_an_agent() {
    let limits = Limits {
        max_iterations: 25,
        ..Limits::default()
    };
    for form in [FORMS[0], FORMS[3]] {
        let solved = solve(form, limits, |request| {
            let last = &request.turns.last().unwrap().1;
            if request.tools.iter().any(|tool| tool == "report") {
                assert!(
                    !request
                        .tools
                        .iter()
                        .any(|tool| tool == "submit" || tool == "call_agent")
                );
                return if last.contains("Your task:") {
                    ModelAnswer::call(
                        "python",
                        &json!({"code": "check(lambda grid: [[cell + 1 for cell in row] for row in grid])"}),
                    )
                } else {
                    assert!(last.contains("'exact': True"), "{last}");
                    ModelAnswer::call("report", &json!({"value": {"delta": 1}}))
                };
            }
            match request.results.len() {
                0 => ModelAnswer::call("python", &json!({"code": "task['test'][1]"})),
                1 => submit(HALF),
                2 => {
                    assert!(
                        last.contains(
                            "rejected: training pair 2: the size is [1, 2], but should be [2, 1]"
                        ),
                        "{last}"
                    );
                    let returns = json!({"type": "object", "properties": {"delta": {"type": "integer"}}, "required": ["delta"]});
                    ModelAnswer::call(
                        "call_agent",
                        &json!({"task": "Which number is added?", "returns": returns}),
                    )
                }
                _ => {
                    assert_eq!(last, "{\"delta\":1}");
                    submit(RIGHT)
                }
            }
        });
        let Some((outcome, _)) = solved else { return };
        assert_eq!(
            outcome.grids,
            [Some(vec![vec![4, 4, 4]]), Some(vec![vec![8]])],
            "{form:?}"
        );
        assert_eq!(
            (outcome.train_solved, outcome.agents, outcome.limit),
            (2, 2, None)
        );
        assert_eq!(outcome.program.as_deref(), Some(RIGHT));
        assert!(
            outcome
                .texts
                .iter()
                .any(|text| text.contains("Which number is added?"))
        );
    }
}

#[test]
fn best_program_answers_when_the_requests_are_used_up() {
    let limits = Limits {
        max_iterations: 12,
        max_depth: 0,
        max_consecutive_errors: 50,
        ..Limits::default()
    };
    let programs = [
        "import os\nos.fork()",
        "transform = 5",
        "def other(grid): return grid",
        "def transform(grid:",
        HALF,
        "def transform(grid):\n    while True: pass",
        "import os\nos._exit(0)",
        "def transform(grid):\n    import socket\n    socket.socket()",
        "def transform(grid): return [[10]]",
        "def transform(grid): return grid",
        "host('judged', {'train': [{'exact': True}] * 9, 'test': 'none'})\ndef transform(grid): return 1",
    ];
    let solved = solve(FORMS[0], limits, move |request| {
        submit(programs[request.results.len().min(programs.len() - 1)])
    });
    let Some((outcome, bodies)) = solved else {
        return;
    };
    assert!(
        outcome
            .limit
            .is_some_and(|limit| limit.to_string().contains("12 requests"))
    );
    // The answer is that of the program that solves the most pairs.
    assert_eq!(outcome.program.as_deref(), Some(HALF));
    assert_eq!((outcome.grids.len(), outcome.train_solved), (2, 1));
    let all = bodies.join("\n");
    for expected in [
        "PermissionError",
        "'int' object is not callable",
        "does not define the function `transform`",
        "SyntaxError",
        "the program ended the interpreter",
        "a cell that is not from 0 to 9",
        "2 wrong cells: (0, 0) is 1, not 2",
        "Hand in your best program",
    ] {
        assert!(all.contains(expected), "{expected}");
    }
    assert!(all.contains("took more than 5 s") || all.contains("TimeLimit"));
    assert!(bodies.iter().all(|body| !body.contains("\"call_agent\"")));
}

#[test]
fn agents_of_one_reply_work_at_the_same_time() {
    let late = Faults::first(vec![Fault::Late(Duration::from_millis(80)); 13]);
    let limits = Limits {
        max_iterations: 25,
        ..Limits::default()
    };
    let solved = solve_with(late, FORMS[0], limits, |request| {
        let last = &request.turns.last().unwrap().1;
        if request.tools.iter().any(|tool| tool == "report") {
            let number = last.split("Part ").nth(1).unwrap().split(' ').next();
            return ModelAnswer::call("report", &json!({"value": {"summary": number}}));
        }
        match request.results.len() {
            // Eleven agents are one more than there may be, with the first one.
            0 => ModelAnswer {
                text: "I divide the work.".to_owned(),
                calls: (0..11)
                    .map(|part| {
                        let arguments = json!({"task": format!("Part {part} of the work")});
                        ("call_agent".to_owned(), arguments.to_string())
                    })
                    .collect(),
            },
            _ => {
                for (part, report) in request.results[..9].iter().enumerate() {
                    assert!(report.contains(&format!("\"{part}\"")), "{report}");
                }
                assert!(request.results[9].contains("do the work yourself"));
                submit(RIGHT)
            }
        }
    });
    let Some((outcome, bodies, concurrent)) = solved else {
        return;
    };
    assert_eq!((outcome.train_solved, outcome.agents), (2, 10));
    assert_eq!(bodies.len(), 2 + 9);
    assert!((2..=4).contains(&concurrent), "{concurrent}");
}
