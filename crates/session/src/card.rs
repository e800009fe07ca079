//! Scorecards in the official shape, computed from the counts of plays.

use std::collections::BTreeMap;

use rhae_engine::{Baseline, GameInfo, PlayState};
use rhae_protocol::{
    Ending, EnvironmentScore, ModelUsage, RunOutcome, RunScore, SOFTWARE, Scorecard, TagScore,
};
use rhae_scoring::{LevelCount, LevelResult, Method, ScoreError, best_run, card_score, score_game};
use serde_json::Value;

use crate::tally::RunTotals;

/// The metadata of a card: everything except its environments and their runs.
#[derive(Clone, Debug, Default)]
pub struct CardMetadata {
    pub card_id: String,
    /// The URL of the agent's source code.
    pub source_url: Option<String>,
    /// Tags that the author of the agent gave to the card.
    pub tags: Vec<String>,
    /// Data that the author of the agent attached to the card, stored unchanged.
    pub opaque: Option<Value>,
    /// Whether the card was opened in competition mode.
    pub competition: bool,
}

/// An environment on a card with its runs.
#[derive(Clone, Debug)]
pub struct EnvironmentRuns {
    pub info: GameInfo,
    /// The runs, each with the id of its play. An environment without runs was not played and
    /// scores 0.
    pub runs: Vec<(String, RunOutcome)>,
}

/// Computes the scorecard of `environments` under a scoring method.
///
/// The score of an environment is that of its best run, and the score of the card is the mean over
/// all environments. An environment that was not played gets one run with the message `not played`,
/// because the official client cannot read an environment without runs. A run that cannot be scored
/// scores 0 and carries the reason as its message.
///
/// # Examples
///
/// ```
/// use rhae_engine::Catalog;
/// use rhae_games::Builtin;
/// use rhae_protocol::{LevelOutcome, RunOutcome};
/// use rhae_scoring::Method;
/// use rhae_session::{CardMetadata, EnvironmentRuns, scorecard};
///
/// let info = Builtin.find("kq19")?;
/// let at_baseline = LevelOutcome {
///     actions: info.baselines[0].actions,
///     effective: info.baselines[0].actions,
///     completed: true,
/// };
/// let run = RunOutcome {
///     levels: vec![at_baseline],
///     ..RunOutcome::default()
/// };
/// let played = EnvironmentRuns { info, runs: vec![("play-1".to_owned(), run)] };
/// let not_played = EnvironmentRuns { info: Builtin.find("ny40")?, runs: Vec::new() };
///
/// let card = scorecard(CardMetadata::default(), Method::DEFAULT, &[played, not_played]);
/// assert_eq!(card.environments[0].runs[0].level_scores[0], 100.0);
/// assert_eq!(card.environments[1].runs[0].message.as_deref(), Some("not played"));
/// assert_eq!(card.score, card.environments[0].score / 2.0);
/// # Ok::<(), rhae_engine::CatalogError>(())
/// ```
pub fn scorecard(
    metadata: CardMetadata,
    method: Method,
    environments: &[EnvironmentRuns],
) -> Scorecard {
    let scored: Vec<EnvironmentScore> = environments
        .iter()
        .map(|environment| environment_score(method, environment))
        .collect();
    Scorecard {
        card_id: metadata.card_id,
        score: card_score(scored.iter().map(|environment| environment.score)),
        method: method.name().to_owned(),
        software: SOFTWARE.to_owned(),
        owner: None,
        source_url: metadata.source_url,
        tags: metadata.tags,
        opaque: metadata.opaque,
        tags_scores: tag_scores(environments, &scored),
        competition_mode: metadata.competition.then_some(true),
        total_environments_completed: sum(&scored, |environment| u32::from(environment.completed)),
        total_environments: sum(&scored, |_| 1),
        total_levels_completed: sum(&scored, |environment| environment.levels_completed),
        total_levels: sum(&scored, |environment| environment.level_count),
        total_actions: scored.iter().map(|environment| environment.actions).sum(),
        spent: ModelUsage::total(scored.iter().filter_map(|environment| environment.spent)),
        environments: scored,
    }
}

