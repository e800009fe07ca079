//! Tiered runs: the order of the environments by ease, and what each tier showed.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The environments of a set from the easiest on, as `rhae board tiers` writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierFile {
    /// The version of this form: 1.
    pub version: u32,
    /// The budget of a play within which the chances hold.
    pub budget: String,
    pub environments: Vec<TierEnvironment>,
}

/// An environment in the order of ease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierEnvironment {
    pub id: String,
    /// A proved upper bound of the probability that random play completes a level within the budget;
    /// 1 if nothing is proved.
    pub chance: f64,
    /// The people by whom the environments are ordered; absent if the chance orders them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleCompletion>,
}

/// How many people completed an environment in a human study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PeopleCompletion {
    /// The people who completed all levels.
    pub completed: u64,
    /// The people tested, without interrupted attempts.
    pub tested: u64,
}

impl PeopleCompletion {
    /// Returns whether a larger share of people completed an environment, or the same share, than
    /// completed another one.
    pub fn is_at_least(self, other: Self) -> bool {
        let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
        product(self.completed, other.tested) >= product(other.completed, self.tested)
    }
}

/// The tiers of a run, whose environments are in the order of ease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTiers {
    /// For each environment of the run, the upper bound of the probability that random play completes
    /// a level within the budget.
    pub chances: Vec<f64>,
    /// Whether every tier is played, whatever the earlier ones showed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

/// What the tiers of a run showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierSummary {
    pub tiers: Vec<TierResult>,
    /// The environments of the played tiers, and those of the whole run.
    pub played: usize,
    pub environments: usize,
    /// The bounds of the score over all environments in percent: the others score 0, or 100. The
    /// lower bound is the headline of the run.
    pub lower: Option<f64>,
    pub upper: Option<f64>,
    /// The mean of the played environments, which must not be compared with scores of all of them.
    pub played_mean: Option<f64>,
    /// The cost of the environments that were not played, if each costs as much as the mean of the
    /// played ones. Absent if the cost is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
}

/// What one tier showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierResult {
    pub environments: Vec<String>,
    pub played: bool,
    /// The environments of which a level was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<usize>,
    /// The probability that random play completes a level of at least as many environments. Up to
    /// 0.05 it leads to the next tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck_p: Option<f64>,
}
