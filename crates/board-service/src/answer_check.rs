//! Verifies an evaluation of static tasks by scoring its answers again.
//!
//! *Invariant:* grids are read from the answers in the journal by the parser of the board, and compared
//! with the solutions that the board stores. Scores that the evaluation has computed are not used.

use std::collections::BTreeMap;

use rhae_eval::{AttemptResult, Ledger, PlannedSet, RequestRecord, assemble, parser_of};
use rhae_protocol::{
    BoardAnswers, BoardCost, BoardDefinition, BoardRun, BoardTasks, CostBasis, EVAL_VERSION,
    EvalConfig, EvalLine, EvalUsage, MOCK_PROVIDER,
};
use rhae_study::{digest, text_digest};
use rhae_tasks::{Selection, TaskSet, TestOutcome};
use serde_json::{Value, json};

use crate::run_check::RunError;
use crate::run_files::RunFiles;

/// The settings of a solver that do not determine its answers, or that are one of several repeats.
const OTHER_SETTINGS: [&str; 5] = ["seed", "models", "prompt", "prompts", "priced"];
/// The budget of an evaluation, which has attempts instead of actions.
const BUDGET: &str = "none";

/// Scores the answers of an evaluation with the tasks of a board.
pub(crate) fn verify_answers(
    definition: &BoardDefinition,
    tasks: &BoardTasks,
    set: &TaskSet,
    files: &RunFiles,
) -> Result<BoardRun, RunError> {
    let form = |file, reason: String| RunError::Form { file, reason };
    let config = files.config().unwrap_or_default();
    let config: EvalConfig =
        serde_json::from_str(config).map_err(|error| form("configuration", error.to_string()))?;
    let name = check_settings(tasks, &config)?;
    let mut lines: Vec<EvalLine> = Vec::new();
    for line in files.journal().unwrap_or_default().lines() {
        let line =
            serde_json::from_str(line).map_err(|error| form("journal", error.to_string()))?;
        lines.push(line);
    }
    let ledger = Ledger::from_lines(&lines);
    let started = || form("journal", "it has no start".to_owned());
    Ok(BoardRun {
        digest: files.digest(),
        run_id: config.run_id.clone(),
        software: config.software.clone(),
        agent: config.solver.clone(),
        settings: settings(&config),
        prompt_sha256: None,
        keeps_reasoning: false,
        budget: BUDGET.to_owned(),
        env_seed: 0,
        started_ms: ledger.started_ms.ok_or_else(started)?,
        server: None,
        competition: false,
        cost: cost(&config, &name, &ledger),
        tiered: false,
        plays: Vec::new(),
        answers: answers(definition, tasks, set, &config, &name, &ledger)?,
    })
}

/// Checks that an evaluation has what the board fixes, and returns its name of the set.
fn check_settings(tasks: &BoardTasks, config: &EvalConfig) -> Result<String, RunError> {
    let setting = |name, found: String, expected: String| RunError::Setting {
        name,
        found,
        expected,
    };
    if config.version != EVAL_VERSION {
        let (found, expected) = (config.version.to_string(), EVAL_VERSION.to_string());
        return Err(setting("version of the evaluation", found, expected));
    }
    if config.solver.starts_with("replay:") {
        return Err(RunError::Replay(config.solver.clone()));
    }
    if config.permuted_colors.is_some() {
        let expected = "those of the data".to_owned();
        return Err(setting("colours", "permuted".to_owned(), expected));
    }
    if config.protocol != tasks.protocol {
        let (found, expected) = (config.protocol.name(), tasks.protocol.name());
        return Err(setting("protocol", found.to_owned(), expected.to_owned()));
    }
    if u32::try_from(config.attempts) != Ok(tasks.attempts) {
        let (found, expected) = (config.attempts.to_string(), tasks.attempts.to_string());
        return Err(setting("number of attempts", found, expected));
    }
    let mut sets = config.sets.iter();
    match sets.find(|set| set.revision == tasks.revision) {
        Some(set) => Ok(set.name.clone()),
        None => {
            let found: Vec<&str> = config
                .sets
                .iter()
                .map(|set| set.revision.as_str())
                .collect();
            let expected = tasks.revision.clone();
            Err(setting("revision of the data", found.join(", "), expected))
        }
    }
}

