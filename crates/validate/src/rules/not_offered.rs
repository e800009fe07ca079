//! The rule `not-offered`: actions that a state does not offer leave it unchanged.

use rhae_engine::{ActionKind, PlayState, Rng};

use crate::laws::{law_steps, situation};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk, action_of_kind};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "not-offered",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "An action that is not offered has no effect.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let rule = Rule::NotOffered;
    let mut rng = Rng::new(options.seed, 100 + u64::from(level));
    let mut tried = 0;
    for _ in 0..law_steps(context) / 4 {
        let action = walk.random_action(&mut rng);
        walk.act(action)?;
        if walk.observation().state != PlayState::NotFinished
            || walk.observation().levels_completed != level
        {
            walk = match Walk::enter(subject, options.env_seed, level)? {
                Some(walk) => walk,
                None => break,
            };
            continue;
        }
        let offered = walk.observation().available;
        for kind in ActionKind::ALL
            .into_iter()
            .filter(|&kind| kind != ActionKind::Reset && !offered.contains(kind))
        {
            let before = situation(&walk);
            walk.act(action_of_kind(kind, &mut rng))?;
            tried += 1;
            if situation(&walk) != before {
                let text = format!("{kind} is not offered but changes the state");
                let finding = if subject.is_hosted() {
                    Finding::warn(rule, text)
                } else {
                    Finding::fail(rule, text)
                };
                return Ok(Some(finding.with_evidence(
                    "the last action is not offered but has an effect",
                    walk.full_log(),
                )));
            }
        }
        if walk.log.len() > 300 {
            walk.restart_level()?;
        }
    }
    Ok(Some(match tried {
        0 => Finding::pass(rule, "every action is always offered"),
        _ => Finding::pass(
            rule,
            format!("{tried} actions that were not offered had no effect"),
        ),
    }))
}
