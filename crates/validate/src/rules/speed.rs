//! The rule `speed`: fuzzing produces frames fast enough for searches and training.

use crate::fuzz::Fuzzed;
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Verdict};

/// The speed below which the environment is reported as slow.
const MIN_FRAMES_PER_SECOND: f64 = 1_000.0;

pub(super) const DEFINITION: Definition = Definition {
    name: "speed",
    group: Group::Robustness,
    severity: Verdict::Warn,
    requirement: "The environment produces at least 1,000 frames per second.",
    checks: &[Check::Fuzz(check)],
};

fn check(_context: Context<'_>, fuzzed: &Fuzzed) -> Option<Finding> {
    Some(judge(fuzzed.frames, fuzzed.seconds))
}

fn judge(frames: u64, seconds: Option<f64>) -> Finding {
    let Some(seconds) = seconds.filter(|&seconds| seconds > 0.0) else {
        return Finding::open(Rule::Speed, "not measured");
    };
    let per_second = frames as f64 / seconds;
    // The speed is rounded to two significant digits, because the others vary from run to run.
    let rounded = 10_f64.powf(per_second.max(1.0).log10().floor() - 1.0);
    let text = format!(
        "about {:.0} frames per second",
        (per_second / rounded).round() * rounded
    );
    if per_second < MIN_FRAMES_PER_SECOND {
        Finding::warn(
            Rule::Speed,
            format!("{text}: below 1,000, so a million steps take long"),
        )
    } else {
        Finding::pass(Rule::Speed, text)
    }
}
