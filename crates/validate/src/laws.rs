//! The laws that every environment must obey: determinism, independent copies, sound keys, and
//! exact RESET and undo.

mod determinism;
mod keys;
mod restore;

pub(crate) use keys::KeyBits;
use rhae_engine::{Action, ActionKind, PlayState, Rng};

use crate::levels::{enter_level, environment_failed};
use crate::walk::{PlayFailure, Walk, action_of_kind};
use crate::{Finding, Options, Rule, Subject};

/// Returns the number of random steps for each law on each level.
pub(crate) fn law_steps(subject: &dyn Subject, options: &Options) -> u32 {
    let max_steps = if subject.is_hosted() { 300 } else { 2_000 };
    u32::try_from(options.steps / 100)
        .unwrap_or(max_steps)
        .clamp(60, max_steps)
}

/// Checks all laws on one level.
pub(crate) fn check(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(determinism::same_twice(subject, options, level));
    findings.extend(determinism::copies(subject, options, level));
    findings.extend(keys::keys(subject, options, level));
    findings.extend(restore::reset(subject, options, level));
    findings.extend(restore::undo(subject, options, level));
    findings.extend(law(subject, options, level, Rule::NotOffered, not_offered));
    findings.extend(law(subject, options, level, Rule::AfterEnd, after_end));
    findings
}

type Law = fn(&dyn Subject, &Options, u8, Walk) -> Result<Finding, PlayFailure>;

/// Runs a law that needs one play. If the level cannot be entered or the play fails, returns the
/// findings that report this.
fn law(subject: &dyn Subject, options: &Options, level: u8, rule: Rule, law: Law) -> Vec<Finding> {
    let walk = match enter_level(subject, options, level, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    match law(subject, options, level, walk) {
        Ok(finding) => vec![finding.on_level(level)],
        Err(failure) => environment_failed(&[rule], level, &failure),
    }
}

/// Returns everything that identifies the current state: key, frame, play state, completed levels,
/// and offered actions.
fn situation(walk: &Walk) -> impl PartialEq + use<> {
    let seen = walk.observation();
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
) -> Result<Finding, PlayFailure> {
    let rule = Rule::NotOffered;
    let mut rng = Rng::new(options.seed, 100 + u64::from(level));
    let mut tried = 0;
    for _ in 0..law_steps(subject, options) / 4 {
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
                return Ok(finding.with_evidence(
                    "the last action is not offered but has an effect",
                    walk.full_log(),
                ));
            }
        }
        if walk.log.len() > 300 {
            walk.restart_level()?;
        }
    }
    Ok(match tried {
        0 => Finding::pass(rule, "every action is always offered"),
        _ => Finding::pass(
            rule,
            format!("{tried} actions that were not offered had no effect"),
        ),
    })
}

fn after_end(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    mut walk: Walk,
) -> Result<Finding, PlayFailure> {
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
            return Ok(finding);
        }
        walk.act(Action::Reset)?;
    }
    let mut chance = Rng::new(options.seed, 300 + u64::from(level));
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(Finding::open(rule, "the level cannot be entered twice"));
    };
    for _ in 0..law_steps(subject, options) {
        let action = walk.random_action(&mut chance);
        let lost = walk.act(action)?.state == PlayState::GameOver;
        if lost && let Some(finding) = probe(&mut walk)? {
            return Ok(finding);
        }
        if lost || walk.observation().levels_completed != level {
            walk = match Walk::enter(subject, options.env_seed, level)? {
                Some(walk) => walk,
                None => break,
            };
        }
    }
    Ok(match ends {
        0 => Finding::open(rule, "random play never ended this level"),
        _ => Finding::pass(
            rule,
            format!(
                "no action had an effect after {ends} {}",
                if ends == 1 { "end" } else { "ends" }
            ),
        ),
    })
}
