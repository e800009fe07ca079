//! The agent `rgb`: a player that executes batches of actions, and a model that studies its log.
//!
//! It re-implements the harness of Duke University for ARC-AGI-3, which its authors call the RGB
//! agent (read, grep, bash), from a description of its rules. The player writes an append-only log.
//! The analyzer, one conversation over the whole play, can only read, search and run Python on it,
//! and answers with a short plan and a list of actions. The player executes the list without asking
//! again and flushes the rest when the level changes or is lost.

mod answer;
mod play_log;
mod tools;

use rhae_agents::{AgentEntry, AgentError, RequestProfiles, View};
use rhae_engine::{Action, ActionSet, PlayState};
use rhae_llm::Request;
use serde_json::{Value, json};

use crate::code::Interpreter;
use crate::engine::{Chat, Engine, TurnEnd};
use crate::harness_agent::{AgentParts, AgentSettings, Kind, Language, shortened};
use crate::limits::Limits;
use crate::prompts::PromptSet;
use crate::threaded::{Game, Observation, Player};
use answer::PlannedActions;
use play_log::{Entry, PlayLog};
use tools::AnalyzerTools;

/// How often the analyzer is asked again after an answer without usable actions.
const MAX_NUDGES: u32 = 5;
/// The largest number of actions in a plan.
const PLAN_SIZE: usize = 10;

pub(crate) const KIND: Kind = Kind {
    entry: AgentEntry::with_argument(
        "rgb",
        "rgb:MODEL",
        "a model reads, greps and analyses with Python the log of a player, which executes its plans in batches",
    ),
    prompts: &[
        ("actions", include_str!("../prompts/rgb/actions.md")),
        ("initial", include_str!("../prompts/rgb/initial.md")),
        ("nudge", include_str!("../prompts/rgb/nudge.md")),
        ("python", include_str!("../prompts/rgb/python.md")),
        ("resume", include_str!("../prompts/rgb/resume.md")),
        ("system", include_str!("../prompts/rgb/system.md")),
    ],
    roles: &[],
    language: Language::Python,
    limits: Limits::DEFAULT,
    prelude: include_str!("../python/rgb_prelude.py"),
    // The prompts ask for 3 to 5 actions per plan, at most 10; a plan takes some calls of tools.
    profiles: RequestProfiles::new([0.3, 1.0, 4.0], [500, 2_000, 6_000], [150, 700, 4_000]),
    new: |parts| Box::new(Rgb::new(parts)),
    first_request,
};

/// The state of a play.
struct Rgb {
    engine: Engine<'static>,
    chat: Chat,
    prompts: PromptSet,
    tools: AnalyzerTools,
    /// Whether the analyzer has answered at least once.
    has_plan: bool,
    /// The number of lines that the analyzer has been told about.
    known_lines: usize,
}

impl Rgb {
    fn new(parts: AgentParts) -> Self {
        let tools = AnalyzerTools::new(Interpreter::new(&parts.runtime, KIND.prelude));
        Self {
            chat: new_chat(&parts.settings),
            engine: parts.engine,
            prompts: parts.settings.prompts,
            tools,
            has_plan: false,
            known_lines: 0,
        }
    }

    /// Asks the analyzer for a plan. `reason` says why the last one ended.
    fn analyze(
        &mut self,
        observation: &Observation,
        may_reset: bool,
        reason: &str,
    ) -> Result<PlannedActions, AgentError> {
        let lines = self.tools.log.lines();
        self.chat.say(message(
            &self.prompts,
            observation.available,
            lines,
            self.has_plan.then_some((reason, self.known_lines + 1)),
        ));
        self.known_lines = lines;
        let offered = action_names(observation.available);
        for _ in 0..=MAX_NUDGES {
            let problem = match self.engine.turn(&mut self.chat, &mut self.tools)? {
                TurnEnd::Answer(reply) => {
                    let answer = answer::parse(&reply.text, observation.available, may_reset);
                    match answer {
                        Ok(mut planned) => {
                            planned.actions.truncate(PLAN_SIZE);
                            self.has_plan = true;
                            return Ok(planned);
                        }
                        Err(problem) => problem,
                    }
                }
                TurnEnd::Limit(limit) if limit.ends_play() => {
                    return Err(AgentError::Stuck(limit.to_string()));
                }
                TurnEnd::Limit(limit) => limit.to_string(),
                TurnEnd::Tool(_) => "the turn ended".to_owned(),
            };
            let values = [("problem", problem.as_str()), ("actions", offered.as_str())];
            self.chat.say(self.prompts.fill("nudge", &values));
        }
        Err(AgentError::Failed(format!(
            "the model gave no usable actions in {} answers",
            MAX_NUDGES + 1
        )))
    }