/// Returns the hash of everything that determines the answers, except the seed.
fn settings(config: &EvalConfig) -> rhae_protocol::Digest {
    let all = config.solver_settings.iter();
    let own: BTreeMap<&String, &Value> = all
        .filter(|(name, _)| !OTHER_SETTINGS.contains(&name.as_str()))
        .collect();
    digest(&json!({"solver": config.solver, "settings": own}))
}

/// Returns the tests that a board selects.
pub(crate) fn selection(tasks: &BoardTasks) -> Result<Selection, rhae_tasks::TasksError> {
    let tests = |tests: &Vec<u32>| tests.iter().map(|&test| test as usize).collect();
    let mut selected = Selection::new();
    for (id, indices) in &tasks.tests {
        selected.insert(id.parse()?, tests(indices));
    }
    Ok(selected)
}

/// Scores the answered tasks.
fn answers(
    definition: &BoardDefinition,
    tasks: &BoardTasks,
    set: &TaskSet,
    config: &EvalConfig,
    name: &str,
    ledger: &Ledger,
) -> Result<Vec<BoardAnswers>, RunError> {
    let board = |error: &dyn std::fmt::Display| RunError::Form {
        file: "tasks of the board",
        reason: format!("{}: {error}", definition.set.name),
    };
    let parser = parser_of(tasks.parser);
    let planned = PlannedSet {
        set: TaskSet {
            name: name.to_owned(),
            ..set.clone()
        },
        selection: selection(tasks).map_err(|error| board(&error))?,
    };
    let results = assemble(config, &[planned], ledger, parser).map_err(|error| board(&error))?;
    let score = results.sets.first().and_then(|set| set.score.as_ref());
    let score = score.ok_or_else(|| board(&"the solutions are missing"))?;
    let mut attempts: BTreeMap<&str, Vec<&AttemptResult>> = BTreeMap::new();
    for attempt in &results.attempt_results {
        attempts
            .entry(attempt.task.as_str())
            .or_default()
            .push(attempt);
    }
    let scored = score.results.iter().filter_map(|task| {
        let attempts = attempts.get(task.task.as_str())?;
        let is_answered = attempts.iter().any(|attempt| attempt.request.is_some());
        is_answered.then(|| BoardAnswers {
            task: task.task.to_string(),
            solved: task
                .tests
                .iter()
                .map(|test| first_right(&test.outcome))
                .collect(),
            grids: grids_digest(attempts),
        })
    });
    Ok(scored.collect())
}

fn first_right(outcome: &TestOutcome) -> u32 {
    match outcome {
        TestOutcome::Solved { attempt } => u32::try_from(*attempt).unwrap_or(u32::MAX),
        _ => 0,
    }
}

/// Returns the hash of all grids of a task; `None` if there is no grid.
fn grids_digest(attempts: &[&AttemptResult]) -> Option<rhae_protocol::Digest> {
    let grids = attempts.iter().filter_map(|attempt| {
        let grid = attempt.grid.as_ref().ok()?;
        Some(format!("{} {} {grid}", attempt.test, attempt.attempt))
    });
    let grids: Vec<String> = grids.collect();
    (!grids.is_empty()).then(|| text_digest(&grids.join("\n")))
}

/// Returns the cost of all transmissions about a set, as the journal states it.
fn cost(config: &EvalConfig, set: &str, ledger: &Ledger) -> BoardCost {
    let model = config.solver_settings.get("model");
    let is_free = model.is_none_or(|model| model["provider"] == MOCK_PROVIDER);
    if is_free {
        return BoardCost {
            basis: CostBasis::Measured,
            usd_micro: Some(0),
            prices: None,
        };
    }
    let mut spent = EvalUsage::default();
    let records = ledger.requests.values();
    for record in records.filter(|record| record.target.set == set) {
        spent.add(&worst_case(record));
    }
    let usd = spent.cost_usd + spent.possibly_paid_usd;
    let is_known = spent.unpriced == 0 && usd.is_finite() && usd >= 0.0;
    BoardCost {
        basis: if is_known {
            CostBasis::Priced
        } else {
            CostBasis::Unknown
        },
        usd_micro: is_known.then(|| (usd * 1e6).round() as u64),
        prices: is_known.then(|| digest(&model)),
    }
}

/// Returns the usage of a request, with the worst case of transmissions without an end.
fn worst_case(record: &RequestRecord) -> EvalUsage {
    let open = record.open_transmissions.iter();
    let mut spent = record.spent;
    spent.possibly_paid_usd += open.map(|one| one.max_cost_usd).sum::<f64>();
    spent
}
