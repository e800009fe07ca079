//! Tiered runs: the easiest environments first, and more of them only after progress that luck does
//! not explain.
//!
//! *Invariant:* which tiers are played follows from the configuration and from the plays of the
//! earlier tiers, so a resumed run decides as the interrupted one would have done.

use std::collections::BTreeMap;

use rhae_protocol::{
    Ending, ModelUsage, PlayResult, RunConfig, RunTiers, SummaryEnvironment, TierFile, TierResult,
    TierSummary,
};
use rhae_stats::{luck_tail_p, partial_score, tier_ends, tier_promotes};

use crate::HarnessError;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The number of environments, from the first one on, that the run plays so far.
    pub(crate) games: usize,
    /// Whether they are all played and the evaluation ends here.
    pub(crate) finished: bool,
}

/// Returns how far a run is after some plays; `None` for a run without tiers.
pub(crate) fn reached(config: &RunConfig, plays: &[PlayResult]) -> Option<Reached> {
    let tiers = config.tiers.as_ref()?;
    let mut start = 0;
    for end in tier_ends(config.games.len()) {
        let is_last = end == config.games.len();
        let is_played = config.games[start..end]
            .iter()
            .all(|id| played(plays, id).count() == config.repeat as usize);
        let completed = completed(&config.games[start..end], plays);
        let goes_on = tiers.all || tier_promotes(&chances(tiers, config, start, end), completed);
        if !is_played || is_last || !goes_on {
            return Some(Reached {
                games: end,
                finished: is_played,
            });
        }
        start = end;
    }
    Some(Reached {
        games: 0,
        finished: true,
    })
}

/// Returns the ended plays of an environment.
fn played<'a>(plays: &'a [PlayResult], id: &'a str) -> impl Iterator<Item = &'a PlayResult> {
    plays.iter().filter(move |play| {
        let ending = play.runs.last().and_then(|run| run.ending.as_ref());
        play.game_id == id && ending != Some(&Ending::Interrupted)
    })
}

/// Returns the number of environments of which a level was completed in some play.
fn completed(games: &[String], plays: &[PlayResult]) -> usize {
    let is_completed = |id: &&String| {
        let mut runs = played(plays, id).flat_map(|play| &play.runs);
        runs.any(|run| run.levels.iter().any(|level| level.completed))
    };
    games.iter().filter(is_completed).count()
}

/// Returns for each environment of a tier the probability that random play completes a level in at
/// least one repeat.
fn chances(tiers: &RunTiers, config: &RunConfig, start: usize, end: usize) -> Vec<f64> {
    let repeats = i32::try_from(config.repeat).unwrap_or(i32::MAX);
    let one = |chance: &f64| 1.0 - (1.0 - chance.clamp(0.0, 1.0)).powi(repeats);
    tiers.chances[start..end].iter().map(one).collect()
}

/// Returns the tiers of a run with what they showed.
pub(crate) fn summary(
    config: &RunConfig,
    plays: &[PlayResult],
    environments: &[SummaryEnvironment],
) -> Option<TierSummary> {
    let tiers = config.tiers.as_ref()?;
    let reached = reached(config, plays)?;
    let mut start = 0;
    let results = tier_ends(config.games.len()).into_iter().map(|end| {
        let games = &config.games[start..end];
        let completed = completed(games, plays);
        let is_played = end < reached.games || (end == reached.games && reached.finished);
        let chances = chances(tiers, config, start, end);
        let result = TierResult {
            environments: games.to_vec(),
            played: is_played,
            completed: is_played.then_some(completed),
            luck_p: is_played.then(|| luck_tail_p(&chances, completed)),
        };
        start = end;
        result
    });
    let results: Vec<TierResult> = results.collect();
    let count: usize = results
        .iter()
        .filter(|tier| tier.played)
        .map(|tier| tier.environments.len())
        .sum();
    let scores: Vec<f64> = environments[..count].iter().map(|one| one.score).collect();
    let bounds = partial_score(&scores, environments.len());
    let spent = ModelUsage::total(environments.iter().filter_map(|one| one.spent));
    let spent = spent.and_then(|spent| spent.cost_usd);
    let left = environments.len() - count;
    Some(TierSummary {
        tiers: results,
        played: count,
        environments: environments.len(),
        lower: bounds.map(|bounds| bounds.lower),
        upper: bounds.map(|bounds| bounds.upper),
        played_mean: bounds.map(|bounds| bounds.played),
        saved_usd: spent
            .filter(|_| count > 0)
            .map(|spent| spent / count as f64 * left as f64),
    })
}

