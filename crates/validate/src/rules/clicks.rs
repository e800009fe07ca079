//! The rule `clicks`: a random check of the state graph found no effect of an unlisted click.

use rhae_engine::ActionKind;
use rhae_explore::GraphWarning;

use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::{SearchedLevel, with_prefix};
use crate::{Finding, LevelGraph, Rule, Subject, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "clicks",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "Unlisted clicks have no effect that listed clicks lack.",
    checks: &[Check::Graph(check)],
};

fn check(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    Some(judge(context.subject, searched.level, &searched.graph))
}

fn judge(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::Clicks;
    if !subject.info().actions.contains(ActionKind::Action6) {
        return Finding::open(rule, "clicks are not offered");
    }
    match graph
        .warnings
        .iter()
        .find(|warning| matches!(warning, GraphWarning::UnlistedClick { .. }))
    {
        Some(GraphWarning::UnlistedClick { actions }) => {
            let click = actions.last().map_or_else(String::new, ToString::to_string);
            let text = format!(
                "an unlisted click ({click}) has an effect that no listed click has, so searches miss it"
            );
            let finding = if subject.is_hosted() {
                let how = "return it from `_get_valid_actions`; if a click on the background costs something, list one such cell";
                Finding::warn(rule, format!("{text}: {how}"))
            } else {
                Finding::fail(rule, format!("{text}: list it"))
            };
            finding.with_evidence(
                "the last action is that click",
                with_prefix(subject, level, actions),
            )
        }
        _ => Finding::pass(
            rule,
            "sampled unlisted clicks have no effect that listed clicks lack",
        ),
    }
}
