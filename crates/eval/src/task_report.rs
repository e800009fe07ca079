//! The attempts of a run at one task, and the serialised form of a task with its attempts.

use std::path::Path;

use rhae_protocol::EvalConfig;
use rhae_runs::{load_config, load_lines};
use rhae_tasks::{Task, TaskId, TaskSet, Warning};
use serde::Serialize;
use serde_json::{Value, json};

use crate::EvalError;
use crate::ledger::Ledger;
use crate::parser_of;
use crate::plan::PlannedSet;
use crate::results::{AttemptResult, assemble};

/// A task with the attempts of a run at it.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    pub task: TaskId,
    pub set: String,
    pub revision: String,
    pub training_cells: usize,
    #[serde(flatten)]
    content: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<Value>,
}

impl TaskReport {
    /// Creates the report of a task of `set`. `task` may lack the solutions that the set contains.
    pub fn new(id: &TaskId, set: &TaskSet, task: &Task, attempts: &[AttemptResult]) -> Self {
        Self {
            task: id.clone(),
            set: set.name.clone(),
            revision: set.revision(),
            training_cells: task.training_cells(),
            content: task.to_json(),
            attempts: attempts.iter().map(attempt_json).collect(),
        }
    }
}

fn attempt_json(result: &AttemptResult) -> Value {
    let mut value = json!({
        "test": result.test,
        "attempt": result.attempt,
        "right": result.right,
        "how": result.how,
        "seconds": result.ms as f64 / 1000.0,
    });
    match &result.grid {
        Ok(grid) => value["answer"] = grid.to_json(),
        Err(failure) => {
            let (reason, message) = (failure.reason.name(), &failure.message);
            value["failed"] = json!({"reason": reason, "message": message});
        }
    }
    if let Some(text) = &result.text {
        value["text"] = json!(text);
    }
    value
}

/// Returns the set of the run in `folder` that contains the task, and the run's attempts at it.
/// `sets` are the data of the run. If `names` is not empty, only these sets are considered.
///
/// # Errors
///
/// Returns an error if the folder contains no run, if the run has no such task, or if the data are
/// not those of the run.
pub fn load_attempts(
    folder: &Path,
    sets: &[TaskSet],
    names: &[String],
    id: &TaskId,
) -> Result<(TaskSet, Vec<AttemptResult>), EvalError> {
    let config: EvalConfig = load_config(folder)?;
    let wanted = |name: &str| names.is_empty() || names.iter().any(|set| set == name);
    let record = config
        .sets
        .iter()
        .find(|set| set.tests.contains_key(id.as_str()) && wanted(&set.name))
        .ok_or_else(|| EvalError::NoSuchTask {
            folder: folder.to_owned(),
            task: id.to_string(),
        })?;
    let planned = PlannedSet::from_record(record, sets)?.permute_colors(config.permuted_colors);
    let parser = parser_of(config.parser);
    let ledger = Ledger::from_lines(&load_lines(folder)?);
    let results = assemble(&config, std::slice::from_ref(&planned), &ledger, parser)?;
    let attempts = results
        .attempt_results
        .into_iter()
        .filter(|result| result.task == *id);
    Ok((planned.set, attempts.collect()))
}

/// Returns a warning if `folder` is the folder of a run on another revision of the data.
pub fn revision_warning(folder: &Path, set: &TaskSet) -> Option<Warning> {
    let revisions: Vec<String> = load_config::<EvalConfig>(folder)
        .ok()?
        .sets
        .into_iter()
        .map(|set| set.revision)
        .collect();
    if revisions.contains(&set.revision()) {
        return None;
    }
    let short: Vec<&str> = revisions
        .iter()
        .map(|revision| revision.get(..12).unwrap_or(revision))
        .collect();
    Some(Warning {
        kind: "other-revision",
        task: None,
        message: format!(
            "the run used revision {}, but the data have revision {}; scores of different revisions \
             cannot be compared",
            short.join(", "),
            &set.revision()[..12]
        ),
    })
}
