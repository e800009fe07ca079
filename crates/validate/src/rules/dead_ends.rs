//! The rule `dead-ends`: a level that can no longer be won ends or offers undo.

use rhae_engine::ActionKind;

use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::{SearchedLevel, with_prefix};
use crate::{Finding, LevelGraph, Rule, Subject, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "dead-ends",
    group: Group::Solvable,
    severity: Verdict::Warn,
    requirement: "Once a level can no longer be won, it ends or offers undo.",
    checks: &[Check::Graph(check)],
};

fn check(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    Some(judge(context.subject, searched.level, &searched.graph))
}

fn judge(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::DeadEnds;
    let at_least = if graph.is_complete() { "" } else { "at least " };
    let (dead, soft_locks) = (graph.dead_ends, graph.soft_locks);
    let counted = format!("{at_least}{dead} of {} states are dead ends", graph.nodes);
    if dead == 0 && !graph.is_complete() {
        let states = graph.nodes;
        let text = match graph.stop.filter(|_| !graph.has_representative_clicks) {
            Some(stop) => format!(
                "no dead end was found; the search was stopped by: {} (states searched: {states})",
                stop.name()
            ),
            None => format!(
                "no dead end can be proved (states searched: {states}, {})",
                graph.limits()
            ),
        };
        return Finding::open(rule, text);
    }
    let shown = graph
        .first_dead_end
        .as_ref()
        .and_then(|actions| with_prefix(subject, level, actions));
    if soft_locks == 0 {
        let text = if dead == 0 {
            "no dead ends".to_owned()
        } else {
            format!("{counted}; each of them leads to the end of the level")
        };
        return Finding::pass(rule, text).with_evidence("a shortest path into one", shown);
    }
    if subject.info().actions.contains(ActionKind::Action7) {
        let text = format!("{counted}, and {soft_locks} of them never end; undo is offered");
        return Finding::pass(rule, text).with_evidence("a shortest path into one", shown);
    }
    let text =
        format!("{counted}, and {soft_locks} of them never end: end the level there or offer undo");
    Finding::warn(rule, text).with_evidence("a shortest path into one", shown)
}
