//! The tools that every agent of a play has: the history, the boards, Python, and the memories.

use std::sync::Arc;

use rhae_agents::AgentError;
use rhae_engine::Frame;
use rhae_llm::{Parameter, Tool};
use serde_json::{Value, json};

use super::memories::Memories;
use crate::board::board_text;
use crate::code::{CodeRuntime, Interpreter, NoFunctions};
use crate::engine::{Engine, ToolOutput};
use crate::perception::segmentation;
use crate::prompts::PromptSet;
use crate::threaded::Observation;
use crate::timeline::{Reader, Timeline};

/// What all agents of a play share.
pub(super) struct Shared {
    /// Agents that work at the same time read the same timeline.
    pub(super) timeline: Arc<Timeline>,
    pub(super) memories: Memories,
    pub(super) prompts: PromptSet,
    pub(super) runtime: Arc<CodeRuntime>,
}

impl Shared {
    /// Creates copies for agents that work at the same time. They can change only their memories,
    /// which [`Memories::join`] combines.
    pub(super) fn fork(&self, count: usize) -> Vec<Self> {
        let copy = |memories| Self {
            timeline: Arc::clone(&self.timeline),
            memories,
            prompts: self.prompts.clone(),
            runtime: Arc::clone(&self.runtime),
        };
        self.memories.fork(count).into_iter().map(copy).collect()
    }
}

/// The Python interpreter of one agent.
pub(super) struct Notebook {
    interpreter: Interpreter,
    reader: Reader,
}

impl Notebook {
    pub(super) fn new(runtime: &Arc<CodeRuntime>) -> Self {
        let prelude = include_str!("../../python/orchestrator_prelude.py");
        Self {
            interpreter: Interpreter::new(runtime, prelude),
            reader: Reader::default(),
        }
    }

    fn run(
        &mut self,
        code: &str,
        timeline: &Timeline,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let is_restarted = self.interpreter.is_empty();
        let news = timeline.news(&mut self.reader, is_restarted);
        self.interpreter.run(code, &news, &mut NoFunctions, engine)
    }
}

/// Describes the tools.
pub(super) fn descriptions() -> Vec<Tool> {
    let crop =
        |name| Parameter::number(name, "An edge of the part to show, from 0 to 63.").optional();
    vec![
        Tool::new(
            "history",
            "Lists the steps of the play with the cells that each changed.",
            &[
                Parameter::number("first", "The number of the first step; 0 is the start."),
                Parameter::number("last", "The number of the last step.").optional(),
            ],
        ),
        Tool::new(
            "look",
            "Returns the board, or a part of it, as lines of hexadecimal digits.",
            &[
                Parameter::text(
                    "at",
                    "`now`, the number of a step, or `win N` for the last frame of the level that step N completed.",
                )
                .optional(),
                crop("top"),
                crop("left"),
                crop("bottom"),
                crop("right"),
            ],
        ),
        Tool::new(
            "objects",
            "Lists the objects of the current board: connected areas of one colour.",
            &[],
        ),
        Tool::new(
            "python",
            "Executes Python code, in which `history` and `frame` contain what has happened. The value of a last expression and everything that is printed are returned.",
            &[Parameter::text("code", "The code.")],
        ),
        Tool::new(
            "remember",
            "Stores a memory that all agents can read.",
            &[
                Parameter::text("summary", "One line."),
                Parameter::text("details", "How it was found out, and how sure it is.").optional(),
            ],
        ),
        Tool::new(
            "recall",
            "Returns the memories that fit a question best, with their details.",
            &[Parameter::text("query", "The question, or words of it.")],
        ),
        Tool::new(
            "forget",
            "Removes a memory that turned out to be wrong.",
            &[Parameter::number("number", "The number of the memory.")],
        ),
    ]
}

