//! The tools of the agent: history, notes, the program, backtest, plan and commit.

use rhae_agents::AgentError;
use rhae_llm::{Parameter, Tool};
use serde_json::{Value, json};

use crate::code::{HostFunctions, Interpreter, NoFunctions};
use crate::engine::{Engine, ToolOutput, Toolbox};
use crate::perception::segmentation;
use crate::threaded::Game;
use crate::timeline::{Reader, Timeline};

/// The default and the maximum of the nodes that a search expands.
const NODES: (u64, u64) = (20_000, 200_000);
/// The default and the maximum of the actions of a plan.
const DEPTH: (u64, u64) = (40, 400);
/// The characters of the program.
const MAX_CODE_CHARS: usize = 200_000;

/// What the model knows: its notes and its program.
#[derive(Default)]
pub(super) struct Theory {
    notes: Vec<(u8, String)>,
    code: String,
    /// The last backtest, as long as neither the program nor the timeline has changed.
    backtest: Option<Value>,
}

impl Theory {
    /// Returns whether there are notes for a level.
    pub(super) fn has_notes(&self, level: u8) -> bool {
        self.notes.iter().any(|(noted, _)| *noted == level)
    }

    /// Returns the notes for a level.
    pub(super) fn notes(&self, level: u8) -> String {
        let of_level = self.notes.iter().filter(|(noted, _)| *noted == level);
        let texts: Vec<&str> = of_level.map(|(_, text)| text.as_str()).collect();
        texts.join("\n")
    }

    pub(super) fn has_code(&self) -> bool {
        !self.code.trim().is_empty()
    }

    /// Returns whether the program predicts the whole timeline.
    pub(super) fn is_green(&self) -> bool {
        let backtest = self.backtest.as_ref();
        backtest.is_some_and(|backtest| backtest["green"] == true)
    }

    /// Forgets the backtest, because the timeline has grown in a way that it does not cover.
    pub(super) fn forget_backtest(&mut self) {
        self.backtest = None;
    }

    pub(super) fn needs_backtest(&self) -> bool {
        self.has_code() && self.backtest.is_none()
    }

    /// Describes the last backtest.
    pub(super) fn backtest_text(&self) -> String {
        match &self.backtest {
            _ if !self.has_code() => "there is no world model yet".to_owned(),
            None => "not run on the current timeline".to_owned(),
            Some(backtest) if backtest["green"] == true => {
                format!("green, {} steps predicted exactly", backtest["checked"])
            }
            Some(backtest) => format!("not green: {backtest}"),
        }
    }

    /// Returns what the model must still know when old turns are removed.
    pub(super) fn reminder(&self) -> String {
        let note = |(level, text): &(u8, String)| format!("Level {}: {text}", level + 1);
        let notes: Vec<String> = self.notes.iter().map(note).collect();
        format!(
            "Your notes:\n{}\n\nYour world model:\n```python\n{}\n```",
            notes.join("\n"),
            self.code
        )
    }
}

/// Describes the tools.
pub(super) fn descriptions() -> Vec<Tool> {
    vec![
        Tool::new(
            "history",
            "Lists steps of the timeline with the cells that changed, and the board after the last of them.",
            &[
                Parameter::number("first", "The number of the first step; 0 is the start."),
                Parameter::number("last", "The number of the last step.").optional(),
            ],
        ),
        Tool::new(
            "objects",
            "Lists the objects of the current frame: connected areas of one colour.",
            &[],
        ),
        Tool::new(
            "python",
            "Executes Python code, in which `episodes` contains the timeline. The value of a last expression and everything that is printed are returned.",
            &[Parameter::text("code", "The code.")],
        ),
        Tool::new(
            "notes",
            "Adds notes about the current level: facts, hypotheses, the cheapest distinguishing action, and the goal with what would disprove it.",
            &[Parameter::text("text", "The notes.")],
        ),
        Tool::new("read_model", "Returns the world model and all notes.", &[]),
        Tool::new(
            "write_model",
            "Replaces the world model and runs the backtest.",
            &[Parameter::text("code", "The Python file.")],
        ),
        Tool::new(
            "edit_model",
            "Replaces a text in the world model, which must occur exactly once, and runs the backtest.",
            &[
                Parameter::text("old", "The text to replace."),
                Parameter::text("new", "The new text."),
            ],
        ),
        Tool::new(
            "backtest",
            "Replays the whole timeline in the world model and returns the first step that it does not predict.",
            &[],
        ),
        Tool::new(
            "plan",
            "Searches the world model, breadth first, for a shortest list of actions from the current state to the goal.",
            &[
                Parameter::number("max_depth", "The maximum number of actions; 40 by default.")
                    .optional(),
                Parameter::number(
                    "max_nodes",
                    "The maximum number of expanded states; 20,000 by default.",
                )
                .optional(),
            ],
        ),
        Tool::new(
            "commit",
            "Executes actions in the game. It ends your turn.",
            &[
                Parameter::texts(
                    "actions",
                    "The actions, such as `ACTION1` and, for a click, `ACTION6(row, col)`.",
                ),
                Parameter::text("reason", "What the actions are for, and what you expect."),
            ],
        ),
    ]
}

