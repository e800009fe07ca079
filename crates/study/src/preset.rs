//! The presets of the study protocol.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rhae_protocol::{
    AnalysisPlan, AssignmentDesign, AttemptRule, ConsentText, DemographicQuestion, EarlyLeave,
    LowEffortRule, STUDY_PROTOCOL_VERSION, StudyLimits, StudyMoney, StudyProtocol, TargetCounts,
};
use rhae_scoring::Method;

/// The version of the analysis that this crate implements.
pub const ANALYSIS_VERSION: u32 = 1;

/// The answer that every demographic question offers.
pub const NO_ANSWER: &str = "rather not say";

/// A named set of defaults for a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The protocol of the ARC-AGI-3 paper: targets count starts, attempts follow the paper's
    /// literal definition, and baselines are second best.
    Paper,
    /// Targets count valid attempts, quick solves are valid, and plays up to the hard limit are
    /// failures.
    Rhae1,
}

impl Preset {
    pub const ALL: [Self; 2] = [Self::Paper, Self::Rhae1];

    /// Returns the name in files and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Rhae1 => "rhae-1",
        }
    }

    /// Returns the protocol of the preset, version 1. Its consent text is empty, so it is not valid
    /// before the researcher has added one.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_study::Preset;
    ///
    /// let protocol = Preset::Paper.protocol();
    /// assert_eq!((protocol.limits.sitting_s, protocol.limits.hard_s), (90 * 60, 30 * 60));
    /// assert_eq!((protocol.target, protocol.pass_solves), (10, 2));
    /// ```
    pub fn protocol(self) -> StudyProtocol {
        let (attempt_rule, target_counts, method) = match self {
            Self::Paper => (
                AttemptRule::Paper,
                TargetCounts::Starts,
                Method::Paper202603,
            ),
            Self::Rhae1 => (AttemptRule::Rhae1, TargetCounts::Valid, Method::DEFAULT),
        };
        StudyProtocol {
            format: STUDY_PROTOCOL_VERSION,
            version: 1,
            preset: self.name().to_owned(),
            attempt_rule,
            target: 10,
            target_counts,
            design: AssignmentDesign::Need,
            pass_solves: 2,
            sittings_per_person: 1,
            limits: limits(),
            money: StudyMoney {
                currency: "USD".to_owned(),
                fee_minor: 13_000,
                bonus_minor: 500,
                early_leave: EarlyLeave::PerQuarterHour,
            },
            low_effort: LowEffortRule {
                version: 1,
                max_quick_actions: 30,
                max_quick_s: 120,
                min_quick_quits: 3,
                min_share_percent: 50,
            },
            consent: BTreeMap::from([(
                "en".to_owned(),
                ConsentText {
                    version: 1,
                    text: String::new(),
                },
            )]),
            demographics: demographics(),
            k_anonymity: 5,
            analysis: AnalysisPlan {
                version: ANALYSIS_VERSION,
                method: method.name().to_owned(),
            },
        }
    }
}

fn limits() -> StudyLimits {
    StudyLimits {
        sitting_s: 90 * 60,
        prompts_s: vec![20 * 60, 25 * 60],
        hard_s: 30 * 60,
        min_remaining_s: 5 * 60,
        outage_grace_s: 15,
        outage_total_s: 10 * 60,
        pause_total_s: 15 * 60,
        reservation_s: 15 * 60,
    }
}

/// The questions in the order in which a public export drops them.
fn demographics() -> Vec<DemographicQuestion> {
    let question = |id: &str, bands: &[&str]| DemographicQuestion {
        id: id.to_owned(),
        bands: bands
            .iter()
            .chain(&[NO_ANSWER])
            .map(|&band| band.to_owned())
            .collect(),
    };
    vec![
        question("colour_vision", &["typical", "colour-blind"]),
        question("gaming", &["never", "monthly", "weekly", "daily"]),
        question("education", &["school", "college", "university"]),
        question(
            "work",
            &[
                "employed",
                "self-employed",
                "student",
                "not employed",
                "retired",
            ],
        ),
        question("age", &["18-24", "25-34", "35-44", "45-54", "55-64", "65+"]),
    ]
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not the name of a [`Preset`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a preset: expected `paper` or `rhae-1`")]
pub struct UnknownPreset(String);

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_names_are_rejected() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
        }
        let error = "arc".parse::<Preset>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`arc` is not a preset: expected `paper` or `rhae-1`"
        );
    }

    /// A preset never changes, because published studies name it. A correction is a new preset.
    #[test]
    fn presets_keep_their_hashes() {
        let hashes = Preset::ALL.map(|preset| crate::canonical::digest(&preset.protocol()).0);
        assert_eq!(
            hashes,
            [
                "c2fde504a0c4e4e624f1bf70ebcaa1b0fa6559381394ee1195cdd62675b3fdda",
                "1fae46c820d50f29701c0d330d97c932a040529304bc18d434fa45e535cbae69"
            ]
        );
    }

    #[test]
    fn presets_differ_in_what_counts() {
        let (paper, own) = (Preset::Paper.protocol(), Preset::Rhae1.protocol());
        assert_eq!(paper.target_counts, TargetCounts::Starts);
        assert_eq!(own.target_counts, TargetCounts::Valid);
        assert_eq!((paper.limits, paper.money), (own.limits, own.money));
    }
}
