//! The definition of a rule: what it requires, and how parts of a validation judge it.

use crate::design::DesignSample;
use crate::fuzz::Fuzzed;
use crate::part::Kind;
use crate::solvable::SearchedLevel;
use crate::structure::LevelStart;
use crate::walk::PlayFailure;
use crate::{Finding, Monitor, Options, Rule, Subject, Verdict};

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

/// A rule. Each module in `rules/` contains one definition and the functions that judge the rule.
pub(crate) struct Definition {
    /// The name in reports and file names. It never changes, because reports and fixtures refer to
    /// it.
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// The verdict on a clear violation: [`Verdict::Fail`], or [`Verdict::Warn`] for advice.
    pub(crate) severity: Verdict,
    /// One sentence that states what the rule requires.
    pub(crate) requirement: &'static str,
    /// The parts that judge the rule, each with its function.
    pub(crate) checks: &'static [Check],
}

/// A part of a validation, with the function by which it judges a rule. What several rules of a
/// part need is computed once by the part and passed to the functions.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    Memory(fn(Context<'_>) -> Vec<Finding>),
    /// Gets the start of each level.
    Structure(fn(Context<'_>, &[LevelStart]) -> Vec<Finding>),
    Laws(LevelCheck),
    Start(fn(Context<'_>) -> Vec<Finding>),
    Luck(LevelCheck),
    Fuzz(fn(Context<'_>, &Fuzzed) -> Option<Finding>),
    Graph(fn(Context<'_>, &SearchedLevel) -> Option<Finding>),
    Design(fn(Context<'_>, &DesignSample) -> Vec<Finding>),
}

/// Judges a rule on one level. Returns `None` if the level cannot be entered, and an error if the
/// environment fails.
pub(crate) type LevelCheck = fn(Context<'_>, u8) -> Result<Option<Finding>, PlayFailure>;

impl Check {
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Memory(_) => Kind::Memory,
            Self::Structure(_) => Kind::Structure,
            Self::Laws(_) => Kind::Laws,
            Self::Start(_) => Kind::Start,
            Self::Luck(_) => Kind::Luck,
            Self::Fuzz(_) => Kind::Fuzz,
            Self::Graph(_) => Kind::Graph,
            Self::Design(_) => Kind::Design,
        }
    }
}

/// Returns all checks of all rules, in the order of [`Rule::ALL`].
pub(crate) fn checks() -> impl Iterator<Item = (Rule, Check)> {
    Rule::ALL
        .iter()
        .flat_map(|&rule| rule.checks().iter().map(move |&check| (rule, check)))
}

/// What every check gets: the environment under test, the options and the monitor.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) subject: &'a dyn Subject,
    pub(crate) options: &'a Options,
    pub(crate) monitor: &'a dyn Monitor,
}
