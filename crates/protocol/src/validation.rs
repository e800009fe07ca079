//! The results of `rhae validate` and of `rhae.validate` in Python (docs/validate.md).

use serde::{Deserialize, Serialize};

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
    /// The worst verdict of the environments: `fail`, else `incomplete`, else `pass`.
    pub verdict: EnvironmentVerdict,
    /// Whether `verdict` is `pass`.
    pub passes: bool,
    pub interrupted: bool,
    pub environments: Vec<ValidatedEnvironment>,
}

/// The results of one environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidatedEnvironment {
    pub game_id: String,
    pub verdict: EnvironmentVerdict,
    /// Whether `verdict` is `pass`.
    pub passes: bool,
    pub checks: usize,
    pub checks_not_done: usize,
    pub steps: u64,
    pub nodes: usize,
    /// The time spent on the environment, summed over all threads.
    pub work_seconds: f64,
    /// The levels that could not be reached, counted from 1.
    pub levels_not_checked: Vec<u8>,
    /// The rules that a complete validation needs and that are not decided on a level that was
    /// reached.
    pub undecided_rules: Vec<&'static str>,
    /// The number of rules that were not selected.
    pub rules_not_selected: usize,
    /// The results of the selected rules, and of other rules that failed.
    pub rules: Vec<RuleResult>,
}

/// The verdict on an environment (docs/validate.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EnvironmentVerdict {
    /// No rule fails, and the validation is complete.
    Pass,
    /// A rule fails.
    Fail,
    /// No rule fails, but something that a complete validation needs was not checked.
    Incomplete,
}

impl EnvironmentVerdict {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Incomplete => "incomplete",
        }
    }
}

/// The verdict on a rule, or of one of its findings (docs/validate.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleVerdict {
    Pass,
    Warn,
    Fail,
    Open,
}

impl RuleVerdict {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Open => "open",
        }
    }
}

/// The result of one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleResult {
    pub rule: &'static str,
    pub group: &'static str,
    /// The requirement that the rule checks.
    pub asks: &'static str,
    pub verdict: RuleVerdict,
    pub summary: String,
    pub findings: Vec<RuleFinding>,
}

/// The result of one check of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleFinding {
    /// The level, counted from 1; `None` if the finding concerns the whole environment.
    pub level: Option<u8>,
    pub verdict: RuleVerdict,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_serialised_by_their_names() {
        use RuleVerdict::{Fail, Open, Pass, Warn};
        for verdict in [Pass, Warn, Fail, Open] {
            assert_eq!(serde_json::json!(verdict), verdict.name());
        }
        use EnvironmentVerdict as Environment;
        for verdict in [
            Environment::Pass,
            Environment::Fail,
            Environment::Incomplete,
        ] {
            assert_eq!(serde_json::json!(verdict), verdict.name());
        }
    }
}
