//! Which plays are attempts, and which of them succeeded.

pub use rhae_protocol::AttemptStanding as Standing;
use rhae_protocol::{AttemptOutcome, AttemptRule};

use crate::state::EndedAttempt;

/// A play with more actions is an attempt.
const MIN_ACTIONS_EXCLUSIVE: u64 = 30;
/// Under the rule `paper`, an attempt is shorter than this.
const MAX_PAPER_MS: u64 = 30 * 60 * 1000;

/// Returns what a play counts as under a rule.
///
/// # Examples
///
/// A quick solve with 18 actions:
///
/// ```
/// use rhae_protocol::{AttemptOutcome, AttemptRule};
/// use rhae_study::{Standing, standing_of};
///
/// let standing = |rule| standing_of(rule, AttemptOutcome::Solved, 18, 60_000);
/// assert_eq!(standing(AttemptRule::Paper), Standing::NotCounted);
/// assert_eq!(standing(AttemptRule::Rhae1), Standing::Solved);
/// ```
pub const fn standing_of(
    rule: AttemptRule,
    outcome: AttemptOutcome,
    actions: u64,
    duration_ms: u64,
) -> Standing {
    let enough_actions = actions > MIN_ACTIONS_EXCLUSIVE;
    let solved = matches!(outcome, AttemptOutcome::Solved);
    let is_attempt = match rule {
        AttemptRule::Paper => enough_actions && duration_ms < MAX_PAPER_MS,
        AttemptRule::Rhae1 => enough_actions || solved,
    };
    if !is_attempt {
        Standing::NotCounted
    } else if outcome.is_censored() {
        Standing::Censored
    } else if solved {
        Standing::Solved
    } else {
        Standing::Failed
    }
}

impl EndedAttempt {
    /// Returns what the attempt counts as under a rule.
    pub fn standing(&self, rule: AttemptRule) -> Standing {
        standing_of(rule, self.outcome, self.counts.actions(), self.duration_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    fn both(outcome: AttemptOutcome, actions: u64, duration_ms: u64) -> [Standing; 2] {
        AttemptRule::ALL.map(|rule| standing_of(rule, outcome, actions, duration_ms))
    }

    #[test]
    fn worked_attempts_have_their_standing() {
        use AttemptOutcome::{HardLimit, Left, Solved};
        let table = [
            (
                (Left, 30, 5 * MINUTE),
                [Standing::NotCounted, Standing::NotCounted],
            ),
            ((Left, 31, 5 * MINUTE), [Standing::Failed, Standing::Failed]),
            (
                (Solved, 18, 5 * MINUTE),
                [Standing::NotCounted, Standing::Solved],
            ),
            (
                (Left, 200, 30 * MINUTE - 1),
                [Standing::Failed, Standing::Failed],
            ),
            (
                (HardLimit, 200, 30 * MINUTE),
                [Standing::NotCounted, Standing::Failed],
            ),
        ];
        for ((outcome, actions, duration), expected) in table {
            assert_eq!(
                both(outcome, actions, duration),
                expected,
                "{outcome:?} {actions}"
            );
        }
    }

    #[test]
    fn interrupted_plays_are_censored() {
        for outcome in [
            AttemptOutcome::SittingEnd,
            AttemptOutcome::Lost,
            AttemptOutcome::Withdrawn,
        ] {
            assert_eq!(both(outcome, 31, MINUTE), [Standing::Censored; 2]);
            assert_eq!(both(outcome, 30, MINUTE), [Standing::NotCounted; 2]);
        }
        assert!(!Standing::Censored.is_valid() && Standing::Censored.contributes());
    }
}
