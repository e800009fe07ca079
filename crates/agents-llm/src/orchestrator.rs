//! The agent `orchestrator`: a model that cannot act and gives tasks to agents that can.
//!
//! It re-implements Arcgentica of Symbolica from a description of its rules. The orchestrator plans
//! and starts explorers, theorists, testers and solvers. Each has a conversation and a Python
//! interpreter of its own, a bounded number of actions, and reports a value of a requested form.
//! All of them share the history of the play and a list of memories.
//!
//! **Invariant:** an agent that may act works alone. Agents whose tasks have no actions may work at the
//! same time: each has a branch of the log, the same history, and a copy of the memories. A resumed
//! play therefore repeats all requests from the log, whatever their order was.

mod concurrent_tasks;
mod member;
mod memories;
mod returns;
mod role;
mod study;
mod tools;

use std::sync::Arc;

use rhae_agents::{AgentEntry, AgentError, RequestProfiles, View};
use rhae_llm::Request;

use crate::code::CodeRuntime;
use crate::engine::{Chat, Engine, TurnEnd};
use crate::harness_agent::{AgentParts, AgentSettings, Kind, Language};
use crate::limits::Limits;
use crate::prompts::{EmbeddedPrompt, PromptSet};
use crate::threaded::{Game, Observation, Player};
use crate::timeline::Timeline;
pub(crate) use member::report_tool;
use memories::Memories;
pub(crate) use returns::Returns;
use study::{Notebook, Shared};
use tools::{OrchestratorTools, Team};

/// How many turns in a row may end without an action of any agent.
const MAX_IDLE: u32 = 4;

/// The prompts.
const PROMPTS: &[EmbeddedPrompt] = &[
    (
        "explorer",
        include_str!("../prompts/orchestrator/explorer.md"),
    ),
    ("facts", include_str!("../prompts/orchestrator/facts.md")),
    (
        "no_report",
        include_str!("../prompts/orchestrator/no_report.md"),
    ),
    ("solver", include_str!("../prompts/orchestrator/solver.md")),
    ("system", include_str!("../prompts/orchestrator/system.md")),
    ("task", include_str!("../prompts/orchestrator/task.md")),
    ("tester", include_str!("../prompts/orchestrator/tester.md")),
    (
        "theorist",
        include_str!("../prompts/orchestrator/theorist.md"),
    ),
    ("turn", include_str!("../prompts/orchestrator/turn.md")),
];

pub(crate) const KIND: Kind = Kind {
    entry: AgentEntry::with_argument(
        "orchestrator",
        "orchestrator:MODEL",
        "a model that cannot act gives tasks to explorers, theorists, testers and solvers, which report values of a requested form",
    ),
    prompts: PROMPTS,
    roles: role::NAMES,
    language: Language::Python,
    limits: Limits::DEFAULT,
    prelude: "",
    // Tasks, reports and studies are requests besides those that act.
    profiles: RequestProfiles::new([0.7, 2.0, 6.0], [400, 1_500, 6_000], [150, 800, 5_000]),
    new: |parts| Box::new(Orchestrator::new(parts)),
    first_request,
};

/// The state of a play.
struct Orchestrator {
    engine: Engine<'static>,
    settings: AgentSettings,
    runtime: Arc<CodeRuntime>,
    chat: Chat,
    notebook: Notebook,
    team: Team,
}

impl Orchestrator {
    fn new(parts: AgentParts) -> Self {
        Self {
            chat: new_chat(&parts.settings),
            engine: parts.engine,
            settings: parts.settings,
            notebook: Notebook::new(&parts.runtime),
            runtime: parts.runtime,
            team: Team::default(),
        }
    }

    /// Lets the orchestrator work until it answers.
    fn turn(&mut self, game: &mut Game, shared: &mut Shared) -> Result<(), AgentError> {
        let text = message(game.current(), shared, &self.team);
        let reminder = format!("The memories:\n{}", shared.memories.summaries());
        self.chat.conversation().set_reminder(reminder);
        self.chat.say(text);
        let mut tools = OrchestratorTools {
            settings: &self.settings,
            team: &mut self.team,
            notebook: &mut self.notebook,
            game,
            shared,
        };
        match self.engine.turn(&mut self.chat, &mut tools)? {
            TurnEnd::Limit(limit) if limit.ends_play() => Err(AgentError::Stuck(limit.to_string())),
            _ => Ok(()),
        }
    }
}

impl Player for Orchestrator {
    fn play(&mut self, game: &mut Game) -> Result<(), AgentError> {
        let mut shared = Shared {
            timeline: Arc::new(Timeline::new(game.current())),
            memories: Memories::default(),
            prompts: self.settings.prompts.clone(),
            runtime: Arc::clone(&self.runtime),
        };
        let mut idle = 0;
        loop {
            if member::restart_if_needed(game, &mut shared)? {
                continue;
            }
            if game.current().available.is_empty() {
                return Err(AgentError::Stuck(
                    "the environment offers no action".to_owned(),
                ));
            }
            let steps = shared.timeline.steps();
            self.turn(game, &mut shared)?;
            idle = if shared.timeline.steps() == steps {
                idle + 1
            } else {
                0
            };
            if idle == MAX_IDLE {
                return Err(AgentError::Failed(format!(
                    "no agent acted in {MAX_IDLE} turns of the orchestrator"
                )));
            }
        }
    }
}

/// Returns the request that a play with this first view sends first.
fn first_request(settings: &AgentSettings, view: &View<'_>) -> Request {
    let mut chat = new_chat(settings);
    let observation = Observation::of(view);
    let situation = Situation {
        step: 0,
        memories: Memories::default().summaries(),
        agents: Team::default().names(),
    };
    chat.say(situation.message(&settings.prompts, &observation));
    chat.next_request(settings.first_sample)
}

fn new_chat(settings: &AgentSettings) -> Chat {
    let facts = settings.prompts.fill("facts", &[]);
    let system = settings.prompts.fill("system", &[("facts", &facts)]);
    let chat = settings.chat.chat(&system, tools::descriptions(), 0);
    chat.of_agent(tools::AUTHOR)
}

/// Returns the message of a turn.
fn message(observation: &Observation, shared: &Shared, team: &Team) -> String {
    let situation = Situation {
        step: shared.timeline.steps(),
        memories: shared.memories.summaries(),
        agents: team.names(),
    };
    situation.message(&shared.prompts, observation)
}

/// What a message to the orchestrator says besides the observation.
struct Situation {
    step: usize,
    memories: String,
    agents: String,
}

impl Situation {
    fn message(&self, prompts: &PromptSet, observation: &Observation) -> String {
        let actions: Vec<&str> = observation
            .available
            .iter()
            .map(rhae_engine::ActionKind::name)
            .collect();
        prompts.fill(
            "turn",
            &[
                ("step", &self.step.to_string()),
                ("level", &(observation.levels_completed + 1).to_string()),
                ("levels", &observation.win_levels.to_string()),
                ("actions", &actions.join(", ")),
                ("memories", &self.memories),
                ("agents", &self.agents),
            ],
        )
    }
}