fn sum(environments: &[EnvironmentScore], count: impl Fn(&EnvironmentScore) -> u32) -> u32 {
    environments.iter().map(count).sum()
}

fn environment_score(method: Method, environment: &EnvironmentRuns) -> EnvironmentScore {
    let EnvironmentRuns { info, runs } = environment;
    let mut scored: Vec<RunScore> = runs
        .iter()
        .map(|(guid, run)| run_score(method, info, guid, run))
        .collect();
    if scored.is_empty() {
        // The official client cannot read an environment without runs.
        let unplayed = RunOutcome {
            message: Some(Ending::NotPlayed.to_string()),
            ..RunOutcome::default()
        };
        scored.push(run_score(method, info, "", &unplayed));
    }
    EnvironmentScore {
        id: info.id.to_string(),
        score: best_run(scored.iter().map(|run| run.score)),
        actions: scored.iter().map(|run| run.actions).sum(),
        levels_completed: scored
            .iter()
            .map(|run| run.levels_completed)
            .max()
            .unwrap_or(0),
        completed: scored.iter().any(|run| run.completed),
        level_count: scored
            .iter()
            .map(|run| run.number_of_levels)
            .max()
            .unwrap_or(0),
        resets: scored.iter().map(|run| run.resets).sum(),
        spent: ModelUsage::total(
            scored
                .iter()
                .flat_map(|run| run.level_spent.iter().copied()),
        ),
        baseline_source: info
            .baselines
            .iter()
            .map(|baseline| baseline.source.to_string())
            .collect(),
        source_digests: info.source_digest.iter().cloned().collect(),
        runs: scored,
    }
}

fn run_score(method: Method, info: &GameInfo, guid: &str, run: &RunOutcome) -> RunScore {
    let baselines: Vec<u32> = info
        .baselines
        .iter()
        .map(|baseline: &Baseline| baseline.actions)
        .collect();
    let results: Vec<LevelResult> = run
        .levels
        .iter()
        .map(|level| {
            let count = LevelCount {
                actions: level.actions,
                effective: level.effective,
            };
            if level.completed {
                LevelResult::Completed(count)
            } else {
                LevelResult::NotCompleted
            }
        })
        .collect();
    let levels = info.level_count().max(run.levels.len());
    let (score, mut level_scores, problem) = match score_game(method, &baselines, &results) {
        Ok(game) => (game.score, game.levels, None),
        Err(problem @ (ScoreError::NoBaselines | ScoreError::TooFewBaselines { .. })) => {
            (0.0, vec![0.0; levels], Some(problem.to_string()))
        }
    };
    // The game may have more levels than baselines.
    level_scores.resize(levels, 0.0);
    let percent = |fraction: f64| fraction * 100.0;
    let totals = RunTotals::from(run);
    let at = |list: &[u32], index: usize| list.get(index).map_or(-1, |&count| i64::from(count));
    RunScore {
        id: info.id.to_string(),
        guid: guid.to_owned(),
        score: percent(score),
        levels_completed: totals.completed,
        actions: totals.actions,
        unchanged_actions: totals.unchanged,
        resets: run.resets,
        state: run.state,
        completed: run.state == PlayState::Win,
        level_scores: level_scores.into_iter().map(percent).collect(),
        level_actions: (0..levels)
            .map(|index| {
                run.levels
                    .get(index)
                    .map_or(0, |level| u64::from(level.actions))
            })
            .collect(),
        level_baseline_actions: (0..levels).map(|index| at(&baselines, index)).collect(),
        number_of_levels: u32::try_from(levels).unwrap_or(u32::MAX),
        number_of_environments: 1,
        ending: run.ending.clone(),
        message: run.message.clone().or(problem),
        level_spent: run.spent.clone(),
    }
}

