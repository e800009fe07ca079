//! Runs of agents on environments: scorecards, or the journal if they are missing, and recordings.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_engine::{BaselineSource, Catalog};
use rhae_harness::{Results, assemble, load_plays};
use rhae_protocol::{
    AnalysedEnvironment, AnalysedLevel, AnalysedRun, Behaviour, Ending, EnvironmentScore,
    LevelAttempt, PlayResult, RunConfig, RunScore, RunSummary, Scorecard,
};
use rhae_runs::load_config;
use rhae_scoring::Method;
use serde::de::DeserializeOwned;

use crate::AnalysisError;
use crate::recorded::{self, RecordedPlay};

/// Returns the folders of hosted games that runs were started with and that still exist.
pub fn games_dirs(folders: &[PathBuf]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for folder in folders {
        let config: Option<RunConfig> = load_config(folder).ok();
        for games in config.into_iter().flat_map(|config| config.games_dirs) {
            if !all.contains(&games) && Path::new(&games).is_dir() {
                all.push(games);
            }
        }
    }
    all
}

/// Loads a run of `rhae run`.
pub(crate) fn load(folder: &Path, catalog: &dyn Catalog) -> Result<AnalysedRun, AnalysisError> {
    let config: RunConfig = load_config(folder)?;
    let unusable = |reason: String| AnalysisError::NoResults {
        folder: folder.to_owned(),
        reason,
    };
    let method: Method = config
        .method
        .parse()
        .map_err(|error: rhae_scoring::UnknownMethod| unusable(error.to_string()))?;
    let plays = load_plays(folder)?;
    let (cards, summary) = results(folder, &config, method, catalog, &plays)?;
    let recorded = recorded::read_all(folder, &plays);
    let environments: Vec<AnalysedEnvironment> = config
        .games
        .iter()
        .map(|id| environment(id, &config, method, &cards, &recorded))
        .collect();
    let repeats = cards.len().max(1) as f64;
    let sum = |count: fn(&AnalysedEnvironment) -> usize| environments.iter().map(count).sum();
    let score = environments
        .iter()
        .map(AnalysedEnvironment::score)
        .sum::<f64>()
        / environments.len().max(1) as f64;
    let behaviour = total(environments.iter().map(|one| &one.behaviour));
    Ok(AnalysedRun {
        run_id: config.run_id.clone(),
        agent: summary.agent.clone(),
        software: config.software.clone(),
        seconds: Some(summary.seconds).filter(|&seconds| seconds > 0.0),
        method: method.name().to_owned(),
        budget: Some(config.budget.clone()),
        seed: Some(config.seed),
        env_seed: Some(config.env_seed),
        repeats: cards.len(),
        finished: summary.finished,
        missing: sum(|one| one.missing),
        failed: sum(|one| one.failed),
        interpretation: Some(method.interpretation(score / 100.0)),
        levels_completed: environments
            .iter()
            .flat_map(|one| &one.levels)
            .map(|level| level.completed as f64)
            .sum::<f64>()
            / repeats,
        levels: environments.iter().map(|one| one.levels.len() as u32).sum(),
        behaviour,
        cost_usd: cost(&config, &summary).map(|usd| usd / repeats),
        provider: summary.provider.clone(),
        input_tokens: summary
            .spent
            .map(|spent| spent.input_tokens as f64 / repeats),
        output_tokens: summary
            .spent
            .map(|spent| spent.output_tokens as f64 / repeats),
        environments,
        ..AnalysedRun::default()
    })
}

