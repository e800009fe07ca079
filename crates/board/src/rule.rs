//! The rules of boards by name.

use std::fmt;

/// A rule of boards. Rejections name the rule that they follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    B1,
    B2,
    B3,
    B4,
    B5,
    B6,
    B7,
    B8,
    B9,
    B10,
    B11,
    B12,
    B13,
    B14,
    B15,
}

impl Rule {
    /// The rules in the order of their numbers.
    pub const ALL: [Self; 15] = [
        Self::B1,
        Self::B2,
        Self::B3,
        Self::B4,
        Self::B5,
        Self::B6,
        Self::B7,
        Self::B8,
        Self::B9,
        Self::B10,
        Self::B11,
        Self::B12,
        Self::B13,
        Self::B14,
        Self::B15,
    ];

    /// Returns the rule as one sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::B1 => {
                "A board fixes its kind, set, method, budget and rules; a change of any makes a new board, and the old one stays readable."
            }
            Self::B2 => {
                "An official board accepts only general models with the published prompt, without tools and kept reasoning, on a hidden set with baselines from people."
            }
            Self::B3 => {
                "A system has one row, into which all of its runs enter; runs are registered before their first action, and registered plays that are missing after 14 days count as 0."
            }
            Self::B4 => {
                "A submission names its system, authors with links, description, code and models, and states no impossible number."
            }
            Self::B5 => {
                "A row has a verification state, which only evidence raises, and which says what it does not prove."
            }
            Self::B6 => "Flags never change a score.",
            Self::B7 => {
                "Copied action logs and play in the proved minimum of actions at first contact are flagged with the evidence."
            }
            Self::B8 => {
                "The cost is that of all transmissions of the runs, and names its basis; it is never priced again."
            }
            Self::B9 => "The plot shows scores with intervals against cost, and the frontier.",
            Self::B10 => {
                "The order of ease is frozen in the set; a row that covers only some environments is ranked by its lower bound and says how many."
            }
            Self::B11 => {
                "Ranks have a range: systems that the data cannot separate may have either order."
            }
            Self::B12 => "Of a hidden set, only rounded aggregates are published.",
            Self::B13 => {
                "A retraction has a reason and leaves a tombstone; an objection and its answer both stay; an error of this program is corrected in all rows in one release, which shows the old and the new score."
            }
            Self::B14 => {
                "A release is computed from the events alone, never changes, and can be recomputed by anybody who has them."
            }
            Self::B15 => {
                "Results on static tasks have boards of their own, which fix the revision, the protocol and the attempts."
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
