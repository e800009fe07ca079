//! The rule `metadata`: nothing that pages and tools show is missing.

use rhae_engine::ActionKind;

use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "metadata",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "The metadata has a title, tags, actions and a frame rate.",
    checks: &[Check::Structure(check)],
};

fn check(context: Context<'_>, _starts: &[LevelStart]) -> Vec<Finding> {
    let subject = context.subject;
    let info = subject.info();
    let mut missing = Vec::new();
    if info.title.trim().is_empty() {
        missing.push("a title");
    }
    if info.tags.is_empty() {
        missing.push("tags, such as `keyboard` or `click`");
    }
    if info.frames_per_second == 0 {
        missing.push("a frame rate above 0");
    }
    if info.actions.iter().all(|kind| kind == ActionKind::Reset) {
        missing.push("actions other than RESET");
    }
    vec![if missing.is_empty() {
        Finding::pass(
            Rule::Metadata,
            "title, tags, actions and frame rate are present",
        )
    } else {
        let verdict = if subject.is_hosted() {
            Verdict::Warn
        } else {
            Verdict::Fail
        };
        Finding::new(
            Rule::Metadata,
            verdict,
            format!("the metadata lacks {}", missing.join(", ")),
        )
    }]
}
