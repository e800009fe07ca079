//! The scores of a row from the counts of its replayed plays.
//!
//! *Invariant:* a missing play counts as 0, and the denominators come from the board and from the
//! registration, never from what was played.

use rhae_protocol::{
    BoardCount, BoardEnvironment, BoardPlay, CostBasis, RowCost, RowEnvironment, RowScore,
};
use rhae_scoring::{LevelCount, LevelResult, Method, score_game};
use rhae_stats::bootstrap_repeats_95;

use crate::state::{BoardState, Entry};
use crate::task_scores::task_scores;

/// The scores of a row on each environment or task of the set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryScores {
    pub(crate) environments: Vec<RowEnvironment>,
    /// For each of them, whether it was played at least once.
    pub(crate) is_played: Vec<bool>,
    pub(crate) repeats: usize,
}

impl EntryScores {
    /// Returns the mean of each environment over the repeats.
    pub(crate) fn means(&self) -> Vec<f64> {
        let mean =
            |one: &RowEnvironment| one.scores.iter().sum::<f64>() / self.repeats.max(1) as f64;
        self.environments.iter().map(mean).collect()
    }

    /// Returns how many of the environments or tasks were played.
    pub(crate) fn played(&self) -> usize {
        self.is_played
            .iter()
            .filter(|is_played| **is_played)
            .count()
    }

    pub(crate) fn row_score(&self) -> Option<RowScore> {
        let scores: Vec<Vec<f64>> = self
            .environments
            .iter()
            .map(|one| one.scores.clone())
            .collect();
        let interval = bootstrap_repeats_95(&scores)?;
        let count = self.environments.len();
        Some(RowScore {
            mean: self.means().iter().sum::<f64>() / count as f64,
            interval: [interval.low, interval.high],
            levels_completed: self
                .environments
                .iter()
                .map(|one| one.levels_completed)
                .sum(),
            levels: self.environments.iter().map(|one| one.levels).sum(),
            played: self.played(),
            environments: count,
            repeats: self.repeats,
        })
    }
}

/// Scores a row. The repeats are those that were registered, or the most plays of an environment.
pub(crate) fn entry_scores(state: &BoardState, entry: &Entry) -> EntryScores {
    let registration = entry.registration.as_ref();
    let registered = registration.and_then(|id| state.registrations.get(id));
    if let Some(tasks) = &state.definition.set.tasks {
        return task_scores(tasks, entry, registered.map(|one| one.seeds.len()));
    }
    let method = state.method();
    let plays_of = |environment: &BoardEnvironment| -> Vec<&BoardPlay> {
        let plays = entry.runs.iter().flat_map(|run| &run.plays);
        plays
            .filter(|play| play.environment == environment.id)
            .collect()
    };
    let all: Vec<(&BoardEnvironment, Vec<&BoardPlay>)> = state
        .definition
        .set
        .environments
        .iter()
        .map(|environment| (environment, plays_of(environment)))
        .collect();
    let most = all.iter().map(|(_, plays)| plays.len()).max().unwrap_or(0);
    let repeats = registered.map_or(most, |one| one.seeds.len());
    let environments = all.iter().map(|(environment, plays)| {
        let scored: Vec<(f64, usize)> = plays
            .iter()
            .map(|play| play_score(method, environment, play))
            .collect();
        let mut scores: Vec<f64> = scored.iter().map(|one| one.0).collect();
        scores.resize(repeats.max(scores.len()), 0.0);
        let levels: usize = scored.iter().map(|one| one.1).sum();
        RowEnvironment {
            id: environment.id.clone(),
            scores,
            levels_completed: levels as f64 / repeats.max(1) as f64,
            levels: u32::try_from(environment.levels.len()).unwrap_or(u32::MAX),
        }
    });
    EntryScores {
        environments: environments.collect(),
        is_played: all.iter().map(|(_, plays)| !plays.is_empty()).collect(),
        repeats,
    }
}

/// Returns the score of the best run of a play in percent, and the levels that it completed.
fn play_score(method: Method, environment: &BoardEnvironment, play: &BoardPlay) -> (f64, usize) {
    let baselines: Vec<u32> = environment
        .levels
        .iter()
        .map(|level| level.baseline)
        .collect();
    let scored = play.runs.iter().map(|counts| {
        let results: Vec<LevelResult> = counts.iter().map(result).collect();
        let completed = counts.iter().filter(|count| count.completed).count();
        let score = score_game(method, &baselines, &results);
        (score.map_or(0.0, |score| 100.0 * score.score), completed)
    });
    scored
        .reduce(|best, one| if one > best { one } else { best })
        .unwrap_or((0.0, 0))
}

fn result(count: &BoardCount) -> LevelResult {
    if count.completed {
        LevelResult::Completed(LevelCount {
            actions: count.actions,
            effective: count.effective,
        })
    } else {
        LevelResult::NotCompleted
    }
}

/// Returns the cost of all runs of a row for one repeat. The basis is that of the run whose cost is
/// known least.
pub(crate) fn entry_cost(state: &BoardState, entry: &Entry, repeats: usize) -> RowCost {
    let costs = entry.runs.iter().map(|run| &run.cost);
    let total: Option<u64> = costs.clone().map(|cost| cost.usd_micro).sum();
    let basis = costs.map(|cost| cost.basis).max();
    let (total, basis) = match (total, entry.claim.cost_usd_micro) {
        (Some(total), _) if !entry.runs.is_empty() => (Some(total), basis.unwrap_or_default()),
        (_, Some(claimed)) => (Some(claimed), CostBasis::SelfReported),
        _ => (None, CostBasis::Unknown),
    };
    let usd = total.map(|micro| micro as f64 / 1e6 / repeats.max(1) as f64);
    let environments = state.definition.set.len();
    RowCost {
        basis,
        usd,
        usd_per_environment: usd.map(|usd| usd / environments.max(1) as f64),
        on_frontier: false,
    }
}
