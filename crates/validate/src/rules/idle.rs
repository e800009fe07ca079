//! The rule `idle`: random actions have effects from which a player can learn.

use crate::design::{DesignSample, advise};
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Verdict};

/// The share of random actions without effect above which the rule warns.
const MAX_IDLE_SHARE: f64 = 0.99;

pub(super) const DEFINITION: Definition = Definition {
    name: "idle",
    group: Group::Design,
    severity: Verdict::Warn,
    requirement: "At least 1 % of random actions have an effect.",
    checks: &[Check::Design(check)],
};

fn check(_context: Context<'_>, sample: &DesignSample) -> Vec<Finding> {
    if sample.taken == 0 {
        return vec![Finding::open(Rule::Idle, "no level could be entered")];
    }
    let share = f64::from(sample.idle) / f64::from(sample.taken);
    let text = format!("{:.0} % of random actions have no effect", 100.0 * share);
    vec![advise(
        Rule::Idle,
        share > MAX_IDLE_SHARE,
        &text,
        "; a player learns too little from exploring",
    )]
}
