//! The same seed and actions give the same answers, in any number of plays and in copies of them.

use rhae_engine::{Action, Rng};

use super::law_steps;
use crate::levels::{no_way, stopped};
use crate::walk::{Broken, Walk};
use crate::{Finding, Options, Rule, Subject};

/// Two plays take the same actions in turn, while a third one does something else between them.
pub(super) fn same_twice(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let rule = Rule::SameTwice;
    let play = || -> Result<Option<Finding>, Broken> {
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
                one.random(&mut rng)
            };
            one.act(action)?;
            let noise = other.random(&mut rng);
            other.act(noise)?;
            two.act(action)?;
            steps = step + 1;
            if one.answer() != two.answer() || one.play.hidden_key() != two.play.hidden_key() {
                let text = "two plays of the same actions under one seed answer differently: use nothing but the seed and the actions";
                let finding = Finding::fail(rule, text);
                return Ok(Some(finding.shown(
                    "answers differ from play to play at the last action",
                    one.line(),
                )));
            }
        }
        Ok(Some(Finding::pass(
            rule,
            format!("{steps} actions in two plays gave the same answers"),
        )))
    };
    finish(rule, level, play())
}

/// A copy made at random moments is played on by itself; the original and a play that was never copied stay alike, and another
/// copy does what the original does.
pub(super) fn copies(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let rule = Rule::Copies;
    let play = || -> Result<Option<Finding>, Broken> {
        let enter = || Walk::enter(subject, options.env_seed, level);
        let (Some(mut walk), Some(mut twin)) = (enter()?, enter()?) else {
            return Ok(None);
        };
        if walk.fork().is_none() {
            return Ok(Some(Finding::open(
                rule,
                "plays of this environment cannot be copied",
            )));
        }
        let mut rng = Rng::new(options.seed, 500 + u64::from(level));
        let (mut copies, mut follower) = (0, None::<Walk>);
        for step in 0..law_steps(subject, options) {
            if step % 20 == 0 {
                let (Some(mut stray), Some(copy)) = (walk.fork(), walk.fork()) else {
                    break;
                };
                let before = walk.answer();
                for _ in 0..5 {
                    let action = stray.random(&mut rng);
                    stray.act(action)?;
                }
                if walk.answer() != before {
                    let finding =
                        Finding::fail(rule, "playing a copy changes what the original shows");
                    return Ok(Some(
                        finding.shown("the play that was copied at its end", walk.line()),
                    ));
                }
                follower = Some(copy);
                copies += 1;
            }
            let action = if rng.below(60) == 0 {
                Action::Reset
            } else {
                walk.random(&mut rng)
            };
            walk.act(action)?;
            twin.act(action)?;
            if let Some(copy) = &mut follower {
                copy.act(action)?;
                if copy.answer() != walk.answer() {
                    let finding = Finding::fail(
                        rule,
                        "a copy goes on differently: it shares, or lacks, a part of the state",
                    );
                    return Ok(Some(finding.shown(
                        "a copy made on the way answers the last action differently",
                        walk.line(),
                    )));
                }
            }
            if walk.answer() != twin.answer() {
                let finding = Finding::fail(
                    rule,
                    "a play that was copied goes on differently from one that was not",
                );
                return Ok(Some(finding.shown(
                    "copied on the way, it answers the last action differently",
                    walk.line(),
                )));
            }
        }
        Ok(Some(Finding::pass(
            rule,
            format!("{copies} copies went on by themselves"),
        )))
    };
    finish(rule, level, play())
}

pub(super) fn finish(
    rule: Rule,
    level: u8,
    result: Result<Option<Finding>, Broken>,
) -> Vec<Finding> {
    match result {
        Ok(Some(finding)) => vec![finding.on(level)],
        Ok(None) => vec![no_way(rule, level)],
        Err(broken) => stopped(&[rule], level, &broken),
    }
}
