//! The rule `failures`: the environment answers every fuzzed action. Every part reports a failure of
//! the environment under this rule, see [`environment_failed`](crate::levels::environment_failed).

use crate::fuzz::Fuzzed;
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "failures",
    group: Group::Robustness,
    severity: Verdict::Fail,
    requirement: "No input makes the environment panic or fail.",
    checks: &[Check::Fuzz(check)],
};

fn check(_context: Context<'_>, fuzzed: &Fuzzed) -> Option<Finding> {
    Some(Finding::pass(
        Rule::Failures,
        format!("{} fuzzed actions were answered", fuzzed.steps),
    ))
}
