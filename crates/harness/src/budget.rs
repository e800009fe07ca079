//! The action budget of a play.

use std::fmt;
use std::str::FromStr;

use rhae_engine::Baseline;
use rhae_session::Tally;

/// A limit on the actions of a play. A play that uses it up ends as `budget`.
///
/// # Examples
///
/// ```
/// use rhae_harness::Budget;
///
/// assert_eq!("5x".parse(), Ok(Budget::PerLevel(5)));
/// assert_eq!("80".parse(), Ok(Budget::PerPlay(80)));
/// assert_eq!("none".parse(), Ok(Budget::None));
/// assert!("0".parse::<Budget>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// A multiple of the baseline on each level. Level resets count as actions. A level without a
    /// baseline counts as one with a baseline of [`ASSUMED_BASELINE`](Self::ASSUMED_BASELINE).
    PerLevel(u32),
    /// A number of actions over all levels.
    PerPlay(u64),
    None,
}

impl Budget {
    /// The baseline of a level that has none, so that a play always ends. It is not used for scores.
    pub const ASSUMED_BASELINE: u32 = 200;

    /// Returns whether a play with these counts has used up its budget.
    pub fn is_used_up(self, tally: &Tally, baselines: &[Baseline]) -> bool {
        match self {
            Self::None => false,
            Self::PerPlay(actions) => tally.actions() >= actions,
            Self::PerLevel(times) => {
                let baseline = baselines.get(tally.level());
                let actions = baseline.map_or(Self::ASSUMED_BASELINE, |baseline| baseline.actions);
                tally.actions_on_level() >= actions.saturating_mul(times)
            }
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerLevel(times) => write!(f, "{times}x"),
            Self::PerPlay(actions) => write!(f, "{actions}"),
            Self::None => f.write_str("none"),
        }
    }
}

/// The error for a text that is not a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a budget: expected `5x` (a multiple of the baseline, on each level), a number of actions per play, or `none`"
)]
pub struct BudgetError(String);

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let budget = if text == "none" {
            Some(Self::None)
        } else if let Some(times) = text.strip_suffix('x') {
            times
                .parse()
                .ok()
                .filter(|&times| times > 0)
                .map(Self::PerLevel)
        } else {
            text.parse()
                .ok()
                .filter(|&actions| actions > 0)
                .map(Self::PerPlay)
        };
        budget.ok_or_else(|| BudgetError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_round_trip_and_invalid_texts_are_rejected() {
        for text in ["5x", "1x", "none", "80"] {
            assert_eq!(text.parse::<Budget>().unwrap().to_string(), text);
        }
        for text in ["", "x", "0x", "0", "-3", "5.5x", "many"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }
}
