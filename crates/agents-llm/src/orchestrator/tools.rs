//! The tools of the orchestrator: it studies the play and gives tasks to agents, but cannot act.

use rhae_agents::AgentError;
use rhae_llm::{Parameter, Tool, ToolCall};
use serde_json::{Value, json};

use super::concurrent_tasks;
use super::member::{Member, Task};
use super::returns::Returns;
use super::role::Role;
use super::study::{self, Notebook, Shared};
use crate::engine::{Engine, ToolOutput, Toolbox};
use crate::harness_agent::AgentSettings;
use crate::threaded::Game;

/// The agents that exist at the same time. Each may have an interpreter.
const MAX_MEMBERS: usize = 12;
/// The name of the orchestrator, as the author of memories and in recordings.
pub(super) const AUTHOR: &str = "orchestrator";

/// The agents of a play.
#[derive(Default)]
pub(super) struct Team {
    members: Vec<Member>,
    /// The number of agents that were ever started.
    started: usize,
}

impl Team {
    /// Returns the names of the agents, separated by commas.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self
            .members
            .iter()
            .map(|member| member.name.as_str())
            .collect();
        if names.is_empty() {
            "(none)".to_owned()
        } else {
            names.join(", ")
        }
    }

    /// Returns the index of the agent that the arguments name. The error is for the model.
    fn index(&self, arguments: &Value) -> Result<usize, String> {
        let name = arguments["agent"].as_str().unwrap_or_default();
        let mut members = self.members.iter();
        members
            .position(|member| member.name == name)
            .ok_or_else(|| {
                format!(
                    "there is no agent `{name}`; the agents are {}",
                    self.names()
                )
            })
    }

    /// Returns the role of the agent to which a call gives a task.
    fn role_of_call(&self, name: &str, arguments: &Value) -> Option<Role> {
        match name {
            "spawn" => arguments["role"].as_str().and_then(Role::parse),
            "ask" => {
                let index = self.index(arguments).ok()?;
                Some(self.members[index].role)
            }
            _ => None,
        }
    }
}

/// Describes the tools.
pub(super) fn descriptions() -> Vec<Tool> {
    let mut tools = study::descriptions();
    tools.push(task_tool(
        "spawn",
        "Starts a new agent with a task and waits for its report. Tasks without actions in one reply are worked on at the same time.",
        (
            "role",
            json!({"type": "string", "enum": super::role::NAMES, "description": "What the agent is for. A theorist cannot act."}),
        ),
    ));
    tools.push(task_tool(
        "ask",
        "Gives a further task to an agent, which remembers its earlier ones, and waits for its report.",
        (
            "agent",
            json!({"type": "string", "description": "The name of the agent, such as `explorer-1`."}),
        ),
    ));
    tools.push(Tool::new(
        "dismiss",
        "Ends an agent. Ask it for what it knows before.",
        &[Parameter::text("agent", "The name of the agent.")],
    ));
    tools
}

/// Describes a tool that gives a task.
fn task_tool(name: &str, description: &str, (field, schema): (&str, Value)) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                field: schema,
                "task": {"type": "string", "description": "The task, with everything that the agent must know."},
                "actions": {"type": "integer", "description": "The number of actions that the agent may take."},
                "returns": {"type": "object", "description": "A JSON schema of the value that the agent reports; a summary by default."},
            },
            "required": [field, "task"],
        }),
    }
}

/// The tools during one turn.
pub(super) struct OrchestratorTools<'a> {
    pub(super) settings: &'a AgentSettings,
    pub(super) team: &'a mut Team,
    pub(super) notebook: &'a mut Notebook,
    pub(super) game: &'a mut Game,
    pub(super) shared: &'a mut Shared,
}

