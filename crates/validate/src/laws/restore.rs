//! The laws that RESET and undo restore the earlier state.

use rhae_engine::{Action, ActionKind, CELLS, PlayState, Rng};

use super::determinism::finish;
use super::{law_steps, situation};
use crate::levels::{environment_failed, unreachable_level};
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, Options, Rule, Subject, UndoCheck};

/// The number of actions that are compared after a RESET.
const COMPARED_ACTIONS: usize = 12;

/// Checks that RESET at a random moment restores the start of the level and that later actions
/// behave as in a new play. A second RESET in a row must do the same for the start of the game.
pub(super) fn reset(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    finish(Rule::Reset, level, check_resets(subject, options, level))
}

fn check_resets(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
) -> Result<Option<Finding>, PlayFailure> {
    let rule = Rule::Reset;
    let enter = |level: u8| Walk::enter(subject, options.env_seed, level);
    let Some(fresh) = enter(level)? else {
        return Ok(None);
    };
    let start = situation(&fresh);
    let mut rng = Rng::new(options.seed, 700 + u64::from(level));
    let plays = (law_steps(subject, options) / 40).max(2);
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
        if let Some(finding) = continues_like_new(subject, options, level, &mut walk, &mut rng)? {
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
    subject: &dyn Subject,
    options: &Options,
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

/// Checks that undo restores the board. If the subject cannot compare boards, frames are compared
/// instead.
pub(super) fn undo(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let rule = Rule::Undo;
    if !subject.info().actions.contains(ActionKind::Action7) {
        return vec![Finding::open(rule, "undo is not offered").on_level(level)];
    }
    let steps = law_steps(subject, options);
    let checked = crate::walk::catch_panic(|| {
        subject.check_undo(options.env_seed, level, steps, options.seed)
    });
    match checked {
        Err(reason) => environment_failed(
            &[rule],
            level,
            &PlayFailure {
                reason,
                action: None,
                actions: None,
            },
        ),
        Ok(UndoCheck::Restores(count)) => {
            vec![Finding::pass(rule, format!("{count} undos restored the board")).on_level(level)]
        }
        Ok(UndoCheck::Differs(line)) => {
            let actions = subject.prefix(level).map(|prefix| [prefix, line].concat());
            let finding = Finding::fail(
                rule,
                "undo does not restore the board: everything that is not declared as spent must be restored",
            );
            vec![
                finding
                    .on_level(level)
                    .with_evidence("the last action is the undo", actions),
            ]
        }
        Ok(UndoCheck::Unknown) => match compare_frames(subject, options, level) {
            Ok(Some(finding)) => vec![finding.on_level(level)],
            Ok(None) => vec![unreachable_level(rule, level)],
            Err(failure) => environment_failed(&[rule], level, &failure),
        },
    }
}

/// For a cell of the frame: how often undo restored it after an action had changed it, and how
/// often undo left it changed.
#[derive(Clone, Copy, Default)]
struct Cell {
    restored: u32,
    kept: u32,
}

/// Compares frames around undos. A cell that undo never restores is assumed to display a limited
/// supply, which undo does not restore. A cell that undo restores only sometimes is reported.
fn compare_frames(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
) -> Result<Option<Finding>, PlayFailure> {
    let rule = Rule::Undo;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let mut rng = Rng::new(options.seed, 800 + u64::from(level));
    let mut cells = vec![Cell::default(); CELLS];
    let (mut undone, mut example) = (0, None);
    for _ in 0..law_steps(subject, options) {
        if walk.observation().state != PlayState::NotFinished
            || walk.observation().levels_completed != level
            || walk.log.len() > 100
        {
            let Some(fresh) = Walk::enter(subject, options.env_seed, level)? else {
                return Ok(None);
            };
            walk = fresh;
        }
        let before = walk.observation().settled().clone();
        let action = walk.random_action(&mut rng);
        walk.act(action)?;
        let stays = |walk: &Walk| {
            walk.observation().state == PlayState::NotFinished
                && walk.observation().levels_completed == level
        };
        if matches!(action, Action::Action7 | Action::Reset)
            || !stays(&walk)
            || *walk.observation().settled() == before
        {
            continue;
        }
        let after = walk.observation().settled().clone();
        walk.act(Action::Action7)?;
        if !stays(&walk) {
            continue;
        }
        undone += 1;
        let now = walk.observation().settled().cells();
        let mut keeps = false;
        for (cell, count) in cells
            .iter_mut()
            .enumerate()
            .filter(|&(cell, _)| before.cells()[cell] != after.cells()[cell])
        {
            count.restored += u32::from(now[cell] == before.cells()[cell]);
            count.kept += u32::from(now[cell] == after.cells()[cell]);
            keeps |= now[cell] == after.cells()[cell] && count.restored > 0;
        }
        if keeps && example.is_none() {
            example = Some(walk.full_log());
        }
    }
    let restored = cells.iter().filter(|cell| cell.restored > 0).count();
    let kept = cells
        .iter()
        .filter(|cell| cell.kept > 0 && cell.restored == 0)
        .count();
    let mixed = cells
        .iter()
        .filter(|cell| cell.kept > 0 && cell.restored > 0)
        .count();
    let spent = if kept == 0 {
        String::new()
    } else {
        format!("; {kept} cells are never restored, which is correct if they display what is spent")
    };
    Ok(Some(match (undone, restored) {
        (0, _) => Finding::open(rule, "random play made no change that could be undone"),
        (5.., 0) => {
            let finding = Finding::fail(rule, format!("undo restored nothing in {undone} tries"));
            finding.with_evidence("random play with undo", walk.full_log())
        }
        _ if mixed > 0 => {
            let text = format!("undo restores {mixed} cells sometimes, but not always{spent}");
            Finding::warn(rule, text).with_evidence(
                "the last action is an undo that does not restore such cells",
                example.flatten(),
            )
        }
        _ => Finding::pass(rule, format!("{undone} undos restored the frame{spent}")),
    }))
}
