//! The scorecards and the summary of a run, computed from the journalled counts.

use rhae_engine::{Catalog, GameInfo};
use rhae_protocol::{
    Ending, EnvironmentScore, ModelUsage, PlayResult, REPLAY_MARK, RunConfig, RunSummary, SOFTWARE,
    Scorecard, Shard, SummaryEnvironment, ValidResults, is_replay,
};
use rhae_scoring::Method;
use rhae_session::{CardMetadata, EnvironmentRuns, scorecard};
use rhae_stats::mean_interval_95;

use crate::calibration::calibrate;
use crate::{HarnessError, play_id, tiers};

/// The scorecards and the summary of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// One scorecard for each repeat.
    pub cards: Vec<Scorecard>,
    pub summary: RunSummary,
    /// What happened to a shard; `None` for a complete run. The summary of a shard counts the plays
    /// of other shards as missing.
    pub shard: Option<ShardResults>,
}

/// The results of a shard of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardResults {
    pub shard: Shard,
    /// The number of plays of the shard.
    pub plays: usize,
    /// The number of all plays of the run.
    pub of: usize,
    /// Whether all plays of the shard ended.
    pub finished: bool,
}

/// Scores the plays of a run with a scoring method. A missing play counts as 0.
///
/// # Errors
///
/// Returns an error if `catalog` lacks an environment of the run.
pub fn assemble(
    config: &RunConfig,
    method: Method,
    catalog: &dyn Catalog,
    plays: &[PlayResult],
) -> Result<Results, HarnessError> {
    let infos: Vec<GameInfo> = config
        .games
        .iter()
        .map(|id| {
            let mut info = catalog.find(id)?;
            if let Some(baselines) = &config.baselines {
                calibrate(&mut info, baselines, method);
            }
            Ok(with_levels(info, plays))
        })
        .collect::<Result<_, HarnessError>>()?;
    let plays_of = |repeat: u32, id: &str| {
        plays
            .iter()
            .filter(move |play| play.repeat == repeat && play.game_id == *id)
            .collect::<Vec<_>>()
    };
    let mut cards = Vec::new();
    for repeat in 1..=config.repeat {
        let runs_of = |info: &GameInfo| {
            let runs = plays_of(repeat, info.id.as_str())
                .iter()
                .flat_map(|play| play.runs.iter().map(|run| (play.guid.clone(), run.clone())))
                .collect();
            EnvironmentRuns {
                info: info.clone(),
                runs,
            }
        };
        let metadata = CardMetadata {
            card_id: play_id(&config.run_id, repeat, "card"),
            tags: card_tags(&agent_name(config)),
            ..CardMetadata::default()
        };
        cards.push(scorecard(
            metadata,
            method,
            &infos.iter().map(runs_of).collect::<Vec<_>>(),
        ));
    }
    let mut summary = summary(config, method, &infos, plays, &cards)?;
    summary.tiers = tiers::summary(config, plays, &summary.environments);
    if let Some(reached) = tiers::reached(config, plays) {
        summary.finished = reached.finished;
    }
    Ok(Results {
        cards,
        summary,
        shard: None,
    })
}

/// Computes the summary of a run from its cards.
fn summary(
    config: &RunConfig,
    method: Method,
    infos: &[GameInfo],
    plays: &[PlayResult],
    cards: &[Scorecard],
) -> Result<RunSummary, HarnessError> {
    let card_scores: Vec<f64> = cards.iter().map(|card| card.score).collect();
    let headline = mean_interval_95(&card_scores)
        .ok_or_else(|| HarnessError::Config("a run needs at least one repeat".to_owned()))?;
    let finished = plays.len() == config.games.len() * config.repeat as usize
        && plays
            .iter()
            .all(|play| ending(play) != Some(&Ending::Interrupted));
    let ended_as = |wanted: Ending| {
        let plays = plays.iter().filter(|play| ending(play) == Some(&wanted));
        u32::try_from(plays.count()).unwrap_or(u32::MAX)
    };
    Ok(RunSummary {
        software: SOFTWARE.to_owned(),
        run_id: config.run_id.clone(),
        agent: agent_name(config),
        seed: config.seed,
        method: method.name().to_owned(),
        budget: config.budget.clone(),
        prompts_sha256: config
            .model
            .as_ref()
            .and_then(|model| model.prompts_sha256.clone()),
        score: headline.mean,
        score_half_width: headline.half_width,
        score_interval: headline
            .half_width
            .map(|half| interval(headline.mean, half)),
        valid_results: Some(valid_results(cards)),
        card_scores,
        finished,
        failed_plays: ended_as(Ending::Failed),
        failed_environments: ended_as(Ending::EnvironmentFailed),
        provisional_baselines: infos.iter().any(|info| {
            info.baselines
                .iter()
                .any(|baseline| baseline.source.is_provisional())
        }),
        environments: infos
            .iter()
            .enumerate()
            .map(|(index, info)| environment(info, index, cards))
            .collect(),
        tiers: None,
        folder: String::new(),
        report: String::new(),
        seconds: 0.0,
        spent: ModelUsage::total(cards.iter().filter_map(|card| card.spent)),
        provider: config
            .model
            .as_ref()
            .and_then(|model| model.config["provider"].as_str())
            .map(str::to_owned),
        started_ms: None,
        ended_ms: None,
        identity: config.identity.clone(),
    })
}

