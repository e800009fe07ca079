//! The scorecard in the official shape, with what the official one leaves unsaid: the method, the software, where baselines
//! come from and why a run ended.
//!
//! Scores on the wire are percentages. The official client computes an environment's numbers from its runs, so `id` and
//! `runs` must never be empty.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Spent;

/// The result of a set of plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Scorecard {
    /// The card's id.
    pub card_id: String,
    /// Mean over the environments, in percent.
    pub score: f64,
    /// The scoring method's name.
    pub method: String,
    /// What made the card.
    pub software: String,
    /// Where the source of the agent is found, if its author said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_url: Option<String>,
    /// What the author filed it under.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Anything the author added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
    /// Every environment on the card.
    pub environments: Vec<EnvironmentScore>,
    /// The same by the environments' tags.
    #[serde(default)]
    pub tags_scores: Vec<TagScore>,
    /// Present and true if the card was opened as a competition's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub competition_mode: Option<bool>,
    /// Environments with a won run.
    pub total_environments_completed: u32,
    /// All environments.
    pub total_environments: u32,
    /// Levels completed, summed over the environments' best.
    pub total_levels_completed: u32,
    /// All levels.
    pub total_levels: u32,
    /// Actions of all runs.
    pub total_actions: u64,
    /// What models consumed, in all runs; absent if no player said that it consumed anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

/// One environment on a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EnvironmentScore {
    /// The environment with its version.
    pub id: String,
    /// Every run of it.
    pub runs: Vec<RunScore>,
    /// The best run's score in percent.
    pub score: f64,
    /// Actions of all runs.
    pub actions: u64,
    /// The most levels that a run completed.
    pub levels_completed: u32,
    /// Whether a run was won.
    pub completed: bool,
    /// How many levels it has.
    pub level_count: u32,
    /// Level resets of all runs.
    pub resets: u64,
    /// Where the baselines come from, level by level.
    #[serde(default)]
    pub baseline_source: Vec<String>,
    /// What models consumed, in all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

/// One run of an environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunScore {
    /// The environment with its version.
    pub id: String,
    /// The play's id.
    pub guid: String,
    /// Score in percent.
    pub score: f64,
    /// Levels completed.
    pub levels_completed: u32,
    /// Actions, level resets included.
    pub actions: u64,
    /// Actions that changed nothing.
    #[serde(default)]
    pub unchanged_actions: u64,
    /// Level resets.
    pub resets: u64,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// Whether it was won.
    pub completed: bool,
    /// Score of each level in percent.
    pub level_scores: Vec<f64>,
    /// Actions of each level.
    pub level_actions: Vec<u64>,
    /// Baseline of each level; −1 where none is known.
    pub level_baseline_actions: Vec<i64>,
    /// How many levels the environment has.
    pub number_of_levels: u32,
    /// One: a run is of one environment.
    pub number_of_environments: u32,
    /// Why the run ended, where that is known: `won`, `budget`, `stopped`, `failed`, `reset` or `interrupted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// What went wrong, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What a model consumed on each level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_spent: Vec<Spent>,
}

/// The part of a card that concerns the environments with one tag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TagScore {
    /// The tag.
    pub id: String,
    /// Mean over its environments, in percent.
    pub score: f64,
    /// Levels completed.
    pub levels_completed: u32,
    /// Actions of all runs.
    pub actions: u64,
    /// All levels.
    pub number_of_levels: u32,
    /// All environments.
    pub number_of_environments: u32,
}
