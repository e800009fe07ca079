//! The rule `undo`: undo restores the board. If the subject cannot compare boards, frames are
//! compared instead.

use rhae_engine::{Action, ActionKind, CELLS, PlayState, Rng};

use crate::laws::law_steps;
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk, catch_panic};
use crate::{Finding, Rule, UndoCheck, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "undo",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "Undo restores everything except what is declared as spent.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let rule = Rule::Undo;
    if !subject.info().actions.contains(ActionKind::Action7) {
        return Ok(Some(Finding::open(rule, "undo is not offered")));
    }
    let steps = law_steps(context);
    let checked = catch_panic(|| subject.check_undo(options.env_seed, level, steps, options.seed));
    let checked = checked.map_err(|reason| PlayFailure {
        reason,
        action: None,
        actions: None,
    })?;
    match checked {
        UndoCheck::Restores(count) => Ok(Some(Finding::pass(
            rule,
            format!("{count} undos restored the board"),
        ))),
        UndoCheck::Differs(line) => {
            let actions = subject.prefix(level).map(|prefix| [prefix, line].concat());
            let finding = Finding::fail(
                rule,
                "undo does not restore the board: everything that is not declared as spent must be restored",
            );
            Ok(Some(
                finding.with_evidence("the last action is the undo", actions),
            ))
        }
        UndoCheck::Unknown => compare_frames(context, level),
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
fn compare_frames(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let mut rng = Rng::new(options.seed, 800 + u64::from(level));
    let mut cells = vec![Cell::default(); CELLS];
    let (mut undone, mut example) = (0, None);
    for _ in 0..law_steps(context) {
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
    Ok(Some(judge(
        &cells,
        undone,
        walk.full_log(),
        example.flatten(),
    )))
}

/// Judges the cells after `undone` undos. `example` is a play with an undo that did not restore a
/// cell which another undo restored.
fn judge(
    cells: &[Cell],
    undone: u32,
    log: Option<Vec<Action>>,
    example: Option<Vec<Action>>,
) -> Finding {
    let rule = Rule::Undo;
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
    match (undone, restored) {
        (0, _) => Finding::not_checked(rule, "random play made no change that could be undone"),
        (5.., 0) => {
            let finding = Finding::fail(rule, format!("undo restored nothing in {undone} tries"));
            finding.with_evidence("random play with undo", log)
        }
        _ if mixed > 0 => {
            let text = format!("undo restores {mixed} cells sometimes, but not always{spent}");
            Finding::warn(rule, text).with_evidence(
                "the last action is an undo that does not restore such cells",
                example,
            )
        }
        _ => Finding::pass(rule, format!("{undone} undos restored the frame{spent}")),
    }
}
