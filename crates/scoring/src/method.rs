//! The published versions of the scoring method.
//!
//! A version is one module with a [`Definition`], and one line in [`Method`].
//! A published version never changes, so that every published score can be computed again.

mod docs_2026_04;
mod draft_2025;
mod paper_2026_03;

use std::fmt;
use std::str::FromStr;

use crate::BaselineRule;

/// The formulas of a version.
struct Definition {
    /// The name in files, flags and reports.
    name: &'static str,
    /// Where the version was published.
    source: &'static str,
    /// The rule that selects the baseline from the players of a human study.
    baseline_rule: BaselineRule,
    /// Whether actions that changed nothing are excluded from the count.
    ignores_unchanged: bool,
    /// The maximum score of one level.
    level_cap: f64,
    /// The score of a level before the cap, given baseline / actions.
    level_score: fn(f64) -> f64,
    /// The weight of a level, given its number from 1.
    weight: fn(usize) -> f64,
}

macro_rules! methods {
    ($(#[$all:meta])* pub enum Method { $($(#[$doc:meta])* $method:ident = $module:ident,)* }) => {
        $(#[$all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[$doc])* $method),*
        }

        impl Method {
            /// All versions, oldest first.
            pub const ALL: [Self; [$(stringify!($method)),*].len()] = [$(Self::$method),*];

            const fn definition(self) -> &'static Definition {
                match self { $(Self::$method => &$module::DEFINITION),* }
            }
        }
    };
}

methods! {
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
    pub enum Method {
        /// The scoring draft of 2025: linear, capped at the baseline, unweighted mean over the levels.
        /// Actions that changed nothing are not counted.
        Draft2025 = draft_2025,
        /// The ARC-AGI-3 paper of March 2026, section 4.1: squared, capped at the baseline, each level
        /// weighted by its number.
        Paper202603 = paper_2026_03,
        /// The benchmark's documentation since April 2026: squared, a level capped at 1.15, each level
        /// weighted by its number, the game capped by the completed levels' share of the weights.
        Docs202604 = docs_2026_04,
    }
}

impl Method {
    /// The version that commands and servers use unless another one is named.
    pub const DEFAULT: Self = Self::Docs202604;

    /// Returns the name that appears in files, flags and reports.
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// Returns where the version was published.
    pub const fn source(self) -> &'static str {
        self.definition().source
    }

    /// Returns the rule that selects the baseline from the players of a human study.
    pub const fn baseline_rule(self) -> BaselineRule {
        self.definition().baseline_rule
    }

    /// Returns whether actions that changed nothing are excluded from the count.
    pub const fn ignores_unchanged(self) -> bool {
        self.definition().ignores_unchanged
    }

    /// Returns the score of a level, given baseline / actions.
    pub(crate) fn level_score(self, efficiency: f64) -> f64 {
        (self.definition().level_score)(efficiency).min(self.level_cap())
    }

    /// Returns the maximum score of one level.
    pub(crate) const fn level_cap(self) -> f64 {
        self.definition().level_cap
    }

    /// Returns the weight of a level, given its number from 1.
    pub fn weight(self, number: usize) -> f64 {
        (self.definition().weight)(number)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is not the name of a [`Method`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scoring method: expected {expected}", expected = expected())]
pub struct UnknownMethod(String);

/// Returns the names of all methods: `a`, `b` or `c`.
fn expected() -> String {
    let names: Vec<String> = Method::ALL
        .iter()
        .map(|method| format!("`{method}`"))
        .collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

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
        assert_eq!(
            "docs".parse::<Method>().unwrap_err().to_string(),
            "`docs` is not a scoring method: expected `draft-2025`, `paper-2026-03` or `docs-2026-04`"
        );
    }

    /// `docs/scoring.md` has a column for every method.
    #[test]
    fn documentation_lists_every_method() {
        let text = include_str!("../../../docs/scoring.md");
        let row = |cells: Vec<String>, first: &str| format!("| {first}{} |", cells.join(" | "));
        let name = |method: &Method| {
            let default = if *method == Method::DEFAULT {
                " (default)"
            } else {
                ""
            };
            format!("`{method}`{default}")
        };
        let names = row(Method::ALL.iter().map(name).collect(), "| ");
        let source = |method: &Method| method.source().to_owned();
        let sources = row(Method::ALL.iter().map(source).collect(), "source | ");
        for row in [names, sources] {
            assert!(text.contains(&row), "docs/scoring.md needs the row\n{row}");
        }
    }
}
