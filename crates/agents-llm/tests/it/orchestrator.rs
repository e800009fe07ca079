//! The agent `orchestrator` with scripted models that play.
//!
//! The scripted orchestrator starts an explorer, a theorist, a tester and a solver on the first
//! level and asks the solver again on later ones. The agents know the stored solutions of kq19.

use std::collections::BTreeSet;
use std::time::Duration;

use rhae_agents::AgentError;
use rhae_agents_llm::{HarnessAgent, Limits, PythonLimits};
use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::setup::{FORMS, LIMITS, Played, play, player, python, settings};

/// The code with which an agent finds out where the play is.
const WHERE: &str = "done = [step for step in history if step.action]
level = 1 + sum(step.status == 'LEVEL_COMPLETED' for step in done)
print('STATE', level, sum(step.level == level for step in done))";

/// Returns the rest of the solution of the level in `STATE LEVEL DONE`.
fn rest_of_solution(state: &str) -> Vec<String> {
    let (level, done) = state.trim().split_once(' ').unwrap();
    let solutions = include_str!("../../../games/src/kq19/solutions.txt");
    let solution = solutions.lines().nth(level.parse::<usize>().unwrap() - 1);
    let ids = solution.unwrap().split(' ').skip(done.parse().unwrap());
    ids.map(|id| format!("ACTION{id}")).collect()
}

fn optimum(levels: usize) -> usize {
    let solutions = include_str!("../../../games/src/kq19/solutions.txt");
    let lengths = solutions.lines().take(levels);
    lengths.map(|line| line.split(' ').count()).sum()
}

/// The scripted models of all roles.
fn player_model(request: &ModelRequest) -> ModelAnswer {
    let offers = |tool: &str| request.tools.iter().any(|name| name == tool);
    if offers("spawn") {
        assert!(!offers("act") && !offers("report"), "it cannot act");
        return orchestrator(request);
    }
    member(request, offers("act"))
}

/// Explores, theorises, tests and solves; then asks the solver again for each level.
fn orchestrator(request: &ModelRequest) -> ModelAnswer {
    let plan = json!({"type": "object", "properties": {"works": {"type": "boolean"}}, "required": ["works"]});
    let calls = [
        (
            "spawn",
            json!({"role": "explorer", "task": "Do one action.", "actions": 1}),
        ),
        ("spawn", json!({"role": "theorist", "task": "Explain it."})),
        (
            "spawn",
            json!({"role": "tester", "task": "Try one action.", "actions": 1, "returns": plan}),
        ),
        (
            "spawn",
            json!({"role": "solver", "task": "Complete the level.", "returns": plan}),
        ),
    ];
    match calls.get(request.results.len()) {
        Some((name, arguments)) => ModelAnswer::call(name, arguments),
        None => ModelAnswer::call(
            "ask",
            &json!({"agent": "solver-4", "task": "Complete the next level.", "returns": plan}),
        ),
    }
}

/// Looks where the play is, acts, remembers, and reports, first in a wrong form.
fn member(request: &ModelRequest, can_act: bool) -> ModelAnswer {
    let last = &request.turns.last().unwrap().1;
    let has_typed = |text: &str| text.contains("\"works\"");
    let mut turns = request.turns.iter();
    let task = turns.rfind(|(is_model, text)| !is_model && text.contains("Your task:"));
    let task = &task.unwrap().1;
    let value = if has_typed(task) {
        json!({"works": true})
    } else {
        json!({"summary": "it moves"})
    };
    if last.contains("Your task:") {
        return ModelAnswer::call("python", &json!({"code": WHERE}));
    }
    if let Some(state) = last.strip_prefix("STATE ") {
        if can_act {
            let actions = rest_of_solution(state);
            return ModelAnswer::call(
                "act",
                &json!({"actions": actions, "reason": "the solution"}),
            );
        }
        return ModelAnswer::call(
            "remember",
            &json!({"summary": "a block moves", "details": "seen once"}),
        );
    }
    if last.starts_with("stored") || last.contains("actions were executed") {
        let wrong = json!({"value": {"summary": 5, "works": "yes"}});
        return ModelAnswer::call("report", &wrong);
    }
    if last.contains("must be of the type") {
        return ModelAnswer::call("report", &json!({"value": value}));
    }
    panic!("the scripted model has no answer to `{last}`")
}

