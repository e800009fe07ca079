//! The numbers of a human study, for `--json` and the REST API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::study_protocol::AttemptRule;
use crate::study_terms::StudyVerdict;

/// The numbers of a study under one attempt rule, with or without exclusions. A number without data
/// is `null`.
///
/// # Examples
///
/// ```
/// use rhae_protocol::MedianMinutes;
///
/// let medians = MedianMinutes { all: Some(7.4), ..MedianMinutes::default() };
/// let json = r#"{"all":7.4,"solved":null,"unsolved":null,"unsolved_under_20":null}"#;
/// assert_eq!(serde_json::to_string(&medians)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudySummary {
    /// The rule that decides which attempts are valid.
    pub attempt_rule: AttemptRule,
    /// Whether exclusions apply.
    pub exclusions: bool,
    /// The people with a sitting.
    pub participants: usize,
    pub sittings: usize,
    /// The environments whose first frame was seen.
    pub starts: usize,
    /// The valid attempts.
    pub attempts: usize,
    pub median_minutes: MedianMinutes,
    /// The time of all valid attempts.
    pub hours: f64,
    /// The mean number of started environments of a sitting.
    pub environments_per_sitting: Option<f64>,
    /// The share of valid attempts that were solved.
    pub solved_share: Option<f64>,
    /// The valid attempts that the participant left by choice. Pay for each solved environment makes
    /// leaving rational, so results show it.
    pub left: usize,
    /// The number of environments by verdict.
    #[schema(value_type = Object)]
    pub environments: BTreeMap<StudyVerdict, usize>,
    /// Whether the ledger contains exactly what the sittings give rise to.
    pub books_balance: bool,
}

/// The median duration of valid attempts, in minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MedianMinutes {
    pub all: Option<f64>,
    pub solved: Option<f64>,
    pub unsolved: Option<f64>,
    /// Unsolved attempts of less than 20 minutes.
    pub unsolved_under_20: Option<f64>,
}
