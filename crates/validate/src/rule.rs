//! The list of rules. The name of a rule never changes, because reports and fixtures refer to it.
//!
//! A rule is one line in the list and a function in the module of the part that checks it. Reports,
//! the help text and the documentation follow from the list.

use crate::Verdict;
use crate::part::Kind;

/// The group under which reports list a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The environment loads, and its metadata is complete.
    Structure,
    /// The environment obeys the laws on which agents and searches rely, such as determinism.
    Laws,
    /// Random play does not win.
    Luck,
    /// No input breaks the environment.
    Robustness,
    /// Every level can be won.
    Solvable,
    /// The levels are worth playing.
    Design,
}

impl Group {
    /// Returns the heading of the group in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Laws => "laws",
            Self::Luck => "luck",
            Self::Robustness => "robustness",
            Self::Solvable => "solvable",
            Self::Design => "design",
        }
    }
}

macro_rules! rules {
    ($($group:ident $rule:ident $name:literal $severity:ident [$($part:ident),+] $asks:literal)*) => {
        /// A rule against which environments are checked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $asks] $rule),*
        }

        impl Rule {
            /// All rules, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// Returns the group of the rule.
            pub const fn group(self) -> Group {
                match self { $(Self::$rule => Group::$group),* }
            }

            /// Returns the name of the rule in reports and flags.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$rule => $name),* }
            }

            /// Returns the verdict on a clear violation of the rule: [`Verdict::Fail`], or
            /// [`Verdict::Warn`] for a rule that gives advice. No finding is more severe.
            pub const fn severity(self) -> Verdict {
                match self { $(Self::$rule => Verdict::$severity),* }
            }

            /// Returns one sentence that states what the rule requires.
            pub const fn requirement(self) -> &'static str {
                match self { $(Self::$rule => $asks),* }
            }

            /// Returns the kinds of parts that check the rule.
            pub(crate) const fn parts(self) -> &'static [Kind] {
                match self { $(Self::$rule => &[$(Kind::$part),+]),* }
            }
        }
    };
}

// Group, rule, name, severity, the parts that check it, and what it requires.
rules! {
    Structure Loads "loads" Fail [Structure] "The environment opens, and every level can be entered."
    Structure Metadata "metadata" Fail [Structure] "The metadata has a title, tags, actions and a frame rate."
    Structure SixLevels "six-levels" Warn [Structure] "There are at least six levels."
    Structure Frames "frames" Fail [Structure] "Every observation has 1 to 1,000 frames in sixteen colours."
    Structure Actions "actions" Fail [Structure] "A level offers only actions that the environment lists."
    Structure Baselines "baselines" Fail [Structure, Graph] "Every level has a baseline that is not below the optimum."
    Structure Solutions "solutions" Fail [Structure] "The stored solutions win their levels."
    Structure Recordings "recordings" Fail [Structure] "A win, a loss and the stored recordings replay to the same result, also in a new process."
    Laws SameTwice "same-twice" Fail [Laws] "The same seed and actions give the same observations, whatever other plays do."
    Laws Copies "copies" Fail [Laws] "A fork of a play is independent of it and behaves the same."
    Laws Keys "keys" Fail [Laws] "Equal state keys have equal frames and equal successors."
    Laws Reset "reset" Fail [Laws] "RESET restores the start of the level exactly, and a full reset the start of the game."
    Laws Undo "undo" Fail [Laws] "Undo restores everything except what is declared as spent."
    Laws NotOffered "not-offered" Fail [Laws] "An action that is not offered has no effect."
    Laws AfterEnd "after-end" Fail [Laws] "After the end only RESET has an effect."
    Laws Clicks "clicks" Fail [Graph] "Unlisted clicks have no effect that listed clicks lack."
    Luck Start "luck-start" Fail [Start] "Random play from the start completes no level."
    Luck Levels "luck-levels" Fail [Luck] "Random play of a level wins at most 1 attempt in 10,000."
    Luck Proved "luck-proved" Fail [Graph] "The proved probability of a random win is at most 1 in 10,000."
    Robustness Failures "failures" Fail [Fuzz] "No input makes the environment panic or fail."
    Robustness FuzzFrames "fuzz-frames" Fail [Fuzz] "No input leads to invalid frames or inconsistent counters."
    Robustness Drift "drift" Fail [Fuzz] "Equal state keys have equal frames, also in long and unusual plays."
    Robustness Memory "memory" Fail [Memory] "Memory does not grow during long plays."
    Robustness Speed "speed" Warn [Fuzz] "The environment produces at least 1,000 frames per second."
    Solvable Wins "wins" Fail [Graph] "Every level can be won."
    Solvable Optimum "optimum" Warn [Graph] "The length of the shortest win is known."
    Solvable DeadEnds "dead-ends" Warn [Graph] "Once a level can no longer be won, it ends or offers undo."
    Solvable Shortcuts "shortcuts" Warn [Design] "No level is won by the solution of an earlier level."
    Design ActionsUsed "actions-used" Warn [Design] "Every action is used by some solution."
    Design Idle "idle" Warn [Design] "At least 1 % of random actions have an effect."
    Design Still "still" Warn [Design] "At least 1 % of the frame changes during play."
    Design Alike "alike" Warn [Design] "No two levels look alike."
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
