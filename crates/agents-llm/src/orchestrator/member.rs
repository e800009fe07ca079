//! The agents that the orchestrator starts: each works on a task until it reports a value.

use std::sync::Arc;

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
use crate::threaded::{Game, Observation};

/// How often an agent is asked again, in a row, if it answers without a report.
const MAX_NUDGES: u32 = 2;
/// The actions of one call of `act`.
const MAX_BATCH: usize = 50;

/// What an agent can do in the play during a task.
pub(super) enum Access<'a> {
    Act(&'a mut Game),
    Watch(&'a Observation),
}

impl Access<'_> {
    pub(super) fn current(&self) -> &Observation {
        match self {
            Self::Act(game) => game.current(),
            Self::Watch(current) => current,
        }
    }
}

/// A task for an agent.
pub(super) struct Task {
    pub(super) text: String,
    pub(super) returns: Returns,
    /// The number of actions that the agent may take.
    pub(super) actions: u32,
}

impl Task {
    /// Returns what an agent with this task can do in a play.
    pub(super) fn access<'a>(&self, game: &'a mut Game) -> Access<'a> {
        if self.actions == 0 {
            Access::Watch(game.current())
        } else {
            Access::Act(game)
        }
    }
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

    /// Works on a task until there is a report, or a reason why there is none.
    pub(super) fn work(
        &mut self,
        task: &Task,
        mut access: Access<'_>,
        shared: &mut Shared,
        engine: &mut Engine<'_>,
    ) -> Result<TaskResult, AgentError> {
        let message = self.message(task, access.current(), shared);
        self.chat.conversation().set_reminder(message.clone());
        self.chat.say(message);
        let mut used = 0;
        let mut value = Err(format!("no report in {} answers", MAX_NUDGES + 1));
        for _ in 0..=MAX_NUDGES {
            let context_tokens = self.chat.conversation().tokens();
            let mut tools = MemberTools {
                name: &self.name,
                role: self.role,
                task,
                notebook: &mut self.notebook,
                access: &mut access,
                shared: &mut *shared,
                used: &mut used,
                context_tokens,
                report: None,
            };
            let end = engine.turn(&mut self.chat, &mut tools)?;
            if let Some(report) = tools.report.take() {
                value = Ok(report);
                break;
            }
            if let TurnEnd::Limit(limit) = end {
                value = Err(format!("no report: {limit}"));
                break;
            }
            self.chat.say(shared.prompts.fill("no_report", &[]));
        }
        Ok(TaskResult {
            value,
            used,
            level: access.current().levels_completed + 1,
        })
    }

    /// Returns the message with which a task begins.
    fn message(&self, task: &Task, current: &Observation, shared: &Shared) -> String {
        let budget = if self.role.can_act() {
            format!(
                "You may take {} actions. Offered actions: {}.",
                task.actions,
                offered(current)
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
fn offered(current: &Observation) -> String {
    let names: Vec<&str> = current.available.iter().map(ActionKind::name).collect();
    names.join(", ")
}

/// Restarts a level that is lost, and a game that has not started.
pub(super) fn restart_if_needed(game: &mut Game, shared: &mut Shared) -> Result<bool, AgentError> {
    let current = game.current();
    let is_lost = current.state == PlayState::GameOver;
    let needs_start = current.available.is_empty() && !shared.timeline.is_untouched();
    if is_lost || needs_start {
        let after = game.step(Action::Reset, None)?;
        Arc::make_mut(&mut shared.timeline).restart(after);
    }
    Ok(is_lost || needs_start)
}

/// The tools of an agent during a task.
struct MemberTools<'a, 'game> {
    name: &'a str,
    role: Role,
    task: &'a Task,
    notebook: &'a mut Notebook,
    access: &'a mut Access<'game>,
    shared: &'a mut Shared,
    /// The actions taken in this task.
    used: &'a mut u32,
    context_tokens: u64,
    report: Option<Value>,
}

impl MemberTools<'_, '_> {
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
        let current = self.access.current();
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
        let available = self.access.current().available;
        match parse_action(text) {
            // A RESET of an untouched level would restart the whole game.
            Some(Action::Reset) if self.shared.timeline.is_untouched() => {
                Err("RESET has no effect here: the level has just started".to_owned())
            }
            Some(Action::Reset) => Ok(Action::Reset),
            Some(action) if available.contains(action.kind()) => Ok(action),
            _ => Err(format!(
                "`{text}` is not an offered action; offered are {}, and a click is written `ACTION6(row, column)`",
                offered(self.access.current())
            )),
        }
    }

    /// Executes one action. Returns why the following ones should not be executed.
    fn step(
        &mut self,
        action: Action,
        reasoning: Option<Value>,
    ) -> Result<Option<&'static str>, AgentError> {
        let Access::Act(game) = &mut *self.access else {
            return Ok(Some("this task has no actions"));
        };
        let timeline = &mut self.shared.timeline;
        if action == Action::Reset {
            let after = game.step(action, reasoning)?;
            Arc::make_mut(timeline).restart(after);
            return Ok(None);
        }
        let before = game.current().clone();
        *self.used += 1;
        let after = game.step(action, reasoning)?;
        Arc::make_mut(timeline).add(action, &before, after);
        let is_completed = after.levels_completed != before.levels_completed;
        let is_unchanged = !interior_changed(before.settled(), after.settled());
        Ok(if restart_if_needed(game, self.shared)? {
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

impl Toolbox for MemberTools<'_, '_> {
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
                    access,
                    ..
                } = self;
                let current = access.current();
                let call = (name, arguments);
                let output = study::call(call, self.name, notebook, shared, current, engine)?;
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

/// The result of a task.
pub(super) struct TaskResult {
    /// The reported value, or why there is none.
    value: Result<Value, String>,
    /// The actions taken.
    used: u32,
    /// The level after the task, from 1.
    level: u8,
}

impl TaskResult {
    /// Describes the result for the orchestrator.
    pub(super) fn output(&self, agent: &str) -> ToolOutput {
        let mut description = json!({
            "agent": agent,
            "actions_used": self.used,
            "level": self.level,
        });
        match &self.value {
            Ok(value) => description["value"] = value.clone(),
            Err(problem) => description["problem"] = json!(problem),
        }
        ToolOutput {
            text: description.to_string(),
            is_error: self.value.is_err(),
        }
    }
}
