//! The tool `commit`: the only way to act.
//!
//! The program must be certified for a queue: each action is executed, its result is compared with
//! the prediction, and the rest is dropped at the first difference.

use rhae_agents::AgentError;
use rhae_engine::{Action, Frame};
use serde_json::{Value, json};

use super::tools::WorldTools;
use crate::action_text::{action_text, parse_action};
use crate::board::board_text;
use crate::engine::{Engine, ToolOutput};
use crate::harness_agent::shortened;
use crate::timeline::Status;

/// The actions of one commit.
const MAX_ACTIONS: usize = 400;
/// The cells that a counterexample lists.
const MAX_CELLS: usize = 40;

/// What the program predicts after an action.
struct Prediction {
    status: String,
    /// The predicted frame as lines of hexadecimal digits; `None` if the level ends.
    rows: Option<Vec<String>>,
}

/// What the program predicts for a list of actions.
struct Predictions {
    steps: Vec<Prediction>,
    /// The rows and columns of the cells that the program does not predict.
    ignored: Vec<(u64, u64)>,
}

impl WorldTools<'_> {
    /// Executes a commit.
    pub(super) fn commit(
        &mut self,
        arguments: &Value,
        engine: &mut Engine<'_>,
    ) -> Result<ToolOutput, AgentError> {
        let level = self.game.current().levels_completed;
        if !self.theory.has_notes(level) {
            return Ok(ToolOutput::error(
                "write notes for this level first, with the tool `notes`",
            ));
        }
        let actions = match self.offered_actions(&arguments["actions"]) {
            Ok(actions) => actions,
            Err(problem) => return Ok(ToolOutput::error(problem)),
        };
        if self.theory.needs_backtest() {
            self.backtest(engine)?;
        }
        let predictions = self.predictions(&actions, engine)?;
        self.reasoning["reason"] = arguments["reason"].clone();
        self.reasoning["notes"] = json!(shortened(&self.theory.notes(level)));
        self.reasoning["backtest"] = json!(self.theory.backtest_text());
        self.reasoning["actions"] = json!(actions.len());
        let outcome = match predictions {
            Some(predictions) => self.execute_queue(&actions, &predictions)?,
            None => {
                let status = self.step(actions[0])?;
                self.theory.forget_backtest();
                let rest = match actions.len() {
                    1 => String::new(),
                    count => format!(
                        " The other {} were not executed, because the backtest is not green.",
                        count - 1
                    ),
                };
                format!("1 action was executed, {}.{rest}", status.name())
            }
        };
        self.acted = Some(outcome.clone());
        Ok(ToolOutput::text(outcome))
    }

    /// Parses the actions and checks that the first is offered.
    fn offered_actions(&self, value: &Value) -> Result<Vec<Action>, String> {
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        if list.is_empty() || list.len() > MAX_ACTIONS {
            return Err(format!(
                "`actions` must be a list of 1 to {MAX_ACTIONS} actions"
            ));
        }
        let available = self.game.current().available;
        let parse = |value: &Value| {
            value
                .as_str()
                .and_then(parse_action)
                .filter(|action| available.contains(action.kind()))
                .ok_or_else(|| format!("{value} is not an offered action"))
        };
        list.iter().map(parse).collect()
    }

    /// Returns the predictions of a certified program, or `None` if the program is not certified or
    /// fails.
    fn predictions(
        &mut self,
        actions: &[Action],
        engine: &mut Engine<'_>,
    ) -> Result<Option<Predictions>, AgentError> {
        if !self.theory.is_green() {
            return Ok(None);
        }
        let names: Vec<String> = actions.iter().map(|action| action_text(*action)).collect();
        let expression = format!("predictions({})", json!(names));
        let Ok(value) = self.evaluate(&expression, engine)? else {
            return Ok(None);
        };
        let rows = |value: &Value| {
            let rows = value.as_array()?.iter();
            Some(
                rows.filter_map(|row| row.as_str().map(str::to_owned))
                    .collect(),
            )
        };
        let steps = value["predictions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|prediction| Prediction {
                status: prediction["status"].as_str().unwrap_or_default().to_owned(),
                rows: rows(&prediction["rows"]),
            })
            .collect();
        let cells = value["ignored"].as_array().into_iter().flatten();
        let ignored = cells.filter_map(|cell| Some((cell[0].as_u64()?, cell[1].as_u64()?)));
        Ok(Some(Predictions {
            steps,
            ignored: ignored.collect(),
        }))
    }

    /// Executes actions until one is not predicted.
    fn execute_queue(
        &mut self,
        actions: &[Action],
        predictions: &Predictions,
    ) -> Result<String, AgentError> {
        let mut executed = 0;
        for (action, prediction) in actions.iter().zip(&predictions.steps) {
            let status = self.step(*action)?;
            executed += 1;
            let after = self.game.current().settled();
            if let Some(problem) = misprediction(prediction, status, after, &predictions.ignored) {
                self.theory.forget_backtest();
                return Ok(format!(
                    "{executed} of {} actions were executed. {} (step {}) was mispredicted, so the rest was dropped: {problem}",
                    actions.len(),
                    action_text(*action),
                    self.timeline.steps()
                ));
            }
            if status != Status::Running {
                // The program has not decoded the next level yet.
                self.theory.forget_backtest();
                return Ok(format!(
                    "{executed} of {} actions were executed as predicted: {}.",
                    actions.len(),
                    status.name()
                ));
            }
        }
        Ok(format!(
            "all {executed} actions were executed as predicted."
        ))
    }

    /// Executes one action and adds it to the timeline.
    fn step(&mut self, action: Action) -> Result<Status, AgentError> {
        let before = self.game.current().clone();
        let reasoning = match self.reasoning.take() {
            Value::Null => None,
            reasoning => Some(reasoning),
        };
        let after = self.game.step(action, reasoning)?;
        self.timeline.add(action, &before, after);
        Ok(Status::of(&before, after))
    }
}

