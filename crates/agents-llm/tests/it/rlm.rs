//! The agent `rlm` with scripted models that play, and call themselves.

use std::time::Duration;

use rhae_agents::AgentError;
use rhae_agents_llm::{HarnessAgent, Limits, PythonSettings};
use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::setup::{FORMS, play, player};

/// Returns the actions that solve the levels of kq19.
fn solutions() -> Vec<Vec<String>> {
    let solutions = include_str!("../../../games/src/kq19/solutions.txt");
    let actions = |line: &str| line.split(' ').map(|id| format!("ACTION{id}")).collect();
    solutions.lines().map(actions).collect()
}

fn code(text: &str) -> ModelAnswer {
    format!("I write code.\n```js\n{text}\n```").into()
}

/// A model that passes the plan of a level through two nested calls, and executes it.
fn player_model(request: &ModelRequest) -> ModelAnswer {
    let query = &request.turns[0].1;
    let replies = request.turns.iter().filter(|(is_model, _)| *is_model);
    let replies = replies.count();
    match (query.split_whitespace().next(), replies) {
        (Some("PLAIN"), _) => "plain answer".to_owned().into(),
        // The first return is not accepted, because nothing was verified.
        (Some("ECHO"), 0) => code("return('too early')"),
        (Some("ECHO"), _) => {
            assert!(request.turns.last().unwrap().1.contains("too early"));
            code("const plain = await rlm('PLAIN', {a: 1}); return({plan: context, plain, depth: __rlm.depth, shared: __ctx.shared.level})")
        }
        (_, 0) => code(&format!(
            "const plans = {};
const answer = await rlm('ECHO', plans[context.level - 1]);
const before = env.frame();
print(answer.plain, answer.depth, answer.shared, before.length, segment(before).length === segment().length, JSON.stringify(context.notes))",
            json!(solutions())
        )),
        _ => code(
            "let r; for (const action of answer.plan) r = env.step(action);
return({completed: r.levelCompleted, changed: diff(before, env.frame()).length, steps: env.history(3).length})",
        ),
    }
}

fn agent(server: &ModelServer, form: (&str, &str, &str)) -> HarnessAgent {
    let settings = PythonSettings {
        launcher: vec![env!("CARGO_BIN_EXE_rhae-code-sandboxed").into()],
        ..PythonSettings::default()
    };
    HarnessAgent::open("rlm", player(server, form), None, &settings).unwrap()
}

fn billed(served: &[ServedRequest]) -> u64 {
    let tokens = |entry: &ServedRequest| entry.input_tokens + entry.output_tokens;
    served.iter().map(tokens).sum()
}

