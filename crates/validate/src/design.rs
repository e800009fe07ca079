//! Statistics about the design: unused actions, actions without effect, static frames, and similar
//! levels.

use rhae_engine::{ActionKind, CELLS, Frame, Rng};

use crate::structure::first_frames;
use crate::walk::Walk;
use crate::{Finding, Options, Rule, Subject, Verdict};

/// The number of random actions on each level.
const SAMPLE_ACTIONS: u32 = 400;
/// The shares above which a statistic is reported as a warning: of random actions without effect,
/// of frame cells that never change, and of cells that are the same in the first frames of two
/// levels.
const MAX_IDLE_SHARE: f64 = 0.99;
const MAX_STILL_SHARE: f64 = 0.99;
const MAX_EQUAL_SHARE: f64 = 0.995;

pub(crate) fn check(subject: &dyn Subject, options: &Options) -> Vec<Finding> {
    let mut findings = vec![
        actions_used(subject),
        alike(&first_frames(subject, options)),
    ];
    let (mut idle, mut taken) = (0_u32, 0_u32);
    let mut changed = vec![false; CELLS];
    for level in 0..subject.levels() {
        let Some(sampled) = sample(subject, options, level, &mut changed) else {
            continue;
        };
        idle += sampled.0;
        taken += sampled.1;
    }
    if taken == 0 {
        findings.extend(
            [Rule::Idle, Rule::Still].map(|rule| Finding::open(rule, "no level could be entered")),
        );
        return findings;
    }
    let share = f64::from(idle) / f64::from(taken);
    let text = format!("{:.0} % of random actions have no effect", 100.0 * share);
    findings.push(judge(
        Rule::Idle,
        share > MAX_IDLE_SHARE,
        &text,
        "; a player learns too little from exploring",
    ));
    let still = changed.iter().filter(|&&changes| !changes).count() as f64 / CELLS as f64;
    let text = format!(
        "{} % of the frame was never observed to change within a level",
        (100.0 * still).floor()
    );
    findings.push(judge(
        Rule::Still,
        still > MAX_STILL_SHARE,
        &text,
        "; most of the frame carries no information",
    ));
    findings
}

fn judge(rule: Rule, too_much: bool, text: &str, advice: &str) -> Finding {
    let (verdict, advice) = if too_much {
        (Verdict::Warn, advice)
    } else {
        (Verdict::Pass, "")
    };
    Finding::new(rule, verdict, format!("{text}{advice}"))
}

/// Plays the solution of a level and then random actions. Marks in `changed` the cells that change.
/// Returns the number of random actions without effect and the number of all random actions.
fn sample(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    changed: &mut [bool],
) -> Option<(u32, u32)> {
    let mut rng = Rng::new(options.seed, 5_000 + u64::from(level));
    let mut mark = |before: &Frame, after: &Frame| {
        for ((before, after), changes) in
            before.cells().iter().zip(after.cells()).zip(&mut *changed)
        {
            *changes |= before != after;
        }
    };
    let mut walk = Walk::enter(subject, options.env_seed, level).ok()??;
    for action in subject.solution(level).unwrap_or_default() {
        let before = walk.observation().settled().clone();
        if walk.act(action).ok()?.levels_completed == level {
            mark(&before, walk.observation().settled());
        }
    }
    let mut walk = Walk::enter(subject, options.env_seed, level).ok()??;
    let (mut idle, mut taken) = (0, 0);
    let actions = if subject.is_hosted() {
        SAMPLE_ACTIONS / 4
    } else {
        SAMPLE_ACTIONS
    };
    for _ in 0..actions {
        let before = walk.observation().settled().clone();
        let action = walk.random_action(&mut rng);
        let seen = walk.act(action).ok()?;
        taken += 1;
        idle += u32::from(!seen.changed);
        if seen.levels_completed != level {
            walk = Walk::enter(subject, options.env_seed, level).ok()??;
        } else {
            mark(&before, walk.observation().settled());
        }
    }
    Some((idle, taken))
}

/// Reports the actions that no solution uses. Undo is exempt, because no solution needs it.
fn actions_used(subject: &dyn Subject) -> Finding {
    let rule = Rule::ActionsUsed;
    let solutions: Vec<_> = (0..subject.levels())
        .filter_map(|level| subject.solution(level))
        .collect();
    if solutions.is_empty() {
        return Finding::open(rule, "no solution is known");
    }
    let kinds = subject
        .info()
        .actions
        .iter()
        .filter(|kind| !matches!(kind, ActionKind::Reset | ActionKind::Action7));
    let used: Vec<(ActionKind, usize)> = kinds
        .map(|kind| {
            (
                kind,
                solutions
                    .iter()
                    .filter(|line| line.iter().any(|action| action.kind() == kind))
                    .count(),
            )
        })
        .collect();
    let counts: Vec<String> = used
        .iter()
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    let text = format!(
        "number of levels that use each action, out of {}: {}",
        solutions.len(),
        counts.join(", ")
    );
    let idle: Vec<&str> = used
        .iter()
        .filter(|&&(_, count)| count == 0)
        .map(|(kind, _)| kind.name())
        .collect();
    match idle.is_empty() || solutions.len() < usize::from(subject.levels()) {
        true => Finding::pass(rule, text),
        false => Finding::warn(
            rule,
            format!("no solution uses {}; {text}", idle.join(", ")),
        ),
    }
}

/// Finds the two levels whose first frames differ least.
fn alike(frames: &[(u8, Frame)]) -> Finding {
    let rule = Rule::Alike;
    let mut closest: Option<(f64, u8, u8)> = None;
    for (index, (one, a)) in frames.iter().enumerate() {
        for (other, b) in &frames[..index] {
            let share = a
                .cells()
                .iter()
                .zip(b.cells())
                .filter(|(a, b)| a == b)
                .count() as f64
                / CELLS as f64;
            if closest.is_none_or(|(known, ..)| share > known) {
                closest = Some((share, *other, *one));
            }
        }
    }
    let Some((share, one, other)) = closest else {
        return Finding::open(rule, "fewer than two levels can be entered");
    };
    let text = format!(
        "levels {} and {} are the most similar: {:.0} % of the cells in their first frames are equal",
        one + 1,
        other + 1,
        100.0 * share
    );
    judge(
        rule,
        share >= MAX_EQUAL_SHARE,
        &text,
        "; every level should require something new",
    )
}
