//! The rule `reset`: RESET at a random moment restores the start of the level, and later actions
//! behave as in a new play. A second RESET in a row does the same for the start of the game.

use rhae_engine::{Action, PlayState, Rng};

use crate::laws::{law_steps, situation};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, Rule, Verdict};

/// The number of actions that are compared after a RESET.
const COMPARED_ACTIONS: usize = 12;

pub(super) const DEFINITION: Definition = Definition {
    name: "reset",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "RESET restores the start of the level exactly, and a full reset the start of the game.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let rule = Rule::Reset;
    let enter = |level: u8| Walk::enter(subject, options.env_seed, level);
    let Some(fresh) = enter(level)? else {
        return Ok(None);
    };
    let start = situation(&fresh);
    let mut rng = Rng::new(options.seed, 700 + u64::from(level));
    let plays = (law_steps(context) / 40).max(2);
    for play in 0..plays {
        let Some(mut walk) = enter(level)? else {
            return Ok(None);
        };
        for _ in 0..1 + rng.below(40) {
            let action = match walk.random_action(&mut rng) {
                Action::Reset => break,
                action => action,
            };
            walk.act(action)?;
            if walk.observation().levels_completed != level {
                break;
            }
        }
        if walk.observation().levels_completed != level
            || walk.observation().state == PlayState::Win
        {
            continue;
        }
        let full = walk.act(Action::Reset)?.full_reset;
        if full || situation(&walk) != start {
            let what = if full {
                "restarts the whole game"
            } else {
                "does not restore the start of the level"
            };
            let finding = Finding::fail(rule, format!("RESET in the middle of a level {what}"));
            return Ok(Some(
                finding.with_evidence("the last action is the RESET", walk.full_log()),
            ));
        }
        if let Some(finding) = continues_like_new(context, level, &mut walk, &mut rng)? {
            return Ok(Some(finding));
        }
        if play % 4 == 0 {
            let Some(mut first) = enter(0)? else {
                return Ok(None);
            };
            if let Some(finding) = restarts_like_new(&mut walk, &mut first, &mut rng)? {
                return Ok(Some(finding));
            }
        }
    }
    Ok(Some(Finding::pass(
        rule,
        format!("{plays} plays behaved like new ones after a RESET"),
    )))
}

/// Checks that a level behaves like a newly entered one after a RESET.
fn continues_like_new(
    Context {
        subject, options, ..
    }: Context<'_>,
    level: u8,
    walk: &mut Walk,
    rng: &mut Rng,
) -> Result<Option<Finding>, PlayFailure> {
    let Some(mut fresh) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    for _ in 0..COMPARED_ACTIONS {
        let action = fresh.random_action(rng);
        fresh.act(action)?;
        walk.act(action)?;
        if situation(&fresh) != situation(walk) {
            let finding = Finding::fail(
                Rule::Reset,
                "after a RESET the level behaves differently from a new one: some state is not reset",
            );
            return Ok(Some(finding.with_evidence(
                "the last action behaves differently",
                walk.full_log(),
            )));
        }
    }
    Ok(None)
}

/// Checks that two RESETs in a row restart the game, and that it then behaves like `first`, a new
/// play at its first level.
fn restarts_like_new(
    walk: &mut Walk,
    first: &mut Walk,
    rng: &mut Rng,
) -> Result<Option<Finding>, PlayFailure> {
    let rule = Rule::Reset;
    walk.act(Action::Reset)?;
    if !walk.act(Action::Reset)?.full_reset {
        let finding = Finding::fail(rule, "a second RESET in a row does not restart the game");
        return Ok(Some(finding.with_evidence(
            "the last two actions are RESETs",
            walk.full_log(),
        )));
    }
    if situation(walk) != situation(first) {
        let finding = Finding::fail(rule, "a full reset does not restore the start of the game");
        return Ok(Some(finding.with_evidence(
            "the last two actions are RESETs",
            walk.full_log(),
        )));
    }
    for _ in 0..COMPARED_ACTIONS {
        let action = first.random_action(rng);
        first.act(action)?;
        walk.act(action)?;
        if situation(first) != situation(walk) {
            let finding = Finding::fail(
                rule,
                "after a full reset the game behaves differently from a new one",
            );
            return Ok(Some(finding.with_evidence(
                "the last action behaves differently",
                walk.full_log(),
            )));
        }
    }
    Ok(None)
}
