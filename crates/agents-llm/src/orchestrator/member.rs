//! The agents that the orchestrator starts: each works on a task until it reports a value.

use rhae_agents::AgentError;
use rhae_engine::{Action, ActionKind, PlayState};
use rhae_llm::{Parameter, Tool};
use serde_json::{Value, json};

use super::returns::Returns;
use super::role::Role;
use super::study::{self, Notebook, Shared};
use crate::action_text::parse_action;
use crate::board::interior_changed;
use crate::engine::{Chat, Engine, ToolOutput, Toolbox, TurnEnd};
use crate::harness_agent::{AgentSettings, shortened};
use crate::threaded::Game;

/// How often an agent is asked again, in a row, if it answers without a report.
const MAX_NUDGES: u32 = 2;
/// The actions of one call of `act`.
const MAX_BATCH: usize = 50;

/// A task for an agent.
pub(super) struct Task {
    pub(super) text: String,
    pub(super) returns: Returns,
    /// The number of actions that the agent may take.
    pub(super) actions: u32,
}

/// An agent. It keeps its conversation and its interpreter between tasks.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) role: Role,
    chat: Chat,
    notebook: Notebook,
}

impl Member {
    pub(super) fn new(
        role: Role,
        number: usize,
        settings: &AgentSettings,
        shared: &Shared,
    ) -> Self {
        let facts = shared.prompts.fill("facts", &[]);
        let system = shared.prompts.fill(role.name(), &[("facts", &facts)]);
        let name = format!("{}-{number}", role.name());
        let chat = settings.chat_of_role(role.name(), &system, tools(role), 1);
        Self {
            chat: chat.of_agent(&name),
            name,
            role,
            notebook: Notebook::new(&shared.runtime),
        }
    }

    /// Works on a task. Returns the reported value, or why there is none, and the actions taken.
    pub(super) fn work(
        &mut self,
        task: &Task,
        game: &mut Game,
        shared: &mut Shared,
        engine: &mut Engine<'_>,
    ) -> Result<(Result<Value, String>, u32), AgentError> {
        let message = self.message(task, game, shared);
        self.chat.conversation().set_reminder(message.clone());
        self.chat.say(message);
        let mut used = 0;
        for _ in 0..=MAX_NUDGES {
            let context_tokens = self.chat.conversation().tokens();
            let mut tools = MemberTools {
                name: &self.name,
                role: self.role,
                task,
                notebook: &mut self.notebook,
                game: &mut *game,
                shared: &mut *shared,
                used: &mut used,
                context_tokens,
                report: None,
            };
            let end = engine.turn(&mut self.chat, &mut tools)?;
            if let Some(value) = tools.report.take() {
                return Ok((Ok(value), used));
            }
            if let TurnEnd::Limit(limit) = end {
                return Ok((Err(format!("no report: {limit}")), used));
            }
            self.chat.say(shared.prompts.fill("no_report", &[]));
        }
        let problem = format!("no report in {} answers", MAX_NUDGES + 1);
        Ok((Err(problem), used))
    }

    /// Returns the message with which a task begins.
    fn message(&self, task: &Task, game: &Game, shared: &Shared) -> String {
        let current = game.current();
        let budget = if self.role.can_act() {
            format!(
                "You may take {} actions. Offered actions: {}.",
                task.actions,
                offered(game)
            )
        } else {
            String::new()
        };
        shared.prompts.fill(
            "task",
            &[
                ("task", &task.text),
                ("name", &self.name),
                ("step", &shared.timeline.steps().to_string()),
                ("level", &(current.levels_completed + 1).to_string()),
                ("levels", &current.win_levels.to_string()),
                ("budget", &budget),
                ("returns", &task.returns.text()),
                ("memories", &shared.memories.summaries()),
            ],
        )
    }
}

/// Describes the tools of a role.
fn tools(role: Role) -> Vec<Tool> {
    let mut tools = study::descriptions();
    if role.can_act() {
        tools.push(act_tool());
    }
    tools.push(report_tool());
    tools
}

fn act_tool() -> Tool {
    Tool::new(
        "act",
        "Executes actions in order. It stops when the level is completed or lost, after an action that changes nothing but the border of the board, and when your actions are used up. A lost level is restarted at once.",
        &[
            Parameter::texts(
                "actions",
                "The actions, such as `ACTION1` and, for a click, `ACTION6(row, column)`. `RESET` restarts the level.",
            ),
            Parameter::text("reason", "What the actions are for, and what you expect."),
        ],
    )
}

/// Describes the tool that ends a task.
pub(crate) fn report_tool() -> Tool {
    Tool {
        name: "report".to_owned(),
        description: "Ends your task with a value of the requested form.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"value": {"description": "The value, of the form that the task describes."}},
            "required": ["value"],
        }),
    }
}

/// The names of the offered actions, separated by commas.
pub(super) fn offered(game: &Game) -> String {
    let names: Vec<&str> = game
        .current()
        .available
        .iter()
        .map(ActionKind::name)
        .collect();
    names.join(", ")
}

/// Restarts a level that is lost, and a game that has not started.
pub(super) fn restart_if_needed(game: &mut Game, shared: &mut Shared) -> Result<bool, AgentError> {
    let current = game.current();
    let is_lost = current.state == PlayState::GameOver;
    let needs_start = current.available.is_empty() && !shared.timeline.is_untouched();
    if is_lost || needs_start {
        let after = game.step(Action::Reset, None)?;
        shared.timeline.restart(after);
    }
    Ok(is_lost || needs_start)
}

