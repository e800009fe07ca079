//! Verifies a run by replaying its recordings, within the budget of the board.
//!
//! *Invariant:* the counts come from the replay. The journal only says which recordings there are,
//! and what the run cost.

use std::collections::BTreeMap;

use rhae_engine::{Action, Baseline, BaselineSource, Catalog};
use rhae_harness::Budget;
use rhae_protocol::{
    BoardCost, BoardCount, BoardDefinition, BoardEnvironment, BoardPlay, BoardRun, CostBasis,
    Digest, Entry, JournalLine, LevelLog, MOCK_PROVIDER, ModelUsage, PlayResult, Recording,
    RunConfig, is_replay,
};
use rhae_session::{StepOutcome, Tally, VerificationError, verify};
use rhae_study::{digest, text_digest};
use serde_json::json;

use crate::run_files::RunFiles;

/// Why a run is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("the run has no valid {file}: {reason}")]
    Form { file: &'static str, reason: String },
    #[error("the agent `{0}` repeats a recording, which proves nothing about an agent")]
    Replay(String),
    #[error("`{recording}` is missing")]
    Missing { recording: String },
    #[error("`{recording}` is not a recording: {reason}")]
    Recording { recording: String, reason: String },
    #[error("`{recording}`: {reason}")]
    Difference { recording: String, reason: String },
    #[error("`{recording}` continues after its budget `{budget}` was used up")]
    Budget { recording: String, budget: String },
    #[error("the {name} is `{found}`: the board has `{expected}`")]
    Setting {
        name: &'static str,
        found: String,
        expected: String,
    },
    #[error("the repeat {repeat} of `{environment}` is in the journal twice")]
    Twice { environment: String, repeat: u32 },
}

/// Replays all recordings of a run.
///
/// # Errors
///
/// Returns the first reason why the run is not accepted.
pub fn verify_run(
    definition: &BoardDefinition,
    files: &RunFiles,
    catalog: &dyn Catalog,
) -> Result<BoardRun, RunError> {
    let form = |file, reason: String| RunError::Form { file, reason };
    let config = files.config().unwrap_or_default();
    let config: RunConfig =
        serde_json::from_str(config).map_err(|error| form("configuration", error.to_string()))?;
    let mut lines = Vec::new();
    for line in files.journal().unwrap_or_default().lines() {
        let line: JournalLine =
            serde_json::from_str(line).map_err(|error| form("journal", error.to_string()))?;
        lines.push(line);
    }
    let started = lines.iter().find_map(|line| match line {
        JournalLine::Started { at_ms, .. } => Some(*at_ms),
        _ => None,
    });
    let results: Vec<&PlayResult> = lines
        .iter()
        .filter_map(|line| match line {
            JournalLine::Play { result, .. } => Some(result),
            _ => None,
        })
        .collect();
    let agent = config.agent.clone().unwrap_or_else(|| "command".to_owned());
    if is_replay(&agent) {
        return Err(RunError::Replay(agent));
    }
    let mut plays: BTreeMap<(String, u32), BoardPlay> = BTreeMap::new();
    for result in &results {
        let key = (result.game_id.clone(), result.repeat);
        if plays.contains_key(&key) {
            return Err(RunError::Twice {
                environment: key.0,
                repeat: key.1,
            });
        }
        let play = verify_play(definition, &config, files, result, catalog)?;
        plays.insert(key, play);
    }
    let model = config.model.as_ref();
    Ok(BoardRun {
        digest: files.digest(),
        run_id: config.run_id.clone(),
        software: config.software.clone(),
        agent,
        settings: settings(&config),
        prompt_sha256: model.map(|model| text_digest(&model.system_prompt)),
        keeps_reasoning: model.is_some_and(|model| model.keep_reasoning),
        budget: config.budget.clone(),
        env_seed: config.env_seed,
        started_ms: started.ok_or_else(|| form("journal", "it has no start".to_owned()))?,
        server: config.server.clone(),
        competition: config.competition,
        cost: cost(&config, &results),
        tiered: config.tiers.as_ref().is_some_and(|tiers| !tiers.all),
        plays: plays.into_values().collect(),
        answers: Vec::new(),
    })
}

/// Returns the hash of everything that determines the agent, except its seed.
fn settings(config: &RunConfig) -> Digest {
    let model = config.model.as_ref().map(|model| {
        json!({
            "config": model.config,
            "system_prompt": model.system_prompt,
            "keep_reasoning": model.keep_reasoning,
            "context_tokens": model.context_tokens,
            "prompts_sha256": model.prompts_sha256,
            "max_iterations": model.max_iterations,
            "max_depth": model.max_depth,
        })
    });
    digest(&json!({
        "agent": config.agent,
        "agent_cmd": config.agent_cmd,
        "model": model,
    }))
}