fn agent(
    server: &ModelServer,
    form: (&str, &str, &str),
    limits: PythonLimits,
) -> Option<HarnessAgent> {
    let settings = settings(python()?, limits);
    let agent = HarnessAgent::open("orchestrator", player(server, form), None, &settings);
    Some(agent.unwrap())
}

fn billed(served: &[ServedRequest]) -> u64 {
    let tokens = |entry: &ServedRequest| entry.input_tokens + entry.output_tokens;
    served.iter().map(tokens).sum()
}

fn tokens(played: &Played) -> u64 {
    played.spent.input_tokens + played.spent.output_tokens
}

#[test]
fn agents_of_all_roles_complete_three_levels() {
    for form in [FORMS[0], FORMS[2]] {
        let server = ModelServer::start(Faults::none(), player_model);
        let Some(agent) = agent(&server, form, PythonLimits::default()) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let played = play(&agent, "kq19", &folder.path().join("log"), 3, 100);
        assert_eq!(
            (played.levels_completed, &played.error),
            (3, &None),
            "{form:?}"
        );
        assert_eq!(played.actions.len(), optimum(3), "{form:?}");
        let served = server.served();
        assert_eq!(
            (played.spent.calls, tokens(&played)),
            (served.len() as u64, billed(&served)),
            "{form:?}"
        );
        // The recording says which agent acted, for which task, and what the team believed.
        let first: Value = serde_json::from_str(&played.reasoning[0]).unwrap();
        assert_eq!(
            (&first["agent"], &first["task"]),
            (&json!("explorer-1"), &json!("Do one action."))
        );
        assert_eq!(first["reason"], "the solution");
        assert!(first["context_tokens"].as_u64().unwrap() > 500);
        let third: Value = serde_json::from_str(&played.reasoning[2]).unwrap();
        assert_eq!(third["agent"], "solver-4");
        assert!(
            third["memories"]
                .as_str()
                .unwrap()
                .contains("a block moves")
        );
        // Budgets hold: the explorer asked for a whole solution, but had one action.
        let bodies: Vec<String> = served.iter().map(|entry| entry.body.to_string()).collect();
        assert!(bodies.iter().any(|body| body.contains("1 of 7 actions were executed: your actions are used up")));
        assert!(
            bodies
                .iter()
                .any(|body| body.contains("the level is completed; report now"))
        );
    }
}

/// Returns the number in `Part N of the work` in the last task of an agent.
fn part(request: &ModelRequest) -> Option<String> {
    let said = request.turns.iter().rev();
    let mut tasks = said.filter(|(is_model, text)| !is_model && text.contains("Your task:"));
    let part = tasks.next()?.1.split("Part ").nth(1)?;
    Some(part.split(' ').next().unwrap().to_owned())
}

/// Gives several tasks in one reply: first three without actions and one with, then three to agents
/// that exist, two of them to the same one. The agents remember their part of the work and report it.
fn parallel_team(request: &ModelRequest) -> ModelAnswer {
    let several = |calls: Vec<(&str, Value)>| ModelAnswer {
        text: "I divide the work.".to_owned(),
        calls: calls
            .into_iter()
            .map(|(name, arguments)| (name.to_owned(), arguments.to_string()))
            .collect(),
    };
    let work = |number: u32| format!("Part {number} of the work");
    if request.tools.iter().any(|tool| tool == "spawn") {
        return match request.results.len() {
            0 => several(vec![
                ("spawn", json!({"role": "theorist", "task": work(0)})),
                (
                    "spawn",
                    json!({"role": "tester", "task": work(1), "actions": 0}),
                ),
                ("spawn", json!({"role": "theorist", "task": work(2)})),
                (
                    "spawn",
                    json!({"role": "explorer", "task": "Do one action.", "actions": 1}),
                ),
            ]),
            4 => several(vec![
                ("ask", json!({"agent": "theorist-3", "task": work(3)})),
                ("ask", json!({"agent": "theorist-1", "task": work(4)})),
                ("ask", json!({"agent": "theorist-3", "task": work(5)})),
            ]),
            7 => ModelAnswer::call(
                "spawn",
                &json!({"role": "solver", "task": "Complete the level."}),
            ),
            _ => "done".to_owned().into(),
        };
    }
    let Some(part) = part(request) else {
        return member(request, true);
    };
    let last = &request.turns.last().unwrap().1;
    if last.contains("Your task:") {
        let idea = format!("idea of part {part}");
        return ModelAnswer::call("remember", &json!({"summary": idea}));
    }
    if last.starts_with("stored") {
        // Its code knows the history.
        return ModelAnswer::call("python", &json!({"code": "print('steps', len(history))"}));
    }
    ModelAnswer::call(
        "report",
        &json!({"value": {"summary": format!("part {part}: {last}")}}),
    )
}

