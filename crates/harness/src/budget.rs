//! How many actions a play may take.

use std::fmt;
use std::str::FromStr;

use rhae_engine::Baseline;
use rhae_session::Tally;

/// A limit on actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// On each level so many times its baseline, resets included.
    PerLevel(u32),
    /// On the whole play.
    PerPlay(u64),
    /// No limit.
    None,
}

impl Budget {
    /// Whether the play has used up what it may take.
    pub fn is_used_up(self, tally: &Tally, baselines: &[Baseline]) -> bool {
        match self {
            Self::None => false,
            Self::PerPlay(actions) => tally.actions() >= actions,
            // A level without a baseline has no limit that could be multiplied.
            Self::PerLevel(times) => baselines.get(tally.level()).is_some_and(|baseline| {
                tally.actions_on_level() >= baseline.actions.saturating_mul(times)
            }),
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

/// What is wrong with a budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a budget: expected `5x` (times the baseline, on each level), a number of actions a play, or `none`"
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
    fn budgets_come_back_and_others_are_refused() {
        for text in ["5x", "1x", "none", "80"] {
            assert_eq!(text.parse::<Budget>().unwrap().to_string(), text);
        }
        for text in ["", "x", "0x", "0", "-3", "5.5x", "many"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }
}
