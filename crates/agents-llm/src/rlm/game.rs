//! The agent `rlm`: a recursive language model that plays a game from within its code.
//!
//! The root model acts through `env`. When it returns, or uses up its iterations, it is invoked
//! again, with what it returned as its notes. Models that it calls with `rlm` cannot act.

use rhae_agents::{AgentEntry, AgentError, RequestProfiles, View};
use rhae_engine::{Action, ActionKind, Frame, PlayState};
use rhae_llm::Request;
use serde_json::{Value, json};

use super::{Invocation, PROMPTS, Rlm, RlmEnd, RlmOutcome};
use crate::action_text::{action_text, parse_action};
use crate::code::HostFunctions;
use crate::engine::Engine;
use crate::harness_agent::{AgentParts, AgentSettings, Kind, Language, shortened};
use crate::limits::Limits;
use crate::perception::segmentation;
use crate::prompts::PromptSet;
use crate::threaded::{Game, Observation, Player};

/// How many invocations in a row may end without an action.
const MAX_IDLE: u32 = 3;
/// The actions that `env.history` returns at once.
const MAX_HISTORY: usize = 1000;

pub(crate) const KIND: Kind = Kind {
    entry: AgentEntry::with_argument(
        "rlm",
        "rlm:MODEL",
        "a model acts from within its JavaScript code and calls itself on parts of a problem",
    ),
    prompts: PROMPTS,
    roles: &[],
    language: Language::JavaScript,
    prelude: include_str!("../../javascript/game_prelude.js"),
    limits: Limits {
        max_iterations: 25,
        max_depth: 2,
        ..Limits::DEFAULT
    },
    // Code acts in loops, but a weak model looks at every step.
    profiles: RequestProfiles::new([0.2, 1.0, 4.0], [300, 1_500, 6_000], [200, 900, 5_000]),
    new: |parts| Box::new(RlmPlayer::new(parts)),
    first_request,
};

/// The state of a play.
struct RlmPlayer {
    engine: Engine<'static>,
    prompts: PromptSet,
    rlm: Rlm,
}

impl RlmPlayer {
    fn new(parts: AgentParts) -> Self {
        let AgentSettings { prompts, chat, .. } = parts.settings;
        Self {
            engine: parts.engine,
            prompts: prompts.clone(),
            rlm: Rlm::new(prompts, chat, parts.runtime),
        }
    }

    /// Invokes the root model once.
    fn invoke(
        &mut self,
        game: &mut Game,
        history: &mut History,
        notes: &Value,
    ) -> Result<RlmOutcome, AgentError> {
        let query = self.prompts.fill("game", &[]);
        let names = names(&self.prompts);
        let context = situation(game.current(), notes);
        let invocation = Invocation {
            query: &query,
            context: &context,
            depth: 0,
            names: &names,
            prelude: KIND.prelude,
        };
        let mut functions = GameFunctions {
            game,
            history,
            notes,
            has_acted: false,
        };
        self.rlm
            .run_root(&invocation, &mut functions, &mut self.engine)
    }
}

impl Player for RlmPlayer {
    fn play(&mut self, game: &mut Game) -> Result<(), AgentError> {
        let mut history = History::new(game.current());
        let mut notes = Value::Null;
        let mut idle = 0;
        loop {
            if game.current().available.is_empty() && game.current().state != PlayState::GameOver {
                return Err(AgentError::Stuck(
                    "the environment offers no action".to_owned(),
                ));
            }
            let steps = history.entries.len();
            let outcome = self.invoke(game, &mut history, &notes)?;
            match outcome.end {
                RlmEnd::Returned(value) => notes = value,
                RlmEnd::Limit(limit) if limit.ends_play() => {
                    return Err(AgentError::Stuck(limit.to_string()));
                }
                RlmEnd::Limit(_) => {}
            }
            idle = if history.entries.len() == steps {
                idle + 1
            } else {
                0
            };
            if idle == MAX_IDLE {
                return Err(AgentError::Failed(format!(
                    "the model did not act in {MAX_IDLE} invocations"
                )));
            }
        }
    }
}

/// Returns the request that a play with this first view sends first.
fn first_request(settings: &AgentSettings, view: &View<'_>) -> Request {
    let query = settings.prompts.fill("game", &[]);
    let names = names(&settings.prompts);
    let context = situation(&Observation::of(view), &Value::Null);
    let invocation = Invocation {
        query: &query,
        context: &context,
        depth: 0,
        names: &names,
        prelude: KIND.prelude,
    };
    let iterations = settings.limits.max_iterations;
    let mut chat = super::new_chat(&settings.prompts, settings.chat, &invocation, iterations);
    chat.next_request(settings.first_sample)
}

fn names(prompts: &PromptSet) -> String {
    format!("\n\n{}", prompts.fill("game_names", &[]))
}

/// Returns the context of an invocation.
fn situation(observation: &Observation, notes: &Value) -> Value {
    json!({
        "level": observation.levels_completed + 1,
        "levels": observation.win_levels,
        "actions": offered(observation),
        "notes": notes,
    })
}

fn offered(observation: &Observation) -> Vec<&'static str> {
    observation.available.iter().map(ActionKind::name).collect()
}

/// The actions of a play.
struct History {
    /// The board before the first action.
    first: Frame,
    entries: Vec<Entry>,
}