fn verify_play(
    definition: &BoardDefinition,
    config: &RunConfig,
    files: &RunFiles,
    result: &PlayResult,
    catalog: &dyn Catalog,
) -> Result<BoardPlay, RunError> {
    let name = &result.recording;
    let difference = |reason: String| RunError::Difference {
        recording: name.clone(),
        reason,
    };
    let text = files.get(name).ok_or_else(|| RunError::Missing {
        recording: name.clone(),
    })?;
    let recording = Recording::parse(text).map_err(|error| RunError::Recording {
        recording: name.clone(),
        reason: error.to_string(),
    })?;
    if recording.header.game_id.to_string() != result.game_id {
        return Err(difference("it is of another environment".to_owned()));
    }
    if recording.header.seed != config.env_seed {
        return Err(difference("it has another seed than the run".to_owned()));
    }
    verify(catalog, &recording)
        .map_err(|error: VerificationError| difference(error.to_string()))?;
    let environments = &definition.set.environments;
    let environment = environments
        .iter()
        .find(|one| one.id.as_str() == result.game_id);
    if let Some(environment) = environment {
        check_source(environment, catalog, &result.game_id).map_err(difference)?;
    }
    let tally =
        tally(&recording, environment, &definition.budget).map_err(|()| RunError::Budget {
            recording: name.clone(),
            budget: definition.budget.clone(),
        })?;
    let counts = tally.runs().iter().map(|run| {
        let levels = run.levels.iter();
        levels
            .map(|level| BoardCount {
                actions: level.actions,
                effective: level.effective,
                completed: level.completed,
            })
            .collect()
    });
    Ok(BoardPlay {
        environment: result.game_id.as_str().into(),
        seed: config.agent_seed(result.repeat),
        runs: counts.collect(),
        logs: level_logs(&recording.entries),
        recording: text_digest(text),
    })
}

/// Checks that a hosted game has the source that the board names.
fn check_source(
    environment: &BoardEnvironment,
    catalog: &dyn Catalog,
    id: &str,
) -> Result<(), String> {
    let info = catalog.find(id).map_err(|error| error.to_string())?;
    if info.source_digest == environment.source_digest {
        Ok(())
    } else {
        Err("the source of the environment is not the one that the board names".to_owned())
    }
}

/// Counts the entries of a verified recording. Fails if an action follows the end of the budget.
fn tally(
    recording: &Recording,
    environment: Option<&BoardEnvironment>,
    budget: &str,
) -> Result<Tally, ()> {
    let baselines: Vec<Baseline> = environment.map_or_else(Vec::new, |environment| {
        let level = |level: &rhae_protocol::BoardLevel| Baseline {
            actions: level.baseline,
            source: BaselineSource::Humans,
        };
        environment.levels.iter().map(level).collect()
    });
    let budget = budget.parse().unwrap_or(Budget::None);
    let mut tally = Tally::default();
    for entry in &recording.entries {
        if entry.counted && budget.is_used_up(&tally, &baselines) {
            return Err(());
        }
        tally.count(StepOutcome {
            reset: entry.action == Action::Reset,
            full_reset: entry.full_reset,
            counted: entry.counted,
            changed: entry.changed.unwrap_or(true),
            levels_completed: entry.levels_completed,
            state: entry.state,
        });
    }
    Ok(tally)
}

/// Returns the actions on each level until the level was first completed, by their hash.
pub(crate) fn level_logs(entries: &[Entry]) -> Vec<LevelLog> {
    let mut logs: Vec<(Vec<String>, bool)> = Vec::new();
    let mut level = 0;
    for entry in entries
        .iter()
        .filter(|entry| entry.counted || entry.full_reset)
    {
        let Entry { action, .. } = entry;
        let completed = usize::from(entry.levels_completed);
        if entry.counted {
            if logs.len() <= level {
                logs.resize(level + 1, (Vec::new(), false));
            }
            let (actions, is_completed) = &mut logs[level];
            if !*is_completed {
                actions.push(action.to_string());
                *is_completed = completed > level;
            }
        }
        level = completed;
    }
    logs.into_iter()
        .zip(1..)
        .map(|((actions, completed), level)| LevelLog {
            level,
            actions: u32::try_from(actions.len()).unwrap_or(u32::MAX),
            completed,
            digest: text_digest(&actions.join(" ")),
        })
        .collect()
}

/// Returns the cost of all transmissions of a run, as its journal states it.
fn cost(config: &RunConfig, results: &[&PlayResult]) -> BoardCost {
    let Some(model) = &config.model else {
        // An external program may use a model without saying so.
        let is_unknown = config.agent_cmd.is_some();
        return BoardCost {
            basis: if is_unknown {
                CostBasis::Unknown
            } else {
                CostBasis::Measured
            },
            usd_micro: (!is_unknown).then_some(0),
            prices: None,
        };
    };
    if model.config["provider"] == MOCK_PROVIDER {
        return BoardCost {
            basis: CostBasis::Measured,
            usd_micro: Some(0),
            prices: None,
        };
    }
    let spent = results.iter().flat_map(|result| &result.runs);
    let total = ModelUsage::total(spent.flat_map(|run| run.spent.iter().copied()));
    let usd = total.and_then(|total| {
        let known = total.cost_usd? + total.possibly_paid_usd.unwrap_or(0.0);
        (known.is_finite() && known >= 0.0).then_some(known)
    });
    BoardCost {
        basis: if usd.is_some() {
            CostBasis::Priced
        } else {
            CostBasis::Unknown
        },
        usd_micro: usd.map(|usd| (usd * 1e6).round() as u64),
        prices: usd.map(|_| digest(&model.config)),
    }
}