/// Returns the interval of a mean score. A score lies between 0 and 100, so no mean of scores lies
/// outside.
fn interval(mean: f64, half_width: f64) -> [f64; 2] {
    [mean - half_width, mean + half_width].map(|end| end.clamp(0.0, 100.0))
}

/// Returns the total over the valid results.
fn valid_results(cards: &[Scorecard]) -> ValidResults {
    let results = cards.iter().flat_map(|card| &card.environments);
    let scores: Vec<f64> = results
        .clone()
        .filter(|environment| is_valid(environment))
        .map(|environment| environment.score)
        .collect();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    ValidResults {
        score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
        n: number(scores.len()),
        of: number(results.count()),
    }
}

/// Returns whether the score of an environment on a card is a result of the agent: the play ended,
/// the environment did not fail, and every completed level has a baseline.
fn is_valid(environment: &EnvironmentScore) -> bool {
    let baselines = environment.baseline_source.len();
    last_ending(environment).is_valid_result()
        && baselines > 0
        && environment.levels_completed as usize <= baselines
}

/// Returns how the last run of an environment on a card ended.
fn last_ending(environment: &EnvironmentScore) -> Ending {
    let ending = environment.runs.last().and_then(|run| run.ending.clone());
    ending.unwrap_or(Ending::NotPlayed)
}

/// Adds the number of levels that the plays of an environment without baselines have reported.
fn with_levels(mut info: GameInfo, plays: &[PlayResult]) -> GameInfo {
    let of_game = plays.iter().filter(|play| play.game_id == info.id.as_str());
    info.levels = info
        .levels
        .max(of_game.filter_map(|play| play.levels).max());
    info
}

fn environment(info: &GameInfo, index: usize, cards: &[Scorecard]) -> SummaryEnvironment {
    let on_cards: Vec<_> = cards.iter().map(|card| &card.environments[index]).collect();
    let mean = |value: fn(&EnvironmentScore) -> f64| {
        on_cards
            .iter()
            .map(|environment| value(environment))
            .sum::<f64>()
            / on_cards.len().max(1) as f64
    };
    SummaryEnvironment {
        game_id: info.id.to_string(),
        score: mean(|environment| environment.score),
        levels_completed: mean(|environment| f64::from(environment.levels_completed)),
        levels: u32::try_from(info.level_count()).unwrap_or(u32::MAX),
        actions: mean(|environment| environment.actions as f64),
        baseline_actions: info
            .baselines
            .iter()
            .map(|baseline| baseline.actions)
            .collect(),
        baseline_source: info
            .baselines
            .iter()
            .map(|baseline| baseline.source.to_string())
            .collect(),
        endings: on_cards
            .iter()
            .map(|environment| last_ending(environment))
            .collect(),
        spent: ModelUsage::total(on_cards.iter().filter_map(|environment| environment.spent)),
    }
}

/// Returns the tags of a card. A recording that is repeated is not an agent.
fn card_tags(agent: &str) -> Vec<String> {
    let kind = if is_replay(agent) {
        REPLAY_MARK
    } else {
        "agent"
    };
    vec![kind.to_owned(), agent.to_owned()]
}

fn agent_name(config: &RunConfig) -> String {
    config
        .agent
        .clone()
        .or_else(|| config.agent_cmd.clone())
        .unwrap_or_default()
}

fn ending(play: &PlayResult) -> Option<&Ending> {
    play.runs.last()?.ending.as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_a_score_does_not_leave_its_range() {
        assert_eq!(interval(0.08, 0.98), [0.0, 1.06]);
        assert_eq!(interval(99.5, 1.0), [98.5, 100.0]);
        assert_eq!(interval(50.0, 2.5), [47.5, 52.5]);
    }
}