/// Executes a tool of [`descriptions`] for the agent `author`. Returns `None` for other tools.
pub(super) fn call(
    (name, arguments): (&str, &Value),
    author: &str,
    notebook: &mut Notebook,
    shared: &mut Shared,
    current: &Observation,
    engine: &mut Engine<'_>,
) -> Result<Option<ToolOutput>, AgentError> {
    let text = |field: &str| arguments[field].as_str().unwrap_or_default();
    Ok(Some(match name {
        "history" => {
            let number = |field: &str, default: usize| {
                let number = arguments[field].as_u64();
                number.map_or(default, |number| {
                    usize::try_from(number).unwrap_or(usize::MAX)
                })
            };
            let (first, last) = (number("first", 0), number("last", usize::MAX));
            ToolOutput::text(shared.timeline.describe(first, last, false))
        }
        "look" => match look(arguments, &shared.timeline, current.settled()) {
            Ok(text) => ToolOutput::text(text),
            Err(problem) => ToolOutput::error(problem),
        },
        "objects" => {
            let objects = segmentation(current.settled(), |color| json!(color));
            ToolOutput::text(objects.to_string())
        }
        "python" => notebook.run(text("code"), &shared.timeline, engine)?,
        "remember" => {
            let step = shared.timeline.steps();
            let (summary, details) = (text("summary"), text("details"));
            let number = shared.memories.add(author, step, summary, details);
            ToolOutput::text(format!("stored as memory {number}"))
        }
        "recall" => ToolOutput::text(shared.memories.recall(text("query"))),
        "forget" => {
            let number = arguments["number"].as_u64().unwrap_or(0);
            if shared.memories.forget(number) {
                ToolOutput::text(format!("memory {number} is removed"))
            } else {
                ToolOutput::error(format!("there is no memory {number}"))
            }
        }
        _ => return Ok(None),
    }))
}

/// Returns a board or a part of it. The error names the mistake in the arguments.
fn look(arguments: &Value, timeline: &Timeline, current: &Frame) -> Result<String, String> {
    let at = arguments["at"].as_str().unwrap_or("now").trim();
    let (number, winning) = match at.strip_prefix("win") {
        Some(number) => (number.trim(), true),
        None => (at, false),
    };
    let frame = match number.parse() {
        _ if at == "now" => current,
        Ok(step) => timeline
            .board(step, winning)
            .ok_or_else(|| format!("there is no such board: `{at}`"))?,
        Err(_) => return Err("`at` must be `now`, a number, or `win` and a number".to_owned()),
    };
    let edge = |name: &str, default: u64| {
        let edge = arguments[name].as_u64().unwrap_or(default).min(63);
        usize::try_from(edge).unwrap_or(63)
    };
    let (top, left) = (edge("top", 0), edge("left", 0));
    let (bottom, right) = (edge("bottom", 63), edge("right", 63));
    if top > bottom || left > right {
        return Err("`top` must not be below `bottom`, nor `left` beyond `right`".to_owned());
    }
    let text = board_text(frame);
    let rows = text.lines().skip(top).take(bottom - top + 1);
    let lines: Vec<&str> = rows.map(|row| &row[left..=right]).collect();
    Ok(format!(
        "rows {top}-{bottom}, columns {left}-{right}:\n{}",
        lines.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use rhae_engine::{Action, ActionSet, PlayState};

    use super::*;

    #[test]
    fn parts_of_boards_are_shown() {
        let observation = |levels_completed, colors: &[u8]| Observation {
            frames: colors.iter().map(|color| Frame::filled(*color)).collect(),
            state: PlayState::NotFinished,
            levels_completed,
            win_levels: 2,
            available: ActionSet::ARROWS,
        };
        let first = observation(0, &[1]);
        let mut timeline = Timeline::new(&first);
        timeline.add(Action::Action1, &first, &observation(1, &[2, 3]));
        let current = Frame::filled(10);
        let look = |arguments: Value| look(&arguments, &timeline, &current);
        let part = json!({"top": 62, "left": 60, "right": 99});
        assert_eq!(
            look(part).unwrap(),
            "rows 62-63, columns 60-63:\naaaa\naaaa"
        );
        let cell = |at: &str| look(json!({"at": at, "bottom": 0, "right": 0}));
        for (at, digit) in [("now", "a"), ("0", "1"), ("1", "3"), ("win 1", "2")] {
            assert!(cell(at).unwrap().ends_with(digit), "{at}");
        }
        assert!(cell("2").unwrap_err().contains("no such board"));
        assert!(cell("win 0").unwrap_err().contains("no such board"));
        assert!(cell("then").unwrap_err().contains("must be `now`"));
        assert!(look(json!({"top": 5, "bottom": 4})).is_err());
    }
}
