//! The analysis of finished runs: one run with its numbers, the comparison of several, and published
//! results.
//!
//! Scores are percentages and differences percentage points. A mean carries its interval and the
//! number of environments, a count the number of plays.

use serde::{Deserialize, Serialize};

use crate::RunKind;

/// The version of the analysis documents.
pub const ANALYSIS_VERSION: u32 = 1;

/// A run with the numbers that reports and comparisons show.
///
/// Means of a run are over its repeats, so that runs with different numbers of repeats can be
/// compared. A play without a result counts as 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnalysedRun {
    /// The name of the run or of its agent, unique among the runs of a document.
    pub label: String,
    pub folder: String,
    pub kind: RunKind,
    pub run_id: String,
    /// The agent or the solver.
    pub agent: String,
    pub software: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The duration of the run in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The scoring method or, for static tasks, the protocol with attempts and parser.
    pub method: String,
    /// The budget of a play; absent for static tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// The seed of the agent in the first repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The seed of the environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_seed: Option<u64>,
    pub repeats: usize,
    /// Whether every play or attempt has ended.
    pub finished: bool,
    /// Plays or tasks without a result. They count as 0.
    pub missing: usize,
    /// Plays that ended because the agent or the environment failed. They count with what they
    /// reached.
    pub failed: usize,
    pub score: MeanScore,
    /// What the publication of the scoring method says about such a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpretation: Option<String>,
    /// Completed levels, or solved tests of static tasks, per repeat.
    pub levels_completed: f64,
    pub levels: u32,
    #[serde(flatten)]
    pub behaviour: Behaviour,
    /// The cost of one repeat in US dollars: 0 if no model was used, absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The provider of the model, if one played. The costs of [`MOCK_PROVIDER`](crate::MOCK_PROVIDER) are not real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The tokens of one repeat; absent if no model was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<f64>,
    /// Whether no other run of the document costs at most as much and scores at least as much, one
    /// of the two strictly better.
    pub on_frontier: bool,
    /// The rank among the runs of a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<RunRank>,
    pub environments: Vec<AnalysedEnvironment>,
}

/// What an agent did, as means over the repeats. Absent numbers were not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Behaviour {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<f64>,
    /// Level resets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<f64>,
    /// How often a play reached the state `GAME_OVER`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deaths: Option<f64>,
    /// The number of different observations, by the hashes of their frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_states: Option<f64>,
    /// The time until the last action of a play, summed over the environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play_seconds: Option<f64>,
    /// Actions beyond the proved optimum on completed levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_actions: Option<f64>,
    /// The number of completed levels, per repeat, whose optimum is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_levels: Option<f64>,
}

/// A mean over environments with its 95 % interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanScore {
    pub mean: f64,
    /// The ends of the interval, never outside 0 to 100.
    pub interval: [f64; 2],
    /// `exact-bootstrap`, or `grid-bootstrap` if the exact one is too large.
    pub interval_method: String,
    /// The maximum distance of an end from the exact one, in points; absent if the interval is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_error: Option<f64>,
    /// The number of environments or tasks.
    pub environments: usize,
}

/// The rank of a run among the runs of a comparison, by the score on the common environments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRank {
    pub rank: usize,
    /// The best and the worst rank that the data support at 5 %.
    pub best: usize,
    pub worst: usize,
    /// The probability of rank 1 if the environments are resampled.
    pub chance_of_first: f64,
}

/// One environment, or one static task, of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnalysedEnvironment {
    /// The id of the environment with its version, or of the task.
    pub id: String,
    /// The digest of the source of a hosted game, or the revision of the set of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The score of each repeat; 0 if it has no result.
    pub scores: Vec<f64>,
    pub missing: usize,
    pub failed: usize,
    #[serde(flatten)]
    pub behaviour: Behaviour,
    /// The levels of the best run of each play, or the tests of a task.
    pub levels: Vec<AnalysedLevel>,
}

impl AnalysedEnvironment {
    /// Returns the mean over the repeats.
    pub fn score(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len().max(1) as f64
    }
}

/// One level of an environment over all repeats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnalysedLevel {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<u32>,
    /// The source of the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The weight of the level in the score of its environment; the weights of all levels add up to
    /// 1.
    pub weight: f64,
    /// The number of repeats, including those without a result.
    pub plays: usize,
    pub completed: usize,
    /// The actions of each play that reached the level.
    pub attempts: Vec<LevelAttempt>,
    /// The mean score over all repeats. It exceeds 100 if the method allows that for a level.
    pub score: f64,
}

impl AnalysedLevel {
    /// Returns the mean number of actions of the plays that completed the level, or of those that
    /// did not.
    pub fn mean_actions(&self, completed: bool) -> Option<f64> {
        let actions = self
            .attempts
            .iter()
            .filter(|one| one.completed == completed);
        let (sum, count) = actions.fold((0.0, 0.0), |(sum, count), one| {
            (sum + one.actions as f64, count + 1.0)
        });
        (count > 0.0).then(|| sum / count)
    }
}

/// The actions of one play on one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelAttempt {
    pub actions: u64,
    pub completed: bool,
}

