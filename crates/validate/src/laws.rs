//! What every environment promises: the same again, independent copies, keys that tell, RESET and undo that restore.

mod keys;
mod restore;
mod same;

pub(crate) use keys::KeyBits;
use rhae_engine::{Action, ActionKind, PlayState, Rng};

use crate::levels::{entered, stopped};
use crate::walk::{Broken, Walk, some_action};
use crate::{Finding, Options, Rule, Subject};

/// Random steps for each law on each level.
pub(crate) fn law_steps(subject: &dyn Subject, options: &Options) -> u32 {
    let most = if subject.is_hosted() { 300 } else { 2_000 };
    u32::try_from(options.steps / 100)
        .unwrap_or(most)
        .clamp(60, most)
}

/// All laws on one level.
pub(crate) fn check(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(same::same_twice(subject, options, level));
    findings.extend(same::copies(subject, options, level));
    findings.extend(keys::keys(subject, options, level));
    findings.extend(restore::reset(subject, options, level));
    findings.extend(restore::undo(subject, options, level));
    findings.extend(law(subject, options, level, Rule::NotOffered, not_offered));
    findings.extend(law(subject, options, level, Rule::AfterEnd, after_end));
    findings
}

type Law = fn(&dyn Subject, &Options, u8, Walk) -> Result<Finding, Broken>;

/// Runs a law that needs one play, and takes care of those that end early.
fn law(subject: &dyn Subject, options: &Options, level: u8, rule: Rule, law: Law) -> Vec<Finding> {
    let walk = match entered(subject, options, level, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    match law(subject, options, level, walk) {
        Ok(finding) => vec![finding.on(level)],
        Err(broken) => stopped(&[rule], level, &broken),
    }
}

/// The situation as far as it can be told: key, picture, state, offer.
fn situation(walk: &Walk) -> impl PartialEq + use<> {
    let seen = walk.seen();
    (
        walk.key(),
        seen.settled().clone(),
        seen.state,
        seen.levels_completed,
        seen.available,
    )
}

fn not_offered(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    mut walk: Walk,
) -> Result<Finding, Broken> {
    let rule = Rule::NotOffered;
    let mut rng = Rng::new(options.seed, 100 + u64::from(level));
    let mut tried = 0;
    for _ in 0..law_steps(subject, options) / 4 {
        let action = walk.random(&mut rng);
        walk.act(action)?;
        if walk.seen().state != PlayState::NotFinished || walk.seen().levels_completed != level {
            walk = match Walk::enter(subject, options.env_seed, level)? {
                Some(walk) => walk,
                None => break,
            };
            continue;
        }
        let offered = walk.seen().available;
        for kind in ActionKind::ALL
            .into_iter()
            .filter(|&kind| kind != ActionKind::Reset && !offered.contains(kind))
        {
            let before = situation(&walk);
            walk.act(some_action(kind, &mut rng))?;
            tried += 1;
            if situation(&walk) != before {
                let text = format!("{kind} is not offered here, but it changes something");
                let finding = if subject.is_hosted() {
                    Finding::warn(rule, text)
                } else {
                    Finding::fail(rule, text)
                };
                return Ok(finding.shown("the last action is not offered and acts", walk.line()));
            }
        }
        if walk.log.len() > 300 {
            walk.again()?;
        }
    }
    Ok(match tried {
        0 => Finding::pass(rule, "every action is offered all the time"),
        _ => Finding::pass(
            rule,
            format!("{tried} actions that were not offered changed nothing"),
        ),
    })
}

fn after_end(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    mut walk: Walk,
) -> Result<Finding, Broken> {
    let rule = Rule::AfterEnd;
    let mut rng = Rng::new(options.seed, 200 + u64::from(level));
    let mut ends = 0;
    let mut probe = |walk: &mut Walk| -> Result<Option<Finding>, Broken> {
        for kind in ActionKind::ALL
            .into_iter()
            .filter(|&kind| kind != ActionKind::Reset)
        {
            let before = situation(walk);
            let counted = walk.act(some_action(kind, &mut rng))?.counted;
            if counted || situation(walk) != before {
                let text = format!(
                    "{kind} does something after {}: only RESET may",
                    walk.seen().state.name()
                );
                return Ok(Some(
                    Finding::fail(rule, text)
                        .shown("the last action comes after the end", walk.line()),
                ));
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
        if walk.seen().state == PlayState::Win
            && let Some(finding) = probe(&mut walk)?
        {
            return Ok(finding);
        }
        walk.act(Action::Reset)?;
    }
    let mut chance = Rng::new(options.seed, 300 + u64::from(level));
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(Finding::open(rule, "the level cannot be entered twice"));
    };
    for _ in 0..law_steps(subject, options) {
        let action = walk.random(&mut chance);
        let lost = walk.act(action)?.state == PlayState::GameOver;
        if lost && let Some(finding) = probe(&mut walk)? {
            return Ok(finding);
        }
        if lost || walk.seen().levels_completed != level {
            walk = match Walk::enter(subject, options.env_seed, level)? {
                Some(walk) => walk,
                None => break,
            };
        }
    }
    Ok(match ends {
        0 => Finding::open(rule, "random play came to no end on this level"),
        _ => Finding::pass(
            rule,
            format!(
                "nothing happened after {ends} {}",
                if ends == 1 { "end" } else { "ends" }
            ),
        ),
    })
}
