//! Statistics about the design, which rules judge: how many random actions have an effect, and which
//! parts of the frame change.

use rhae_engine::{CELLS, Frame, Rng};

use crate::rule::{Check, Context, checks};
use crate::walk::Walk;
use crate::{Finding, Rule, Verdict};

/// The number of random actions on each level.
const SAMPLE_ACTIONS: u32 = 400;

/// Checks all rules about the design.
pub(crate) fn check(context: Context<'_>) -> Vec<Finding> {
    let sample = DesignSample::of(context);
    let judges = checks().filter_map(|(_, check)| match check {
        Check::Design(judge) => Some(judge),
        _ => None,
    });
    judges.flat_map(|judge| judge(context, &sample)).collect()
}

/// What solutions and random actions change, over all levels that can be entered.
pub(crate) struct DesignSample {
    /// The number of random actions.
    pub(crate) taken: u32,
    /// The number of random actions without effect.
    pub(crate) idle: u32,
    /// For each cell of the frame, whether it changed within a level.
    pub(crate) changed: Vec<bool>,
}

impl DesignSample {
    fn of(context: Context<'_>) -> Self {
        let mut sample = Self {
            taken: 0,
            idle: 0,
            changed: vec![false; CELLS],
        };
        for level in 0..context.subject.levels() {
            if let Some((idle, taken)) = play_sample(context, level, &mut sample.changed) {
                sample.idle += idle;
                sample.taken += taken;
            }
        }
        sample
    }
}

/// Returns a warning with advice if a statistic is too large, or else a pass.
pub(crate) fn advise(rule: Rule, too_much: bool, text: &str, advice: &str) -> Finding {
    let (verdict, advice) = if too_much {
        (Verdict::Warn, advice)
    } else {
        (Verdict::Pass, "")
    };
    Finding::new(rule, verdict, format!("{text}{advice}"))
}

/// Plays the solution of a level and then random actions. Marks in `changed` the cells that change.
/// Returns the number of random actions without effect and the number of all random actions.
fn play_sample(context: Context<'_>, level: u8, changed: &mut [bool]) -> Option<(u32, u32)> {
    let Context {
        subject, options, ..
    } = context;
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