/// Orders the environments of a run as a file of tiers does.
///
/// # Errors
///
/// Returns an error if the file is of another budget, or does not have exactly these environments.
pub(crate) fn arranged(
    games: &[String],
    budget: &str,
    file: &TierFile,
    all: bool,
) -> Result<(Vec<String>, RunTiers), HarnessError> {
    let refuse = |text: String| Err(HarnessError::Request(format!("--tiers: {text}")));
    if file.budget != budget {
        let found = &file.budget;
        return refuse(format!(
            "the chances are those of the budget `{found}`, and the run has `{budget}`"
        ));
    }
    let mut order: BTreeMap<&str, f64> = BTreeMap::new();
    for one in &file.environments {
        let is_known = order.insert(&one.id, one.chance).is_some();
        if is_known || !(0.0..=1.0).contains(&one.chance) {
            return refuse(format!("the entry of `{}` is not valid", one.id));
        }
    }
    if let Some(id) = games.iter().find(|id| !order.contains_key(id.as_str())) {
        return refuse(format!("the file has no chance for `{id}`"));
    }
    let listed = file
        .environments
        .iter()
        .filter(|one| games.contains(&one.id));
    let (games, chances) = listed.map(|one| (one.id.clone(), one.chance)).unzip();
    Ok((games, RunTiers { chances, all }))
}

#[cfg(test)]
mod tests {
    use rhae_protocol::TierEnvironment;

    use super::*;

    fn config(games: usize, chances: &[f64], all: bool) -> RunConfig {
        let games: Vec<String> = (0..games).map(|game| format!("g{game:03}-v1")).collect();
        let json = serde_json::json!({
            "version": 1, "software": "rhae", "run_id": "r", "agent": "random", "seed": 0,
            "env_seed": 0, "games": games, "repeat": 1, "budget": "5x", "method": "docs-2026-04",
            "step_timeout_ms": 1, "generator": "g",
            "tiers": {"chances": chances, "all": all}
        });
        serde_json::from_value(json).unwrap()
    }

    fn play(config: &RunConfig, game: usize, completed: bool) -> PlayResult {
        let json = serde_json::json!({
            "repeat": 1, "game_id": config.games[game], "guid": "g", "recording": "r",
            "runs": [{"state": "NOT_FINISHED", "ending": "budget", "resets": 0, "levels": [
                {"actions": 5, "effective": 5, "completed": completed, "resets": 0}]}]
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn worked_tier_promotes_with_two_and_not_with_one() {
        let mut chances = vec![0.3, 0.1, 0.0];
        chances.resize(55, 0.0);
        let config = config(55, &chances, false);
        let plays = |completed: usize| -> Vec<PlayResult> {
            (0..3)
                .map(|game| play(&config, game, game < completed))
                .collect()
        };
        let reached = |plays: &[PlayResult]| {
            let reached = reached(&config, plays).unwrap();
            (reached.games, reached.finished)
        };
        assert_eq!(reached(&[]), (3, false));
        assert_eq!(reached(&plays(2)[..2]), (3, false));
        assert_eq!(reached(&plays(1)), (3, true));
        assert_eq!(reached(&plays(2)), (8, false));
        // Five environments in which random play never completes a level: one suffices.
        let mut more = plays(2);
        more.extend((3..8).map(|game| play(&config, game, false)));
        assert_eq!(reached(&more), (8, true));
        *more.last_mut().unwrap() = play(&config, 7, true);
        assert_eq!(reached(&more), (16, false));
    }

    #[test]
    fn all_skips_the_rule() {
        let config = config(4, &[1.0; 4], true);
        let plays: Vec<PlayResult> = (0..3).map(|game| play(&config, game, false)).collect();
        let expected = Reached {
            games: 4,
            finished: false,
        };
        assert_eq!(reached(&config, &plays), Some(expected));
    }

    #[test]
    fn order_is_that_of_the_file() {
        let environment = |id: &str, chance| TierEnvironment {
            id: id.to_owned(),
            chance,
            people: None,
        };
        let file = TierFile {
            version: 1,
            budget: "5x".to_owned(),
            environments: vec![environment("b-v1", 0.5), environment("a-v1", 0.1)],
        };
        let games = ["a-v1", "b-v1"].map(str::to_owned);
        let (order, tiers) = arranged(&games, "5x", &file, false).unwrap();
        assert_eq!(order, ["b-v1", "a-v1"]);
        assert_eq!(tiers.chances, [0.5, 0.1]);
        assert!(arranged(&games, "80", &file, false).is_err());
        assert!(arranged(&["c-v1".to_owned()], "5x", &file, false).is_err());
    }
}
