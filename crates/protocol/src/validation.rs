//! The results of `rhae validate` and of `rhae.validate` in Python (docs/validate.md).

use serde::Serialize;

/// The results of a validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidationReport {
    pub software: &'static str,
    /// The seed of all random play.
    pub seed: u64,
    /// The seed of the environments.
    pub env_seed: u64,
    /// Whether a single win by random play fails an environment.
    pub strict: bool,
    pub passes: bool,
    pub interrupted: bool,
    pub environments: Vec<ValidatedEnvironment>,
}

/// The results of one environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidatedEnvironment {
    pub game_id: String,
    pub passes: bool,
    pub checks: usize,
    pub checks_not_done: usize,
    pub steps: u64,
    pub nodes: usize,
    /// The time spent on the environment, summed over all threads.
    pub work_seconds: f64,
    /// The levels that could not be reached, counted from 1.
    pub levels_not_checked: Vec<u8>,
    pub rules: Vec<RuleResult>,
}

/// The verdict on one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleResult {
    pub rule: &'static str,
    pub group: &'static str,
    /// The requirement that the rule checks.
    pub asks: &'static str,
    /// `pass`, `warn`, `fail` or `open`.
    pub verdict: &'static str,
    pub summary: String,
    pub findings: Vec<RuleFinding>,
}

/// The result of one check of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleFinding {
    /// The level, counted from 1; `None` if the finding concerns the whole environment.
    pub level: Option<u8>,
    pub verdict: &'static str,
    pub text: String,
    pub evidence: Vec<FindingEvidence>,
}

/// A play that demonstrates a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingEvidence {
    pub shows: String,
    /// The actions, separated by spaces.
    pub actions: String,
    /// The file of the recording, if one is written.
    pub recording: Option<String>,
}
