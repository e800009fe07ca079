//! Human baselines: the action counts with which an agent's action counts are compared.

use std::fmt;

/// Selects which of the players who completed a level sets its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaselineRule {
    /// The player with the second-fewest actions (draft and paper).
    SecondBest,
    /// The median player or, for an even number of players, the slower of the two in the middle
    /// (documentation since April 2026).
    UpperMedian,
}

impl BaselineRule {
    /// Returns the minimum number of players that the rule needs.
    pub const fn min_players(self) -> usize {
        match self {
            Self::SecondBest => 2,
            Self::UpperMedian => 1,
        }
    }
}

impl fmt::Display for BaselineRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SecondBest => "second best",
            Self::UpperMedian => "upper median",
        })
    }
}

/// The error of [`human_baseline`] if too few players completed the level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {rule} needs {needed} first-time players who completed the level, and there are {found}"
)]
pub struct TooFewPlayers {
    pub rule: BaselineRule,
    /// The number of players that the rule needs.
    pub needed: usize,
    /// The number of players who completed the level.
    pub found: usize,
}

/// Returns the baseline of one level.
///
/// `counts` holds one action count, level resets included, for each first-time player who completed
/// the level, in any order. Players who gave up are not part of it.
///
/// # Errors
///
/// Returns [`TooFewPlayers`] if fewer players completed the level than the rule needs.
///
/// # Examples
///
/// ```
/// use rhae_scoring::{BaselineRule, human_baseline};
///
/// let counts = [40, 10, 30, 20];
/// assert_eq!(human_baseline(BaselineRule::SecondBest, &counts), Ok(20));
/// assert_eq!(human_baseline(BaselineRule::UpperMedian, &counts), Ok(30));
/// assert!(human_baseline(BaselineRule::SecondBest, &[10]).is_err());
/// ```
pub fn human_baseline(rule: BaselineRule, counts: &[u32]) -> Result<u32, TooFewPlayers> {
    if counts.len() < rule.min_players() {
        return Err(TooFewPlayers {
            rule,
            needed: rule.min_players(),
            found: counts.len(),
        });
    }
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    Ok(match rule {
        BaselineRule::SecondBest => sorted[1],
        BaselineRule::UpperMedian => sorted[sorted.len() / 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_median_is_the_third_of_four_and_the_third_of_five_players() {
        assert_eq!(
            human_baseline(BaselineRule::UpperMedian, &[40, 10, 30, 20]),
            Ok(30)
        );
        assert_eq!(
            human_baseline(BaselineRule::UpperMedian, &[50, 40, 10, 30, 20]),
            Ok(30)
        );
        assert_eq!(human_baseline(BaselineRule::UpperMedian, &[7]), Ok(7));
    }

    #[test]
    fn second_best_ignores_the_best_player() {
        assert_eq!(
            human_baseline(BaselineRule::SecondBest, &[40, 10, 30, 20]),
            Ok(20)
        );
        assert_eq!(
            human_baseline(BaselineRule::SecondBest, &[10, 10, 30]),
            Ok(10)
        );
    }

    #[test]
    fn too_few_players_error_names_the_required_number() {
        let error = human_baseline(BaselineRule::SecondBest, &[10]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the second best needs 2 first-time players who completed the level, and there are 1"
        );
        assert!(human_baseline(BaselineRule::UpperMedian, &[]).is_err());
    }
}
