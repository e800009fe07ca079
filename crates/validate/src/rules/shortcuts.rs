//! The rule `shortcuts`: each level requires something that the earlier ones do not.

use crate::design::DesignSample;
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::Walk;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "shortcuts",
    group: Group::Solvable,
    severity: Verdict::Warn,
    requirement: "No level is won by the solution of an earlier level.",
    checks: &[Check::Design(check)],
};

/// Reports levels that the solution of an earlier level wins too.
fn check(context: Context<'_>, _sample: &DesignSample) -> Vec<Finding> {
    let Context {
        subject, options, ..
    } = context;
    let rule = Rule::Shortcuts;
    let (mut findings, mut tried) = (Vec::new(), false);
    for level in 1..subject.levels() {
        for earlier in 0..level {
            let Some(solution) = subject.solution(earlier) else {
                continue;
            };
            let Ok(Some(mut walk)) = Walk::enter(subject, options.env_seed, level) else {
                continue;
            };
            tried = true;
            for action in solution {
                if walk
                    .act(action)
                    .map_or(true, |seen| seen.levels_completed != level)
                {
                    break;
                }
            }
            if walk.observation().levels_completed == level + 1 {
                let text = format!(
                    "the solution of level {} wins it too, so the level requires nothing new",
                    earlier + 1
                );
                findings.push(
                    Finding::warn(rule, text)
                        .on_level(level)
                        .with_evidence("the earlier solution on this level", walk.full_log()),
                );
                break;
            }
        }
    }
    if findings.is_empty() {
        findings.push(if tried {
            Finding::pass(rule, "no earlier solution wins a later level")
        } else {
            Finding::open(rule, "no later level can be entered")
        });
    }
    findings
}
