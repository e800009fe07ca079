//! The results of a human study, for `--json` and the REST API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::study::{AttemptOutcome, StudyId};
use crate::study_status::{EnvironmentCoverage, RateInterval};
use crate::study_summary::StudySummary;

/// The results of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyResults {
    pub study: StudyId,
    pub title: String,
    /// The numbers under each attempt rule, with and without exclusions.
    pub summaries: Vec<StudySummary>,
    /// The answers of live participants by question. Counts below the protocol's `k_anonymity` are
    /// `null`.
    pub demographics: BTreeMap<String, Vec<BandCount>>,
    /// The durations of all valid attempts under the rule of the protocol, with exclusions.
    pub durations: Vec<DurationBin>,
    /// The environments that the caller asked for.
    pub environments: Vec<EnvironmentResults>,
}

/// How often a band was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BandCount {
    pub band: String,
    /// `null` if the number is too small to be shown.
    pub people: Option<u64>,
}

/// The results of an environment version under the attempt rule of the protocol, with exclusions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EnvironmentResults {
    #[serde(flatten)]
    pub coverage: EnvironmentCoverage,
    pub by_level: Vec<LevelResults>,
    /// The cumulative share of people who solved or left the environment, by time.
    pub by_time: Vec<TimeResults>,
    /// The durations of the valid attempts.
    pub durations: Vec<DurationBin>,
    /// The mean score of the participants, each against the baselines of the others, as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_score: Option<f64>,
    /// The Rasch difficulty; absent with fewer than five people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<f64>,
    /// The unsolved plays, sorted by the level in which people stopped.
    pub stopped: Vec<StoppedPlayResult>,
}

/// The results of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LevelResults {
    /// The number of the level, from 1.
    pub level: u32,
    pub reached: u32,
    pub completed: u32,
    /// The people who left, or reached the hard limit, in this level.
    pub stopped: u32,
    /// The people who were interrupted in this level.
    pub censored: u32,
    pub resets: u64,
    pub deaths: u64,
    /// The actions of each completion, in ascending order.
    pub actions: Vec<u32>,
    /// The length of the shortest known solution, if the environment declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<u32>,
    /// The second smallest number of actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_best: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_median: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_minutes: Option<f64>,
    /// The share of people who complete this level and all before it, by Kaplan and Meier. The
    /// interval is absent at 0 and 1.
    pub survival: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival_interval: Option<RateInterval>,
}

/// The shares of people at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TimeResults {
    pub minutes: f64,
    pub solved: f64,
    pub left: f64,
}

/// The attempts with a duration in a range of two minutes. The last range has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DurationBin {
    /// The start of the range.
    pub from_minutes: u64,
    pub solved: u64,
    pub unsolved: u64,
}

/// Where people clicked on a level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LevelClicks {
    /// The number of the level, from 1.
    pub level: u32,
    /// The first frame of the level: 64 rows of 64 hexadecimal digits, without separators.
    pub board: String,
    /// The number of clicks of all people, over all tries.
    pub clicks: u32,
    pub cells: Vec<ClickedCell>,
}

/// A cell of the board that was clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClickedCell {
    pub x: u8,
    pub y: u8,
    pub clicks: u32,
}

/// A play that ended unsolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoppedPlayResult {
    pub play: String,
    /// The level in which the participant stopped, from 1.
    pub level: u32,
    pub outcome: AttemptOutcome,
    pub actions: u64,
    /// The action from which a replay should be shown.
    pub replay_from: u64,
}
