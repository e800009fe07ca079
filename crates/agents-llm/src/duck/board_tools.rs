//! The tool of the agent: Python code that sees the history of the game and acts in it.

use rhae_agents::AgentError;
use rhae_engine::{Action, Frame, PlayState};
use rhae_llm::{Parameter, Tool};
use serde_json::{Value, json};

use super::actions;
use crate::board::interior_changed;
use crate::code::{HostFunctions, Interpreter};
use crate::engine::{Engine, ToolOutput, Toolbox};
use crate::perception::segmentation;
use crate::threaded::{Game, Observation};

/// The actions that one call of `action` may execute.
const MAX_ACTIONS: usize = 100;
/// The frames of an animation that the code gets.
const MAX_ANIMATION: usize = 12;

/// Describes the tool.
pub(super) fn descriptions() -> Vec<Tool> {
    vec![Tool::new(
        "python",
        "Executes Python code, which looks at the game and acts with `action([...])`. The value of a last expression and everything that is printed are returned.",
        &[Parameter::text("code", "The code.")],
    )]
}

/// What happened so far, in the form that the code gets.
pub(super) struct History {
    entries: Vec<Value>,
    /// The number of entries that the interpreter has.
    synced: usize,
    /// Whether no action was taken since the start of the level or the last RESET.
    untouched: bool,
}

impl History {
    pub(super) fn new(first: &Observation) -> Self {
        Self {
            entries: vec![entry(0, None, first, first)],
            synced: 0,
            untouched: true,
        }
    }

    /// Returns the number of actions.
    pub(super) fn steps(&self) -> usize {
        self.entries.len() - 1
    }

    /// Returns whether a RESET would restart the whole game.
    pub(super) fn is_untouched(&self) -> bool {
        self.untouched
    }

    pub(super) fn add(&mut self, action: Action, before: &Observation, after: &Observation) {
        let step = self.entries.len();
        self.entries.push(entry(step, Some(action), before, after));
        self.untouched =
            action == Action::Reset || after.levels_completed != before.levels_completed;
    }

    /// Returns what the interpreter does not know yet.
    fn news(&mut self, current: &Observation) -> Value {
        let news = json!({
            "restart": self.synced == 0,
            "entries": self.entries[self.synced..],
            "valid_actions": actions::offered(current.available),
            "segmentation": segmentation(current.settled(), |color| json!(letter(color).to_string())),
        });
        self.synced = self.entries.len();
        news
    }
}

/// The tool during one turn.
pub(super) struct BoardTools<'a> {
    pub(super) interpreter: &'a mut Interpreter,
    pub(super) game: &'a mut Game,
    pub(super) history: &'a mut History,
    /// What the recording stores with the first action of the turn.
    pub(super) reasoning: Value,
    /// What the actions of this turn led to; `None` if there were none.
    pub(super) acted: Option<String>,
}

impl Toolbox for BoardTools<'_> {
    fn tools(&self) -> Vec<Tool> {
        descriptions()
    }

    fn call(
        &mut self,
        _name: &str,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let code = arguments["code"].as_str().unwrap_or_default();
        if self.interpreter.is_empty() {
            self.history.synced = 0;
        }
        let news = self.history.news(self.game.current());
        let mut functions = Actions {
            game: &mut *self.game,
            history: &mut *self.history,
            reasoning: self.reasoning.take(),
            acted: self.acted.take(),
        };
        let output = self.interpreter.run(code, &news, &mut functions, engine);
        self.acted = functions.acted.take();
        output
    }

    fn ends_turn(&self) -> bool {
        self.acted.is_some()
    }
}

/// The function `action` of the code.
struct Actions<'a> {
    game: &'a mut Game,
    history: &'a mut History,
    reasoning: Value,
    acted: Option<String>,
}

impl HostFunctions for Actions<'_> {
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        _engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        if name != "action" {
            return Ok(Err(format!("there is no function `{name}`")));
        }
        let names: Vec<&str> = arguments
            .first()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if self.game.current().state == PlayState::GameOver {
            return Ok(Err(
                "the level is lost; end your code, so that it is restarted".to_owned(),
            ));
        }
        let first = self.game.current().clone();
        let mut executed = 0;
        let mut stopped: Option<String> = None;
        for name in names.iter().take(MAX_ACTIONS) {
            let action = match actions::parse(name, self.game.current().available) {
                Ok(action) => action,
                Err(problem) => {
                    stopped = Some(problem);
                    break;
                }
            };
            stopped = self.step(action)?.map(str::to_owned);
            executed += 1;
            if stopped.is_some() {
                break;
            }
        }
        if names.len() > MAX_ACTIONS && stopped.is_none() {
            stopped = Some(format!(
                "at most {MAX_ACTIONS} actions are executed at once"
            ));
        }
        let current = self.game.current();
        let result = json!({
            "executed": executed,
            "stopped": stopped,
            "board_changed": first.settled() != current.settled(),
            "level_completed": current.levels_completed != first.levels_completed,
            "game_over": current.state == PlayState::GameOver,
            "run_complete": current.state == PlayState::Win,
        });
        if executed > 0 {
            let reason = stopped.unwrap_or_else(|| "all were executed".to_owned());
            self.acted = Some(format!("Your last {executed} actions: {reason}."));
        }
        let news = self.history.news(self.game.current());
        Ok(Ok(json!({"news": news, "result": result})))
    }
}

impl Actions<'_> {
    /// Executes one action. Returns why the following ones should not be executed.
    fn step(&mut self, action: Action) -> Result<Option<&'static str>, AgentError> {
        let before = self.game.current().clone();
        let reasoning = match self.reasoning.take() {
            Value::Null => None,
            reasoning => Some(reasoning),
        };
        let after = self.game.step(action, reasoning)?;
        self.history.add(action, &before, after);
        Ok(if after.levels_completed != before.levels_completed {
            Some("the level is completed")
        } else if after.state == PlayState::GameOver {
            Some("the level is lost")
        } else if !interior_changed(before.settled(), after.settled()) {
            Some("the last action changed nothing inside the border")
        } else {
            None
        })
    }
}

/// Returns one entry of the history.
fn entry(step: usize, action: Option<Action>, before: &Observation, after: &Observation) -> Value {
    let frames = &after.frames;
    let first = frames.len().saturating_sub(MAX_ANIMATION);
    let animation: Vec<String> = if frames.len() > 1 {
        frames[first..].iter().map(letters).collect()
    } else {
        Vec::new()
    };
    json!({
        "step": step,
        "level": after.levels_completed + 1,
        "action": action.map(actions::name),
        "ascii": letters(after.settled()),
        "animation": animation,
        "board_changed": before.settled() != after.settled(),
        "level_completed": after.levels_completed != before.levels_completed,
        "game_over": after.state == PlayState::GameOver,
    })
}

/// Returns a frame as 64 lines of letters.
fn letters(frame: &Frame) -> String {
    let line = |row: &[u8]| row.iter().map(|&cell| letter(cell)).collect::<String>();
    frame.rows().map(line).collect::<Vec<_>>().join("\n")
}

fn letter(cell: u8) -> char {
    if cell < 16 {
        char::from(b'A' + cell)
    } else {
        '?'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_letters() {
        let mut frame = Frame::filled(0);
        frame.rect(10, 20, 3, 2, 9);
        frame.set(0, 0, 200);
        let text = letters(&frame);
        assert_eq!(text.lines().nth(20).unwrap().get(9..14), Some("AJJJA"));
        assert!(text.starts_with("?A"));
    }
}
