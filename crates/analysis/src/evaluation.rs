//! Runs of solvers on static tasks: `results.json`.

use std::fs;
use std::path::Path;

use rhae_protocol::{
    AnalysedEnvironment, AnalysedLevel, AnalysedRun, EvalConfig, EvalProtocol, EvalUsage,
};
use rhae_runs::load_config;
use serde::Deserialize;

use crate::AnalysisError;

/// The fields of `results.json` that a comparison needs.
#[derive(Deserialize)]
struct StoredResults {
    /// The tasks of the only set.
    #[serde(default)]
    results: Vec<StoredTask>,
    /// The sets, if there are several.
    #[serde(default)]
    scores: Vec<Option<StoredSet>>,
    #[serde(default)]
    finished: bool,
    #[serde(default)]
    seconds: Option<f64>,
    #[serde(flatten)]
    spent: EvalUsage,
}

#[derive(Deserialize)]
struct StoredSet {
    set: String,
    results: Vec<StoredTask>,
}

#[derive(Deserialize)]
struct StoredTask {
    task: String,
    score: f64,
    solved: bool,
    tests: Vec<StoredTest>,
}

#[derive(Deserialize)]
struct StoredTest {
    outcome: StoredOutcome,
    /// Why an answer is unreadable.
    reason: Option<String>,
}

/// The outcome of a test, as far as an analysis distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredOutcome {
    Solved,
    MissingTask,
    #[serde(other)]
    NotSolved,
}

/// Loads a run of `rhae arc eval`.
pub(crate) fn load(folder: &Path) -> Result<AnalysedRun, AnalysisError> {
    let config: EvalConfig = load_config(folder)?;
    let unusable = |reason: String| AnalysisError::NoResults {
        folder: folder.to_owned(),
        reason,
    };
    let text = fs::read_to_string(folder.join("results.json")).map_err(|error| {
        unusable(format!(
            "cannot read its results.json ({error}); finish the run with `rhae arc eval --resume {}`",
            folder.display()
        ))
    })?;
    let stored: StoredResults = serde_json::from_str(&text)
        .map_err(|error| unusable(format!("cannot parse its results.json: {error}")))?;
    let environments = tasks(&config, &stored);
    if environments.is_empty() {
        return Err(unusable(
            "the solutions of its tasks are unknown".to_owned(),
        ));
    }
    let model = config.solver_settings.get("model");
    let tokens = |count: u64| model.map(|_| count as f64);
    Ok(AnalysedRun {
        run_id: config.run_id.clone(),
        agent: config.solver.clone(),
        software: config.software.clone(),
        seconds: stored.seconds,
        method: format!(
            "{}, {} attempts, parser {}{}",
            config.protocol.name(),
            config.attempts,
            config.parser.name(),
            config.permuted_colors.map_or(String::new(), |seed| format!(
                ", colours permuted with seed {seed}"
            ))
        ),
        repeats: 1,
        finished: stored.finished,
        missing: environments.iter().map(|one| one.missing).sum(),
        levels_completed: environments
            .iter()
            .flat_map(|one| &one.levels)
            .map(|level| level.completed as f64)
            .sum(),
        levels: environments.iter().map(|one| one.levels.len() as u32).sum(),
        cost_usd: (stored.spent.unpriced == 0).then_some(stored.spent.cost_usd),
        provider: model
            .and_then(|model| model["provider"].as_str())
            .map(str::to_owned),
        input_tokens: tokens(stored.spent.input_tokens),
        output_tokens: tokens(stored.spent.output_tokens),
        environments,
        ..AnalysedRun::default()
    })
}

fn tasks(config: &EvalConfig, stored: &StoredResults) -> Vec<AnalysedEnvironment> {
    let revision = |set: &str| {
        let found = config.sets.iter().find(|one| one.name == set);
        found.map(|set| set.revision.clone())
    };
    let is_plan = config.protocol == EvalProtocol::Plan;
    let task = |prefix: &str, revision: Option<String>, task: &StoredTask| AnalysedEnvironment {
        id: format!("{prefix}{}", task.task),
        revision,
        scores: vec![if is_plan {
            100.0 * f64::from(u8::from(task.solved))
        } else {
            100.0 * task.score
        }],
        missing: usize::from(task.tests.iter().any(is_missing)),
        levels: task
            .tests
            .iter()
            .map(|test| level(test.outcome, task.tests.len()))
            .collect(),
        ..AnalysedEnvironment::default()
    };
    let only = config.sets.first().map(|set| set.name.as_str());
    let single = stored
        .results
        .iter()
        .map(|one| task("", only.and_then(revision), one));
    let several = stored.scores.iter().flatten().flat_map(|set| {
        set.results
            .iter()
            .map(|one| task(&format!("{}/", set.set), revision(&set.set), one))
    });
    single.chain(several).collect()
}

/// Returns whether a test was never answered because the run ended before.
fn is_missing(test: &StoredTest) -> bool {
    test.outcome == StoredOutcome::MissingTask || test.reason.as_deref() == Some("not-asked")
}

fn level(outcome: StoredOutcome, tests: usize) -> AnalysedLevel {
    let solved = outcome == StoredOutcome::Solved;
    AnalysedLevel {
        weight: 1.0 / tests as f64,
        plays: 1,
        completed: usize::from(solved),
        score: if solved { 100.0 } else { 0.0 },
        ..AnalysedLevel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_were_not_asked_are_missing() {
        let is_missing = |json: &str| is_missing(&serde_json::from_str(json).unwrap());
        assert!(is_missing(
            r#"{"test": 0, "outcome": "unreadable", "reason": "not-asked"}"#
        ));
        assert!(is_missing(r#"{"test": 0, "outcome": "missing-task"}"#));
        assert!(!is_missing(
            r#"{"test": 0, "outcome": "unreadable", "reason": "no-grid"}"#
        ));
        assert!(!is_missing(r#"{"test": 0, "outcome": "wrong-size"}"#));
    }
}