/// Groups the scored environments by their tags.
fn tag_scores(environments: &[EnvironmentRuns], scored: &[EnvironmentScore]) -> Vec<TagScore> {
    let mut by_tag: BTreeMap<&str, Vec<&EnvironmentScore>> = BTreeMap::new();
    for (environment, score) in environments.iter().zip(scored) {
        for tag in &environment.info.tags {
            by_tag.entry(tag).or_default().push(score);
        }
    }
    let tag_score = |(tag, members): (&str, Vec<&EnvironmentScore>)| TagScore {
        id: tag.to_owned(),
        score: card_score(members.iter().map(|environment| environment.score)),
        levels_completed: members
            .iter()
            .map(|environment| environment.levels_completed)
            .sum(),
        actions: members.iter().map(|environment| environment.actions).sum(),
        number_of_levels: members
            .iter()
            .map(|environment| environment.level_count)
            .sum(),
        number_of_environments: u32::try_from(members.len()).unwrap_or(u32::MAX),
    };
    by_tag.into_iter().map(tag_score).collect()
}

#[cfg(test)]
mod tests {
    use rhae_engine::ActionSet;
    use rhae_protocol::LevelOutcome;

    use super::*;

    fn info(baselines: &[u32]) -> GameInfo {
        GameInfo {
            id: "ab12-v1".parse().unwrap(),
            title: "ab12".to_owned(),
            baselines: baselines
                .iter()
                .map(|&count| Baseline::from_optimum(count / 2))
                .collect(),
            actions: ActionSet::ARROWS,
            tags: vec!["keyboard".to_owned()],
            frames_per_second: 10,
            seeded: false,
            levels: None,
            class_name: None,
            source_digest: None,
        }
    }

    fn run(levels: &[(u32, bool)]) -> (String, RunOutcome) {
        let level = |&(actions, completed): &(u32, bool)| LevelOutcome {
            actions,
            effective: actions,
            completed,
        };
        let outcome = RunOutcome {
            levels: levels.iter().map(level).collect(),
            ..RunOutcome::default()
        };
        ("guid".to_owned(), outcome)
    }

    #[test]
    fn environment_scores_its_best_run() {
        let runs = vec![
            run(&[(20, true), (7, false)]),
            run(&[(10, true), (10, true)]),
        ];
        let card = scorecard(
            CardMetadata::default(),
            Method::DEFAULT,
            &[EnvironmentRuns {
                info: info(&[10, 10]),
                runs,
            }],
        );
        let environment = &card.environments[0];
        assert_eq!(
            (card.score, environment.score, environment.actions),
            (100.0, 100.0, 47)
        );
        assert_eq!(environment.runs[0].level_actions, [20, 7]);
        assert_eq!(card.tags_scores[0].score, card.score);
    }

    #[test]
    fn environment_that_was_not_played_scores_zero_and_has_a_run() {
        let played = EnvironmentRuns {
            info: info(&[10]),
            runs: vec![run(&[(10, true)])],
        };
        let unplayed = EnvironmentRuns {
            info: info(&[10, 10]),
            runs: Vec::new(),
        };
        let card = scorecard(
            CardMetadata::default(),
            Method::DEFAULT,
            &[played, unplayed],
        );
        assert_eq!(card.score, 50.0);
        assert_eq!(
            card.environments[1].runs[0].message.as_deref(),
            Some("not played")
        );
        assert_eq!((card.total_levels, card.total_levels_completed), (3, 1));
    }

    #[test]
    fn run_that_cannot_be_scored_carries_the_reason() {
        let without = EnvironmentRuns {
            info: info(&[]),
            runs: vec![run(&[(10, true)])],
        };
        let card = scorecard(CardMetadata::default(), Method::DEFAULT, &[without]);
        let run = &card.environments[0].runs[0];
        assert_eq!(
            (run.score, run.level_baseline_actions.as_slice()),
            (0.0, [-1].as_slice())
        );
        assert_eq!(
            run.message.as_deref(),
            Some("no baselines are known for this environment")
        );
    }
}
