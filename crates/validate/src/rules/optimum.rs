//! The rule `optimum`: the length of a shortest win, and whether the stored solution has it.

use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::{SearchedLevel, certainty, with_prefix};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "optimum",
    group: Group::Solvable,
    severity: Verdict::Warn,
    requirement: "The length of the shortest win is known.",
    checks: &[Check::Graph(check)],
};

fn check(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    let (rule, subject) = (Rule::Optimum, context.subject);
    let SearchedLevel {
        level,
        ref graph,
        optimum,
    } = *searched;
    let stored = subject.solution(level).map(|solution| solution.len());
    Some(match (optimum, stored) {
        (Some(optimum), Some(stored)) if stored > optimum && subject.has_stored_solution(level) => {
            let text = format!("the stored solution takes {stored} actions, but {optimum} suffice");
            Finding::warn(rule, text).with_evidence(
                "a shortest win",
                graph
                    .win
                    .as_ref()
                    .and_then(|win| with_prefix(subject, level, win)),
            )
        }
        (Some(optimum), _) => {
            let count = match (graph.shortest_wins, graph.all_shortest_wins_counted) {
                (0, _) => String::new(),
                (1, true) => ", with one shortest solution".to_owned(),
                (count, true) => format!(", with {count} shortest solutions"),
                (1, false) => ", with at least one shortest solution".to_owned(),
                (count, false) => format!(", with at least {count} shortest solutions"),
            };
            Finding::pass(
                rule,
                format!("{optimum} actions, {}{count}", certainty(graph)),
            )
        }
        (None, Some(stored)) => Finding::open(
            rule,
            format!("at most {stored} actions; not proved within the limits of the search"),
        ),
        (None, None) => Finding::open(rule, "no win is known"),
    })
}
