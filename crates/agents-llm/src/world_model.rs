//! The agent `world-model`: the model writes the rules of the game as code, which is certified by
//! replaying everything that has happened, and acts only through it.
//!
//! It follows the family of agents that began with Schema: state decoder, `step`, `render` and
//! `is_goal` in Python, exact backtests, a search inside the program, and a queue of actions that
//! stops at the first difference between prediction and reality. It is written from descriptions.
//!
//! **Invariant:** as long as the program does not predict the whole timeline exactly, one commit
//! executes one action.

mod commit;
mod tools;

use rhae_agents::{AgentEntry, AgentError, RequestProfiles, View};
use rhae_engine::{Action, ActionSet, PlayState};
use rhae_llm::Request;
use serde_json::json;

use crate::code::Interpreter;
use crate::engine::{Chat, Engine, TurnEnd};
use crate::harness_agent::{AgentParts, AgentSettings, Kind, Language, shortened};
use crate::limits::Limits;
use crate::prompts::PromptSet;
use crate::threaded::{Game, Observation, Player};
use crate::timeline::{Reader, Timeline};
use tools::{Theory, WorldTools};

/// How often the model is asked again, in a row, if it has not acted.
const MAX_NUDGES: u32 = 5;

pub(crate) const KIND: Kind = Kind {
    entry: AgentEntry::with_argument(
        "world-model",
        "world-model:MODEL",
        "a model writes the rules as code, certifies it by replaying all history, plans inside it, and stops at the first misprediction",
    ),
    prompts: &[
        ("nudge", include_str!("../prompts/world-model/nudge.md")),
        ("system", include_str!("../prompts/world-model/system.md")),
        ("turn", include_str!("../prompts/world-model/turn.md")),
    ],
    roles: &[],
    language: Language::Python,
    limits: Limits::DEFAULT,
    prelude: include_str!("../python/world_model_prelude.py"),
    // Schema made 32,356 tool calls for 22,184 actions.
    profiles: RequestProfiles::new([0.5, 1.5, 4.0], [300, 1_500, 6_000], [200, 1_200, 6_000]),
    new: |parts| Box::new(WorldModelAgent::new(parts)),
    first_request,
};

/// The state of a play.
struct WorldModelAgent {
    engine: Engine<'static>,
    chat: Chat,
    prompts: PromptSet,
    interpreter: Interpreter,
    reader: Reader,
    theory: Theory,
}

impl WorldModelAgent {
    fn new(parts: AgentParts) -> Self {
        Self {
            chat: new_chat(&parts.settings),
            engine: parts.engine,
            prompts: parts.settings.prompts,
            interpreter: Interpreter::new(&parts.runtime, KIND.prelude),
            reader: Reader::default(),
            theory: Theory::default(),
        }
    }

    /// Lets the model work until it commits actions. Returns what they led to.
    fn turn(
        &mut self,
        game: &mut Game,
        timeline: &mut Timeline,
        outcome: &str,
    ) -> Result<String, AgentError> {
        let current = game.current();
        let text = message(
            &self.prompts,
            current,
            timeline.steps(),
            outcome,
            &self.theory,
        );
        self.chat.say(text);
        let reminder = self.theory.reminder();
        self.chat.conversation().set_reminder(reminder);
        for _ in 0..=MAX_NUDGES {
            let context_tokens = self.chat.conversation().tokens();
            let mut tools = WorldTools {
                interpreter: &mut self.interpreter,
                reader: &mut self.reader,
                game,
                timeline,
                theory: &mut self.theory,
                reasoning: json!({"context_tokens": context_tokens}),
                acted: None,
            };
            let end = self.engine.turn(&mut self.chat, &mut tools)?;
            if let Some(outcome) = tools.acted.take() {
                return Ok(outcome);
            }
            if let TurnEnd::Limit(limit) = end
                && limit.ends_play()
            {
                return Err(AgentError::Stuck(limit.to_string()));
            }
            let offered = action_names(game.current().available);
            self.chat
                .say(self.prompts.fill("nudge", &[("actions", &offered)]));
        }
        Err(AgentError::Failed(format!(
            "the model did not act in {} answers",
            MAX_NUDGES + 1
        )))
    }
}

impl Player for WorldModelAgent {
    fn play(&mut self, game: &mut Game) -> Result<(), AgentError> {
        let mut timeline = Timeline::new(game.current());
        let mut outcome = "The game starts.".to_owned();
        loop {
            let current = game.current();
            let is_lost = current.state == PlayState::GameOver;
            if is_lost || (current.available.is_empty() && !timeline.is_untouched()) {
                let after = game.step(Action::Reset, None)?;
                timeline.restart(after);
                outcome.push_str(" The level was restarted.");
                continue;
            }
            if current.available.is_empty() {
                return Err(AgentError::Stuck(
                    "the environment offers no action".to_owned(),
                ));
            }
            outcome = self.turn(game, &mut timeline, &outcome)?;
        }
    }
}

/// Returns the request that a play with this first view sends first.
fn first_request(settings: &AgentSettings, view: &View<'_>) -> Request {
    let mut chat = new_chat(settings);
    let observation = Observation::of(view);
    let theory = Theory::default();
    let outcome = "The game starts.";
    chat.say(message(
        &settings.prompts,
        &observation,
        0,
        outcome,
        &theory,
    ));
    chat.next_request(settings.first_sample)
}

fn new_chat(settings: &AgentSettings) -> Chat {
    let system = settings.prompts.fill("system", &[]);
    let chat = settings.chat;
    chat.chat(&system, tools::descriptions(), 0)
}

/// Returns the message of a turn.
fn message(
    prompts: &PromptSet,
    observation: &Observation,
    step: usize,
    outcome: &str,
    theory: &Theory,
) -> String {
    let level = observation.levels_completed;
    let notes = if theory.has_notes(level) {
        ""
    } else {
        "You have not written notes for this level yet; do that first."
    };
    prompts.fill(
        "turn",
        &[
            ("outcome", outcome),
            ("step", &step.to_string()),
            ("level", &(level + 1).to_string()),
            ("levels", &observation.win_levels.to_string()),
            ("actions", &action_names(observation.available)),
            ("backtest", &shortened(&theory.backtest_text())),
            ("notes", notes),
        ],
    )
}

/// Returns the names of the offered actions, separated by commas.
fn action_names(available: ActionSet) -> String {
    let names: Vec<&str> = available
        .iter()
        .map(rhae_engine::ActionKind::name)
        .collect();
    names.join(", ")
}
