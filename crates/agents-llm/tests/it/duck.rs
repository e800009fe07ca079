//! The agent `duck` with scripted models that play.

use rhae_agents::AgentError;
use rhae_agents_llm::{HarnessAgent, PythonLimits};
use rhae_engine::Action;
use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest};
use serde_json::{Value, json};

use crate::setup::{FORMS, LIMITS, Played, play, player, python, settings};

/// The names of the actions 1 to 7.
const NAMES: [&str; 7] = ["UP", "DOWN", "LEFT", "RIGHT", "SPACE", "MOUSE", "UNDO"];

/// Returns the actions that solve the levels of kq19, as the model names them.
fn solutions() -> Vec<Vec<&'static str>> {
    let solutions = include_str!("../../../games/src/kq19/solutions.txt");
    let name = |id: &str| NAMES[id.parse::<usize>().unwrap() - 1];
    solutions
        .lines()
        .map(|line| line.split(' ').map(name).collect())
        .collect()
}

/// A model that acts from within its code, four actions at a time.
fn player_model(request: &ModelRequest) -> ModelAnswer {
    assert!(request.images > 0, "every request has a picture");
    let code = format!(
        "plans = {}
level = current_frame.level
done = sum(1 for before, *rest in transitions if before.level == level)
assert len(history) == len(transitions) + 1 and len(current_frame.rows()) == 64
assert current_frame.segmentation['objects'] and 'UP' in valid_actions
result = action(plans[level - 1][done:done + 4])
print('RESULT', result)",
        json!(solutions())
    );
    ModelAnswer {
        text: "WORLD: a heap\nGOAL: the outline\nPLAN: move the heap".to_owned(),
        calls: vec![("python".to_owned(), json!({"code": code}).to_string())],
    }
}

fn agent(
    server: &ModelServer,
    form: (&str, &str, &str),
    limits: PythonLimits,
) -> Option<HarnessAgent> {
    let settings = settings(python()?, limits);
    let agent = HarnessAgent::open("duck", player(server, form), None, &settings);
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
fn scripted_model_completes_three_levels_in_every_format() {
    for form in FORMS {
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
        let optimum: usize = solutions()[..3].iter().map(Vec::len).sum();
        assert_eq!(played.actions.len(), optimum, "{form:?}");
        let turns: usize = solutions()[..3]
            .iter()
            .map(|level| level.len().div_ceil(4))
            .sum();
        let served = server.served();
        assert_eq!(served.len(), turns, "{form:?}");
        // The play is abandoned within the last turn, whose usage came with its first action.
        assert_eq!(
            (played.spent.calls, tokens(&played)),
            (turns as u64, billed(&served))
        );
        assert!(
            played.reasoning[4].contains("WORLD: a heap"),
            "{:?}",
            played.reasoning
        );
        let last = served.last().unwrap().body.to_string();
        assert!(last.contains("GOAL: the outline") && last.contains("the level is completed"));
    }
}

#[test]
fn faulty_server_changes_neither_actions_nor_counts() {
    let server = ModelServer::start(Faults::mixed(35, 9), player_model);
    let Some(agent) = agent(&server, FORMS[2], PythonLimits::default()) else {
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
fn resumed_play_repeats_actions_within_code_without_requests() {
    let server = ModelServer::start(Faults::none(), player_model);
    let Some(agent) = agent(&server, FORMS[0], PythonLimits::default()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // The play is abandoned between two actions of one call.
    let first = play(&agent, "kq19", &log, 1, 6);
    let sent = server.served().len();
    assert_eq!((first.actions.len(), sent), (6, 2));
    let repeated = play(&agent, "kq19", &log, 1, 6);
    assert_eq!(repeated.actions, first.actions);
    assert_eq!(server.served().len(), sent, "nothing is sent again");
    let resumed = play(&agent, "kq19", &log, 2, 100);
    assert_eq!(
        (resumed.levels_completed, &resumed.actions[..6]),
        (2, &first.actions[..])
    );
    assert_eq!(tokens(&resumed), billed(&server.served()));
}

#[test]
fn batches_stop_and_mistakes_are_explained() {
    let codes = [
        "action(['SPACE', 'JUMP', 'UP'])",
        "import os\nos.fork()",
        "print([action(['UP'])['stopped'] for n in range(2)])",
        "action('DOWN')",
    ];
    let server = ModelServer::start(Faults::none(), move |request| match request.results.len() {
        0 => ModelAnswer::from("I think first.".to_owned()),
        number => ModelAnswer::call("python", &json!({"code": codes[(number - 1).min(3)]})),
    });
    // The first answer does not act; the nudge makes the number of results irrelevant.
    let acting = ModelServer::start(Faults::none(), move |request| {
        if request.turns.len() == 1 {
            return ModelAnswer::from("I think first.".to_owned());
        }
        let code = codes[request.results.len().min(3)];
        ModelAnswer::call("python", &json!({"code": code}))
    });
    let Some(agent) = agent(&acting, FORMS[0], LIMITS) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 1, 4);
    assert_eq!(
        played.actions,
        [
            Action::Action5,
            Action::Action1,
            Action::Action1,
            Action::Action2
        ]
    );
    let results = results(&acting.served().pop().unwrap().body);
    assert!(
        results[0].contains("`JUMP` is not a valid action"),
        "{results:?}"
    );
    assert!(results[1].contains("PermissionError"), "{results:?}");
    assert!(results[2].contains("[None, None]"), "{results:?}");
    // A model that never acts fails after six answers.
    let agent = self::agent(&server, FORMS[0], LIMITS).unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log2"), 1, 4);
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

#[test]
fn lost_level_is_restarted_and_variables_survive_a_killed_interpreter() {
    let server = ModelServer::start(Faults::none(), |request| {
        let code = match request.results.len() {
            0 => format!("action({})", json!(solutions()[0])),
            // It moves against a wall until the bar of level 2 is empty.
            1 => "import os\nos._exit(1)".to_owned(),
            _ => "for n in range(60):\n    r = action(['DOWN'])\n    if r['game_over']:\n        break\nprint(len(history), r)".to_owned(),
        };
        ModelAnswer::call("python", &json!({"code": code}))
    });
    let Some(agent) = agent(&server, FORMS[0], LIMITS) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let played = play(&agent, "kq19", &folder.path().join("log"), 2, 54);
    let mut actions = played.actions.iter();
    let lost_at = actions.position(|action| *action == Action::Reset);
    let lost_at = lost_at.unwrap();
    assert!(lost_at > 7 + 10, "{:?}", played.actions);
    let results = results(&server.served().pop().unwrap().body);
    assert!(
        results[1].contains("The interpreter was restarted"),
        "{results:?}"
    );
    // The new interpreter got the whole history.
    let frames = format!("{} {{", 1 + lost_at);
    assert!(results[2].starts_with(&frames), "{results:?}");
}
