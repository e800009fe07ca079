//! The agent `world-model` with scripted models that play.
//!
//! The scripted model knows the solutions of the first levels of kq19. Its program is a chain of the
//! frames along them: a small world model, but a real one, with decoder, step, renderer and goal.

use rhae_agents::AgentError;
use rhae_agents_llm::{HarnessAgent, PythonLimits};
use rhae_engine::{Action, ActionKind, Catalog as _};
use rhae_games::Builtin;
use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::setup::{FORMS, LIMITS, Played, play, player, python, settings};

/// Returns the actions that solve a level of kq19, from 0.
fn solution(level: usize) -> Vec<String> {
    let solutions = include_str!("../../../games/src/kq19/solutions.txt");
    let line = solutions.lines().nth(level).unwrap();
    line.split(' ').map(|id| format!("ACTION{id}")).collect()
}

/// Returns a program that predicts the first `levels` levels along their solutions. `wrong` changes
/// one cell of the frame after this many actions of the first level.
fn program(levels: usize, wrong: Option<usize>) -> String {
    let mut environment = Builtin.open("kq19", 0).unwrap();
    let mut chains = Vec::new();
    for level in 0..levels {
        let actions = solution(level);
        let mut frames = vec![rows(environment.observation())];
        for name in &actions {
            let action = ActionKind::from_name(name).unwrap().simple().unwrap();
            environment.act(action).unwrap();
            frames.push(rows(environment.observation()));
        }
        // The last frame shows the next level.
        frames.pop();
        chains.push(json!({"actions": actions, "frames": frames}));
    }
    let wrong = wrong.map_or(-1, |index| i64::try_from(index).unwrap());
    format!(
        "LEVELS = {}
WRONG = {wrong}

def decode(frame):
    rows = [''.join('%x' % cell for cell in row) for row in frame]
    for level, chain in enumerate(LEVELS):
        if rows in chain['frames']:
            return (level, chain['frames'].index(rows))
    raise ValueError('an unknown frame')

def step(state, action):
    level, index = state
    actions = LEVELS[level]['actions']
    if action != actions[index]:
        return state, 'RUNNING'
    if index + 1 == len(actions):
        return (level, -1), 'LEVEL_COMPLETED'
    return (level, index + 1), 'RUNNING'

def render(state):
    level, index = state
    frame = [[int(cell, 16) for cell in row] for row in LEVELS[level]['frames'][index]]
    if index == WRONG:
        frame[0][0] = (frame[0][0] + 1) % 16
    return frame

def is_goal(state):
    return state[1] == -1
",
        json!(chains)
    )
}

fn rows(observation: &rhae_engine::Observation) -> Vec<String> {
    let frame = observation.frames.frames().last().unwrap();
    let digit = |cell: &u8| char::from_digit(u32::from(*cell), 16).unwrap();
    frame
        .rows()
        .map(|row| row.iter().map(digit).collect())
        .collect()
}

/// A model that notes, submits a wrong program, corrects it after the counterexample, plans, and
/// commits the plan.
fn player_model(request: &ModelRequest) -> ModelAnswer {
    let last = &request.turns.last().unwrap().1;
    let call = |name: &str, arguments: Value| ModelAnswer::call(name, &arguments);
    if last.contains("You have not written notes") {
        return call("notes", json!({"text": "A heap and an outline."}));
    }
    if last == "noted" {
        let has_model = request
            .results
            .iter()
            .any(|result| result.contains("\"green\":true"));
        return if has_model {
            call("backtest", json!({}))
        } else if request
            .results
            .iter()
            .any(|result| result.contains("mispredicted"))
        {
            call("plan", json!({}))
        } else {
            call("write_model", json!({"code": program(3, Some(2))}))
        };
    }
    if last.contains("mispredicted") && last.contains("Offered actions") {
        // The counterexample names the cell; the model corrects its renderer.
        return call(
            "edit_model",
            json!({"old": "WRONG = 2", "new": "WRONG = -1"}),
        );
    }
    if last.contains("\"green\":true") {
        return call("plan", json!({"max_depth": 30}));
    }
    if let Ok(plan) = serde_json::from_str::<Value>(last)
        && plan["found"] == true
    {
        return call(
            "commit",
            json!({"actions": plan["actions"], "reason": "the plan"}),
        );
    }
    panic!("the scripted model has no answer to `{last}`")
}

