//! The scorecard in the official shape, extended with the scoring method, the software, the source
//! of the baselines and the reason why a run ended.
//!
//! Serialised scores are percentages. The official client computes the numbers of an environment
//! from its runs, so every environment must have a non-empty `id` and at least one run.

use rhae_engine::PlayState;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Ending, ModelUsage};

/// The result of one agent on a list of environments.
///
/// Scores are percentages. Fields that are unknown are left out.
///
/// # Examples
///
/// ```
/// use rhae_protocol::Scorecard;
///
/// let json = r#"{
///     "card_id": "c1", "score": 6.25, "method": "docs-2026-04", "software": "rhae 0.1.0",
///     "environments": [{
///         "id": "ab12-v1", "score": 6.25, "actions": 47, "levels_completed": 1,
///         "completed": false, "level_count": 2, "resets": 0,
///         "baseline_source": ["solver", "solver"],
///         "runs": [{
///             "id": "ab12-v1", "guid": "9f0c", "score": 6.25, "levels_completed": 1,
///             "actions": 47, "resets": 0, "state": "NOT_FINISHED", "completed": false,
///             "level_scores": [18.75, 0.0], "level_actions": [23, 24],
///             "level_baseline_actions": [10, 12], "number_of_levels": 2,
///             "number_of_environments": 1, "ending": "budget"
///         }]
///     }],
///     "total_environments_completed": 0, "total_environments": 1,
///     "total_levels_completed": 1, "total_levels": 2, "total_actions": 47
/// }"#;
/// let card: Scorecard = serde_json::from_str(json)?;
/// assert_eq!(card.environments[0].runs[0].level_actions, [23, 24]);
/// assert_eq!(card.competition_mode, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(description = "The result of one agent on a list of environments.")]
pub struct Scorecard {
    /// Id of the scorecard.
    pub card_id: String,
    /// Mean over the environments, in percent.
    pub score: f64,
    /// Name of the scoring method.
    pub method: String,
    /// Name and version of the software that made the card.
    pub software: String,
    /// Holder of the key that opened the card. Present only for an administrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<CardOwner>,
    /// URL of the agent's source code, if its author gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// Tags that the author gave to the card.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Data that the author attached to the card, stored unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// Scores of the environments on the card.
    pub environments: Vec<EnvironmentScore>,
    /// Scores grouped by the tags of the environments.
    #[serde(default)]
    pub tags_scores: Vec<TagScore>,
    /// Present and true if the card was opened in competition mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub competition_mode: Option<bool>,
    /// Number of environments with a won run.
    pub total_environments_completed: u32,
    /// Number of environments.
    pub total_environments: u32,
    /// Sum over the environments of the highest number of levels that a run completed.
    pub total_levels_completed: u32,
    /// Number of levels of all environments.
    pub total_levels: u32,
    /// Actions of all runs.
    pub total_actions: u64,
    /// Model usage of all runs; absent if the agent reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ModelUsage>,
}

/// The holder of the key that opened a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CardOwner {
    /// Id of the key.
    pub key_id: String,
    /// Name that the operator gave to the key.
    pub name: String,
}

/// The score of one environment on a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EnvironmentScore {
    /// Id of the environment with its version.
    pub id: String,
    /// Runs of the environment; never empty.
    pub runs: Vec<RunScore>,
    /// Score of the best run, in percent.
    pub score: f64,
    /// Actions of all runs.
    pub actions: u64,
    /// Highest number of levels that a run completed.
    pub levels_completed: u32,
    /// Whether a run was won.
    pub completed: bool,
    /// Number of levels of the environment.
    pub level_count: u32,
    /// Level resets of all runs.
    pub resets: u64,
    /// Source of the baseline of each level.
    #[serde(default)]
    pub baseline_source: Vec<String>,
    /// SHA-256 digests of the sources of a hosted game that the runs were played with, in order of
    /// the first plays. There is more than one if the source changed between two plays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_digests: Vec<String>,
    /// Model usage of all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ModelUsage>,
}

/// The score of one run of an environment. A full reset starts another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunScore {
    /// Id of the environment with its version.
    pub id: String,
    /// Id of the play.
    pub guid: String,
    /// Score in percent.
    pub score: f64,
    /// Number of completed levels.
    pub levels_completed: u32,
    /// Actions, including level resets.
    pub actions: u64,
    /// Actions that changed nothing.
    #[serde(default)]
    pub unchanged_actions: u64,
    /// Number of level resets.
    pub resets: u64,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    #[serde(with = "crate::play_state")]
    #[schema(value_type = String)]
    pub state: PlayState,
    /// Whether the run was won.
    pub completed: bool,
    /// Score of each level in percent.
    pub level_scores: Vec<f64>,
    /// Actions of each level.
    pub level_actions: Vec<u64>,
    /// Baseline of each level; −1 if unknown.
    pub level_baseline_actions: Vec<i64>,
    /// Number of levels of the environment.
    pub number_of_levels: u32,
    /// Always 1: a run belongs to one environment.
    pub number_of_environments: u32,
    /// Why the run ended, if known: `won`, `budget`, `stopped`, `failed`, `reset` or `interrupted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub ending: Option<Ending>,
    /// The error of the agent, the environment or the scoring, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Model usage on each level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_spent: Vec<ModelUsage>,
}

/// The score of the environments on a card that share a tag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TagScore {
    /// The tag.
    pub id: String,
    /// Mean over the environments with this tag, in percent.
    pub score: f64,
    /// Completed levels, summed over the environments.
    pub levels_completed: u32,
    /// Actions of all runs.
    pub actions: u64,
    /// Number of levels of the environments.
    pub number_of_levels: u32,
    /// Number of environments with this tag.
    pub number_of_environments: u32,
}