/// The tools during one turn.
pub(super) struct WorldTools<'a> {
    pub(super) interpreter: &'a mut Interpreter,
    pub(super) reader: &'a mut Reader,
    pub(super) game: &'a mut Game,
    pub(super) timeline: &'a mut Timeline,
    pub(super) theory: &'a mut Theory,
    /// What the recording stores with the first action.
    pub(super) reasoning: Value,
    /// What the actions of this turn led to; `None` if there were none.
    pub(super) acted: Option<String>,
}

impl WorldTools<'_> {
    /// Executes code in the interpreter, which gets the new part of the timeline and the program.
    fn run(
        &mut self,
        code: &str,
        functions: &mut dyn HostFunctions,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let is_restarted = self.interpreter.is_empty();
        let mut news = self.timeline.news(self.reader, is_restarted);
        news["code"] = json!(self.theory.code);
        self.interpreter.run(code, &news, functions, engine)
    }

    /// Calls a function of the prelude. The inner error is what the program raised.
    pub(super) fn evaluate(
        &mut self,
        expression: &str,
        engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        let mut captured = Captured(None);
        let code = format!("host('result', {expression})");
        let output = self.run(&code, &mut captured, engine)?;
        Ok(captured.0.ok_or(output.text))
    }

    /// Runs the backtest and stores its result.
    pub(super) fn backtest(&mut self, engine: &mut Engine<'_>) -> Result<ToolOutput, AgentError> {
        if !self.theory.has_code() {
            return Ok(ToolOutput::error("there is no world model yet"));
        }
        let result = self.evaluate("backtest()", engine)?;
        let result = result.unwrap_or_else(|problem| json!({"green": false, "problem": problem}));
        let is_green = result["green"] == true;
        self.theory.backtest = Some(result.clone());
        let text = result.to_string();
        Ok(if is_green {
            ToolOutput::text(text)
        } else {
            // A failed backtest is a result, not a mistake in the call.
            ToolOutput::text(format!("not green: {text}"))
        })
    }

    fn set_code(
        &mut self,
        code: String,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        if code.len() > MAX_CODE_CHARS {
            return Ok(ToolOutput::error("the world model is too long"));
        }
        self.theory.code = code;
        self.theory.backtest = None;
        self.backtest(engine)
    }

    fn edit(
        &mut self,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let (old, new) = (text(&arguments["old"]), text(&arguments["new"]));
        match self.theory.code.matches(old).count() {
            1 if !old.is_empty() => {
                let code = self.theory.code.replacen(old, new, 1);
                self.set_code(code, engine)
            }
            count => Ok(ToolOutput::error(format!(
                "`old` must occur once in the world model, but occurs {count} times"
            ))),
        }
    }

    fn plan(
        &mut self,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        if !self.theory.has_code() {
            return Ok(ToolOutput::error("there is no world model yet"));
        }
        let limit = |name: &str, (default, maximum): (u64, u64)| {
            arguments[name]
                .as_u64()
                .unwrap_or(default)
                .clamp(1, maximum)
        };
        let available = self.game.current().available;
        let simple: Vec<&str> = available
            .iter()
            .filter(|kind| kind.simple().is_some())
            .map(rhae_engine::ActionKind::name)
            .collect();
        let expression = format!(
            "plan({}, {}, {})",
            json!(simple),
            limit("max_depth", DEPTH),
            limit("max_nodes", NODES)
        );
        Ok(match self.evaluate(&expression, engine)? {
            Ok(mut result) => {
                result["trusted"] = json!(self.theory.is_green());
                ToolOutput::text(result.to_string())
            }
            Err(problem) => ToolOutput::error(problem),
        })
    }

    fn history(&self, arguments: &Value) -> ToolOutput {
        let number = |name: &str| {
            arguments[name]
                .as_u64()
                .and_then(|number| usize::try_from(number).ok())
        };
        let first = number("first").unwrap_or(0);
        let last = number("last").unwrap_or(usize::MAX);
        ToolOutput::text(self.timeline.describe(first, last, true))
    }
}

impl Toolbox for WorldTools<'_> {
    fn tools(&self) -> Vec<Tool> {
        descriptions()
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        if self.acted.is_some() {
            return Ok(ToolOutput::error("the turn has ended with the commit"));
        }
        match name {
            "history" => Ok(self.history(arguments)),
            "objects" => {
                let frame = self.game.current().settled();
                let objects = segmentation(frame, |color| json!(color));
                Ok(ToolOutput::text(objects.to_string()))
            }
            "notes" => {
                let level = self.game.current().levels_completed;
                let note = text(&arguments["text"]).to_owned();
                self.theory.notes.push((level, note));
                Ok(ToolOutput::text("noted"))
            }
            "read_model" => Ok(ToolOutput::text(self.theory.reminder())),
            "write_model" => self.set_code(text(&arguments["code"]).to_owned(), engine),
            "edit_model" => self.edit(arguments, engine),
            "backtest" => self.backtest(engine),
            "plan" => self.plan(arguments, engine),
            "commit" => self.commit(arguments, engine),
            _ => self.run(text(&arguments["code"]), &mut NoFunctions, engine),
        }
    }

    fn ends_turn(&self) -> bool {
        self.acted.is_some()
    }
}

/// The function `result`, with which the prelude returns a value.
struct Captured(Option<Value>);

impl HostFunctions for Captured {
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        _engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        if name != "result" {
            return Ok(Err(format!("there is no function `{name}`")));
        }
        self.0 = arguments.first().cloned();
        Ok(Ok(Value::Null))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
