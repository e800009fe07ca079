//! The rule `actions`: the actions at the start of a level and along its solution are listed.

use rhae_engine::{ActionKind, Observation};

use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::{Finding, Rule, Subject, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "actions",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "A level offers only actions that the environment lists.",
    checks: &[Check::Structure(check)],
};

fn check(context: Context<'_>, starts: &[LevelStart]) -> Vec<Finding> {
    LevelStart::judge_each(starts, Rule::Actions, |entered| {
        let Some((kind, log)) = &entered.unlisted_action else {
            return Finding::pass(Rule::Actions, "offers only listed actions");
        };
        let text = format!("{kind} is offered but not listed among the environment's actions");
        // The actions of a hosted game are known only when it runs. The list in its metadata may
        // therefore be incomplete, and a missing action is only a warning.
        let finding = if context.subject.is_hosted() {
            Finding::warn(Rule::Actions, text)
        } else {
            Finding::fail(Rule::Actions, text)
        };
        finding.with_evidence("the last observation offers it", log.clone())
    })
}

/// Returns the first offered action that the metadata does not list.
pub(crate) fn unlisted_action(seen: &Observation, subject: &dyn Subject) -> Option<ActionKind> {
    seen.available
        .iter()
        .find(|&kind| kind != ActionKind::Reset && !subject.info().actions.contains(kind))
}
