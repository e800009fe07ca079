//! The automatic exclusion rule: sittings with little effort.
//!
//! The rule looks only at the event log, so its findings can be computed again at any time. It never
//! looks at results of the environments, and it never affects pay.

pub use rhae_protocol::EffortVerdict;
use rhae_protocol::{AttemptOutcome, LowEffortRule};

use crate::state::{EndedAttempt, Sitting};

/// The id of the rule in exclusions.
pub const LOW_EFFORT: &str = "low-effort";

/// The finding of the rule for one sitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffortFinding {
    pub quick_quits: u32,
    /// The number of environments that were started.
    pub started: u32,
    pub verdict: EffortVerdict,
}

impl EffortFinding {
    /// Returns the numbers as text, for the evidence of an exclusion.
    pub fn evidence(&self) -> String {
        format!(
            "{} quick quits in {} started environments",
            self.quick_quits, self.started
        )
    }
}

/// Judges a number of quick quits among started environments.
///
/// # Examples
///
/// ```
/// use rhae_study::{EffortVerdict, Preset, judge_effort};
///
/// let rule = Preset::Rhae1.protocol().low_effort;
/// assert_eq!(judge_effort(&rule, 5, 9).verdict, EffortVerdict::Excluded);
/// assert_eq!(judge_effort(&rule, 4, 9).verdict, EffortVerdict::Flagged);
/// ```
pub fn judge_effort(rule: &LowEffortRule, quick_quits: u32, started: u32) -> EffortFinding {
    let many = quick_quits >= rule.min_quick_quits;
    let share = quick_quits > 0
        && u64::from(quick_quits) * 100 >= u64::from(started) * u64::from(rule.min_share_percent);
    let verdict = match (many, share) {
        (true, true) => EffortVerdict::Excluded,
        (false, false) => EffortVerdict::Kept,
        _ => EffortVerdict::Flagged,
    };
    EffortFinding {
        quick_quits,
        started,
        verdict,
    }
}

/// Applies the rule to a sitting.
pub fn sitting_effort(rule: &LowEffortRule, sitting: &Sitting) -> EffortFinding {
    let quick = sitting
        .ended()
        .filter(|(_, _, attempt)| is_quick_quit(rule, attempt))
        .count();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    judge_effort(rule, count(quick), count(sitting.started().count()))
}

/// Returns whether a participant left an attempt by choice, unsolved, after few actions or a short
/// time.
pub fn is_quick_quit(rule: &LowEffortRule, attempt: &EndedAttempt) -> bool {
    let short = attempt.duration_ms < rule.max_quick_s * 1000;
    attempt.outcome == AttemptOutcome::Left
        && (attempt.counts.actions() <= rule.max_quick_actions || short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::attempt;
    use crate::preset::Preset;

    #[test]
    fn worked_sittings_have_their_verdict() {
        let rule = Preset::Rhae1.protocol().low_effort;
        let table = [
            ((5, 9), EffortVerdict::Excluded),
            ((4, 9), EffortVerdict::Flagged),
            ((2, 2), EffortVerdict::Flagged),
            ((7, 14), EffortVerdict::Excluded),
            ((3, 6), EffortVerdict::Excluded),
            ((2, 9), EffortVerdict::Kept),
            ((0, 0), EffortVerdict::Kept),
        ];
        for ((quick, started), expected) in table {
            let found = judge_effort(&rule, quick, started);
            assert_eq!(found.verdict, expected, "{quick}/{started}");
        }
        assert_eq!(
            judge_effort(&rule, 5, 9).evidence(),
            "5 quick quits in 9 started environments"
        );
    }

    #[test]
    fn quick_quit_needs_choice_and_few_actions_or_a_short_time() {
        let rule = Preset::Rhae1.protocol().low_effort;
        let is_quick = |outcome, actions, seconds: u64| {
            is_quick_quit(&rule, &attempt(outcome, &[actions], seconds * 1000))
        };
        assert!(is_quick(AttemptOutcome::Left, 30, 600));
        assert!(is_quick(AttemptOutcome::Left, 500, 119));
        assert!(!is_quick(AttemptOutcome::Left, 31, 120));
        assert!(!is_quick(AttemptOutcome::Lost, 5, 10));
        assert!(!is_quick(AttemptOutcome::HardLimit, 5, 1800));
        assert!(!is_quick(AttemptOutcome::Solved, 18, 30));
    }
}