    /// Executes one action and writes it to the log.
    fn act(
        &mut self,
        game: &mut Game,
        action: Action,
        step: Option<(usize, usize)>,
        reasoning: Option<Value>,
    ) -> Result<(), AgentError> {
        let before = game.current().clone();
        let after = game.step(action, reasoning)?;
        self.tools.log.append(&Entry {
            action,
            before: &before,
            after,
            step,
        });
        Ok(())
    }

    /// Executes a plan until it ends, the level changes or the level is lost. Returns why it ended.
    fn execute(
        &mut self,
        game: &mut Game,
        planned: &PlannedActions,
    ) -> Result<&'static str, AgentError> {
        let level = game.current().levels_completed;
        let count = planned.actions.len();
        let context_tokens = self.chat.conversation().tokens();
        self.tools.log.start_plan(&planned.plan);
        for (index, &action) in planned.actions.iter().enumerate() {
            let mut reasoning =
                json!({"plan": planned.plan, "step": format!("{}/{count}", index + 1)});
            if index == 0 {
                reasoning["briefing"] = json!(shortened(&planned.briefing));
                reasoning["context_tokens"] = json!(context_tokens);
                reasoning["tool_calls"] = json!(self.tools.take_calls());
            }
            self.act(game, action, Some((index + 1, count)), Some(reasoning))?;
            let current = game.current();
            if current.levels_completed != level {
                return Ok("the score has changed, so that the rest of the plan was dropped");
            }
            if current.state == PlayState::GameOver {
                return Ok("the level was lost, so that the rest of the plan was dropped");
            }
        }
        Ok("all its actions are executed")
    }
}

impl Player for Rgb {
    fn play(&mut self, game: &mut Game) -> Result<(), AgentError> {
        self.tools.log.start(game.current());
        let mut reason = "";
        // RESET directly after a RESET or at the start of a level would restart the whole game.
        let mut may_reset = false;
        loop {
            let current = game.current();
            let is_lost = current.state == PlayState::GameOver;
            if is_lost || (current.available.is_empty() && may_reset) {
                self.act(game, Action::Reset, None, None)?;
                may_reset = false;
                continue;
            }
            if current.available.is_empty() {
                return Err(AgentError::Stuck(
                    "the environment offers no action".to_owned(),
                ));
            }
            let level = current.levels_completed;
            let planned = self.analyze(&current.clone(), may_reset, reason)?;
            reason = self.execute(game, &planned)?;
            let last = planned.actions.last();
            may_reset = game.current().levels_completed == level && last != Some(&Action::Reset);
        }
    }
}

/// Returns the request that a play with this first view sends first.
fn first_request(settings: &AgentSettings, view: &View<'_>) -> Request {
    let observation = Observation::of(view);
    let mut log = PlayLog::default();
    log.start(&observation);
    let mut chat = new_chat(settings);
    chat.say(message(
        &settings.prompts,
        observation.available,
        log.lines(),
        None,
    ));
    chat.next_request(settings.first_sample)
}

fn new_chat(settings: &AgentSettings) -> Chat {
    let prompts = &settings.prompts;
    let size = PLAN_SIZE.to_string();
    let system = [
        prompts.fill("system", &[]),
        prompts.fill("python", &[]),
        prompts.fill("actions", &[("plan_size", &size)]),
    ];
    let chat = settings.chat;
    chat.chat(&system.join("\n\n"), tools::descriptions(), 0)
}

/// Returns the message that asks for a plan. `resumed` is why the last plan ended, and the first line
/// that the analyzer has not seen; it is absent for the first plan.
fn message(
    prompts: &PromptSet,
    available: ActionSet,
    lines: usize,
    resumed: Option<(&str, usize)>,
) -> String {
    let (lines, actions) = (lines.to_string(), action_names(available));
    match resumed {
        None => prompts.fill("initial", &[("lines", &lines), ("actions", &actions)]),
        Some((reason, first_new)) => prompts.fill(
            "resume",
            &[
                ("reason", reason),
                ("lines", &lines),
                ("first_new", &first_new.to_string()),
                ("actions", &actions),
            ],
        ),
    }
}

/// Returns the names of the offered actions, separated by commas.
fn action_names(available: ActionSet) -> String {
    let names: Vec<&str> = available
        .iter()
        .map(rhae_engine::ActionKind::name)
        .collect();
    names.join(", ")
}
