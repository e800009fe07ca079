//! The rules by name. A rule keeps its name for good: reports and fixtures refer to it.

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// It loads, and says what it is.
    Structure,
    /// What every environment promises to those who play and search it.
    Laws,
    /// Random play does not win.
    Luck,
    /// Nothing breaks, however it is played.
    Robustness,
    /// It can be won.
    Solvable,
    /// What its levels ask for.
    Design,
}

impl Group {
    /// The heading of its rules.
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
        /// A rule that environments are checked against.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $asks] $rule),*
        }

        impl Rule {
            /// All rules in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$rule),*];

            /// What it is about.
            pub const fn group(self) -> Group {
                match self { $(Self::$rule => Group::$group),* }
            }

            /// Its name in reports and flags.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$rule => $name),* }
            }

            /// What it asks for.
            pub const fn asks(self) -> &'static str {
                match self { $(Self::$rule => $asks),* }
            }
        }
    };
}

rules! {
    Structure Loads "loads" "The environment opens, and every level can be entered."
    Structure Metadata "metadata" "Title, tags, actions and speed are there and make sense."
    Structure SixLevels "six-levels" "There are at least six levels."
    Structure Frames "frames" "Every level draws 1 to 1,000 frames of the sixteen colours."
    Structure Actions "actions" "A level offers only actions that the environment lists."
    Structure Baselines "baselines" "There is one baseline for each level, none below the optimum."
    Structure Solutions "solutions" "The stored solutions win their levels."
    Structure Recordings "recordings" "A win, a loss and stored recordings replay to the same result, here and in a fresh process."
    Laws SameTwice "same-twice" "The same seed and actions give the same frames, whoever else plays."
    Laws Copies "copies" "A copy of a play is independent of it and goes on as it would."
    Laws Keys "keys" "Equal state keys have equal frames and equal successors."
    Laws Reset "reset" "RESET restores the level exactly, and a full reset the game."
    Laws Undo "undo" "Undo restores everything but what is declared as spent."
    Laws NotOffered "not-offered" "An action that is not offered changes nothing."
    Laws AfterEnd "after-end" "After the end only RESET does anything."
    Laws Clicks "clicks" "Clicks that are not listed do nothing of their own."
    Luck Start "luck-start" "Random play from the start beats no level by accident."
    Luck Levels "luck-levels" "Random play of each level wins no more than 1 attempt in 10,000."
    Luck Proved "luck-proved" "The proved chance of random play is no more than 1 in 10,000."
    Robustness Failures "failures" "No input makes it panic or stop."
    Robustness FuzzFrames "fuzz-frames" "No input makes it draw what is no frame, or count what cannot be."
    Robustness Drift "drift" "The frame follows from the state key, in long and odd plays as well."
    Robustness Memory "memory" "Long play does not take ever more memory."
    Robustness Speed "speed" "It draws at least 1,000 frames a second."
    Solvable Wins "wins" "Every level has a winning path."
    Solvable Optimum "optimum" "The fewest actions that win are known."
    Solvable DeadEnds "dead-ends" "Where winning has become impossible, play comes to an end or can be taken back."
    Solvable Shortcuts "shortcuts" "No level is won by the solution of an earlier one."
    Design ActionsUsed "actions-used" "Every action is needed somewhere."
    Design Idle "idle" "Not nearly every action changes nothing."
    Design Still "still" "The frame is not nearly all still."
    Design Alike "alike" "No two levels look the same."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_groups_stay_together() {
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
