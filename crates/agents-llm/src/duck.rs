//! The agent `duck`: one model with one tool, Python, through which it looks at the game and acts.
//!
//! It re-implements the Duck harness of Tufa Labs with the later changes of its successors, from
//! descriptions of their rules. The model keeps a model of the world as text, sees the board as
//! letters, objects and a picture, and acts from within its code.

mod actions;
mod board_tools;
mod world_model;

use rhae_agents::{AgentEntry, AgentError, RequestProfiles, View};
use rhae_engine::{Action, PlayState};
use rhae_llm::{Part, Request};
use serde_json::json;

use crate::code::Interpreter;
use crate::engine::{Chat, Engine, TurnEnd};
use crate::harness_agent::{AgentParts, AgentSettings, Kind, Language, shortened};
use crate::limits::Limits;
use crate::picture::board_png;
use crate::prompts::PromptSet;
use crate::threaded::{Game, Observation, Player};
use board_tools::{BoardTools, History};
use world_model::WorldModel;

/// How often the model is asked again, in a row, if it has not acted.
const MAX_NUDGES: u32 = 5;

pub(crate) const KIND: Kind = Kind {
    entry: AgentEntry::with_argument(
        "duck",
        "duck:MODEL",
        "a model acts from within its Python code and keeps a model of the world as text",
    ),
    prompts: &[
        ("nudge", include_str!("../prompts/duck/nudge.md")),
        ("system", include_str!("../prompts/duck/system.md")),
        ("turn", include_str!("../prompts/duck/turn.md")),
        (
            "world_model",
            include_str!("../prompts/duck/world_model.md"),
        ),
    ],
    roles: &[],
    language: Language::Python,
    limits: Limits::DEFAULT,
    prelude: include_str!("../python/duck_prelude.py"),
    // A successor needed 1,334 requests for 7,202 actions with a frontier model.
    profiles: RequestProfiles::new([0.2, 0.7, 3.0], [800, 2_000, 6_000], [400, 1_200, 5_000]),
    new: |parts| Box::new(Duck::new(parts)),
    first_request,
};

/// The state of a play.
struct Duck {
    engine: Engine<'static>,
    chat: Chat,
    prompts: PromptSet,
    interpreter: Interpreter,
    world_model: WorldModel,
    /// The size of a conversation from which on the model's own text is not repeated to it.
    large_context: u64,
}

impl Duck {
    fn new(parts: AgentParts) -> Self {
        Self {
            chat: new_chat(&parts.settings),
            large_context: parts.settings.chat.trim.max_tokens / 2,
            engine: parts.engine,
            prompts: parts.settings.prompts,
            interpreter: Interpreter::new(&parts.runtime, KIND.prelude),
            world_model: WorldModel::default(),
        }
    }

    /// Lets the model act once or more. Returns a text that says what its actions led to.
    fn turn(
        &mut self,
        game: &mut Game,
        history: &mut History,
        outcome: &str,
    ) -> Result<String, AgentError> {
        // Once the conversation is large, it contains the sections often enough.
        let is_large = self.chat.conversation().tokens() > self.large_context;
        let carried = (!is_large && !self.world_model.is_empty()).then(|| self.world_model.text());
        let observation = game.current();
        let message = message(
            &self.prompts,
            observation,
            history.steps(),
            outcome,
            carried,
        );
        self.chat.say_parts(message);
        let sections = self.world_model.text();
        self.chat.conversation().set_reminder(sections);
        for _ in 0..=MAX_NUDGES {
            let context_tokens = self.chat.conversation().tokens();
            let mut tools = BoardTools {
                interpreter: &mut self.interpreter,
                game,
                history,
                reasoning: json!({
                    "world_model": shortened(&self.world_model.text()),
                    "plan": self.world_model.plan(),
                    "context_tokens": context_tokens,
                }),
                acted: None,
            };
            let end = self.engine.turn(&mut self.chat, &mut tools)?;
            let acted = tools.acted.take();
            match end {
                TurnEnd::Answer(reply) | TurnEnd::Tool(reply) => {
                    self.world_model.revise(&reply.text);
                }
                TurnEnd::Limit(limit) if limit.ends_play() => {
                    return Err(AgentError::Stuck(limit.to_string()));
                }
                TurnEnd::Limit(_) => {}
            }
            if let Some(outcome) = acted {
                return Ok(outcome);
            }
            let offered = actions::offered(game.current().available).join(", ");
            self.chat
                .say(self.prompts.fill("nudge", &[("actions", &offered)]));
        }
        Err(AgentError::Failed(format!(
            "the model did not act in {} answers",
            MAX_NUDGES + 1
        )))
    }
}

impl Player for Duck {
    fn play(&mut self, game: &mut Game) -> Result<(), AgentError> {
        let mut history = History::new(game.current());
        let mut outcome = "The game starts.".to_owned();
        loop {
            let current = game.current();
            let is_untouched = history.is_untouched();
            if current.state == PlayState::GameOver
                || (current.available.is_empty() && !is_untouched)
            {
                let before = current.clone();
                let after = game.step(Action::Reset, None)?;
                history.add(Action::Reset, &before, after);
                outcome.push_str(" The level was restarted.");
                continue;
            }
            if current.available.is_empty() {
                return Err(AgentError::Stuck(
                    "the environment offers no action".to_owned(),
                ));
            }
            outcome = self.turn(game, &mut history, &outcome)?;
        }
    }
}

/// Returns the request that a play with this first view sends first.
fn first_request(settings: &AgentSettings, view: &View<'_>) -> Request {
    let mut chat = new_chat(settings);
    let observation = Observation::of(view);
    let outcome = "The game starts.";
    chat.say_parts(message(&settings.prompts, &observation, 0, outcome, None));
    chat.next_request(settings.first_sample)
}

fn new_chat(settings: &AgentSettings) -> Chat {
    let system = settings.prompts.fill("system", &[]);
    let chat = settings.chat;
    chat.chat(&system, board_tools::descriptions(), 0)
}

/// Returns the message of a turn: what happened, where the game is, the model of the world and a
/// picture of the board.
fn message(
    prompts: &PromptSet,
    observation: &Observation,
    step: usize,
    outcome: &str,
    sections: Option<String>,
) -> Vec<Part> {
    let world_model = sections.map_or_else(String::new, |sections| {
        let text = prompts.fill("world_model", &[("sections", &sections)]);
        format!("\n\n{text}")
    });
    let text = prompts.fill(
        "turn",
        &[
            ("outcome", outcome),
            ("step", &step.to_string()),
            ("level", &(observation.levels_completed + 1).to_string()),
            ("levels", &observation.win_levels.to_string()),
            (
                "actions",
                &actions::offered(observation.available).join(", "),
            ),
            ("world_model", &world_model),
        ],
    );
    vec![
        Part::text(text),
        Part::png(&board_png(observation.settled())),
    ]
}
