//! What the levels ask for, in numbers: actions needed, actions in vain, what never moves, levels that look alike.

use rhae_engine::{ActionKind, CELLS, Frame, Rng};

use crate::structure::first_frames;
use crate::walk::Walk;
use crate::{Finding, Options, Rule, Subject, Verdict};

/// Random actions on each level.
const SAMPLE: u32 = 400;
/// Shares above which a number is worth a look.
const TOO_IDLE: f64 = 0.99;
const TOO_STILL: f64 = 0.99;
const TOO_ALIKE: f64 = 0.995;

pub(crate) fn check(subject: &dyn Subject, options: &Options) -> Vec<Finding> {
    let mut findings = vec![
        actions_used(subject),
        alike(&first_frames(subject, options)),
    ];
    let (mut idle, mut taken) = (0_u32, 0_u32);
    let mut moving = vec![false; CELLS];
    for level in 0..subject.levels() {
        let Some(sampled) = sample(subject, options, level, &mut moving) else {
            continue;
        };
        idle += sampled.0;
        taken += sampled.1;
    }
    if taken == 0 {
        findings.extend(
            [Rule::Idle, Rule::Still].map(|rule| Finding::open(rule, "no level could be played")),
        );
        return findings;
    }
    let share = f64::from(idle) / f64::from(taken);
    let text = format!("{:.0} % of random actions change nothing", 100.0 * share);
    findings.push(judged(
        Rule::Idle,
        share > TOO_IDLE,
        &text,
        "; a player learns too little from trying",
    ));
    let still = moving.iter().filter(|&&moves| !moves).count() as f64 / CELLS as f64;
    let text = format!(
        "{} % of the frame was not seen to change within a level",
        (100.0 * still).floor()
    );
    findings.push(judged(
        Rule::Still,
        still > TOO_STILL,
        &text,
        "; most of what is shown tells nothing",
    ));
    findings
}

fn judged(rule: Rule, too_much: bool, text: &str, advice: &str) -> Finding {
    let (verdict, advice) = if too_much {
        (Verdict::Warn, advice)
    } else {
        (Verdict::Pass, "")
    };
    Finding::new(rule, verdict, format!("{text}{advice}"))
}

/// Plays the solution and then at random; counts actions that change nothing, and marks cells that change.
fn sample(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    moving: &mut [bool],
) -> Option<(u32, u32)> {
    let mut rng = Rng::new(options.seed, 5_000 + u64::from(level));
    let mut mark = |before: &Frame, after: &Frame| {
        for ((before, after), moves) in before.cells().iter().zip(after.cells()).zip(&mut *moving) {
            *moves |= before != after;
        }
    };
    let mut walk = Walk::enter(subject, options.env_seed, level).ok()??;
    for action in subject.solution(level).unwrap_or_default() {
        let before = walk.seen().settled().clone();
        if walk.act(action).ok()?.levels_completed == level {
            mark(&before, walk.seen().settled());
        }
    }
    let mut walk = Walk::enter(subject, options.env_seed, level).ok()??;
    let (mut idle, mut taken) = (0, 0);
    let most = if subject.is_hosted() {
        SAMPLE / 4
    } else {
        SAMPLE
    };
    for _ in 0..most {
        let before = walk.seen().settled().clone();
        let action = walk.random(&mut rng);
        let seen = walk.act(action).ok()?;
        taken += 1;
        idle += u32::from(!seen.changed);
        if seen.levels_completed != level {
            walk = Walk::enter(subject, options.env_seed, level).ok()??;
        } else {
            mark(&before, walk.seen().settled());
        }
    }
    Some((idle, taken))
}

/// In how many levels' solutions each action is used. Undo is for players, not for solutions.
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
        "levels that use each action, of {}: {}",
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
        false => Finding::warn(rule, format!("no level needs {}; {text}", idle.join(", "))),
    }
}

/// The two levels whose first frames differ least.
fn alike(frames: &[(u8, Frame)]) -> Finding {
    let rule = Rule::Alike;
    let mut most: Option<(f64, u8, u8)> = None;
    for (index, (one, a)) in frames.iter().enumerate() {
        for (other, b) in &frames[..index] {
            let share = a
                .cells()
                .iter()
                .zip(b.cells())
                .filter(|(a, b)| a == b)
                .count() as f64
                / CELLS as f64;
            if most.is_none_or(|(known, ..)| share > known) {
                most = Some((share, *other, *one));
            }
        }
    }
    let Some((share, one, other)) = most else {
        return Finding::open(rule, "fewer than two levels can be seen");
    };
    let text = format!(
        "levels {} and {} are most alike: {:.0} % of their first frames are equal",
        one + 1,
        other + 1,
        100.0 * share
    );
    judged(
        rule,
        share >= TOO_ALIKE,
        &text,
        "; a level should ask for something of its own",
    )
}
