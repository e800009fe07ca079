//! Solves static tasks with programs that a model writes, as Arcgentica does for ARC-AGI-2.
//!
//! A model studies a task with Python and submits a program. The program is executed on all training
//! pairs before its outputs can be an answer. The model can give parts of the work to other agents.
//!
//! **Invariant:** an attempt is a function of the replies and of the outputs of code, which are in
//! the log.

mod program;

use std::path::Path;
use std::sync::Arc;

use rhae_agents::AgentError;
use rhae_llm::{Parameter, Reply, Request, Tool, ToolCall};
use serde_json::{Value, json};

use crate::code::{CodeRuntime, Interpreter, NoFunctions};
use crate::engine::{Chat, ChatSettings, Engine, ToolOutput, Toolbox, TurnEnd};
use crate::limits::LimitReached;
use crate::orchestrator::Returns;
use crate::prompts::{EmbeddedPrompt, PromptError, PromptSet};
use program::{Judged, judge};

/// The agents of one attempt, the first one included.
const MAX_AGENTS: u32 = 10;
/// How often an agent is asked again, in a row, if it answers without a result.
const MAX_NUDGES: u32 = 2;
/// The folder of the prompts.
pub(crate) const FOLDER: &str = "orchestrator-task";
const PRELUDE: &str = include_str!("../python/task_prelude.py");

/// The prompts.
pub(crate) const PROMPTS: &[EmbeddedPrompt] = &[
    (
        "agent",
        include_str!("../prompts/orchestrator-task/agent.md"),
    ),
    (
        "agent_start",
        include_str!("../prompts/orchestrator-task/agent_start.md"),
    ),
    (
        "delegation",
        include_str!("../prompts/orchestrator-task/delegation.md"),
    ),
    (
        "no_report",
        include_str!("../prompts/orchestrator-task/no_report.md"),
    ),
    (
        "nudge",
        include_str!("../prompts/orchestrator-task/nudge.md"),
    ),
    (
        "start",
        include_str!("../prompts/orchestrator-task/start.md"),
    ),
    (
        "system",
        include_str!("../prompts/orchestrator-task/system.md"),
    ),
];

/// A model that solves static tasks with programs.
pub struct TaskSolver {
    prompts: PromptSet,
    chat: ChatSettings,
    runtime: Arc<CodeRuntime>,
}

/// The result of one attempt at a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskOutcome {
    /// The output for each test; `None` for a test on which the program fails. Empty if there is no
    /// program.
    pub grids: Vec<Option<Vec<Vec<u8>>>>,
    /// The program whose outputs these are.
    pub program: Option<String>,
    /// The training pairs that the program solves.
    pub train_solved: usize,
    /// The agents that worked on the task.
    pub agents: u32,
    /// What the models wrote, in order.
    pub texts: Vec<String>,
    /// The limit that ended the attempt before a program was accepted.
    pub limit: Option<LimitReached>,
}

impl TaskSolver {
    /// Creates a solver with the embedded prompts, of which files `orchestrator-task/NAME.md` below
    /// `prompts` replace some.
    ///
    /// # Errors
    ///
    /// Returns an error if the prompts cannot be read.
    pub fn open(
        prompts: Option<&Path>,
        chat: ChatSettings,
        runtime: Arc<CodeRuntime>,
    ) -> Result<Self, PromptError> {
        Ok(Self {
            prompts: PromptSet::load(FOLDER, PROMPTS, prompts)?,
            chat,
            runtime,
        })
    }

    /// Returns the digest of the prompts, which results contain.
    pub fn prompts_digest(&self) -> String {
        self.prompts.digest()
    }

    /// Returns the first request of an attempt. `task` has the fields `train`, pairs with `input` and
    /// `output`, and `test`, a list of inputs.
    pub fn first_request(&self, task: &Value, max_depth: u32, sample: u32) -> Request {
        self.first_chat(task, max_depth).next_request(sample)
    }

    fn first_chat(&self, task: &Value, max_depth: u32) -> Chat {
        let system = self.system("system", max_depth > 0);
        let mut chat = self.chat.chat(&system, tools(true, max_depth > 0), 0);
        let start = self.prompts.fill("start", &[("task", &task.to_string())]);
        chat.conversation().set_reminder(start.clone());
        chat.say(start);
        chat
    }

    fn system(&self, prompt: &str, delegates: bool) -> String {
        let delegation = if delegates {
            self.prompts.fill("delegation", &[])
        } else {
            String::new()
        };
        self.prompts.fill(prompt, &[("delegation", &delegation)])
    }