impl OrchestratorTools<'_> {
    /// Resolves a call that gives a task, after it has started the agent if it is a new one. Returns
    /// the index of the agent. The error is for the model.
    fn assign(&mut self, name: &str, arguments: &Value) -> Result<(usize, Task), String> {
        if name == "ask" {
            let index = self.team.index(arguments)?;
            let task = task(arguments, self.team.members[index].role)?;
            return Ok((index, task));
        }
        let role = arguments["role"].as_str().and_then(Role::parse);
        let role =
            role.ok_or_else(|| format!("`role` must be one of {}", super::role::NAMES.join(", ")))?;
        if self.team.members.len() >= MAX_MEMBERS {
            return Err(format!(
                "there are {MAX_MEMBERS} agents already: {}; dismiss one first",
                self.team.names()
            ));
        }
        let task = task(arguments, role)?;
        self.team.started += 1;
        let member = Member::new(role, self.team.started, self.settings, self.shared);
        self.team.members.push(member);
        Ok((self.team.members.len() - 1, task))
    }

    /// Gives a task and waits for its report.
    fn give(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let (index, task) = match self.assign(name, arguments) {
            Ok(assigned) => assigned,
            Err(problem) => return Ok(ToolOutput::error(problem)),
        };
        let member = &mut self.team.members[index];
        let result = member.work(&task, task.access(self.game), self.shared, engine)?;
        Ok(result.output(&member.name))
    }

    fn dismiss(&mut self, arguments: &Value) -> ToolOutput {
        match self.team.index(arguments) {
            Ok(index) => {
                let member = self.team.members.remove(index);
                ToolOutput::text(format!("{} is dismissed", member.name))
            }
            Err(problem) => ToolOutput::error(problem),
        }
    }
}

/// Returns the task that the arguments describe.
fn task(arguments: &Value, role: Role) -> Result<Task, String> {
    let text = arguments["task"].as_str().unwrap_or_default().trim();
    if text.is_empty() {
        return Err("`task` is empty".to_owned());
    }
    let actions = match arguments["actions"].as_u64() {
        Some(actions) => u32::try_from(actions).unwrap_or(u32::MAX),
        None => role.default_actions(),
    };
    Ok(Task {
        text: text.to_owned(),
        returns: Returns::parse(&arguments["returns"])?,
        actions: actions.min(role.max_actions()),
    })
}

impl Toolbox for OrchestratorTools<'_> {
    fn tools(&self) -> Vec<Tool> {
        descriptions()
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        match name {
            "spawn" | "ask" => self.give(name, arguments, engine),
            "dismiss" => Ok(self.dismiss(arguments)),
            _ => {
                let Self {
                    notebook,
                    shared,
                    game,
                    ..
                } = self;
                let (call, current) = ((name, arguments), game.current());
                let output = study::call(call, AUTHOR, notebook, shared, current, engine)?;
                Ok(output
                    .unwrap_or_else(|| ToolOutput::error(format!("there is no tool `{name}`"))))
            }
        }
    }

    /// Tasks without actions run together.
    fn runs_together(&self, name: &str, arguments: &Value) -> bool {
        let role = self.team.role_of_call(name, arguments);
        role.is_some_and(|role| task(arguments, role).is_ok_and(|task| task.actions == 0))
    }

    fn call_together(
        &mut self,
        calls: &[ToolCall],
        engine: &mut Engine<'_>,
    ) -> Result<Vec<ToolOutput>, AgentError> {
        let mut outputs: Vec<Option<ToolOutput>> = calls.iter().map(|_| None).collect();
        let mut tasks: Vec<(usize, usize, Task)> = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            match self.assign(&call.name, &call.arguments) {
                Ok((index, task)) => tasks.push((index, number, task)),
                Err(problem) => outputs[number] = Some(ToolOutput::error(problem)),
            }
        }
        let members = &mut self.team.members;
        let current = self.game.current();
        let reports = concurrent_tasks::work(tasks, members, current, self.shared, engine)?;
        for (number, output) in reports {
            outputs[number] = Some(output);
        }
        Ok(outputs.into_iter().flatten().collect())
    }

    fn last_request(&self) -> &'static str {
        "Answer now without a tool: what is known, and what comes next. You continue afterwards."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_bounded_by_their_role() {
        let actions = |role, actions: Value| {
            let arguments = json!({"task": " t ", "actions": actions});
            task(&arguments, role).map(|task| task.actions)
        };
        assert_eq!(actions(Role::Explorer, Value::Null), Ok(30));
        assert_eq!(actions(Role::Tester, json!(1_000)), Ok(40));
        assert_eq!(actions(Role::Theorist, json!(5)), Ok(0));
        assert_eq!(actions(Role::Solver, json!(0)), Ok(0));
        assert!(task(&json!({"task": " "}), Role::Solver).is_err());
        let typo = json!({"task": "t", "returns": {"typ": "object"}});
        assert!(task(&typo, Role::Solver).is_err_and(|error| error.contains("returns.typ")));
    }
}