/// Returns the last turn of the user in a request of the Chat Completions API.
fn last_turn(body: &Value) -> String {
    body["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
}

#[test]
fn scripted_model_completes_three_levels_in_every_format() {
    for form in FORMS {
        let server = ModelServer::start(Faults::none(), player_model);
        let folder = tempfile::tempdir().unwrap();
        let agent = agent(&server, form);
        let played = play(&agent, "kq19", &folder.path().join("log"), 3, 100);
        assert_eq!(
            (played.levels_completed, &played.error),
            (3, &None),
            "{form:?}"
        );
        let optimum: usize = solutions()[..3].iter().map(Vec::len).sum();
        assert_eq!(played.actions.len(), optimum, "{form:?}");
        // For each level two requests of the root, two of the call and one of the nested call.
        let served = server.served();
        assert_eq!(served.len(), 15, "{form:?}");
        assert_eq!(played.spent.calls, 15);
        let tokens = played.spent.input_tokens + played.spent.output_tokens;
        assert_eq!(tokens, billed(&served), "{form:?}");
        assert!(played.reasoning[0].contains("I write code"));
        if form.0 == "openai-chat" {
            let last = last_turn(&served[14].body);
            assert!(
                last.contains("plain answer 1 3 64 true {\\\"completed\\\":true"),
                "{last}"
            );
        }
    }
}

#[test]
fn faulty_server_changes_neither_actions_nor_counts() {
    let server = ModelServer::start(Faults::mixed(35, 5), player_model);
    let folder = tempfile::tempdir().unwrap();
    let agent = agent(&server, FORMS[2]);
    let played = play(&agent, "kq19", &folder.path().join("log"), 2, 100);
    assert_eq!((played.levels_completed, &played.error), (2, &None));
    let served = server.served();
    assert!(served.iter().any(|entry| entry.fault != Fault::None));
    assert_eq!(played.spent.calls, served.len() as u64);
}

#[test]
fn resumed_play_requests_no_logged_answer_again() {
    let server = ModelServer::start(Faults::none(), player_model);
    let agent = agent(&server, FORMS[0]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // The play is abandoned between two actions of one execution.
    let first = play(&agent, "kq19", &log, 1, 3);
    let sent = server.served().len();
    assert_eq!((first.actions.len(), sent), (3, 5));
    let resumed = play(&agent, "kq19", &log, 2, 100);
    assert_eq!(
        (resumed.levels_completed, &resumed.actions[..3]),
        (2, &first.actions[..])
    );
    assert_eq!(server.served().len(), 10);
    let tokens = resumed.spent.input_tokens + resumed.spent.output_tokens;
    assert_eq!(tokens, billed(&server.served()));
}

#[test]
fn mistakes_are_explained_and_a_model_that_never_acts_fails() {
    let server = ModelServer::start(Faults::none(), |request| {
        let replies = request.turns.iter().filter(|(is_model, _)| *is_model);
        match replies.count() {
            0 => "I think.".to_owned().into(),
            1 => "```js\nenv.step('ACTION9')\n```\n```js\nenv.step('ACTION1')\n```"
                .to_owned()
                .into(),
            2 => code("env.frameAt(7)"),
            3 => code("segment([[1]])"),
            _ => code("return('nothing')"),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let agent = agent(&server, FORMS[0]);
    let played = play(&agent, "kq19", &folder.path().join("log"), 1, 4);
    assert!(
        matches!(&played.error, Some(AgentError::Failed(reason)) if reason.contains("did not act in 3 invocations")),
        "{played:?}"
    );
    let served = server.served();
    assert_eq!(served.len(), 15);
    for (request, expected) in [
        (1, "no code block"),
        (2, "not an offered action"),
        (3, "the steps are 0 to 0"),
        (4, "64 rows of 64 numbers"),
    ] {
        let last = last_turn(&served[request].body);
        assert!(last.contains(expected), "{last}");
    }
    assert!(last_turn(&served[2].body).contains("1 more were ignored"));
}

#[test]
fn lost_level_is_restarted_by_the_next_step() {
    let server = ModelServer::start(Faults::none(), |request| {
        let replies = request.turns.iter().filter(|(is_model, _)| *is_model);
        match replies.count() {
            0 => code(&format!(
                "for (const a of {}) env.step(a)",
                json!(solutions()[0])
            )),
            // It moves against a wall until the bar of level 2 is empty.
            _ => code(
                "let r; do { r = env.step('ACTION2') } while (!r.gameOver); r = env.step('ACTION1'); print(r.action, r.gameOver); env.step('ACTION1')",
            ),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let agent = agent(&server, FORMS[0]);
    let played = play(&agent, "kq19", &folder.path().join("log"), 2, 54);
    // The restart takes the place of ACTION1, and the code continues with the new level.
    let mut actions = played.actions.iter();
    let lost_at = actions.position(|action| *action == rhae_engine::Action::Reset);
    assert!(lost_at.unwrap() > 7 + 10, "{played:?}");
    assert_eq!(actions.next(), Some(&rhae_engine::Action::Action1));
}

/// A model that starts three calls together, each of which starts two plain ones.
fn parallel_model(request: &ModelRequest) -> ModelAnswer {
    let query = request.turns[0].1.clone();
    let replies = request.turns.iter().filter(|(is_model, _)| *is_model);
    let replies = replies.count();
    match (query.split_whitespace().next(), replies) {
        (Some("PLAIN"), _) => query.lines().last().unwrap().to_uppercase().into(),
        (Some("PART"), 0) => code("print(context)"),
        (Some("PART"), _) => code(
            "const both = await Promise.all(['a', 'b'].map((side) => rlm('PLAIN', context + side)));
return(both.join('+'))",
        ),
        (_, 0) => code(
            "const parts = await Promise.all([0, 1, 2].map((part) => rlm('PART', 'p' + part)));
print('PARTS', parts.join(' '))",
        ),
        _ => code(&format!(
            "for (const action of {}) env.step(action); return(parts)",
            json!(solutions()[0])
        )),
    }
}

#[test]
fn calls_that_are_started_together_run_at_the_same_time() {
    let late = |number: u64| Fault::Late(Duration::from_millis(30 + 7 * (number % 5)));
    let server = ModelServer::start(Faults::first((0..14).map(late)), parallel_model);
    let agent = agent(&server, FORMS[0]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let played = play(&agent, "kq19", &log, 1, 20);
    assert_eq!((played.levels_completed, &played.error), (1, &None));
    let served = server.served();
    // Two requests of the root, two of each of three calls, and two plain ones of each of them.
    assert_eq!((served.len(), played.spent.calls), (14, 14));
    assert_eq!(
        played.spent.input_tokens + played.spent.output_tokens,
        billed(&served)
    );
    assert!(server.max_concurrent_requests() >= 3);
    // The answers have the order of the calls.
    let last = last_turn(&served[13].body);
    assert!(last.contains("PARTS P0A+P0B P1A+P1B P2A+P2B"), "{last}");
    let recorded = &played.reasoning[0];
    assert!(recorded.contains("rlm at depth 2") && recorded.contains("PARTS P0A"));

    // The log is cut off at any line, as if the process had been killed there. What it contains is
    // not requested again, and the play is the same.
    let lines = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    assert!(lines.iter().any(|line| line.contains("\"@1.2/@1.1/")));
    for kept in (3..lines.len()).step_by(5) {
        let log = folder.path().join(format!("log-{kept}"));
        std::fs::write(&log, lines[..kept].concat()).unwrap();
        let answers = |lines: &[&str]| {
            let answers = lines
                .iter()
                .filter(|line| line.contains("\"event\":\"ended\""));
            answers.count()
        };
        let before = server.served().len();
        let resumed = play(&agent, "kq19", &log, 1, 20);
        assert_eq!(resumed.actions, played.actions, "{kept} lines");
        let sent = server.served().len() - before;
        assert_eq!(sent, 14 - answers(&lines[..kept]), "{kept} lines");
        let in_flight = resumed.spent.uncounted;
        assert_eq!(resumed.spent.calls, 14 + in_flight, "{kept} lines");
    }
}

#[test]
fn calls_beyond_the_limit_of_a_tree_are_refused_alike_each_time() {
    let server = ModelServer::start(Faults::none(), |request| {
        let replies = request.turns.iter().filter(|(is_model, _)| *is_model);
        match (request.turns[0].1.starts_with("PART"), replies.count()) {
            // Each of 40 calls makes one more: 40 + 40 of 100.
            (true, 0) => code("print(1)"),
            (true, _) => code(
                "let n = 0; for (;;) { try { await rlm('PART', 0); n++ } catch (error) { return(n) } }",
            ),
            (false, 0) => code(
                "const all = await Promise.all([...Array(40)].map(() => rlm('PART', 0))); print('CALLS', all.join(''))",
            ),
            _ => code("env.step('ACTION1')"),
        }
    });
    let settings = PythonSettings {
        launcher: vec![env!("CARGO_BIN_EXE_rhae-code-sandboxed").into()],
        ..PythonSettings::default()
    };
    let limits = Limits {
        max_iterations: 3,
        ..Limits::default()
    };
    let agent = HarnessAgent::open("rlm", player(&server, FORMS[0]), None, &settings).unwrap();
    let agent = agent.with_limits(Limits {
        max_depth: 2,
        ..limits
    });
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 1, 1);
    assert_eq!(played.error, None);
    let last = last_turn(&server.served().pop().unwrap().body);
    assert!(
        last.contains(&format!("CALLS {}", "1".repeat(40))),
        "{last}"
    );
}