/// Returns how a prediction differs from what happened, or `None` if it does not.
fn misprediction(
    prediction: &Prediction,
    status: Status,
    after: &Frame,
    ignored: &[(u64, u64)],
) -> Option<String> {
    if prediction.status != status.name() {
        return Some(format!(
            "the model predicted {}, but it was {}",
            prediction.status,
            status.name()
        ));
    }
    let rows = prediction.rows.as_ref()?;
    let actual = board_text(after);
    let mut cells = Vec::new();
    let mut count = 0;
    for (row, line) in (0..).zip(actual.lines()) {
        let predicted = rows.get(usize::try_from(row).unwrap_or(usize::MAX));
        let predicted = predicted.map_or("", String::as_str).as_bytes();
        for (column, letter) in (0..).zip(line.bytes()) {
            let expected = predicted.get(usize::try_from(column).unwrap_or(usize::MAX));
            if expected == Some(&letter) || ignored.contains(&(row, column)) {
                continue;
            }
            count += 1;
            if cells.len() < MAX_CELLS {
                let expected = expected.map_or('?', |letter| char::from(*letter));
                cells.push(format!(
                    "({row}, {column}) {expected}>{}",
                    char::from(letter)
                ));
            }
        }
    }
    (count > 0).then(|| {
        format!(
            "{count} cells differ (predicted>actual, hexadecimal): {}",
            cells.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_outside_ignored_cells_are_mispredictions() {
        let mut frame = Frame::filled(1);
        let rows: Vec<String> = board_text(&frame).lines().map(str::to_owned).collect();
        let prediction = Prediction {
            status: "RUNNING".to_owned(),
            rows: Some(rows),
        };
        let check = |frame: &Frame, status, ignored: &[(u64, u64)]| {
            misprediction(&prediction, status, frame, ignored)
        };
        assert_eq!(check(&frame, Status::Running, &[]), None);
        frame.set(40, 12, 10);
        assert_eq!(check(&frame, Status::Running, &[(12, 40)]), None);
        let problem = check(&frame, Status::Running, &[]).unwrap();
        assert!(problem.starts_with("1 cells differ") && problem.contains("(12, 40) 1>a"));
        let problem = check(&frame, Status::GameOver, &[]).unwrap();
        assert_eq!(problem, "the model predicted RUNNING, but it was GAME_OVER");
    }
}
