//! The rule `wins`: a search, a stored solution or random play wins every level.

use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::{SearchedLevel, with_prefix};
use crate::{Finding, Rule, Subject, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "wins",
    group: Group::Solvable,
    severity: Verdict::Fail,
    requirement: "Every level can be won.",
    checks: &[Check::Graph(check)],
};

fn check(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    let (rule, subject) = (Rule::Wins, context.subject);
    let (level, graph) = (searched.level, &searched.graph);
    Some(
        match (
            &graph.win,
            subject.solution(level).filter(|_| !graph.is_complete()),
        ) {
            (Some(win), _) => Finding::pass(rule, format!("can be won in {} actions", win.len()))
                .with_evidence("a shortest win", with_prefix(subject, level, win)),
            (None, Some(solution)) => Finding::pass(
                rule,
                format!(
                    "{} wins in {} actions",
                    solution_origin(subject, level),
                    solution.len()
                ),
            ),
            (None, None) if graph.is_complete() => Finding::fail(
                rule,
                format!(
                    "the level cannot be won: none of its {} states is a win",
                    graph.nodes
                ),
            ),
            (None, None) => Finding::warn(
                rule,
                format!(
                    "no win is stored, and none was found (states searched: {})",
                    graph.nodes
                ),
            )
            .incomplete(),
        },
    )
}

/// Returns the finding about a level that has no state graph.
pub(crate) fn without_graph(subject: &dyn Subject, level: u8, reason: &str) -> Finding {
    if subject.solution(level).is_some() {
        let text = format!("{} wins", solution_origin(subject, level));
        Finding::pass(Rule::Wins, text)
    } else {
        Finding::not_checked(Rule::Wins, format!("no state graph: {reason}"))
    }
}

/// Returns the words with which findings refer to the solution of a level: stored or found.
fn solution_origin(subject: &dyn Subject, level: u8) -> &'static str {
    if subject.has_stored_solution(level) {
        "the stored solution"
    } else {
        "the solution that was found"
    }
}
