//! The list of rules. The name of a rule never changes, because reports and fixtures refer to it.

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
    ($($group:ident $rule:ident $name:literal $asks:literal)*) => {
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

            /// Returns one sentence that states what the rule requires.
            pub const fn requirement(self) -> &'static str {
                match self { $(Self::$rule => $asks),* }
            }
        }
    };
}

rules! {
    Structure Loads "loads" "The environment opens, and every level can be entered."
    Structure Metadata "metadata" "The metadata has a title, tags, actions and a frame rate."
    Structure SixLevels "six-levels" "There are at least six levels."
    Structure Frames "frames" "Every observation has 1 to 1,000 frames in sixteen colours."
    Structure Actions "actions" "A level offers only actions that the environment lists."
    Structure Baselines "baselines" "Every level has a baseline that is not below the optimum."
    Structure Solutions "solutions" "The stored solutions win their levels."
    Structure Recordings "recordings" "A win, a loss and the stored recordings replay to the same result, also in a new process."
    Laws SameTwice "same-twice" "The same seed and actions give the same observations, whatever other plays do."
    Laws Copies "copies" "A fork of a play is independent of it and behaves the same."
    Laws Keys "keys" "Equal state keys have equal frames and equal successors."
    Laws Reset "reset" "RESET restores the start of the level exactly, and a full reset the start of the game."
    Laws Undo "undo" "Undo restores everything except what is declared as spent."
    Laws NotOffered "not-offered" "An action that is not offered has no effect."
    Laws AfterEnd "after-end" "After the end only RESET has an effect."
    Laws Clicks "clicks" "Unlisted clicks have no effect that listed clicks lack."
    Luck Start "luck-start" "Random play from the start completes no level."
    Luck Levels "luck-levels" "Random play of a level wins at most 1 attempt in 10,000."
    Luck Proved "luck-proved" "The proved probability of a random win is at most 1 in 10,000."
    Robustness Failures "failures" "No input makes the environment panic or fail."
    Robustness FuzzFrames "fuzz-frames" "No input leads to invalid frames or inconsistent counters."
    Robustness Drift "drift" "Equal state keys have equal frames, also in long and unusual plays."
    Robustness Memory "memory" "Memory does not grow during long plays."
    Robustness Speed "speed" "The environment produces at least 1,000 frames per second."
    Solvable Wins "wins" "Every level can be won."
    Solvable Optimum "optimum" "The length of the shortest win is known."
    Solvable DeadEnds "dead-ends" "Once a level can no longer be won, it ends or offers undo."
    Solvable Shortcuts "shortcuts" "No level is won by the solution of an earlier level."
    Design ActionsUsed "actions-used" "Every action is used by some solution."
    Design Idle "idle" "At least 1 % of random actions have an effect."
    Design Still "still" "At least 1 % of the frame changes during play."
    Design Alike "alike" "No two levels look alike."
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
}