/// The comparison of two or more runs.
///
/// The fields of the pair are part of the document if there are two runs, and `pairs` lists every
/// pair if there are more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    pub version: u32,
    /// Why the runs are not comparable. The list is empty unless the comparison was forced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<String>,
    /// Sentences that qualify the numbers.
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub pair: Option<PairComparison>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairComparison>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalisation: Option<Generalisation>,
    pub runs: Vec<AnalysedRun>,
}

impl RunComparison {
    /// Returns all compared pairs.
    pub fn all_pairs(&self) -> impl Iterator<Item = &PairComparison> {
        self.pair.iter().chain(&self.pairs)
    }
}

/// The comparison of two runs on their common environments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairComparison {
    /// The labels of the runs.
    pub run_a: String,
    pub run_b: String,
    pub mean_a: f64,
    pub mean_b: f64,
    /// `mean_a` minus `mean_b`, in points.
    pub difference: f64,
    /// The two-sided p-value of the sign-flip test over environments. It decides whether the runs
    /// differ.
    pub p: f64,
    /// `exact-sign-flip`, or `sampled-sign-flip` with the number of flips and the generator.
    pub p_method: String,
    /// The p-value corrected by Holm's method for all pairs of the document; absent for one pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// The number of environments on which the runs differ. Fewer than 6 are never significant at
    /// 5 %.
    pub differing: usize,
    /// The 95 % bootstrap interval of the difference.
    pub interval: [f64; 2],
    /// `exact-bootstrap`, or `grid-bootstrap` if the exact one is too large.
    pub interval_method: String,
    /// The maximum distance of an end from the exact one, in points; absent if the interval is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_error: Option<f64>,
    /// Where the difference comes from; absent for static tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<DifferenceSources>,
    /// Environments of only one of the runs, which are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in_a: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_in_b: Vec<String>,
    pub environments: Vec<EnvironmentDifference>,
}

/// One environment of a pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentDifference {
    pub id: String,
    /// The mean scores over the repeats.
    pub a: f64,
    pub b: f64,
    pub difference: f64,
    /// The number of repeats behind each mean.
    pub repeats_a: usize,
    pub repeats_b: usize,
    pub levels: Vec<LevelDifference>,
}

/// One level of a pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelDifference {
    /// The number of the level, from 1.
    pub level: usize,
    /// The mean scores over the repeats.
    pub a: f64,
    pub b: f64,
    /// The number of repeats that completed the level.
    pub completed_a: usize,
    pub completed_b: usize,
    /// The mean actions of the repeats that completed the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions_a: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions_b: Option<f64>,
}

/// Where a difference of scores comes from, in points. The three parts add up to the difference.
///
/// The score of a level is the share of completing plays times their mean score. The difference of
/// two such products is divided symmetrically (Kitagawa, 1955): each factor's difference is weighted
/// with the mean of the other factor. If only one run completed a level, its whole score counts for
/// completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DifferenceSources {
    /// The part of completed levels.
    pub levels_completed: f64,
    /// The part of the actions on completed levels.
    pub actions: f64,
    /// The part of the cap on the score of an environment, and of plays with several runs.
    pub cap: f64,
    /// The number of levels that only the first run, only the second, both and neither completed.
    pub levels_only_a: usize,
    pub levels_only_b: usize,
    pub levels_both: usize,
    pub levels_neither: usize,
}

/// The generalisation gap: the difference between environments that the authors of an agent have
/// seen and others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generalisation {
    pub seen: Vec<String>,
    pub unseen: Vec<String>,
    /// The gap of each run.
    pub runs: Vec<GeneralisationGap>,
    /// The gap of the difference of each pair: whether a gain on seen environments carries over.
    pub pairs: Vec<GeneralisationGap>,
}

/// A mean on seen environments, on unseen ones, and the difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneralisationGap {
    /// The label of the run, or `A − B` for a pair.
    pub label: String,
    pub mean_seen: f64,
    pub interval_seen: [f64; 2],
    pub mean_unseen: f64,
    pub interval_unseen: [f64; 2],
    /// The seen mean minus the unseen one.
    pub gap: f64,
    /// The two-sided p-value of the permutation test.
    pub p: f64,
    /// `exact-permutation` or `sampled-permutation`.
    pub p_method: String,
}

/// The analysis of many runs for a table: `rhae report`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunsReport {
    pub version: u32,
    /// Why the runs are not comparable with each other. The rows of a table are then separate
    /// results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    pub notes: Vec<String>,
    pub runs: Vec<AnalysedRun>,
    /// Published results of the same kind of benchmark, for orientation.
    pub published: Vec<PublishedResult>,
}

/// A published result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PublishedResult {
    pub system: String,
    pub provider: String,
    /// `arc-agi-3` or `arc-agi-2`.
    pub benchmark: String,
    /// The environments or tasks of the result.
    pub set: String,
    /// The score in percent.
    pub score: f64,
    /// The scoring method, if the publication names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The publication and the place in it.
    pub source: String,
    /// The date of the result or of its publication; absent if the source gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
