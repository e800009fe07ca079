//! The rule `alike`: no two levels have almost the same first frame.

use rhae_engine::{CELLS, Frame};

use crate::design::{DesignSample, advise};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::Walk;
use crate::{Finding, Rule, Verdict};

/// The share of equal cells in the first frames of two levels from which the rule warns.
const MAX_EQUAL_SHARE: f64 = 0.995;

pub(super) const DEFINITION: Definition = Definition {
    name: "alike",
    group: Group::Design,
    severity: Verdict::Warn,
    requirement: "No two levels look alike.",
    checks: &[Check::Design(check)],
};

fn check(context: Context<'_>, _sample: &DesignSample) -> Vec<Finding> {
    vec![judge_frames(&first_frames(context))]
}

/// Finds the two levels whose first frames differ least.
fn judge_frames(frames: &[(u8, Frame)]) -> Finding {
    let rule = Rule::Alike;
    let mut closest: Option<(f64, u8, u8)> = None;
    for (index, (one, a)) in frames.iter().enumerate() {
        for (other, b) in &frames[..index] {
            let share = a
                .cells()
                .iter()
                .zip(b.cells())
                .filter(|(a, b)| a == b)
                .count() as f64
                / CELLS as f64;
            if closest.is_none_or(|(known, ..)| share > known) {
                closest = Some((share, *other, *one));
            }
        }
    }
    let Some((share, one, other)) = closest else {
        return Finding::open(rule, "fewer than two levels can be entered");
    };
    let text = format!(
        "levels {} and {} are the most similar: {:.0} % of the cells in their first frames are equal",
        one + 1,
        other + 1,
        100.0 * share
    );
    advise(
        rule,
        share >= MAX_EQUAL_SHARE,
        &text,
        "; every level should require something new",
    )
}

/// Returns the first frame of every level that can be entered.
fn first_frames(context: Context<'_>) -> Vec<(u8, Frame)> {
    let Context {
        subject, options, ..
    } = context;
    let frame = |level: u8| match Walk::enter(subject, options.env_seed, level) {
        Ok(Some(walk)) => Some((level, walk.observation().settled().clone())),
        _ => None,
    };
    (0..subject.levels()).filter_map(frame).collect()
}
