//! The published versions of the method, by name.

use std::fmt;
use std::str::FromStr;

use crate::BaselineRule;

/// A frozen version of the scoring method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The scoring draft of 2025: linear, capped at the baseline, plain mean over levels; actions that changed nothing
    /// are not counted.
    Draft2025,
    /// The ARC-AGI-3 paper, section 4.1, March 2026: squared, capped at the baseline, levels weighted by their number.
    Paper202603,
    /// The documentation since April 2026: squared, a level capped at 1.15, weighted by level number, the game capped by
    /// the completed levels' share of the weights.
    Docs202604,
}

impl Method {
    /// All versions, oldest first.
    pub const ALL: [Self; 3] = [Self::Draft2025, Self::Paper202603, Self::Docs202604];
    /// The version used where none is named.
    pub const DEFAULT: Self = Self::Docs202604;

    /// The name in files, flags and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft2025 => "draft-2025",
            Self::Paper202603 => "paper-2026-03",
            Self::Docs202604 => "docs-2026-04",
        }
    }

    /// Which player of a study sets the baseline.
    pub const fn baseline_rule(self) -> BaselineRule {
        match self {
            Self::Draft2025 | Self::Paper202603 => BaselineRule::SecondBest,
            Self::Docs202604 => BaselineRule::UpperMedian,
        }
    }

    /// Whether actions that changed nothing are left out of the count.
    pub const fn ignores_unchanged(self) -> bool {
        matches!(self, Self::Draft2025)
    }

    /// The most that one level can score.
    pub(crate) const fn level_cap(self) -> f64 {
        match self {
            Self::Draft2025 | Self::Paper202603 => 1.0,
            Self::Docs202604 => 1.15,
        }
    }

    /// The weight of a level, given its number from 1.
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

/// No version of the method has this name.
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
    fn names_come_back_and_others_are_refused() {
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
