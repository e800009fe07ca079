//! The rule `six-levels`: enough levels to combine what earlier ones teach.

use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "six-levels",
    group: Group::Structure,
    severity: Verdict::Warn,
    requirement: "There are at least six levels.",
    checks: &[Check::Structure(check)],
};

fn check(context: Context<'_>, _starts: &[LevelStart]) -> Vec<Finding> {
    vec![match context.subject.levels() {
        levels @ 6.. => Finding::pass(Rule::SixLevels, format!("{levels} levels")),
        levels => Finding::warn(
            Rule::SixLevels,
            format!(
                "{levels} levels; at least six are needed, because later levels combine what earlier ones teach"
            ),
        ),
    }]
}
