//! Whether long play takes ever more memory. It needs the process for itself, so it is a part of its own that others wait for.

use rhae_engine::Rng;

use crate::levels::{entered, stopped};
use crate::walk::{Broken, Walk, is_over};
use crate::{Finding, Options, Rule, Subject, Watch};

/// Growth that is taken for chance.
const SLACK: u64 = 3 << 20;
/// Bytes a step that no environment needs to keep.
const A_STEP: u64 = 24;

/// Steps of this part.
pub(crate) fn steps(subject: &dyn Subject, options: &Options) -> u64 {
    let most = if subject.is_hosted() { 6_000 } else { 100_000 };
    (options.steps / 5).clamp(600, most)
}

pub(crate) fn check(subject: &dyn Subject, options: &Options, watch: &dyn Watch) -> Vec<Finding> {
    let rule = Rule::Memory;
    // A level of the middle: the first may be too simple, the last too hard to come to.
    let level = subject.levels() / 2;
    let level = if subject.prefix(level).is_some() {
        level
    } else {
        0
    };
    let walk = match entered(subject, options, level, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    match grown(subject, options, level, walk, watch) {
        Ok(finding) => vec![finding],
        Err(broken) => stopped(&[rule], level, &broken),
    }
}

fn grown(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    mut walk: Walk,
    watch: &dyn Watch,
) -> Result<Finding, Broken> {
    let rule = Rule::Memory;
    let mut rng = Rng::new(options.seed, 4_000);
    let steps = steps(subject, options);
    let mut marks = Vec::new();
    for quarter in 0..4 {
        // What is remembered here must not look like growth.
        walk.log = Vec::with_capacity(1 << 10);
        for step in 0..steps / 4 {
            if is_over(watch, step) {
                return Ok(Finding::open(rule, "not measured to the end"));
            }
            let action = walk.random(&mut rng);
            walk.act(action)?;
            if walk.log.len() >= 1 << 10
                || walk.seen().levels_completed != level
                || step % 500 == 499
            {
                match Walk::enter(subject, options.env_seed, level)? {
                    Some(fresh) => walk = fresh,
                    None => return Ok(Finding::open(rule, "the level cannot be entered again")),
                }
            }
        }
        watch.steps(steps / 4);
        let Some(bytes) = walk.play.memory_bytes().or_else(|| watch.memory()) else {
            return Ok(Finding::open(rule, "not measured on this system"));
        };
        marks.push(bytes);
        let _ = quarter;
    }
    // The first quarter warms up: caches, pools and levels that are made when first needed.
    let growth = |from: usize, to: usize| marks[to].saturating_sub(marks[from]);
    let a_step = growth(1, 3) / (steps / 2).max(1);
    let grows = growth(1, 2) > SLACK / 2 && growth(2, 3) > SLACK / 2 && a_step >= A_STEP;
    Ok(if grows {
        let text = format!(
            "memory grows by about {a_step} bytes a step, without end: something is kept that nobody needs"
        );
        Finding::fail(rule, text).shown("play that takes ever more memory", walk.line())
    } else {
        Finding::pass(rule, format!("memory stays as it is over {steps} steps"))
    })
}