fn agent(
    server: &ModelServer,
    form: (&str, &str, &str),
    limits: PythonLimits,
) -> Option<HarnessAgent> {
    let settings = settings(python()?, limits);
    let agent = HarnessAgent::open("world-model", player(server, form), None, &settings);
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
fn wrong_program_is_refuted_corrected_and_wins_three_levels() {
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
        let optimum: usize = (0..3).map(|level| solution(level).len()).sum();
        assert_eq!(played.actions.len(), optimum, "{form:?}");
        let served = server.served();
        assert_eq!(
            (played.spent.calls, tokens(&played)),
            (served.len() as u64, billed(&served))
        );
        // The queue stopped after the second action, where the program was wrong.
        let bodies: Vec<String> = served.iter().map(|entry| entry.body.to_string()).collect();
        assert!(
            bodies.iter().any(|body| body
                .contains("2 of 7 actions were executed. ACTION1 (step 2) was mispredicted")),
            "{form:?}"
        );
        assert!(
            bodies
                .last()
                .unwrap()
                .contains("15 of 15 actions were executed as predicted: LEVEL_COMPLETED")
        );
        assert!(
            played.reasoning[0].contains("green, 0 steps predicted exactly"),
            "{:?}",
            played.reasoning[0]
        );
    }
}

#[test]
fn faulty_server_changes_neither_actions_nor_counts() {
    let server = ModelServer::start(Faults::mixed(30, 2), player_model);
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
    // The play is abandoned within the queue after the correction.
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

#[test]
fn untrusted_programs_execute_one_action_and_hostile_ones_are_contained() {
    // Each entry is a call of the model, in order.
    let calls = [
        ("commit", json!({"actions": ["ACTION1"], "reason": "r"})),
        ("notes", json!({"text": "facts"})),
        (
            "commit",
            json!({"actions": ["ACTION6(1, 1)"], "reason": "r"}),
        ),
        ("plan", json!({})),
        ("write_model", json!({"code": "import os\nos.fork()"})),
        ("write_model", json!({"code": "while True: pass"})),
        (
            "write_model",
            json!({"code": "def step(s, a): return s, 'RUNNING'"}),
        ),
        ("history", json!({"first": 0})),
        ("objects", json!({})),
        (
            "commit",
            json!({"actions": ["ACTION1", "ACTION1", "ACTION4"], "reason": "a probe"}),
        ),
        ("edit_model", json!({"old": "nowhere", "new": "x"})),
        (
            "commit",
            json!({"actions": ["ACTION4"], "reason": "another"}),
        ),
    ];
    let server = ModelServer::start(Faults::none(), move |request| {
        let (name, arguments) = &calls[request.results.len().min(calls.len() - 1)];
        ModelAnswer::call(name, arguments)
    });
    let Some(agent) = agent(&server, FORMS[0], LIMITS) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 1, 3);
    assert_eq!(
        played.actions,
        [Action::Action1, Action::Action4, Action::Action4]
    );
    let results = results(&server.served().pop().unwrap().body);
    let expected = [
        "write notes for this level first",
        "noted",
        "is not an offered action",
        "there is no world model yet",
        "PermissionError",
        "TimeLimit",
        "does not define the function `decode`",
        "board after step 0:",
        "\"objects\":[",
        "The other 2 were not executed, because the backtest is not green.",
        "`old` must occur once",
    ];
    for (result, expected) in results.iter().zip(expected) {
        assert!(result.contains(expected), "{expected}: {result}");
    }
    assert!(results.len() > expected.len());
}

#[test]
fn model_that_never_commits_fails() {
    let server = ModelServer::start(Faults::none(), |_| "I am thinking.".to_owned());
    let Some(agent) = agent(&server, FORMS[3], LIMITS) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 1, 3);
    assert!(
        matches!(&played.error, Some(AgentError::Failed(reason)) if reason.contains("did not act in 6")),
        "{played:?}"
    );
}

/// Returns the results of tools in a request of the Chat Completions API.
fn results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}
