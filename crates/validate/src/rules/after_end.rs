//! The rule `after-end`: after a win or a loss, every action except RESET leaves the state unchanged.

use rhae_engine::{Action, ActionKind, PlayState, Rng};

use crate::laws::{law_steps, situation};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk, action_of_kind};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "after-end",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "After the end only RESET has an effect.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let rule = Rule::AfterEnd;
    let mut rng = Rng::new(options.seed, 200 + u64::from(level));
    let mut ends = 0;
    let mut probe = |walk: &mut Walk| -> Result<Option<Finding>, PlayFailure> {
        for kind in ActionKind::ALL
            .into_iter()
            .filter(|&kind| kind != ActionKind::Reset)
        {
            let before = situation(walk);
            let counted = walk.act(action_of_kind(kind, &mut rng))?.counted;
            if counted || situation(walk) != before {
                let text = format!(
                    "{kind} has an effect after {}: only RESET may have one",
                    walk.observation().state.name()
                );
                return Ok(Some(Finding::fail(rule, text).with_evidence(
                    "the last action comes after the end of the play",
                    walk.full_log(),
                )));
            }
        }
        ends += 1;
        Ok(None)
    };
    if level + 1 == subject.levels()
        && let Some(solution) = subject.solution(level)
    {
        for action in solution {
            walk.act(action)?;
        }
        if walk.observation().state == PlayState::Win
            && let Some(finding) = probe(&mut walk)?
        {
            return Ok(Some(finding));
        }
        walk.act(Action::Reset)?;
    }
    let mut chance = Rng::new(options.seed, 300 + u64::from(level));
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(Some(Finding::not_checked(
            rule,
            "the level cannot be entered twice",
        )));
    };
    for _ in 0..law_steps(context) {
        let action = walk.random_action(&mut chance);
        let lost = walk.act(action)?.state == PlayState::GameOver;
        if lost && let Some(finding) = probe(&mut walk)? {
            return Ok(Some(finding));
        }
        if lost || walk.observation().levels_completed != level {
            walk = match Walk::enter(subject, options.env_seed, level)? {
                Some(walk) => walk,
                None => break,
            };
        }
    }
    Ok(Some(match ends {
        0 => Finding::open(rule, "random play never ended this level"),
        _ => Finding::pass(
            rule,
            format!(
                "no action had an effect after {ends} {}",
                if ends == 1 { "end" } else { "ends" }
            ),
        ),
    }))
}