/// Returns the stored scorecards and summary. They are computed from the journal if they are missing,
/// or if the journal has plays that they lack.
fn results(
    folder: &Path,
    config: &RunConfig,
    method: Method,
    catalog: &dyn Catalog,
    plays: &[PlayResult],
) -> Result<(Vec<Scorecard>, RunSummary), AnalysisError> {
    let name = |repeat: u32| {
        if config.repeat == 1 {
            "scorecard.json".to_owned()
        } else {
            format!("scorecard-{repeat}.json")
        }
    };
    let summary: Option<RunSummary> = read_json(&folder.join("summary.json"));
    let cards: Option<Vec<Scorecard>> = (1..=config.repeat)
        .map(|repeat| read_json(&folder.join(name(repeat))))
        .collect();
    if let (Some(summary), Some(cards)) = (summary, cards) {
        let endings = summary.environments.iter().flat_map(|one| &one.endings);
        let is_complete =
            |ending: &&Ending| !matches!(ending, Ending::NotPlayed | Ending::Interrupted);
        if summary.finished || endings.filter(is_complete).count() >= plays.len() {
            return Ok((cards, summary));
        }
    }
    let Results { cards, summary, .. } = assemble(config, method, catalog, plays)?;
    Ok((cards, summary))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns the cost of the whole run in US dollars: 0 without a model, `None` if it is unknown.
fn cost(config: &RunConfig, summary: &RunSummary) -> Option<f64> {
    match &summary.spent {
        Some(spent) => spent.cost_usd,
        // An external program may use a model without saying so.
        None => config.agent_cmd.is_none().then_some(0.0),
    }
}

fn environment(
    id: &str,
    config: &RunConfig,
    method: Method,
    cards: &[Scorecard],
    recorded: &[RecordedPlay],
) -> AnalysedEnvironment {
    let on_cards: Vec<Option<&EnvironmentScore>> = cards
        .iter()
        .map(|card| card.environments.iter().find(|one| one.id == id))
        .collect();
    let played: Vec<&EnvironmentScore> = on_cards.iter().copied().flatten().collect();
    let repeats = cards.len().max(1) as f64;
    let levels = levels(&played, method, cards.len());
    let mean = |value: fn(&EnvironmentScore) -> u64| {
        Some(played.iter().map(|one| value(one) as f64).sum::<f64>() / repeats)
    };
    let excess = excess_actions(&levels);
    AnalysedEnvironment {
        id: id.to_owned(),
        revision: config.identity.source_digests.get(id).cloned(),
        scores: on_cards
            .iter()
            .map(|one| one.map_or(0.0, |one| one.score))
            .collect(),
        missing: on_cards
            .iter()
            .filter(|one| one.is_none_or(is_missing))
            .count(),
        failed: played.iter().filter(|one| has_failed(one)).count(),
        behaviour: Behaviour {
            actions: mean(|one| one.actions),
            resets: mean(|one| one.resets),
            excess_actions: excess.map(|(actions, _)| actions as f64 / repeats),
            excess_levels: excess.map(|(_, levels)| levels as f64 / repeats),
            ..recorded::behaviour(recorded, id, cards.len())
        },
        levels,
    }
}

/// Returns whether an environment of a card has no result.
fn is_missing(environment: &EnvironmentScore) -> bool {
    environment.runs.iter().all(|run| {
        run.message.as_deref() == Some(Ending::NotPlayed.name())
            || run.ending == Some(Ending::NotPlayed)
    })
}

fn has_failed(environment: &EnvironmentScore) -> bool {
    let last = environment.runs.last().and_then(|run| run.ending.as_ref());
    matches!(last, Some(Ending::Failed | Ending::EnvironmentFailed))
}

/// Returns the levels of an environment over all cards, each with its best run.
fn levels(played: &[&EnvironmentScore], method: Method, repeats: usize) -> Vec<AnalysedLevel> {
    let runs: Vec<&RunScore> = played.iter().filter_map(|one| best_run(one)).collect();
    let count = played.iter().map(|one| one.level_count as usize).max();
    let count = count.unwrap_or(0);
    let weights: f64 = (1..=count).map(|number| method.weight(number)).sum();
    let level = |index: usize| {
        let mut level = AnalysedLevel {
            weight: method.weight(index + 1) / weights,
            plays: repeats,
            source: played
                .iter()
                .find_map(|one| one.baseline_source.get(index).cloned()),
            ..AnalysedLevel::default()
        };
        for run in &runs {
            let completed = index < run.levels_completed as usize;
            let actions = run.level_actions.get(index).copied().unwrap_or(0);
            let baseline = run.level_baseline_actions.get(index).copied();
            level.baseline = level
                .baseline
                .or(baseline.and_then(|actions| u32::try_from(actions).ok()));
            level.completed += usize::from(completed);
            if completed || actions > 0 {
                level.attempts.push(LevelAttempt { actions, completed });
            }
            level.score += run.level_scores.get(index).copied().unwrap_or(0.0);
        }
        level.score /= repeats.max(1) as f64;
        level
    };
    (0..count).map(level).collect()
}

/// Returns the run with the highest score; if several have it, the first of them.
fn best_run(environment: &EnvironmentScore) -> Option<&RunScore> {
    environment
        .runs
        .iter()
        .reduce(|best, run| if run.score > best.score { run } else { best })
}

/// Returns the actions beyond the proved optimum on completed levels, and the number of these levels;
/// `None` if no such level was completed. A baseline of source `solver` is twice the optimum.
fn excess_actions(levels: &[AnalysedLevel]) -> Option<(u64, usize)> {
    let mut excess = None;
    for level in levels {
        let optimum = match (&level.source, level.baseline) {
            (Some(source), Some(baseline))
                if BaselineSource::parse(source) == Some(BaselineSource::Solver) =>
            {
                u64::from(baseline / 2)
            }
            _ => continue,
        };
        for attempt in level.attempts.iter().filter(|attempt| attempt.completed) {
            let (actions, count) = excess.unwrap_or((0, 0));
            excess = Some((actions + attempt.actions.saturating_sub(optimum), count + 1));
        }
    }
    excess
}

/// Adds up numbers of environments. A number that some environments lack is that of the others.
pub(crate) fn total<'a>(all: impl Iterator<Item = &'a Behaviour>) -> Behaviour {
    let sum = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
    };
    all.fold(Behaviour::default(), |total, one| Behaviour {
        actions: sum(total.actions, one.actions),
        resets: sum(total.resets, one.resets),
        deaths: sum(total.deaths, one.deaths),
        distinct_states: sum(total.distinct_states, one.distinct_states),
        play_seconds: sum(total.play_seconds, one.play_seconds),
        excess_actions: sum(total.excess_actions, one.excess_actions),
        excess_levels: sum(total.excess_levels, one.excess_levels),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_counts_completed_levels_with_a_proved_optimum() {
        let level = |source: &str, attempts: &[(u64, bool)]| AnalysedLevel {
            baseline: Some(20),
            source: Some(source.to_owned()),
            attempts: attempts
                .iter()
                .map(|&(actions, completed)| LevelAttempt { actions, completed })
                .collect(),
            ..AnalysedLevel::default()
        };
        let levels = [
            level("solver", &[(14, true), (30, true), (90, false)]),
            level("solver-upper-bound", &[(50, true)]),
            level("solver", &[(10, true)]),
        ];
        assert_eq!(excess_actions(&levels), Some((4 + 20, 3)));
        assert_eq!(excess_actions(&levels[1..2]), None);
    }
}