#[test]
fn tasks_without_actions_run_at_the_same_time() {
    let late = Faults::first(vec![Fault::Late(Duration::from_millis(80)); 20]);
    let server = ModelServer::start(late, parallel_team);
    let Some(agent) = agent(&server, FORMS[2], PythonLimits::default()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let played = play(&agent, "kq19", &log, 1, 100);
    assert_eq!((played.levels_completed, &played.error), (1, &None));
    let concurrent = server.max_concurrent_requests();
    assert!((2..=3).contains(&concurrent), "{concurrent}");
    let served = server.served();
    assert_eq!(
        (played.spent.calls, tokens(&played)),
        (served.len() as u64, billed(&served))
    );
    // The reports have the order of the tasks. The agents saw the board before the explorer acted,
    // and the board after it in their second task.
    let is_lead = |entry: &&ServedRequest| entry.body.to_string().contains("Starts a new agent");
    let lead: Vec<String> = served
        .iter()
        .filter(is_lead)
        .map(|entry| entry.body.to_string())
        .collect();
    let position = |text: &str| {
        let found = lead[2].find(text);
        found.unwrap_or_else(|| panic!("`{text}` is not in\n{}", lead[2]))
    };
    let reports = [0, 1, 2, 3, 4, 5].map(|part| {
        let steps = if part < 3 { 1 } else { 2 };
        position(&format!("part {part}: steps {steps}"))
    });
    assert!(reports.is_sorted(), "{reports:?}");
    // The memories of all agents remain, each with a different number. The solver gets them.
    let bodies: String = served.iter().map(|entry| entry.body.to_string()).collect();
    for part in 0..6 {
        assert!(
            bodies.contains(&format!("): idea of part {part}")),
            "{part}"
        );
    }
    let numbers = bodies.split("stored as memory ").skip(1);
    let numbers: BTreeSet<u32> = numbers
        .map(|rest| {
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        })
        .map(|number| number.parse().unwrap())
        .collect();
    assert_eq!(numbers.len(), 6, "{numbers:?}");
    // A resumed play repeats everything from the log, whatever the order of the answers was.
    let repeated = play(&agent, "kq19", &log, 1, 100);
    assert_eq!(repeated.actions, played.actions);
    assert_eq!(repeated.reasoning, played.reasoning);
    assert_eq!(server.served().len(), served.len());
}

#[test]
fn role_has_a_model_of_its_own() {
    let server = ModelServer::start(Faults::none(), player_model);
    let other = ModelServer::start(Faults::none(), player_model);
    let Some(agent) = agent(&server, FORMS[0], PythonLimits::default()) else {
        return;
    };
    let small = player(&other, FORMS[2]).model;
    let roles = |role: &str| [(role.to_owned(), small.clone())].into();
    let agent = agent.with_role_models(roles("theorist")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let played = play(&agent, "kq19", &log, 1, 100);
    assert_eq!((played.levels_completed, &played.error), (1, &None));
    // The theorist looks, remembers, and reports twice.
    let (own, others) = (server.served(), other.served());
    assert_eq!(others.len(), 4);
    assert_eq!(tokens(&played), billed(&own) + billed(&others));
    assert_eq!(played.spent.calls, (own.len() + 4) as u64);
    let repeated = play(&agent, "kq19", &log, 1, 100);
    assert_eq!(
        (
            repeated.actions,
            server.served().len(),
            other.served().len()
        ),
        (played.actions, own.len(), 4)
    );
    let error = agent
        .with_role_models(roles("cook"))
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("`cook` is not a role") && error.contains("theorist"),
        "{error}"
    );
}

#[test]
fn faulty_server_changes_neither_actions_nor_counts() {
    let server = ModelServer::start(Faults::mixed(30, 4), player_model);
    let Some(agent) = agent(&server, FORMS[1], PythonLimits::default()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 2, 100);
    assert_eq!((played.levels_completed, &played.error), (2, &None));
    let served = server.served();
    assert!(served.iter().any(|entry| entry.fault != Fault::None));
    assert_eq!(played.spent.calls, served.len() as u64);
}

#[test]
fn resumed_play_requests_no_logged_answer_again() {
    let server = ModelServer::start(Faults::none(), player_model);
    let Some(agent) = agent(&server, FORMS[0], PythonLimits::default()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // The play is abandoned within the task of the solver.
    let first = play(&agent, "kq19", &log, 1, 4);
    let sent = server.served().len();
    let repeated = play(&agent, "kq19", &log, 1, 4);
    assert_eq!(
        (repeated.actions, server.served().len()),
        (first.actions.clone(), sent)
    );
    let resumed = play(&agent, "kq19", &log, 2, 100);
    assert_eq!(
        (resumed.levels_completed, &resumed.actions[..4]),
        (2, &first.actions[..])
    );
    assert_eq!(tokens(&resumed), billed(&server.served()));
}

/// Plays with an orchestrator that only sends these calls, and members that send `own`.
fn play_calls(
    calls: Vec<(&'static str, Value)>,
    own: Vec<(&'static str, Value)>,
) -> Option<(Played, Vec<String>)> {
    let server = ModelServer::start(Faults::none(), move |request| {
        let is_orchestrator = request.tools.iter().any(|tool| tool == "spawn");
        let list = if is_orchestrator { &calls } else { &own };
        match list.get(request.results.len()) {
            Some((name, arguments)) => ModelAnswer::call(name, arguments),
            None => "done".to_owned().into(),
        }
    });
    let agent = agent(&server, FORMS[0], LIMITS)?;
    let agent = agent.with_limits(Limits {
        max_iterations: 20,
        max_consecutive_errors: 50,
        ..Limits::default()
    });
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 1, 20);
    let served = server.served();
    Some((
        played,
        served.iter().map(|entry| entry.body.to_string()).collect(),
    ))
}

#[test]
fn mistakes_and_hostile_code_of_agents_are_contained() {
    let task = |role: &str| json!({"role": role, "task": "t", "actions": 3});
    let calls = vec![
        ("spawn", task("cook")),
        ("act", json!({"actions": ["ACTION1"], "reason": "r"})),
        ("ask", json!({"agent": "solver-9", "task": "t"})),
        (
            "spawn",
            json!({"role": "solver", "task": "t", "returns": {"type": "text"}}),
        ),
        ("spawn", task("tester")),
        ("dismiss", json!({"agent": "tester-1"})),
        ("ask", json!({"agent": "tester-1", "task": "t"})),
        ("python", json!({"code": "import os\nos.fork()"})),
        ("look", json!({"at": "yesterday"})),
    ];
    let own = vec![
        ("act", json!({"actions": ["RESET"], "reason": "r"})),
        ("act", json!({"actions": ["ACTION9"], "reason": "r"})),
        ("python", json!({"code": "import socket\nsocket.socket()"})),
        ("python", json!({"code": "open('/etc/passwd').read()"})),
        ("python", json!({"code": "while True: pass"})),
        ("python", json!({"code": "print('x' * 10**8)"})),
        ("spawn", task("solver")),
        ("report", json!({"value": "prose"})),
    ];
    let Some((played, bodies)) = play_calls(calls, own) else {
        return;
    };
    // Nothing was acted, so the play fails after a bounded number of turns.
    assert!(
        matches!(&played.error, Some(AgentError::Failed(why)) if why.contains("no agent acted in 4 turns")),
        "{:?}",
        played.error
    );
    assert!(played.actions.is_empty());
    let all = bodies.join("\n");
    for expected in [
        "`role` must be one of explorer, theorist, tester, solver",
        "there is no tool `act`",
        "there is no agent `solver-9`; the agents are (none)",
        "`returns.type` must be one of object",
        "no report in 3 answers",
        "tester-1 is dismissed",
        "there is no agent `tester-1`",
        "PermissionError",
        "`at` must be `now`",
        "RESET has no effect here",
        "`ACTION9` is not an offered action",
        "TimeLimit",
        "characters are left out",
        "there is no tool `spawn`",
        "`value` must be of the type object",
    ] {
        assert!(all.contains(expected), "{expected}");
    }
    assert!(bodies.iter().map(String::len).max().unwrap() < 100_000);
}
