//! The rule `still`: a part of the frame changes during play.

use rhae_engine::CELLS;

use crate::design::{DesignSample, advise};
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Verdict};

/// The share of frame cells that never change above which the rule warns.
const MAX_STILL_SHARE: f64 = 0.99;

pub(super) const DEFINITION: Definition = Definition {
    name: "still",
    group: Group::Design,
    severity: Verdict::Warn,
    requirement: "At least 1 % of the frame changes during play.",
    checks: &[Check::Design(check)],
};

fn check(_context: Context<'_>, sample: &DesignSample) -> Vec<Finding> {
    if sample.taken == 0 {
        return vec![Finding::open(Rule::Still, "no level could be entered")];
    }
    let unchanged = sample.changed.iter().filter(|&&changes| !changes).count();
    let share = unchanged as f64 / CELLS as f64;
    let text = format!(
        "{} % of the frame was never observed to change within a level",
        (100.0 * share).floor()
    );
    vec![advise(
        Rule::Still,
        share > MAX_STILL_SHARE,
        &text,
        "; most of the frame carries no information",
    )]
}
