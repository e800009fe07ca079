//! The files of a run folder that are computed from the journal: results, tables, report and
//! submissions.

use rhae_protocol::{EvalConfig, EvalProtocol};
use rhae_runs::RunFolder;
use rhae_tasks::Score;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{EvalError, EvalResults, PlannedSet, csv, markdown, report};

/// Writes the files that are computed from the journal.
///
/// # Errors
///
/// Returns an error if a file cannot be rendered or written.
pub fn write_results(
    folder: &RunFolder,
    config: &EvalConfig,
    sets: &[PlannedSet],
    results: &EvalResults,
) -> Result<(), EvalError> {
    folder.write_json("results.json", &results_json(config, results)?)?;
    folder.write("results.csv", csv(results).as_bytes())?;
    folder.write("results.md", markdown(results).as_bytes())?;
    folder.write("report.html", report(config, sets, results)?.as_bytes())?;
    for set in &results.sets {
        let name = if results.sets.len() == 1 {
            "submission.json".to_owned()
        } else {
            format!("submission-{}.json", set.set.replace('/', "-"))
        };
        folder.write(&name, set.submission.to_string().as_bytes())?;
    }
    Ok(())
}

/// Converts the results to JSON. The score of a single set is flattened into the document, as in
/// `rhae arc score`.
///
/// # Errors
///
/// Returns an error if the results cannot be serialised.
pub fn results_json(config: &EvalConfig, results: &EvalResults) -> Result<Value, EvalError> {
    let mut value = to_value(results)?;
    let Value::Object(fields) = &mut value else {
        return Ok(value);
    };
    let mut all = Map::new();
    let plan = config.protocol == EvalProtocol::Plan;
    let headline = if plan {
        "tasks_solved"
    } else {
        "mean_task_score"
    };
    all.insert("headline".to_owned(), json!(headline));
    let flat = |score: &Score| -> Result<Value, EvalError> {
        let mut value = to_value(score)?;
        if plan && let Some(tasks) = value["results"].as_array_mut() {
            for (task, result) in tasks.iter_mut().zip(&score.results) {
                task["task"] = Value::from(result.task.problem_id());
            }
        }
        Ok(value)
    };
    match results.sets.as_slice() {
        [set] => {
            match &set.score {
                Some(score) => {
                    if let Value::Object(score) = flat(score)? {
                        all.extend(score);
                    }
                }
                None => {
                    let facts = json!({
                        "set": set.set,
                        "revision": set.revision,
                        "tasks": set.tasks,
                        "test_inputs": set.test_inputs,
                        "scored": false,
                    });
                    all.extend(facts.as_object().cloned().unwrap_or_default());
                }
            }
            fields.remove("sets");
        }
        sets => {
            all.insert("average".to_owned(), json!(results.average()));
            let scores = sets
                .iter()
                .map(|set| set.score.as_ref().map_or(Ok(Value::Null), flat))
                .collect::<Result<Value, EvalError>>()?;
            all.insert("scores".to_owned(), scores);
            fields.remove("sets");
        }
    }
    for (key, field) in std::mem::take(fields) {
        all.entry(key).or_insert(field);
    }
    Ok(Value::Object(all))
}

fn to_value(value: &impl Serialize) -> Result<Value, EvalError> {
    serde_json::to_value(value).map_err(|error| EvalError::Config(error.to_string()))
}
