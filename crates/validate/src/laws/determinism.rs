//! The laws that the same seed and the same actions always produce the same observations, in
//! independent plays and in forks.

use rhae_engine::{Action, Rng};

use super::law_steps;
use crate::levels::{environment_failed, unreachable_level};
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, Options, Rule, Subject};

/// Checks that two plays with the same actions produce the same observations, even if a third play
/// with other actions runs in between.
pub(super) fn same_twice(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let rule = Rule::SameTwice;
    let play = || -> Result<Option<Finding>, PlayFailure> {
        let enter = || Walk::enter(subject, options.env_seed, level);
        let (Some(mut one), Some(mut two), Some(mut other)) = (enter()?, enter()?, enter()?) else {
            return Ok(None);
        };
        let mut rng = Rng::new(options.seed, 400 + u64::from(level));
        let mut steps = 0;
        for step in 0..law_steps(subject, options) {
            let action = if rng.below(60) == 0 {
                Action::Reset
            } else {
                one.random_action(&mut rng)
            };
            one.act(action)?;
            let noise = other.random_action(&mut rng);
            other.act(noise)?;
            two.act(action)?;
            steps = step + 1;
            if one.observation_hash() != two.observation_hash()
                || one.play.hidden_key() != two.play.hidden_key()
            {
                let text = "two plays with the same seed and actions return different observations: results must depend on the seed and the actions only";
                let finding = Finding::fail(rule, text);
                return Ok(Some(finding.with_evidence(
                    "two plays differ after the last action",
                    one.full_log(),
                )));
            }
        }
        Ok(Some(Finding::pass(
            rule,
            format!("{steps} actions gave the same observations in two plays"),
        )))
    };
    finish(rule, level, play())
}

/// Forks a play at random moments and checks three requirements: playing one fork does not change
/// the original, another fork with the same actions behaves like the original, and the original
/// behaves like a play that was never forked.
pub(super) fn copies(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let rule = Rule::Copies;
    let play = || -> Result<Option<Finding>, PlayFailure> {
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
        for step in 0..law_steps(subject, options) {
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
    };
    finish(rule, level, play())
}

pub(super) fn finish(
    rule: Rule,
    level: u8,
    result: Result<Option<Finding>, PlayFailure>,
) -> Vec<Finding> {
    match result {
        Ok(Some(finding)) => vec![finding.on_level(level)],
        Ok(None) => vec![unreachable_level(rule, level)],
        Err(failure) => environment_failed(&[rule], level, &failure),
    }
}