/// The tools of an agent during a task.
struct MemberTools<'a> {
    name: &'a str,
    role: Role,
    task: &'a Task,
    notebook: &'a mut Notebook,
    game: &'a mut Game,
    shared: &'a mut Shared,
    /// The actions taken in this task.
    used: &'a mut u32,
    context_tokens: u64,
    report: Option<Value>,
}

impl MemberTools<'_> {
    fn act(&mut self, arguments: &Value) -> Result<ToolOutput, AgentError> {
        if *self.used >= self.task.actions {
            return Ok(ToolOutput::error(
                "your actions are used up; report what you found out",
            ));
        }
        let list = arguments["actions"].as_array();
        let texts: Vec<&str> = list
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut reasoning = Some(self.reasoning(arguments));
        let first = self.shared.timeline.steps() + 1;
        let mut executed = 0;
        let mut stopped = None;
        for text in texts.iter().take(MAX_BATCH) {
            let action = match self.parse(text) {
                Ok(action) => action,
                Err(problem) => {
                    stopped = Some(problem);
                    break;
                }
            };
            if *self.used >= self.task.actions {
                stopped = Some("your actions are used up".to_owned());
                break;
            }
            stopped = self.step(action, reasoning.take())?.map(str::to_owned);
            executed += 1;
            if stopped.is_some() {
                break;
            }
        }
        if executed == 0 {
            let problem = stopped.unwrap_or_else(|| "`actions` is empty".to_owned());
            return Ok(ToolOutput::error(problem));
        }
        if stopped.is_none() && texts.len() > MAX_BATCH {
            stopped = Some(format!("one call executes at most {MAX_BATCH} actions"));
        }
        let timeline = &self.shared.timeline;
        let steps = if timeline.steps() < first {
            // Only RESET was executed.
            String::new()
        } else {
            timeline.describe(first, usize::MAX, false)
        };
        let current = self.game.current();
        Ok(ToolOutput::text(format!(
            "{steps}{executed} of {} actions were executed: {}. Level {} of {}. {} actions are left.",
            texts.len(),
            stopped.unwrap_or_else(|| "all".to_owned()),
            current.levels_completed + 1,
            current.win_levels,
            self.task.actions - *self.used
        )))
    }

    /// Returns what the recording stores with the first action of a call.
    fn reasoning(&self, arguments: &Value) -> Value {
        json!({
            "agent": self.name,
            "task": shortened(&self.task.text),
            "reason": shortened(arguments["reason"].as_str().unwrap_or_default()),
            "memories": shortened(&self.shared.memories.summaries()),
            "context_tokens": self.context_tokens,
        })
    }

    fn parse(&self, text: &str) -> Result<Action, String> {
        let available = self.game.current().available;
        match parse_action(text) {
            // A RESET of an untouched level would restart the whole game.
            Some(Action::Reset) if self.shared.timeline.is_untouched() => {
                Err("RESET has no effect here: the level has just started".to_owned())
            }
            Some(Action::Reset) => Ok(Action::Reset),
            Some(action) if available.contains(action.kind()) => Ok(action),
            _ => Err(format!(
                "`{text}` is not an offered action; offered are {}, and a click is written `ACTION6(row, column)`",
                offered(self.game)
            )),
        }
    }

    /// Executes one action. Returns why the following ones should not be executed.
    fn step(
        &mut self,
        action: Action,
        reasoning: Option<Value>,
    ) -> Result<Option<&'static str>, AgentError> {
        if action == Action::Reset {
            let after = self.game.step(action, reasoning)?;
            self.shared.timeline.restart(after);
            return Ok(None);
        }
        let before = self.game.current().clone();
        *self.used += 1;
        let after = self.game.step(action, reasoning)?;
        self.shared.timeline.add(action, &before, after);
        let is_completed = after.levels_completed != before.levels_completed;
        let is_unchanged = !interior_changed(before.settled(), after.settled());
        Ok(if restart_if_needed(self.game, self.shared)? {
            Some("the level was lost and has been restarted")
        } else if is_completed {
            Some("the level is completed; report now")
        } else if is_unchanged {
            Some("the last action changed nothing inside the border")
        } else {
            None
        })
    }
}

impl Toolbox for MemberTools<'_> {
    fn tools(&self) -> Vec<Tool> {
        tools(self.role)
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        match name {
            "act" => self.act(arguments),
            "report" => {
                if let Err(problem) = self.task.returns.check(&arguments["value"]) {
                    return Ok(ToolOutput::error(format!(
                        "{problem}; the form is {}",
                        self.task.returns.text()
                    )));
                }
                self.report = Some(arguments["value"].clone());
                Ok(ToolOutput::text("reported"))
            }
            _ => {
                let Self {
                    notebook,
                    shared,
                    game,
                    ..
                } = self;
                let output =
                    study::call((name, arguments), self.name, notebook, shared, game, engine)?;
                Ok(output
                    .unwrap_or_else(|| ToolOutput::error(format!("there is no tool `{name}`"))))
            }
        }
    }

    fn ends_turn(&self) -> bool {
        self.report.is_some()
    }

    fn last_request(&self) -> &'static str {
        "This is your last request for this task. Call `report` now."
    }
}

/// Describes the result of a task, for the orchestrator.
pub(super) fn result_text(
    member: &Member,
    result: &Result<Value, String>,
    used: u32,
    game: &Game,
) -> String {
    let current = game.current();
    let mut description = json!({
        "agent": member.name,
        "actions_used": used,
        "level": current.levels_completed + 1,
    });
    match result {
        Ok(value) => description["value"] = value.clone(),
        Err(problem) => description["problem"] = json!(problem),
    }
    description.to_string()
}