    /// Makes one attempt at a task.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails permanently, or if the log cannot be written.
    pub fn solve(&self, task: &Value, engine: &mut Engine<'_>) -> Result<TaskOutcome, AgentError> {
        let mut chat = self.first_chat(task, engine.limits().max_depth);
        let mut attempt = Attempt {
            solver: self,
            task,
            agents: 1,
            max_agents: MAX_AGENTS,
            best: None,
            texts: Vec::new(),
        };
        let mut interpreter = Interpreter::new(&self.runtime, PRELUDE);
        let mut limit = None;
        for _ in 0..=MAX_NUDGES {
            let mut agent = AgentTools {
                attempt: &mut attempt,
                interpreter: &mut interpreter,
                depth: 0,
                returns: None,
                result: None,
            };
            match engine.turn(&mut chat, &mut agent)? {
                TurnEnd::Tool(_) => break,
                TurnEnd::Limit(reached) => {
                    limit = Some(reached);
                    break;
                }
                TurnEnd::Answer(_) => chat.say(self.prompts.fill("nudge", &[])),
            }
        }
        let (grids, program, train_solved) = match attempt.best {
            Some(best) => (best.grids, Some(best.code), best.train_solved),
            None => (Vec::new(), None, 0),
        };
        Ok(TaskOutcome {
            grids,
            program,
            train_solved,
            agents: attempt.agents,
            texts: attempt.texts,
            limit,
        })
    }
}

/// Describes the tools of the first agent, or of the others.
fn tools(is_first: bool, delegates: bool) -> Vec<Tool> {
    let mut tools = vec![Tool::new(
        "python",
        "Executes Python code, in which `task` contains the puzzle. The value of a last expression and everything that is printed are returned.",
        &[Parameter::text("code", "The code.")],
    )];
    if is_first {
        tools.push(Tool::new(
            "submit",
            "Hands in a program. It is executed on all training pairs and test inputs.",
            &[
                Parameter::text("code", "Python code that defines `transform(grid)`."),
                Parameter::text("explanation", "The rule in one or two sentences."),
            ],
        ));
    } else {
        tools.push(crate::orchestrator::report_tool());
    }
    if delegates {
        tools.push(Tool {
            name: "call_agent".to_owned(),
            description: "Starts another agent with a part of the work and waits for its report. Several calls in one reply run at the same time."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "task": {"type": "string", "description": "The work, with everything that the agent must know."},
                    "returns": {"type": "object", "description": "A JSON schema of the value that the agent reports; a summary by default."},
                },
                "required": ["task"],
            }),
        });
    }
    tools
}

/// What all agents of an attempt share.
struct Attempt<'a> {
    solver: &'a TaskSolver,
    task: &'a Value,
    agents: u32,
    max_agents: u32,
    /// The best program so far.
    best: Option<Judged>,
    texts: Vec<String>,
}

/// The tools of one agent.
struct AgentTools<'a, 'b> {
    attempt: &'a mut Attempt<'b>,
    interpreter: &'a mut Interpreter,
    depth: u32,
    /// The form of the report; `None` for the first agent, which submits programs.
    returns: Option<&'a Returns>,
    /// The report, or the acceptance of a program.
    result: Option<Value>,
}

impl AgentTools<'_, '_> {
    fn delegates(&self, engine: &Engine<'_>) -> bool {
        self.depth < engine.limits().max_depth
    }

    fn submit(
        &mut self,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let code = arguments["code"].as_str().unwrap_or_default();
        let solver = self.attempt.solver;
        let judged = match judge(code, self.attempt.task, &solver.runtime, engine)? {
            Ok(judged) => judged,
            Err(problem) => return Ok(ToolOutput::error(problem)),
        };
        let rejection = judged.rejection();
        let best = self.attempt.best.as_ref();
        if best.is_none_or(|best| judged.is_better_than(best)) {
            self.attempt.best = Some(judged);
        }
        Ok(match rejection {
            None => {
                self.result = Some(Value::Null);
                ToolOutput::text("accepted")
            }
            // A rejected program is a result, not a mistake in the call.
            Some(problem) => ToolOutput::text(format!("rejected: {problem}")),
        })
    }

    fn report(&mut self, arguments: &Value, returns: &Returns) -> ToolOutput {
        match returns.check(&arguments["value"]) {
            Ok(()) => {
                self.result = Some(arguments["value"].clone());
                ToolOutput::text("reported")
            }
            Err(problem) => ToolOutput::error(format!("{problem}; the form is {}", returns.text())),
        }
    }

