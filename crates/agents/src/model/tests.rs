use rhae_engine::{ActionKind, ActionSet, Frame};
use rhae_llm::Models;
use rhae_protocol::ModelUsage;
use rhae_runs::{SpendLimit, SpendLimits, Spent};
use rhae_testkit::{Fault, Faults, ModelServer, ServedRequest};
use serde_json::Value;

use super::*;

/// The content of a view.
struct Scene {
    frames: Vec<Frame>,
    state: PlayState,
    levels_completed: u8,
}

impl Scene {
    fn new(color: u8) -> Self {
        Self {
            frames: vec![Frame::filled(color)],
            state: PlayState::NotFinished,
            levels_completed: 0,
        }
    }

    fn view(&self) -> View<'_> {
        View {
            frames: &self.frames,
            state: self.state,
            levels_completed: self.levels_completed,
            win_levels: 3,
            available: ActionSet::of(&ActionKind::ALL[1..]),
            full_reset: false,
        }
    }
}

fn server(faults: Faults, replies: &'static [&'static str]) -> ModelServer {
    ModelServer::start(faults, move |request| {
        let replied = request.turns.iter().filter(|(model, _)| *model).count();
        replies[replied % replies.len()].to_owned()
    })
}

fn player(server: &ModelServer, keep_reasoning: bool, limit_usd: Option<f64>) -> Arc<ModelPlayer> {
    let text = format!(
        "[models.m]\nprovider = \"openai-responses\"\nmodel = \"x\"\nkey_env = \"\"\nbase_url = \"{}/v1\"
retries = {{ attempts = 9, first_pause_s = 0.001, longest_pause_s = 0.005 }}\nbreaker = {{ failures = 1000 }}
request = {{ max_output_tokens = 1000 }}
prices = {{ date = \"2026-11-01\", input = 1, output = 1 }}",
        server.url()
    );
    let model = Arc::new(Model::open(&Models::parse(&text).unwrap(), "m").unwrap());
    let limits = SpendLimits {
        usd: limit_usd,
        tokens: None,
    };
    Arc::new(ModelPlayer {
        model,
        keep_reasoning,
        context_tokens: CONTEXT_TOKENS,
        spend_guard: Arc::new(SpendLimit::new(limits, Spent::default())),
        request_timeout: None,
    })
}

fn billed(served: &[ServedRequest]) -> u64 {
    served
        .iter()
        .map(|entry| entry.input_tokens + entry.output_tokens)
        .sum()
}

/// Returns the comparable parts of decisions. The cost is left out, because parsing a decimal
/// number may change its last bit.
fn comparable(decisions: &[Decision]) -> Vec<(Action, String, ModelUsage)> {
    // Costs are sums of floats in different orders, so they are compared rounded or not at all.
    let round = |usd: f64| (usd * 1e9).round() / 1e9;
    let spent = |decision: &Decision| {
        let usage = ModelUsage::from_details(&decision.details).unwrap();
        ModelUsage {
            cost_usd: None,
            possibly_paid_usd: usage.possibly_paid_usd.map(round),
            ..usage
        }
    };
    let reasoning = |decision: &Decision| decision.details.reasoning.as_ref().unwrap().to_string();
    decisions
        .iter()
        .map(|decision| (decision.action, reasoning(decision), spent(decision)))
        .collect()
}

fn tokens(spent: &ModelUsage) -> u64 {
    spent.input_tokens + spent.output_tokens
}

#[test]
fn conversation_matches_the_official_agent() {
    let server = server(
        Faults::none(),
        &["I think ACTION1", "ACTION6 3, 4", "ACTION5"],
    );
    let folder = tempfile::tempdir().unwrap();
    let mut agent =
        ModelAgent::start(&player(&server, false, None), 0, &folder.path().join("log")).unwrap();
    assert_eq!(
        agent.act(&Scene::new(1).view()).unwrap().action,
        Action::Action1
    );
    let second = agent
        .act(
            &Scene {
                levels_completed: 1,
                ..Scene::new(2)
            }
            .view(),
        )
        .unwrap();
    assert_eq!(second.action, Action::click(3, 4).unwrap());
    assert_eq!(
        second.details.reasoning.unwrap(),
        json!({"output": "ACTION6 3, 4", "reasoning": "I thought about it."})
    );
    assert!(second.details.cost_usd.unwrap() > 0.0);
    // A lost level is restarted without a model call.
    let lost = Scene {
        state: PlayState::GameOver,
        levels_completed: 1,
        ..Scene::new(3)
    };
    assert_eq!(agent.act(&lost.view()).unwrap(), Action::Reset.into());
    assert_eq!(server.served().len(), 2);
    assert_eq!(
        agent
            .act(
                &Scene {
                    levels_completed: 1,
                    ..Scene::new(4)
                }
                .view()
            )
            .err(),
        None
    );
    let bodies: Vec<Value> = server
        .served()
        .into_iter()
        .map(|entry| entry.body)
        .collect();
    assert_official_prompts(&bodies);
}

/// Checks the three requests of `conversation_matches_the_official_agent`: the second follows a new
/// level, the third a lost one.
fn assert_official_prompts(bodies: &[Value]) {
    assert!(
        bodies
            .iter()
            .all(|body| body["instructions"] == SYSTEM_PROMPT
                && body.get("tools").is_none()
                && body.get("include").is_none())
    );
    let text = |body: &Value, turn: usize| {
        body["input"][turn]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // RESET is not allowed as the first command or directly after another RESET.
    assert!(!text(&bodies[0], 0).contains("RESET"));
    assert_eq!(bodies[1]["input"].as_array().unwrap().len(), 3);
    assert_eq!(
        (text(&bodies[1], 0), text(&bodies[1], 1).as_str()),
        (text(&bodies[0], 0), "I think ACTION1")
    );
    assert!(
        text(&bodies[1], 2).contains("New Level:\nFrame 0:\n  [2, 2")
            && text(&bodies[1], 2).contains("\nRESET\n")
    );
    let after_loss = text(&bodies[2], 4);
    assert!(
        after_loss.contains("State: GAME_OVER\nLevels completed: 1\n\nFrame 0:\n  [3, 3")
            && after_loss.contains("Frame 0:\n  [4, 4")
    );
    assert!(
        after_loss.trim_end().ends_with("ACTION7")
            && !after_loss
                .rsplit("Available actions:")
                .next()
                .unwrap()
                .contains("RESET")
    );
}

#[test]
fn reply_without_an_action_is_retried_and_counted() {
    let server = server(
        Faults::first([Fault::Empty, Fault::Refuse, Fault::Status(500, None)]),
        &["ACTION2"],
    );
    let folder = tempfile::tempdir().unwrap();
    let mut agent =
        ModelAgent::start(&player(&server, false, None), 0, &folder.path().join("log")).unwrap();
    let decision = agent.act(&Scene::new(1).view()).unwrap();
    assert_eq!(decision.action, Action::Action2);
    let spent = ModelUsage::from_details(&decision.details).unwrap();
    assert_eq!((spent.calls, tokens(&spent)), (4, billed(&server.served())));
    let stubborn = self::server(Faults::none(), &["I would rather not"]);
    let mut agent = ModelAgent::start(
        &player(&stubborn, false, None),
        0,
        &folder.path().join("log2"),
    )
    .unwrap();
    let error = agent.act(&Scene::new(1).view()).unwrap_err();
    assert!(
        matches!(&error, AgentError::Failed(reason) if reason.contains("`I would rather not` (asked 4 times)")),
        "{error:?}"
    );
    let spent = ModelUsage::from_details(&agent.unreported_usage()).unwrap();
    assert_eq!(
        (spent.calls, tokens(&spent)),
        (4, billed(&stubborn.served()))
    );
}

#[test]
fn logged_answers_are_not_requested_again() {
    let server = server(Faults::mixed(40, 3), &["ACTION1", "ACTION2", "ACTION3"]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let scenes: Vec<Scene> = (0..12).map(Scene::new).collect();
    let play = |agent: &mut ModelAgent, number: usize| -> Vec<Decision> {
        scenes[..number]
            .iter()
            .map(|scene| agent.act(&scene.view()).unwrap())
            .collect()
    };
    let shared = player(&server, false, None);
    let first = play(&mut ModelAgent::start(&shared, 0, &log).unwrap(), 8);
    let sent_before = server.served().len();
    let again = play(&mut ModelAgent::start(&shared, 0, &log).unwrap(), 8);
    assert_eq!(
        comparable(&first),
        comparable(&again),
        "with the same reasoning and tokens"
    );
    assert_eq!(server.served().len(), sent_before, "nothing was sent");
    let resumed = play(&mut ModelAgent::start(&shared, 0, &log).unwrap(), 12);
    assert_eq!(comparable(&resumed[..8]), comparable(&first));
    let served = server.served();
    assert!(served.len() > sent_before);
    // Counted tokens plus the tokens of uncounted requests equal what the server billed.
    let spent: ModelUsage = resumed
        .iter()
        .filter_map(|decision| ModelUsage::from_details(&decision.details))
        .sum();
    let unknown: Vec<ServedRequest> = served
        .iter()
        .filter(|entry| matches!(entry.fault, Fault::Cut | Fault::Close | Fault::Malformed))
        .cloned()
        .collect();
    assert_eq!(
        (spent.calls, spent.uncounted),
        (served.len() as u64, unknown.len() as u64)
    );
    assert_eq!(tokens(&spent) + billed(&unknown), billed(&served));
    let logged = spent_in_log(&log).unwrap();
    assert_eq!(
        (logged.calls, tokens(&logged)),
        (spent.calls, tokens(&spent))
    );
    // Each uncounted request counts at its worst case, which covers what the server billed.
    let possibly_paid = logged.possibly_paid_usd.unwrap();
    assert!(possibly_paid >= billed(&unknown) as f64 / 1e6);
    // A different request is not answered from the log.
    let mut other = ModelAgent::start(&shared, 0, &log).unwrap();
    assert!(
        matches!(other.act(&Scene::new(15).view()), Err(AgentError::Failed(reason)) if reason.contains("a different request"))
    );
}

#[test]
fn request_that_may_exceed_the_spend_limit_is_not_sent() {
    let server = server(Faults::none(), &["ACTION1"]);
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::new(1);
    let unlimited = player(&server, false, None);
    let first = unlimited.first_request(0, &scene.view());
    let worst = unlimited.model.cost_bound(&first).usd().unwrap();
    let shared = player(&server, false, Some(worst * 1.1));
    let mut agent = ModelAgent::start(&shared, 0, &folder.path().join("log")).unwrap();
    assert!(agent.act(&scene.view()).is_ok(), "the worst case fits");
    let error = agent.act(&Scene::new(2).view()).unwrap_err();
    assert!(
        matches!(&error, AgentError::Interrupted { reason, all_plays: true } if reason.contains("the smallest limit that allows it")),
        "{error:?}"
    );
    assert_eq!(server.served().len(), 1);
    assert!(billed(&server.served()) as f64 / 1e6 <= worst);
    let mut other = ModelAgent::start(&shared, 0, &folder.path().join("other")).unwrap();
    assert!(
        other.act(&scene.view()).is_err(),
        "all plays share one spend limit"
    );
}

#[test]
fn failures_end_or_interrupt_the_play() {
    let folder = tempfile::tempdir().unwrap();
    let error = |faults: Vec<Fault>, name: &str| {
        let server = server(Faults::first(faults), &["ACTION1"]);
        ModelAgent::start(&player(&server, false, None), 0, &folder.path().join(name))
            .unwrap()
            .act(&Scene::new(1).view())
    };
    assert!(matches!(
        error(vec![Fault::Status(401, None)], "a"),
        Err(AgentError::Interrupted {
            all_plays: true,
            ..
        })
    ));
    assert!(matches!(
        error(vec![Fault::Status(503, None); 9], "b"),
        Err(AgentError::Interrupted {
            all_plays: false,
            ..
        })
    ));
    assert!(matches!(
        error(vec![Fault::Status(400, None)], "c"),
        Err(AgentError::Failed(_))
    ));
    assert!(error(vec![Fault::Status(503, None); 8], "d").is_ok());
}

#[test]
fn reasoning_is_sent_back_only_if_configured() {
    for keep in [false, true] {
        let server = server(Faults::none(), &["ACTION1"]);
        let folder = tempfile::tempdir().unwrap();
        let mut agent =
            ModelAgent::start(&player(&server, keep, None), 0, &folder.path().join("log")).unwrap();
        agent.act(&Scene::new(1).view()).unwrap();
        agent.act(&Scene::new(2).view()).unwrap();
        assert_eq!(
            server.served()[1].body.to_string().contains("sealed-0"),
            keep
        );
    }
}

#[test]
fn context_limit_is_measured_in_the_providers_tokens() {
    let server = server(Faults::none(), &["ACTION1"]);
    let folder = tempfile::tempdir().unwrap();
    // The server counts four characters per token, so a frame has about 3,100 tokens.
    let shared = player(&server, false, None);
    let limited = Arc::new(ModelPlayer {
        context_tokens: 10_000,
        spend_guard: Arc::new(()),
        request_timeout: None,
        model: Arc::clone(&shared.model),
        keep_reasoning: false,
    });
    let mut agent = ModelAgent::start(&limited, 0, &folder.path().join("log")).unwrap();
    for number in 0..10 {
        agent.act(&Scene::new(number % 10).view()).unwrap();
    }
    let sizes: Vec<u64> = server
        .served()
        .iter()
        .map(|entry| entry.input_tokens)
        .collect();
    assert!(sizes[1..].iter().all(|&size| size <= 10_000), "{sizes:?}");
    assert!(
        sizes[3..].iter().all(|&size| size > 6_000),
        "as much as fits is kept: {sizes:?}"
    );
}
