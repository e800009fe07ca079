//! The rule `drift`: a state has the same frame at every visit, also in long and unusual plays.

use crate::fuzz::Fuzzed;
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "drift",
    group: Group::Robustness,
    severity: Verdict::Fail,
    requirement: "Equal state keys have equal frames, also in long and unusual plays.",
    checks: &[Check::Fuzz(check)],
};

fn check(context: Context<'_>, fuzzed: &Fuzzed) -> Option<Finding> {
    let Some(log) = &fuzzed.drift else {
        let states = fuzzed.states;
        return Some(Finding::pass(
            Rule::Drift,
            format!("{states} states have the same frame at every visit"),
        ));
    };
    let text =
        "the same state key had another frame before: the frame does not follow from the key";
    let finding = if context.subject.is_hosted() {
        Finding::warn(Rule::Drift, text)
    } else {
        Finding::fail(Rule::Drift, text)
    };
    Some(finding.with_evidence(
        "the last frame differs from an earlier one with the same key",
        log.clone(),
    ))
}
