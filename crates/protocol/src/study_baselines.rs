//! The file of published human baselines, with the people, rules and uncertainty behind each number.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::study::{Digest, EnvironmentVersion, StudyId};
use crate::study_protocol::AttemptRule;

/// The version of the form.
pub const BASELINE_FILE_VERSION: u32 = 1;

/// Published baselines. A published file never changes; a correction is a new revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineFile {
    /// The version of this form ([`BASELINE_FILE_VERSION`]).
    pub format: u32,
    pub study: StudyId,
    pub revision: u32,
    /// The name and version of the software that computed the baselines.
    pub software: String,
    /// The hash of the protocol.
    pub protocol: Digest,
    /// The rule that decides which attempts are valid.
    pub attempt_rule: AttemptRule,
    /// The hash of the set of exclusions that was applied.
    pub exclusions: Digest,
    pub environments: Vec<EnvironmentBaselines>,
}

/// The baselines of one environment version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentBaselines {
    pub environment: EnvironmentVersion,
    /// The number of valid attempts.
    pub valid: usize,
    /// The number of people who solved the environment.
    pub solved: usize,
    /// The number of interrupted attempts whose completed levels are used.
    pub censored: usize,
    pub levels: Vec<LevelBaseline>,
}

/// The baselines of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelBaseline {
    /// The number of the level, from 1.
    pub level: u32,
    /// The number of people tested, without the people who were interrupted in the level.
    pub people: usize,
    /// The number of people who completed the level.
    pub completed: usize,
    /// The fewest actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<u32>,
    /// The baselines by the name of the scoring method.
    pub methods: BTreeMap<String, MethodBaseline>,
    /// The hashes of the attempts in which the level was completed.
    pub attempts: BTreeSet<Digest>,
}

/// The baseline of a level under one scoring method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodBaseline {
    /// `second best` or `upper median`.
    pub rule: String,
    /// The baseline; absent if too few people completed the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<u32>,
    /// Whether fewer than two people completed the level.
    pub provisional: bool,
    /// The exact interval of the median of the people who completed the level; only for the upper median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<CountInterval>,
    /// The range of the baseline over resamples of the people tested.
    pub resampling: ResamplingRange,
    /// The lowest and highest baseline if one of the people is left out; absent if the baseline does
    /// not exist without one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_one_out: Option<(u32, u32)>,
}

/// An interval between two observed counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountInterval {
    pub low: u32,
    pub high: u32,
    /// The probability that the interval contains the median.
    pub coverage: f64,
}

/// The central 95 % of the resamples. An end is absent if the baseline does not exist there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResamplingRange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<u32>,
    /// The share of resamples in which the baseline does not exist.
    pub undefined: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_keeps_its_serialised_form() {
        let text = r#"{"level":1,"people":10,"completed":6,"best":12,"methods":{"docs-2026-04":{"rule":"upper median","actions":22,"provisional":false,"interval":{"low":12,"high":90,"coverage":0.96875},"resampling":{"low":15,"high":90,"undefined":0.0001},"leave_one_out":[18,22]},"paper-2026-03":{"rule":"second best","provisional":true,"resampling":{"undefined":1.0}}},"attempts":["ab"]}"#;
        let level: LevelBaseline = serde_json::from_str(text).unwrap();
        assert_eq!(level.methods["paper-2026-03"].actions, None);
        assert_eq!(serde_json::to_string(&level).unwrap(), text);
    }
}
