//! Human baselines: which player's count a level is measured against.

use std::fmt;

/// Which of the players who completed a level sets its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaselineRule {
    /// The one with the second fewest actions (draft and paper).
    SecondBest,
    /// The middle one, of two middle ones the slower (documentation since April 2026).
    UpperMedian,
}

impl BaselineRule {
    /// The fewest players it needs.
    pub const fn least_players(self) -> usize {
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

/// Too few people completed a level for a baseline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {rule} needs {needed} first-time players who completed the level, and there are {found}"
)]
pub struct TooFewPlayers {
    /// The rule asked for.
    pub rule: BaselineRule,
    /// How many players it needs.
    pub needed: usize,
    /// How many there are.
    pub found: usize,
}

/// The baseline of one level from the action counts, resets included, of the first-time players who completed it.
pub fn human_baseline(rule: BaselineRule, counts: &[u32]) -> Result<u32, TooFewPlayers> {
    if counts.len() < rule.least_players() {
        return Err(TooFewPlayers {
            rule,
            needed: rule.least_players(),
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
    fn of_four_players_the_third_of_five_the_third() {
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
    fn the_second_best_leaves_out_the_winner() {
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
    fn too_few_players_are_an_error_that_says_how_many_are_needed() {
        let error = human_baseline(BaselineRule::SecondBest, &[10]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the second best needs 2 first-time players who completed the level, and there are 1"
        );
        assert!(human_baseline(BaselineRule::UpperMedian, &[]).is_err());
    }
}