    /// Lets several agents work at the same time. They divide the remaining agents equally, so that the
    /// limit does not depend on which of them is faster.
    fn call_agents(
        &mut self,
        works: &[&Value],
        engine: &mut Engine<'_>,
    ) -> Result<Vec<ToolOutput>, AgentError> {
        let Attempt { solver, task, .. } = *self.attempt;
        let left = self.attempt.max_agents.saturating_sub(self.attempt.agents);
        let allowed = left.min(u32::try_from(works.len()).unwrap_or(u32::MAX));
        let share = 1 + (left - allowed) / allowed.max(1);
        let depth = self.depth;
        let outcomes = engine.parallel(works.len(), |index, engine| {
            let is_allowed = u32::try_from(index).is_ok_and(|index| index < allowed);
            let mut attempt = Attempt {
                solver,
                task,
                agents: 0,
                max_agents: if is_allowed { share } else { 0 },
                best: None,
                texts: Vec::new(),
            };
            let output = attempt.call_agent(works[index], depth, engine);
            (output, attempt.agents, attempt.texts)
        });
        let mut outputs = Vec::new();
        for (output, agents, texts) in outcomes {
            self.attempt.agents += agents;
            self.attempt.texts.extend(texts);
            outputs.push(output?);
        }
        Ok(outputs)
    }
}

impl Attempt<'_> {
    /// Lets another agent work and returns its report.
    fn call_agent(
        &mut self,
        arguments: &Value,
        depth: u32,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        if self.agents >= self.max_agents {
            return Ok(ToolOutput::error(format!(
                "there were {MAX_AGENTS} agents already; do the work yourself"
            )));
        }
        let returns = match Returns::parse(&arguments["returns"]) {
            Ok(returns) => returns,
            Err(problem) => return Ok(ToolOutput::error(problem)),
        };
        self.agents += 1;
        let depth = depth + 1;
        let delegates = depth < engine.limits().max_depth;
        let solver = self.solver;
        let system = solver.system("agent", delegates);
        let mut chat = solver.chat.chat(&system, tools(false, delegates), depth);
        let start = solver.prompts.fill(
            "agent_start",
            &[
                ("work", arguments["task"].as_str().unwrap_or_default()),
                ("task", &self.task.to_string()),
                ("returns", &returns.text()),
            ],
        );
        chat.conversation().set_reminder(start.clone());
        chat.say(start);
        let mut interpreter = Interpreter::new(&solver.runtime, PRELUDE);
        for _ in 0..=MAX_NUDGES {
            let mut agent = AgentTools {
                attempt: &mut *self,
                interpreter: &mut interpreter,
                depth,
                returns: Some(&returns),
                result: None,
            };
            let end = engine.turn(&mut chat, &mut agent)?;
            if let Some(value) = agent.result.take() {
                return Ok(ToolOutput::text(value.to_string()));
            }
            if let TurnEnd::Limit(limit) = end {
                return Ok(ToolOutput::error(format!("no report: {limit}")));
            }
            chat.say(solver.prompts.fill("no_report", &[]));
        }
        Ok(ToolOutput::error("the agent did not report"))
    }
}

impl Toolbox for AgentTools<'_, '_> {
    fn tools(&self) -> Vec<Tool> {
        tools(self.returns.is_none(), true)
    }

    fn begin(&mut self, reply: &Reply) {
        let calls = reply
            .tool_calls
            .iter()
            .map(|call| call.arguments.to_string());
        let parts = reply.reasoning.iter().chain([&reply.text]).cloned();
        let texts: Vec<String> = parts.chain(calls).filter(|text| !text.is_empty()).collect();
        self.attempt.texts.push(texts.join("\n"));
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        if self.result.is_some() {
            return Ok(ToolOutput::error("your task has ended"));
        }
        match (name, self.returns) {
            ("submit", None) => self.submit(arguments, engine),
            ("report", Some(returns)) => Ok(self.report(arguments, returns)),
            ("call_agent", _) if self.delegates(engine) => {
                self.attempt.call_agent(arguments, self.depth, engine)
            }
            ("python", _) => {
                let code = arguments["code"].as_str().unwrap_or_default();
                let news = if self.interpreter.is_empty() {
                    json!({"task": self.attempt.task})
                } else {
                    json!({})
                };
                self.interpreter.run(code, &news, &mut NoFunctions, engine)
            }
            _ => Ok(unknown_tool(name)),
        }
    }

    fn runs_together(&self, name: &str, _: &Value) -> bool {
        name == "call_agent" && self.result.is_none()
    }

    fn call_together(
        &mut self,
        calls: &[ToolCall],
        engine: &mut Engine<'_>,
    ) -> Result<Vec<ToolOutput>, AgentError> {
        if !self.delegates(engine) {
            let unknown = |call: &ToolCall| unknown_tool(&call.name);
            return Ok(calls.iter().map(unknown).collect());
        }
        let works: Vec<&Value> = calls.iter().map(|call| &call.arguments).collect();
        self.call_agents(&works, engine)
    }

    fn ends_turn(&self) -> bool {
        self.result.is_some()
    }

    fn last_request(&self) -> &'static str {
        match self.returns {
            Some(_) => "This is your last request. Call `report` now.",
            None => "This is your last request. Hand in your best program with `submit` now.",
        }
    }
}

fn unknown_tool(name: &str) -> ToolOutput {
    ToolOutput::error(format!("there is no tool `{name}`"))
}
