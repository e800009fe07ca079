//! RESET and undo give back what was before.

use rhae_engine::{Action, ActionKind, CELLS, PlayState, Rng};

use super::same::finish;
use super::{law_steps, situation};
use crate::levels::{no_way, stopped};
use crate::walk::{Broken, Walk};
use crate::{Finding, LevelUndo, Options, Rule, Subject};

/// Actions that are compared after a RESET.
const AFTERWARDS: usize = 12;

/// RESET at random moments: the level is as it began, and goes on as it would have. Twice in a row: so is the game.
pub(super) fn reset(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    finish(Rule::Reset, level, resets(subject, options, level))
}

fn resets(subject: &dyn Subject, options: &Options, level: u8) -> Result<Option<Finding>, Broken> {
    let rule = Rule::Reset;
    let enter = |level: u8| Walk::enter(subject, options.env_seed, level);
    let Some(fresh) = enter(level)? else {
        return Ok(None);
    };
    let begun = situation(&fresh);
    let mut rng = Rng::new(options.seed, 700 + u64::from(level));
    let plays = (law_steps(subject, options) / 40).max(2);
    for play in 0..plays {
        let Some(mut walk) = enter(level)? else {
            return Ok(None);
        };
        for _ in 0..1 + rng.below(40) {
            let action = match walk.random(&mut rng) {
                Action::Reset => break,
                action => action,
            };
            walk.act(action)?;
            if walk.seen().levels_completed != level {
                break;
            }
        }
        if walk.seen().levels_completed != level || walk.seen().state == PlayState::Win {
            continue;
        }
        let full = walk.act(Action::Reset)?.full_reset;
        if full || situation(&walk) != begun {
            let what = if full {
                "starts the whole game"
            } else {
                "does not bring the level back as it began"
            };
            let finding = Finding::fail(rule, format!("RESET in the middle of a level {what}"));
            return Ok(Some(
                finding.shown("the last action is the RESET", walk.line()),
            ));
        }
        if let Some(finding) = goes_on_alike(subject, options, level, &mut walk, &mut rng)? {
            return Ok(Some(finding));
        }
        if play % 4 == 0 {
            let Some(mut first) = enter(0)? else {
                return Ok(None);
            };
            walk.act(Action::Reset)?;
            if !walk.act(Action::Reset)?.full_reset {
                let finding = Finding::fail(
                    rule,
                    "a RESET right after a RESET does not start the game again",
                );
                return Ok(Some(
                    finding.shown("the last two actions are RESETs", walk.line()),
                ));
            }
            if situation(&walk) != situation(&first) {
                let finding = Finding::fail(
                    rule,
                    "a full reset does not bring the game back as it began",
                );
                return Ok(Some(
                    finding.shown("the last two actions are RESETs", walk.line()),
                ));
            }
            for _ in 0..AFTERWARDS {
                let action = first.random(&mut rng);
                first.act(action)?;
                walk.act(action)?;
                if situation(&first) != situation(&walk) {
                    let finding = Finding::fail(
                        rule,
                        "after a full reset the game goes on differently from a new one",
                    );
                    return Ok(Some(finding.shown("the last action shows it", walk.line())));
                }
            }
        }
    }
    Ok(Some(Finding::pass(
        rule,
        format!("{plays} plays were started again and went on as new ones"),
    )))
}

/// After a RESET the level goes on as a new one does.
fn goes_on_alike(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    walk: &mut Walk,
    rng: &mut Rng,
) -> Result<Option<Finding>, Broken> {
    let Some(mut fresh) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    for _ in 0..AFTERWARDS {
        let action = fresh.random(rng);
        fresh.act(action)?;
        walk.act(action)?;
        if situation(&fresh) != situation(walk) {
            let finding = Finding::fail(
                Rule::Reset,
                "after a RESET the level goes on differently from a new one: something is kept",
            );
            return Ok(Some(finding.shown("the last action shows it", walk.line())));
        }
    }
    Ok(None)
}

/// Undo gives back the board. Where only pictures can tell, cells that differ are shown.
pub(super) fn undo(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    let rule = Rule::Undo;
    if !subject.info().actions.contains(ActionKind::Action7) {
        return vec![Finding::open(rule, "undo is not offered").on(level)];
    }
    let steps = law_steps(subject, options);
    let told = crate::walk::caught(|| subject.undo(options.env_seed, level, steps, options.seed));
    match told {
        Err(reason) => stopped(
            &[rule],
            level,
            &Broken {
                reason,
                action: None,
                actions: None,
            },
        ),
        Ok(LevelUndo::Restores(count)) => {
            vec![Finding::pass(rule, format!("{count} undos restored the board")).on(level)]
        }
        Ok(LevelUndo::Differs(line)) => {
            let whole = subject.prefix(level).map(|prefix| [prefix, line].concat());
            let finding = Finding::fail(
                rule,
                "undo does not restore the board: what is not declared as spent has to come back",
            );
            vec![
                finding
                    .on(level)
                    .shown("the last action is the undo", whole),
            ]
        }
        Ok(LevelUndo::Unknown) => match pictures(subject, options, level) {
            Ok(Some(finding)) => vec![finding.on(level)],
            Ok(None) => vec![no_way(rule, level)],
            Err(broken) => stopped(&[rule], level, &broken),
        },
    }
}

/// What undo did to each cell of the picture that the action before had changed.
#[derive(Clone, Copy, Default)]
struct Cell {
    restored: u32,
    kept: u32,
}

/// A cell that undo always leaves shows what is spent. One that it leaves at times and restores at times shows neither.
fn pictures(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
) -> Result<Option<Finding>, Broken> {
    let rule = Rule::Undo;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let mut rng = Rng::new(options.seed, 800 + u64::from(level));
    let mut cells = vec![Cell::default(); CELLS];
    let (mut undone, mut example) = (0, None);
    for _ in 0..law_steps(subject, options) {
        if walk.seen().state != PlayState::NotFinished
            || walk.seen().levels_completed != level
            || walk.log.len() > 100
        {
            let Some(fresh) = Walk::enter(subject, options.env_seed, level)? else {
                return Ok(None);
            };
            walk = fresh;
        }
        let before = walk.seen().settled().clone();
        let action = walk.random(&mut rng);
        walk.act(action)?;
        let stays = |walk: &Walk| {
            walk.seen().state == PlayState::NotFinished && walk.seen().levels_completed == level
        };
        if matches!(action, Action::Action7 | Action::Reset)
            || !stays(&walk)
            || *walk.seen().settled() == before
        {
            continue;
        }
        let after = walk.seen().settled().clone();
        walk.act(Action::Action7)?;
        if !stays(&walk) {
            continue;
        }
        undone += 1;
        let now = walk.seen().settled().cells();
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
            example = Some(walk.line());
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
        format!("; {kept} cells always stay, which is right if they show what is spent")
    };
    Ok(Some(match (undone, restored) {
        (0, _) => Finding::open(
            rule,
            "random play changed nothing that undo could take back",
        ),
        (5.., 0) => {
            let finding = Finding::fail(rule, format!("undo took nothing back in {undone} tries"));
            finding.shown("random play with undo", walk.line())
        }
        _ if mixed > 0 => {
            let text =
                format!("undo restores {mixed} cells at times and leaves them at others{spent}");
            Finding::warn(rule, text).shown(
                "the last action is an undo that leaves such cells",
                example.flatten(),
            )
        }
        _ => Finding::pass(rule, format!("{undone} undos restored the picture{spent}")),
    }))
}
