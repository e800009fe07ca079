//! The rule `memory`: no leak during long play. The check must run alone in the process, because
//! other checks would change the measured memory. It is therefore a separate part.

use rhae_engine::Rng;

use crate::levels::{enter_level, environment_failed};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk, is_cancelled};
use crate::{Finding, Options, Rule, Subject, Verdict};

/// The growth in bytes that is tolerated, because the memory of a process also fluctuates without a
/// leak.
const GROWTH_TOLERANCE: u64 = 3 << 20;
/// The growth in bytes per step from which a leak is reported.
const MAX_BYTES_PER_STEP: u64 = 24;

pub(super) const DEFINITION: Definition = Definition {
    name: "memory",
    group: Group::Robustness,
    severity: Verdict::Fail,
    requirement: "Memory does not grow during long plays.",
    checks: &[Check::Memory(check)],
};

/// Returns the number of steps of this part.
pub(crate) fn steps(subject: &dyn Subject, options: &Options) -> u64 {
    let max = if subject.is_hosted() { 6_000 } else { 100_000 };
    (options.steps / 5).clamp(600, max)
}

fn check(context: Context<'_>) -> Vec<Finding> {
    let (rule, subject) = (Rule::Memory, context.subject);
    // The check uses a level in the middle, because the first may be too simple and the last may be
    // unreachable.
    let level = subject.levels() / 2;
    let level = if subject.prefix(level).is_some() {
        level
    } else {
        0
    };
    let walk = match enter_level(context, level, &[rule]) {
        Ok(walk) => walk,
        Err(findings) => return findings,
    };
    match measure(context, level, walk) {
        Ok(finding) => vec![finding],
        Err(failure) => environment_failed(&[rule], level, &failure),
    }
}

fn measure(context: Context<'_>, level: u8, mut walk: Walk) -> Result<Finding, PlayFailure> {
    let Context {
        subject,
        options,
        monitor,
    } = context;
    let rule = Rule::Memory;
    let mut rng = Rng::new(options.seed, 4_000);
    let steps = steps(subject, options);
    let mut marks = Vec::new();
    for _ in 0..4 {
        // The log is replaced, so that its own growth is not measured.
        walk.log = Vec::with_capacity(1 << 10);
        for step in 0..steps / 4 {
            if is_cancelled(monitor, step) {
                return Ok(Finding::open(rule, "not measured: the check was cancelled"));
            }
            let action = walk.random_action(&mut rng);
            walk.act(action)?;
            if walk.log.len() >= 1 << 10
                || walk.observation().levels_completed != level
                || step % 500 == 499
            {
                match Walk::enter(subject, options.env_seed, level)? {
                    Some(fresh) => walk = fresh,
                    None => {
                        return Ok(Finding::not_checked(
                            rule,
                            "the level cannot be entered a second time",
                        ));
                    }
                }
            }
        }
        monitor.add_steps(steps / 4);
        let Some(bytes) = walk.play.memory_bytes().or_else(|| monitor.memory_bytes()) else {
            return Ok(Finding::open(rule, "not measured on this system"));
        };
        marks.push(bytes);
    }
    // The first quarter is not evaluated: caches, pools and lazily built levels are filled then.
    let growth = |from: usize, to: usize| marks[to].saturating_sub(marks[from]);
    let bytes_per_step = growth(1, 3) / (steps / 2).max(1);
    let grows = growth(1, 2) > GROWTH_TOLERANCE / 2
        && growth(2, 3) > GROWTH_TOLERANCE / 2
        && bytes_per_step >= MAX_BYTES_PER_STEP;
    Ok(if grows {
        let text = format!(
            "memory grows by about {bytes_per_step} bytes per step without bound: the environment leaks memory"
        );
        Finding::fail(rule, text).with_evidence("a play during which memory grows", walk.full_log())
    } else {
        Finding::pass(rule, format!("memory does not grow over {steps} steps"))
    })
}