struct Entry {
    description: Value,
    board: Frame,
}

impl History {
    fn new(observation: &Observation) -> Self {
        Self {
            first: observation.settled().clone(),
            entries: Vec::new(),
        }
    }

    /// Returns the board after an action, or the first board for 0.
    fn board(&self, step: usize) -> Option<&Frame> {
        match step.checked_sub(1) {
            None => Some(&self.first),
            Some(index) => self.entries.get(index).map(|entry| &entry.board),
        }
    }
}

/// The functions of `env`.
struct GameFunctions<'a> {
    game: &'a mut Game,
    history: &'a mut History,
    /// What the last invocation returned.
    notes: &'a Value,
    /// Whether the current code has acted.
    has_acted: bool,
}

impl HostFunctions for GameFunctions<'_> {
    fn begin(&mut self) {
        self.has_acted = false;
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        _engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        let number = |index: usize| {
            let number = arguments.get(index).and_then(Value::as_u64);
            number.and_then(|number| usize::try_from(number).ok())
        };
        Ok(match name {
            "step" => match self.action(arguments) {
                Ok(action) => Ok(self.step(action)?),
                Err(problem) => Err(problem),
            },
            "frame" => Ok(rows(self.game.current().settled())),
            "actions" => Ok(json!(offered(self.game.current()))),
            "history" => {
                let count = number(0).unwrap_or(MAX_HISTORY).min(MAX_HISTORY);
                let entries = &self.history.entries;
                let last = &entries[entries.len().saturating_sub(count)..];
                Ok(last.iter().map(|entry| entry.description.clone()).collect())
            }
            "frameAt" => {
                let step = number(0);
                let board = step.and_then(|step| self.history.board(step));
                let count = self.history.entries.len();
                board
                    .map(rows)
                    .ok_or_else(|| format!("env.frameAt(step): the steps are 0 to {count}"))
            }
            "segment" => segment(arguments.first(), self.game.current().settled()),
            _ => Err(format!("there is no function `{name}`")),
        })
    }
}

impl GameFunctions<'_> {
    /// Returns the action that the arguments of `env.step` describe.
    fn action(&self, arguments: &[Value]) -> Result<Action, String> {
        let text = arguments.first().and_then(Value::as_str);
        let text = text.ok_or("env.step(action): the action must be a name such as \"ACTION1\"")?;
        let click = (
            arguments.get(1).and_then(Value::as_u64),
            arguments.get(2).and_then(Value::as_u64),
        );
        let action = match click {
            (Some(row), Some(column)) => parse_action(&format!("{text}({row}, {column})")),
            _ => parse_action(text),
        };
        let current = self.game.current();
        if current.state == PlayState::GameOver {
            // Only a restart has an effect, and the next step of the code expects the new level.
            return Ok(Action::Reset);
        }
        action
            .filter(|action| current.available.contains(action.kind()))
            .ok_or_else(|| {
                format!(
                    "`{text}` is not an offered action; offered are {}; a click is env.step(\"ACTION6\", row, column) with numbers from 0 to 63",
                    offered(current).join(", ")
                )
            })
    }

    /// Executes an action. A lost level is restarted by the next one, whichever it is.
    fn step(&mut self, action: Action) -> Result<Value, AgentError> {
        let before = self.game.current().clone();
        let is_first = !std::mem::replace(&mut self.has_acted, true);
        let has_notes = is_first && !self.notes.is_null();
        let reasoning = has_notes.then(|| json!({"notes": shortened(&self.notes.to_string())}));
        let after = self.game.step(action, reasoning)?;
        let cells = before.settled().cells().iter().zip(after.settled().cells());
        let changed = cells.filter(|(one, two)| one != two).count();
        let result = json!({
            "step": self.history.entries.len() + 1,
            "action": action_text(action),
            "changed": changed,
            "level": after.levels_completed + 1,
            "levelCompleted": after.levels_completed > before.levels_completed,
            "gameOver": after.state == PlayState::GameOver,
            "won": after.state == PlayState::Win,
            "frames": after.frames.len(),
        });
        self.history.entries.push(Entry {
            description: result.clone(),
            board: after.settled().clone(),
        });
        Ok(result)
    }
}

fn rows(frame: &Frame) -> Value {
    frame.rows().map(|row| json!(row)).collect()
}

/// Returns the objects of a board that the code passes, or of the current one.
fn segment(board: Option<&Value>, current: &Frame) -> Result<Value, String> {
    let problem = || "segment(frame): the frame must have 64 rows of 64 numbers".to_owned();
    let objects = |frame: &Frame| segmentation(frame, |color| json!(color))["objects"].take();
    let rows = match board {
        None | Some(Value::Null) => return Ok(objects(current)),
        Some(board) => board.as_array().filter(|rows| rows.len() == 64),
    };
    let mut frame = Frame::filled(0);
    for (y, row) in rows.ok_or_else(problem)?.iter().enumerate() {
        let cells = row.as_array().filter(|cells| cells.len() == 64);
        for (x, cell) in cells.ok_or_else(problem)?.iter().enumerate() {
            let cell = cell.as_u64().and_then(|cell| u8::try_from(cell).ok());
            frame.set(x, y, cell.ok_or_else(problem)?);
        }
    }
    Ok(objects(&frame))
}
