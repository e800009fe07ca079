//! Sets of rules.

use crate::Rule;

/// A set of rules: those that a validation checks.
///
/// # Examples
///
/// ```
/// use rhae_validate::{Rule, RuleSet};
///
/// let set: RuleSet = [Rule::Undo, Rule::Keys].into_iter().collect();
/// assert!(set.contains(Rule::Undo) && !set.contains(Rule::Reset));
/// assert_eq!(set.len(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet(u64);

impl RuleSet {
    /// The set of all rules.
    pub const ALL: Self = Self((1 << Rule::ALL.len()) - 1);

    pub const fn contains(self, rule: Rule) -> bool {
        self.0 & Self::bit(rule) != 0
    }

    /// Returns the number of rules in the set.
    #[allow(
        clippy::len_without_is_empty,
        reason = "nothing needs to know whether a set is empty"
    )]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    const fn bit(rule: Rule) -> u64 {
        1 << rule as u32
    }
}

impl FromIterator<Rule> for RuleSet {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        Self(rules.into_iter().fold(0, |set, rule| set | Self::bit(rule)))
    }
}
