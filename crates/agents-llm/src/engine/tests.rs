use std::path::Path;

use rhae_agents::ModelPlayer;
use rhae_llm::{Model, Models, Parameter};
use rhae_testkit::{Fault, Faults, ModelAnswer, ModelRequest, ModelServer};
use serde_json::json;

use super::*;

/// The formats, each with the path after the server's address.
const FORMS: [(&str, &str); 4] = [
    ("openai-chat", "/v1"),
    ("openai-responses", "/v1"),
    ("anthropic", ""),
    ("gemini", "/v1beta"),
];

fn player(server: &ModelServer, (provider, path): (&str, &str)) -> Arc<ModelPlayer> {
    let max_tokens = match provider {
        "gemini" => "generationConfig = { maxOutputTokens = 1000 }",
        "openai-responses" => "max_output_tokens = 1000",
        _ => "max_tokens = 1000",
    };
    let text = format!(
        "[models.m]\nprovider = \"{provider}\"\nmodel = \"x\"\nkey_env = \"\"\nbase_url = \"{}{path}\"\nstream = true
retries = {{ attempts = 9, first_pause_s = 0.001, longest_pause_s = 0.005 }}\nbreaker = {{ failures = 1000 }}
request = {{ {max_tokens} }}\nprices = {{ date = \"2026-11-01\", input = 1, output = 1 }}",
        server.url()
    );
    Arc::new(ModelPlayer {
        model: Arc::new(Model::open(&Models::parse(&text).unwrap(), "m").unwrap()),
        keep_reasoning: false,
        context_tokens: 10_000,
        spend_guard: Arc::new(()),
        request_timeout: None,
    })
}

fn engine(player: &Arc<ModelPlayer>, log: &Path, limits: Limits) -> Engine<'static> {
    let calls = LoggedCalls::open(player, log).unwrap();
    Engine::new(calls, limits)
}

fn chat(mode: ToolMode, tools: Vec<Tool>) -> Chat {
    let settings = ChatSettings {
        mode,
        keep_reasoning: true,
        trim: TrimPolicy::new(10_000),
    };
    let mut chat = settings.chat("You add numbers.", tools, 0);
    chat.say("Add 1 and 2, then add 4.");
    chat
}

/// Adds numbers, and stores how often it was executed.
#[derive(Default)]
struct Adder {
    executed: Vec<String>,
    ends_turn: bool,
}

impl Toolbox for Adder {
    fn tools(&self) -> Vec<Tool> {
        let numbers = Parameter::texts("numbers", "The numbers.");
        vec![Tool::new("add", "Adds numbers.", &[numbers])]
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let key = format!("{name} {arguments}");
        if let Some(logged) = engine.calls.next_effect(&key)? {
            return Ok(ToolOutput::text(logged.as_str().unwrap_or_default()));
        }
        self.executed.push(key.clone());
        let numbers = arguments["numbers"].as_array().into_iter().flatten();
        let mut sum = 0;
        for number in numbers {
            match number.as_str().and_then(|text| text.parse::<i64>().ok()) {
                Some(number) => sum += number,
                None => return Ok(ToolOutput::error(format!("{number} is not a number"))),
            }
        }
        let output = sum.to_string();
        engine.calls.record_effect(&key, &json!(output))?;
        Ok(ToolOutput::text(output))
    }

    fn ends_turn(&self) -> bool {
        self.ends_turn
    }
}

/// A model that adds with the tool: 1 + 2, then the result + 4, then it answers.
fn adding(request: &ModelRequest) -> ModelAnswer {
    let add = |numbers: [&str; 2]| ModelAnswer::call("add", &json!({"numbers": numbers}));
    match &request.results[..] {
        [] => add(["1", "2"]),
        [sum] => add([sum, "4"]),
        [.., sum] => format!("The sum is {sum}.").into(),
    }
}

fn answer_of(end: TurnEnd) -> String {
    match end {
        TurnEnd::Answer(reply) => reply.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tools_are_called_until_the_model_answers_in_every_format() {
    for form in FORMS {
        let server = ModelServer::start(Faults::none(), adding);
        let folder = tempfile::tempdir().unwrap();
        let player = player(&server, form);
        let mut engine = engine(&player, &folder.path().join("log"), Limits::default());
        let mut toolbox = Adder::default();
        let mut chat = chat(ToolMode::Native, toolbox.tools());
        let end = engine.turn(&mut chat, &mut toolbox).unwrap();
        assert_eq!(answer_of(end), "The sum is 7.", "{form:?}");
        assert_eq!(toolbox.executed.len(), 2);
        let served = server.served();
        assert_eq!(engine.total().calls, 3);
        let billed: u64 = served
            .iter()
            .map(|entry| entry.input_tokens + entry.output_tokens)
            .sum();
        let total = engine.total();
        assert_eq!(total.input_tokens + total.output_tokens, billed, "{form:?}");
        // The size of the conversation is what the provider counted, not an estimate.
        let last = &served[2];
        assert_eq!(
            chat.conversation().tokens(),
            last.input_tokens + last.output_tokens,
            "{form:?}"
        );
    }
}

#[test]
fn fenced_blocks_replace_tool_calls() {
    let server = ModelServer::start(Faults::none(), |request| {
        assert!(request.tools.is_empty() && request.system.contains("## add"));
        match request.turns.len() {
            1 => "```tool\n{\"name\": \"add\", \"arguments\": {\"numbers\": [\"1\", \"2\"]}}\n```"
                .to_owned(),
            _ => request.turns.last().unwrap().1.clone(),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let player = player(&server, FORMS[0]);
    let mut engine = engine(&player, &folder.path().join("log"), Limits::default());
    let mut toolbox = Adder::default();
    let mut chat = chat(ToolMode::Fenced, toolbox.tools());
    let end = engine.turn(&mut chat, &mut toolbox).unwrap();
    assert_eq!(answer_of(end), "Result of `add`:\n```\n3\n```");
}

#[test]
fn logged_answers_and_effects_are_repeated_without_requests() {
    let server = ModelServer::start(Faults::mixed(40, 5), adding);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let player = player(&server, FORMS[1]);
    let run = || {
        let mut engine = engine(&player, &log, Limits::default());
        let mut toolbox = Adder::default();
        let mut chat = chat(ToolMode::Native, toolbox.tools());
        let end = engine.turn(&mut chat, &mut toolbox).unwrap();
        (answer_of(end), *engine.total(), toolbox.executed.len())
    };
    let first = run();
    assert_eq!((first.0.as_str(), first.2), ("The sum is 7.", 2));
    let sent = server.served().len();
    assert_eq!(first.1.calls, sent as u64);
    let second = run();
    assert_eq!(
        (second.0, second.2),
        (first.0, 0),
        "nothing is executed again"
    );
    assert_eq!(second.1.calls, first.1.calls);
    assert_eq!(server.served().len(), sent, "nothing is sent again");
}

#[test]
fn mistakes_are_explained_to_the_model_and_limited() {
    let answers = [
        ("multiply", "{}"),
        ("add", "{\"numbers\": "),
        ("add", "{}"),
        ("add", "{\"numbers\": [\"x\"]}"),
    ];
    let server = ModelServer::start(Faults::none(), move |request| ModelAnswer {
        text: String::new(),
        calls: vec![{
            let (name, arguments) = answers[request.results.len().min(3)];
            (name.to_owned(), arguments.to_owned())
        }],
    });
    let folder = tempfile::tempdir().unwrap();
    let player = player(&server, FORMS[0]);
    let mut engine = engine(&player, &folder.path().join("log"), Limits::default());
    let mut toolbox = Adder::default();
    let mut chat = chat(ToolMode::Native, toolbox.tools());
    let end = engine.turn(&mut chat, &mut toolbox).unwrap();
    assert_eq!(end, TurnEnd::Limit(LimitReached::Errors(5)));
    let last = server.served().pop().unwrap().body;
    let results: Vec<String> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(results[0], "there is no tool `multiply`; the tools are add");
    assert!(results[1].contains("not a JSON object"));
    assert_eq!(results[2], "the argument `numbers` is missing");
    assert_eq!(results[3], "\"x\" is not a number");
}

#[test]
fn iterations_tokens_and_depth_are_limited() {
    let add = |_: &ModelRequest| ModelAnswer::call("add", &json!({"numbers": ["1"]}));
    let server = ModelServer::start(Faults::none(), add);
    let folder = tempfile::tempdir().unwrap();
    let player = player(&server, FORMS[2]);
    let run = |limits: Limits, depth: u32, name: &str| {
        let mut engine = engine(&player, &folder.path().join(name), limits);
        let mut toolbox = Adder::default();
        let mut chat = chat(ToolMode::Native, toolbox.tools());
        chat.depth = depth;
        let end = engine.turn(&mut chat, &mut toolbox).unwrap();
        (end, engine.total().calls)
    };
    let few = Limits {
        max_iterations: 4,
        ..Limits::default()
    };
    let (end, calls) = run(few, 0, "iterations");
    assert_eq!(
        (end, calls),
        (TurnEnd::Limit(LimitReached::Iterations(4)), 4)
    );
    let last = server.served().pop().unwrap();
    assert!(last.body.to_string().contains(LAST_REQUEST));
    let tokens = Limits {
        max_tokens: Some(60),
        ..Limits::default()
    };
    let (end, _) = run(tokens, 0, "tokens");
    assert!(
        matches!(end, TurnEnd::Limit(LimitReached::Tokens { limit: 60, .. })),
        "{end:?}"
    );
    let (end, calls) = run(Limits::default(), 2, "depth");
    assert_eq!((end, calls), (TurnEnd::Limit(LimitReached::Depth(1)), 0));
}

#[test]
fn tool_can_end_the_turn() {
    let server = ModelServer::start(Faults::none(), adding);
    let folder = tempfile::tempdir().unwrap();
    let player = player(&server, FORMS[3]);
    let mut engine = engine(&player, &folder.path().join("log"), Limits::default());
    let mut toolbox = Adder {
        ends_turn: true,
        ..Adder::default()
    };
    let mut chat = chat(ToolMode::Native, toolbox.tools());
    let end = engine.turn(&mut chat, &mut toolbox).unwrap();
    assert!(matches!(end, TurnEnd::Tool(_)), "{end:?}");
    assert_eq!(server.served().len(), 1);
}

#[test]
fn conversation_that_exceeds_the_context_loses_its_older_half() {
    for form in FORMS {
        // The provider rejects the third request, and then also the shortened one.
        let faults = [Fault::None, Fault::None, Fault::ContextOverflow];
        let server = ModelServer::start(Faults::first(faults), |request| {
            match request.turns[0].1.contains("was removed") {
                false => ModelAnswer::call("add", &json!({"numbers": ["1", "2"]})),
                true => "The sum is 7.".to_owned().into(),
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let player = player(&server, form);
        let mut engine = engine(&player, &folder.path().join("log"), Limits::default());
        let mut toolbox = Adder::default();
        let mut chat = chat(ToolMode::Native, toolbox.tools());
        let end = engine.turn(&mut chat, &mut toolbox).unwrap();
        assert_eq!(answer_of(end), "The sum is 7.", "{form:?}");
        assert_eq!(chat.conversation().removals(), 1, "{form:?}");
        let served = server.served();
        assert_eq!(served.len(), 4, "{form:?}");
        let bytes = |entry: &rhae_testkit::ServedRequest| entry.body.to_string().len();
        assert!(bytes(&served[3]) < bytes(&served[2]), "{form:?}");
        assert_eq!(engine.total().calls, 4);
    }
}

#[test]
fn failures_end_or_interrupt_the_play() {
    let run = |faults: Vec<Fault>| {
        let server = ModelServer::start(Faults::first(faults), adding);
        let folder = tempfile::tempdir().unwrap();
        let player = player(&server, FORMS[1]);
        let mut engine = engine(&player, &folder.path().join("log"), Limits::default());
        let mut toolbox = Adder::default();
        let mut chat = chat(ToolMode::Native, toolbox.tools());
        let end = engine.turn(&mut chat, &mut toolbox);
        (end, engine.total().calls, server.served().len() as u64)
    };
    let (end, calls, served) = run(vec![
        Fault::Status(429, Some("0")),
        Fault::Status(503, None),
        Fault::Cut,
        Fault::Malformed,
        Fault::Empty,
        Fault::ErrorInStream,
    ]);
    assert_eq!(answer_of(end.unwrap()), "The sum is 7.");
    assert_eq!((calls, served), (9, 9), "every transmission is counted");
    let (end, ..) = run(vec![Fault::Status(503, None); 9]);
    assert!(matches!(
        end,
        Err(AgentError::Interrupted {
            all_plays: false,
            ..
        })
    ));
    let (end, ..) = run(vec![Fault::Status(401, None)]);
    assert!(matches!(
        end,
        Err(AgentError::Interrupted {
            all_plays: true,
            ..
        })
    ));
    let (end, ..) = run(vec![Fault::Empty; 9]);
    assert!(
        matches!(&end, Err(AgentError::Failed(reason)) if reason.contains("asked 4 times")),
        "{end:?}"
    );
}
