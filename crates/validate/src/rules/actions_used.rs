//! The rule `actions-used`: every action is needed somewhere.

use rhae_engine::ActionKind;

use crate::design::DesignSample;
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Subject, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "actions-used",
    group: Group::Design,
    severity: Verdict::Warn,
    requirement: "Every action is used by some solution.",
    checks: &[Check::Design(check)],
};

fn check(context: Context<'_>, _sample: &DesignSample) -> Vec<Finding> {
    vec![judge(context.subject)]
}

/// Reports the actions that no solution uses. Undo is exempt, because no solution needs it.
fn judge(subject: &dyn Subject) -> Finding {
    let rule = Rule::ActionsUsed;
    let solutions: Vec<_> = (0..subject.levels())
        .filter_map(|level| subject.solution(level))
        .collect();
    if solutions.is_empty() {
        return Finding::open(rule, "no solution is known");
    }
    let kinds = subject
        .info()
        .actions
        .iter()
        .filter(|kind| !matches!(kind, ActionKind::Reset | ActionKind::Action7));
    let used: Vec<(ActionKind, usize)> = kinds
        .map(|kind| {
            (
                kind,
                solutions
                    .iter()
                    .filter(|line| line.iter().any(|action| action.kind() == kind))
                    .count(),
            )
        })
        .collect();
    let counts: Vec<String> = used
        .iter()
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    let text = format!(
        "number of levels that use each action, out of {}: {}",
        solutions.len(),
        counts.join(", ")
    );
    let idle: Vec<&str> = used
        .iter()
        .filter(|&&(_, count)| count == 0)
        .map(|(kind, _)| kind.name())
        .collect();
    match idle.is_empty() || solutions.len() < usize::from(subject.levels()) {
        true => Finding::pass(rule, text),
        false => Finding::warn(
            rule,
            format!("no solution uses {}; {text}", idle.join(", ")),
        ),
    }
}
