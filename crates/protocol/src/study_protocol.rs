//! The protocol of a human study: the file that a researcher writes, and that is frozen by its hash
//! before the first live sitting.
//!
//! All numbers are integers: times in seconds, money in minor units (cents). The canonical form is
//! therefore unique, and two protocols are equal exactly if their hashes are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The version of the form.
pub const STUDY_PROTOCOL_VERSION: u32 = 1;

/// The rules of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyProtocol {
    /// The version of this form ([`STUDY_PROTOCOL_VERSION`]).
    pub format: u32,
    /// The version of the protocol within its study, from 1. Every amendment adds 1.
    pub version: u32,
    /// The preset from which the protocol was made.
    pub preset: String,
    pub attempt_rule: AttemptRule,
    /// The number of people that each environment needs.
    pub target: u32,
    pub target_counts: TargetCounts,
    pub design: AssignmentDesign,
    /// The number of people who must solve an environment completely.
    pub pass_solves: u32,
    pub sittings_per_person: u32,
    pub limits: StudyLimits,
    pub money: StudyMoney,
    pub low_effort: LowEffortRule,
    /// The texts by language, for example `en`.
    pub consent: BTreeMap<String, ConsentText>,
    /// The questions about the participant, in the order in which a public export drops them.
    pub demographics: Vec<DemographicQuestion>,
    /// The minimum number of people who share all released answers in a public export.
    pub k_anonymity: u32,
    pub analysis: AnalysisPlan,
}

/// Which attempts are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub enum AttemptRule {
    /// More than 30 actions and less than 30 minutes. Quick solves and plays up to the hard limit
    /// are not attempts.
    #[serde(rename = "paper")]
    Paper,
    /// More than 30 actions, or solved. Plays up to the hard limit are failures.
    #[serde(rename = "rhae-1")]
    Rhae1,
}

impl AttemptRule {
    pub const ALL: [Self; 2] = [Self::Paper, Self::Rhae1];

    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Rhae1 => "rhae-1",
        }
    }
}

/// What the target of an environment counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetCounts {
    /// People who saw the first frame and were not interrupted.
    Starts,
    /// Valid attempts that are not excluded.
    Valid,
}

/// How environments are assigned to sittings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AssignmentDesign {
    /// The environment that needs people most.
    Need,
    /// Cyclic incomplete blocks of the given number of environments, in a seeded order.
    Fixed { per_sitting: u32 },
}

/// The limits of sittings and attempts, in seconds of the server's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyLimits {
    /// The play time of a sitting, from the first frame of the first environment.
    pub sitting_s: u64,
    /// The times on the attempt's clock at which the participant is asked to conclude.
    pub prompts_s: Vec<u64>,
    /// The time on the attempt's clock from which commands are refused.
    pub hard_s: u64,
    /// The remaining play time below which no environment is offered.
    pub min_remaining_s: u64,
    /// The time without contact after which the clock stops.
    pub outage_grace_s: u64,
    /// The time for which outages may stop the clock in one sitting.
    pub outage_total_s: u64,
    /// The time for which pauses may stop the clock in one sitting.
    pub pause_total_s: u64,
    /// The time without contact after which a reservation expires.
    pub reservation_s: u64,
}

/// The pay of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StudyMoney {
    /// The ISO 4217 code, for example `USD`.
    pub currency: String,
    /// The fee of a sitting, unless its site has another one.
    pub fee_minor: u64,
    /// The bonus for each solved environment.
    pub bonus_minor: u64,
    pub early_leave: EarlyLeave,
}

/// The fee of a participant who leaves early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyLeave {
    /// The share of the fee for each quarter of an hour that has begun.
    PerQuarterHour,
    Full,
}

/// The rule that excludes a sitting for low effort.
///
/// A quick quit is an attempt that the participant left by choice, unsolved, after at most
/// `max_quick_actions` actions or less than `max_quick_s` seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LowEffortRule {
    pub version: u32,
    pub max_quick_actions: u64,
    pub max_quick_s: u64,
    /// The least number of quick quits that excludes a sitting.
    pub min_quick_quits: u32,
    /// The least share of quick quits among the started environments, in percent.
    pub min_share_percent: u32,
}

/// A consent text in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsentText {
    pub version: u32,
    pub text: String,
}

/// A question about the participant, answered by one of several bands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DemographicQuestion {
    /// The name of the column in exports.
    pub id: String,
    pub bands: Vec<String>,
}

/// The analysis that is fixed together with the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisPlan {
    /// The version of the analysis code.
    pub version: u32,
    /// The scoring method whose baselines are the result of the study.
    pub method: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_and_rules_keep_their_serialised_names() {
        let json = |value: serde_json::Result<String>| value.unwrap();
        assert_eq!(
            json(serde_json::to_string(&AssignmentDesign::Need)),
            r#""need""#
        );
        let fixed = AssignmentDesign::Fixed { per_sitting: 9 };
        assert_eq!(
            json(serde_json::to_string(&fixed)),
            r#"{"fixed":{"per_sitting":9}}"#
        );
        assert_eq!(
            json(serde_json::to_string(&EarlyLeave::PerQuarterHour)),
            r#""per-quarter-hour""#
        );
        assert_eq!(
            json(serde_json::to_string(&TargetCounts::Starts)),
            r#""starts""#
        );
        for rule in AttemptRule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
    }

    #[test]
    fn misspelt_field_is_an_error() {
        let text =
            r#"{"currency":"USD","fee_minor":1,"bonus_minor":1,"early_leave":"full","fees":2}"#;
        let error = serde_json::from_str::<StudyMoney>(text).unwrap_err();
        assert!(
            error.to_string().contains("unknown field `fees`"),
            "{error}"
        );
    }
}
