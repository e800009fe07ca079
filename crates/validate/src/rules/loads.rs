//! The rule `loads`: a level starts as a level in progress, with the earlier ones completed.

use rhae_engine::PlayState;

use crate::levels::unreachable_level;
use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "loads",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "The environment opens, and every level can be entered.",
    checks: &[Check::Structure(check)],
};

fn check(context: Context<'_>, starts: &[LevelStart]) -> Vec<Finding> {
    (0..)
        .zip(starts)
        .map(|(level, start)| judge(context, level, start).on_level(level))
        .collect()
}

fn judge(context: Context<'_>, level: u8, start: &LevelStart) -> Finding {
    let entered = match start {
        LevelStart::Unreachable => return unreachable_level(Rule::Loads, level),
        LevelStart::Failed(failure) => {
            let text = format!("the level does not start: {}", failure.reason);
            return Finding::fail(Rule::Loads, text);
        }
        LevelStart::Entered(entered) => entered,
    };
    let (state, completed, all) = (entered.state, entered.levels_completed, entered.win_levels);
    if state == PlayState::NotFinished && completed == level && all == context.subject.levels() {
        return Finding::pass(Rule::Loads, "starts");
    }
    let state = state.name();
    Finding::fail(
        Rule::Loads,
        format!("the level starts as {state} with {completed} of {all} levels completed"),
    )
    .with_evidence("the start of the level", entered.log.clone())
}
