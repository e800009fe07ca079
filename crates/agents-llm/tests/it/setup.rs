//! Shared setup: a model on a local server, the interpreter, and plays of built-in games.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_agents::{
    Agent, AgentError, AgentFactory as _, LoggedCalls, ModelPlayer, PlayContext, View,
};
use rhae_agents_llm::{Engine, HarnessAgent, Limits, PythonLimits, PythonSettings};
use rhae_engine::{Action, Catalog as _, Frame, PlayState};
use rhae_games::Builtin;
use rhae_llm::{Model, Models};
use rhae_protocol::ModelUsage;
use rhae_testkit::ModelServer;

/// The formats, each with the path after the server's address and the limit of output tokens.
pub(crate) const FORMS: [(&str, &str, &str); 4] = [
    ("openai-chat", "/v1", "max_completion_tokens = 4000"),
    ("openai-responses", "/v1", "max_output_tokens = 4000"),
    ("anthropic", "", "max_tokens = 4000"),
    (
        "gemini",
        "/v1beta",
        "generationConfig = { maxOutputTokens = 4000 }",
    ),
];

/// Limits that end hostile code quickly.
pub(crate) const LIMITS: PythonLimits = PythonLimits {
    cpu_seconds: 1.0,
    wall_seconds: 120.0,
    process_cpu_seconds: 60,
    memory_mb: 512,
    max_output: 2_000,
};

/// Returns an interpreter. Without one, returns `None` and reports the test as skipped.
pub(crate) fn python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/python/arc-agi-0.9.9/bin/python");
    if python.is_file() {
        return Some(python);
    }
    rhae_testkit::skip("no Python interpreter in target/python");
    None
}

pub(crate) fn settings(python: PathBuf, limits: PythonLimits) -> PythonSettings {
    PythonSettings {
        launcher: vec![env!("CARGO_BIN_EXE_rhae-code-sandboxed").into()],
        python: Some(python),
        unsafe_host: false,
        limits,
    }
}

/// Opens a model of a server.
pub(crate) fn player(server: &ModelServer, form: (&str, &str, &str)) -> ModelPlayer {
    player_with(server, form, "")
}

/// Opens a model of a server. `more` is appended to its table.
pub(crate) fn player_with(
    server: &ModelServer,
    (provider, path, max_tokens): (&str, &str, &str),
    more: &str,
) -> ModelPlayer {
    let text = format!(
        "[models.m]\nprovider = \"{provider}\"\nmodel = \"x\"\nkey_env = \"\"\nbase_url = \"{}{path}\"\nstream = true
retries = {{ attempts = 12, first_pause_s = 0.001, longest_pause_s = 0.005 }}\nbreaker = {{ failures = 1000 }}
request = {{ {max_tokens} }}\nprices = {{ date = \"2026-11-01\", input = 1, output = 1 }}\n{more}",
        server.url()
    );
    player_of(&text)
}

fn player_of(models: &str) -> ModelPlayer {
    let models = Models::parse(models).unwrap();
    ModelPlayer {
        model: Arc::new(Model::open(&models, "m").unwrap()),
        keep_reasoning: false,
        context_tokens: 100_000,
        spend_guard: Arc::new(()),
        request_timeout: None,
    }
}

/// Opens an engine with a log, for calls of tools without a model.
pub(crate) fn engine(log: &Path) -> Engine<'static> {
    let mock = "[models.m]\nprovider = \"mock\"\nreplies = [\"hello\"]";
    let calls = LoggedCalls::open(&Arc::new(player_of(mock)), log).unwrap();
    Engine::new(calls, Limits::default())
}

/// The result of a play.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) actions: Vec<Action>,
    pub(crate) levels_completed: u8,
    pub(crate) error: Option<AgentError>,
    pub(crate) spent: ModelUsage,
    /// The reasoning of each action, as JSON.
    pub(crate) reasoning: Vec<String>,
}

/// Lets an agent play a built-in game until `levels` are completed, `max_actions` are taken, or it
/// ends.
pub(crate) fn play(
    agent: &HarnessAgent,
    game: &str,
    log: &Path,
    levels: u8,
    max_actions: usize,
) -> Played {
    play_seeing(agent, game, log, levels, max_actions, &|_| {})
}

/// Like [`play`], but the agent sees frames that `disguise` has changed.
pub(crate) fn play_seeing(
    agent: &HarnessAgent,
    game: &str,
    log: &Path,
    levels: u8,
    max_actions: usize,
    disguise: &dyn Fn(&mut Frame),
) -> Played {
    let context = PlayContext {
        model_log: log.to_owned(),
        ..PlayContext::default()
    };
    let mut agent: Box<dyn Agent> = agent.build(&context).unwrap();
    let mut environment = Builtin.open(game, 0).unwrap();
    let mut played = Played {
        actions: Vec::new(),
        levels_completed: 0,
        error: None,
        spent: ModelUsage::default(),
        reasoning: Vec::new(),
    };
    while played.levels_completed < levels && played.actions.len() < max_actions {
        let observation = environment.observation();
        let mut frames = observation.frames.frames().to_vec();
        frames.iter_mut().for_each(disguise);
        let view = View {
            frames: &frames,
            state: observation.state,
            levels_completed: observation.levels_completed,
            win_levels: observation.win_levels,
            available: observation.available,
            full_reset: observation.full_reset,
        };
        match agent.act(&view) {
            Ok(decision) => {
                played.spent += ModelUsage::from_details(&decision.details).unwrap_or_default();
                let reasoning = decision.details.reasoning.unwrap_or_default();
                played.reasoning.push(reasoning.to_string());
                played.actions.push(decision.action);
                environment.act(decision.action).unwrap();
            }
            Err(error) => {
                let details = agent.unreported_usage();
                played.spent += ModelUsage::from_details(&details).unwrap_or_default();
                played.error = Some(error);
                break;
            }
        }
        played.levels_completed = environment.observation().levels_completed;
        if environment.observation().state == PlayState::Win {
            break;
        }
    }
    played
}
