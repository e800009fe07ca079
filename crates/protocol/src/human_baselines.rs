//! The baselines of a human study as a run or a server uses them.
//!
//! *Invariant:* the form contains the numbers themselves and not only the name of their file, so that
//! a run folder can be scored again without the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::study::{Digest, EnvironmentVersion, StudyId};
use crate::study_baselines::{BaselineFile, LevelBaseline};

/// Published baselines that replace those of the environments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanBaselines {
    pub study: StudyId,
    pub revision: u32,
    /// The hash of the published file.
    pub file: Digest,
    /// The levels of each environment version, from level 1.
    pub environments: BTreeMap<EnvironmentVersion, Vec<HumanLevel>>,
}

/// The baselines of one level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanLevel {
    /// The number of people who completed the level.
    pub people: u32,
    /// The baselines by the name of the scoring method. Provisional ones are left out.
    pub methods: BTreeMap<String, u32>,
}

impl HumanBaselines {
    /// Takes the baselines of a published file, whose hash is `hash`.
    pub fn new(file: &BaselineFile, hash: Digest) -> Self {
        let environments = file.environments.iter().map(|one| {
            let levels = one.levels.iter().map(HumanLevel::from);
            (one.environment.clone(), levels.collect())
        });
        Self {
            study: file.study.clone(),
            revision: file.revision,
            file: hash,
            environments: environments.collect(),
        }
    }
}

impl From<&LevelBaseline> for HumanLevel {
    fn from(level: &LevelBaseline) -> Self {
        let methods = level.methods.iter().filter(|(_, one)| !one.provisional);
        Self {
            people: u32::try_from(level.completed).unwrap_or(u32::MAX),
            methods: methods
                .filter_map(|(name, one)| Some((name.clone(), one.actions?)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provisional_and_missing_baselines_are_left_out() {
        let text = r#"{"level":1,"people":10,"completed":6,"best":12,"methods":{
            "a":{"rule":"upper median","actions":22,"provisional":false,"resampling":{"undefined":0.0}},
            "b":{"rule":"upper median","actions":22,"provisional":true,"resampling":{"undefined":0.0}},
            "c":{"rule":"second best","provisional":false,"resampling":{"undefined":1.0}}},"attempts":[]}"#;
        let level: LevelBaseline = serde_json::from_str(text).unwrap();
        let level = HumanLevel::from(&level);
        assert_eq!(level.people, 6);
        assert_eq!(level.methods, BTreeMap::from([("a".to_owned(), 22)]));
    }
}
