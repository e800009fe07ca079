//! The rule `copies`: playing one fork does not change the original, another fork with the same
//! actions behaves like the original, and the original behaves like a play that was never forked.
//! The play is forked at random moments.

use rhae_engine::{Action, Rng};

use crate::laws::law_steps;
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "copies",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "A fork of a play is independent of it and behaves the same.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let rule = Rule::Copies;
    let enter = || Walk::enter(subject, options.env_seed, level);
    let (Some(mut walk), Some(mut twin)) = (enter()?, enter()?) else {
        return Ok(None);
    };
    if walk.fork().is_none() {
        return Ok(Some(Finding::open(
            rule,
            "the environment does not support forks",
        )));
    }
    let mut rng = Rng::new(options.seed, 500 + u64::from(level));
    let (mut copies, mut follower) = (0, None::<Walk>);
    for step in 0..law_steps(context) {
        if step % 20 == 0 {
            let (Some(mut stray), Some(copy)) = (walk.fork(), walk.fork()) else {
                break;
            };
            let before = walk.observation_hash();
            for _ in 0..5 {
                let action = stray.random_action(&mut rng);
                stray.act(action)?;
            }
            if walk.observation_hash() != before {
                let finding = Finding::fail(rule, "playing a fork changes the original");
                return Ok(Some(finding.with_evidence(
                    "the play was forked after the last action",
                    walk.full_log(),
                )));
            }
            follower = Some(copy);
            copies += 1;
        }
        let action = if rng.below(60) == 0 {
            Action::Reset
        } else {
            walk.random_action(&mut rng)
        };
        walk.act(action)?;
        twin.act(action)?;
        if let Some(copy) = &mut follower {
            copy.act(action)?;
            if copy.observation_hash() != walk.observation_hash() {
                let finding = Finding::fail(
                    rule,
                    "a fork behaves differently from the original: it shares or lacks part of the state",
                );
                return Ok(Some(finding.with_evidence(
                    "a fork made during this play differs after the last action",
                    walk.full_log(),
                )));
            }
        }
        if walk.observation_hash() != twin.observation_hash() {
            let finding = Finding::fail(
                rule,
                "a play that was forked behaves differently from one that was not",
            );
            return Ok(Some(finding.with_evidence(
                "the play was forked earlier and differs after the last action",
                walk.full_log(),
            )));
        }
    }
    Ok(Some(Finding::pass(
        rule,
        format!("{copies} forks were independent of the original"),
    )))
}
