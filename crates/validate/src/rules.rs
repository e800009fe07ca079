//! The list of rules.
//!
//! A rule is one module with its [`Definition`], and one line in the list below. Reports, tables and
//! the reference page follow from the list.

pub(crate) mod actions;
mod actions_used;
mod after_end;
mod alike;
mod baselines;
mod clicks;
mod copies;
mod dead_ends;
mod drift;
mod failures;
pub(crate) mod frames;
pub(crate) mod fuzz_frames;
mod idle;
mod keys;
mod loads;
mod luck_levels;
mod luck_proved;
mod luck_start;
pub(crate) mod memory;
mod metadata;
mod not_offered;
mod optimum;
mod recordings;
mod reset;
mod same_twice;
mod shortcuts;
mod six_levels;
mod solutions;
mod speed;
mod still;
mod undo;
pub(crate) mod wins;

use std::str::FromStr;

use crate::Verdict;
use crate::rule::{Check, Definition, Group};

macro_rules! rules {
    ($($rule:ident = $module:ident,)*) => {
        /// A rule against which environments are checked. [`requirement`](Self::requirement)
        /// returns what it requires.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($rule),*
        }

        impl Rule {
            /// All rules, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            const fn definition(self) -> &'static Definition {
                match self { $(Self::$rule => &$module::DEFINITION),* }
            }

            /// Returns the name of the rule's module.
            #[cfg(test)]
            const fn module(self) -> &'static str {
                match self { $(Self::$rule => stringify!($module)),* }
            }
        }
    };
}

// In the order of reports: by group, and within a group by importance.
rules! {
    Loads = loads,
    Metadata = metadata,
    SixLevels = six_levels,
    Frames = frames,
    Actions = actions,
    Baselines = baselines,
    Solutions = solutions,
    Recordings = recordings,
    SameTwice = same_twice,
    Copies = copies,
    Keys = keys,
    Reset = reset,
    Undo = undo,
    NotOffered = not_offered,
    AfterEnd = after_end,
    Clicks = clicks,
    Start = luck_start,
    Levels = luck_levels,
    Proved = luck_proved,
    Failures = failures,
    FuzzFrames = fuzz_frames,
    Drift = drift,
    Memory = memory,
    Speed = speed,
    Wins = wins,
    Optimum = optimum,
    DeadEnds = dead_ends,
    Shortcuts = shortcuts,
    ActionsUsed = actions_used,
    Idle = idle,
    Still = still,
    Alike = alike,
}

impl Rule {
    /// Returns the group of the rule.
    pub const fn group(self) -> Group {
        self.definition().group
    }

    /// Returns the name of the rule in reports.
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// Returns the verdict on a clear violation of the rule: [`Verdict::Fail`], or
    /// [`Verdict::Warn`] for a rule that gives advice. No finding is more severe.
    pub const fn severity(self) -> Verdict {
        self.definition().severity
    }

    /// Returns one sentence that states what the rule requires.
    pub const fn requirement(self) -> &'static str {
        self.definition().requirement
    }

    /// Returns the checks of the rule.
    pub(crate) const fn checks(self) -> &'static [Check] {
        self.definition().checks
    }
}

/// The failure to parse the name of a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{name}`; the rules are {}", names())]
pub struct UnknownRule {
    name: String,
}

fn names() -> String {
    let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    names.join(", ")
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let found = Self::ALL.iter().find(|rule| rule.name() == name);
        found.copied().ok_or_else(|| UnknownRule {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_groups_are_contiguous() {
        for (index, rule) in Rule::ALL.iter().enumerate() {
            assert!(
                Rule::ALL[..index]
                    .iter()
                    .all(|other| other.name() != rule.name()),
                "{}",
                rule.name()
            );
        }
        assert!(Rule::ALL.is_sorted_by_key(|rule| rule.group()));
    }

    #[test]
    fn rules_are_in_files_named_after_them() {
        for rule in Rule::ALL {
            assert_eq!(rule.module(), rule.name().replace('-', "_"));
        }
    }

    /// The tables in `docs/validate.md` list the rules of each group in the order of reports.
    #[test]
    fn documentation_lists_every_rule() {
        let text = include_str!("../../../docs/validate.md");
        let rules = text.split("\n## ").find(|part| part.starts_with("Rules\n"));
        let mut documented = Vec::new();
        for section in rules.unwrap().split("\n### ").skip(1) {
            let heading = section.lines().next().unwrap().to_lowercase();
            let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
            let names = rows.filter_map(|row| row.split('`').next());
            documented.extend(names.map(|name| (heading.clone(), name)));
        }
        let heading = |group: Group| match group {
            Group::Solvable => "solvability".to_owned(),
            other => other.name().to_owned(),
        };
        let listed: Vec<(String, &str)> = Rule::ALL
            .iter()
            .map(|rule| (heading(rule.group()), rule.name()))
            .collect();
        assert_eq!(documented, listed);
        let count = format!("checks {} rules", Rule::ALL.len());
        assert!(text.contains(&count), "docs/validate.md says `{count}`");
    }
}
