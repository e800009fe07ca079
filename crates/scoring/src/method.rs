//! The published versions of the scoring method.

use std::fmt;
use std::str::FromStr;

use crate::BaselineRule;

/// A frozen version of the scoring method.
///
/// All versions compare the number of actions *a* that an agent took on a level with the human
/// baseline *h*. The formulas differ:
///
/// | | [`Draft2025`](Self::Draft2025) | [`Paper202603`](Self::Paper202603) | [`Docs202604`](Self::Docs202604) |
/// | --- | --- | --- | --- |
/// | name | `draft-2025` | `paper-2026-03` | `docs-2026-04` |
/// | level score | min(1, h/a) | min(1, h/a)² | min(1.15, (h/a)²) |
/// | weight of level *n* | 1 | *n* | *n* |
/// | counted actions | actions that changed the state | all, including level resets | all, including level resets |
/// | baseline *h* | second-best human | second-best human | upper-median human |
///
/// The score of a run is the weighted mean over all levels. A level that was not completed scores
/// 0. The score of a run never exceeds the completed levels' share of the weights. This cap takes
/// effect only under `docs-2026-04`, where a single level can score more than 1.
///
/// # Examples
///
/// Results name the method they used, and the name selects the method again:
///
/// ```
/// use rhae_scoring::Method;
///
/// assert_eq!(Method::DEFAULT.name(), "docs-2026-04");
/// assert_eq!("paper-2026-03".parse(), Ok(Method::Paper202603));
/// assert!("docs".parse::<Method>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The scoring draft of 2025: linear, capped at the baseline, unweighted mean over the levels.
    /// Actions that changed nothing are not counted.
    ///
    /// The document's examples: 1,000 actions against a baseline of 10 score 1 %. An exploit that
    /// solves a 20-action level in 2 actions scores 100 %, not more.
    ///
    /// ```
    /// use rhae_scoring::{LevelCount, Method, level_score};
    ///
    /// let score = |h, a| level_score(Method::Draft2025, h, LevelCount::all_effective(a));
    /// assert_eq!(score(10, 1000), 0.01);
    /// assert_eq!(score(20, 2), 1.0);
    ///
    /// // Of 40 actions, 20 had no effect and are not counted.
    /// let count = LevelCount { actions: 40, effective: 20 };
    /// assert_eq!(level_score(Method::Draft2025, 10, count), 0.5);
    /// ```
    Draft2025,
    /// The ARC-AGI-3 paper of March 2026, section 4.1: squared, capped at the baseline, each level
    /// weighted by its number.
    ///
    /// The document's examples: 100 actions against a baseline of 10 score 1 %. With five levels
    /// the weights are 1/15 to 5/15, so completing only the fifth level at the baseline scores a
    /// third.
    ///
    /// ```
    /// use rhae_scoring::{LevelCount, LevelResult, Method, level_score, score_game};
    ///
    /// let level = level_score(Method::Paper202603, 10, LevelCount::all_effective(100));
    /// assert!((level - 0.01).abs() < 1e-12);
    ///
    /// let mut results = [LevelResult::NotCompleted; 5];
    /// results[4] = LevelResult::Completed(LevelCount::all_effective(10));
    /// let game = score_game(Method::Paper202603, &[10; 5], &results)?;
    /// assert_eq!(game.score, 5.0 / 15.0);
    /// # Ok::<(), rhae_scoring::ScoreError>(())
    /// ```
    Paper202603,
    /// The benchmark's documentation since April 2026: squared, a level capped at 1.15, each level
    /// weighted by its number, the game capped by the completed levels' share of the weights.
    ///
    /// The document's examples: 10, 20 and 100 actions against a baseline of 10 score 100 %, 25 %
    /// and 1 %. A game of which four of five levels were completed scores at most 66.7 %, however
    /// few actions they took.
    ///
    /// ```
    /// use rhae_scoring::{LevelCount, LevelResult, Method, level_score, score_game};
    ///
    /// let score = |a| level_score(Method::Docs202604, 10, LevelCount::all_effective(a));
    /// assert_eq!(score(10), 1.0);
    /// assert_eq!(score(20), 0.25);
    /// assert!((score(100) - 0.01).abs() < 1e-12);
    /// assert_eq!(score(1), 1.15);
    ///
    /// let fast = LevelResult::Completed(LevelCount::all_effective(1));
    /// let game = score_game(Method::Docs202604, &[10; 5], &[fast; 4])?;
    /// assert_eq!(game.score, 10.0 / 15.0);
    /// assert_eq!(game.score, game.cap);
    /// # Ok::<(), rhae_scoring::ScoreError>(())
    /// ```
    Docs202604,
}

impl Method {
    /// All versions, oldest first.
    pub const ALL: [Self; 3] = [Self::Draft2025, Self::Paper202603, Self::Docs202604];
    /// The version that commands and servers use unless another one is named.
    pub const DEFAULT: Self = Self::Docs202604;

    /// Returns the name that appears in files, flags and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft2025 => "draft-2025",
            Self::Paper202603 => "paper-2026-03",
            Self::Docs202604 => "docs-2026-04",
        }
    }

    /// Returns the rule that selects the baseline from the players of a human study.
    pub const fn baseline_rule(self) -> BaselineRule {
        match self {
            Self::Draft2025 | Self::Paper202603 => BaselineRule::SecondBest,
            Self::Docs202604 => BaselineRule::UpperMedian,
        }
    }

    /// Returns whether actions that changed nothing are excluded from the count.
    pub const fn ignores_unchanged(self) -> bool {
        matches!(self, Self::Draft2025)
    }

    /// Returns the maximum score of one level.
    pub(crate) const fn level_cap(self) -> f64 {
        match self {
            Self::Draft2025 | Self::Paper202603 => 1.0,
            Self::Docs202604 => 1.15,
        }
    }

    /// Returns the weight of a level, given its number from 1.
    pub(crate) fn weight(self, number: usize) -> f64 {
        match self {
            Self::Draft2025 => 1.0,
            Self::Paper202603 | Self::Docs202604 => number as f64,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not the name of a [`Method`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scoring method: expected `draft-2025`, `paper-2026-03` or `docs-2026-04`")]
pub struct UnknownMethod(String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_names_are_rejected() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        assert!(
            "docs"
                .parse::<Method>()
                .unwrap_err()
                .to_string()
                .contains("docs-2026-04")
        );
    }
}
