//! The rule `fuzz-frames`: frames and counters stay valid whatever the actions.

use rhae_engine::{Action, Observation, PlayState};

use super::frames::invalid_frames;
use crate::fuzz::Fuzzed;
use crate::rule::{Check, Context, Definition, Group};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "fuzz-frames",
    group: Group::Robustness,
    severity: Verdict::Fail,
    requirement: "No input leads to invalid frames or inconsistent counters.",
    checks: &[Check::Fuzz(check)],
};

fn check(_context: Context<'_>, fuzzed: &Fuzzed) -> Option<Finding> {
    Some(match &fuzzed.invalid {
        None => Finding::pass(Rule::FuzzFrames, "all frames are valid"),
        Some((problem, log)) => Finding::fail(Rule::FuzzFrames, problem)
            .with_evidence("the last observation is invalid", log.clone()),
    })
}

/// Returns a description of the first defect of an observation. `before` is the state of the play
/// and the number of completed levels before the action.
pub(crate) fn defect(
    seen: &Observation,
    hosted: bool,
    before: (PlayState, u8),
    action: Action,
) -> Option<String> {
    invalid_frames(seen, hosted).or_else(|| inconsistency(seen, before, action))
}

/// Returns a description of the first contradiction between the fields of an observation, or
/// between it and the previous one.
fn inconsistency(
    seen: &Observation,
    (state, completed): (PlayState, u8),
    action: Action,
) -> Option<String> {
    let now = seen.levels_completed;
    if now > completed + 1 {
        return Some(format!("one action completed {} levels", now - completed));
    }
    if now < completed && !seen.full_reset {
        return Some(format!(
            "completed levels went from {completed} to {now} without a full reset"
        ));
    }
    if (seen.state == PlayState::Win) != (now == seen.win_levels) {
        return Some(format!(
            "{now} of {} levels are completed, but the state is {}",
            seen.win_levels,
            seen.state.name()
        ));
    }
    if state != PlayState::NotFinished && action != Action::Reset && seen.state != state {
        return Some(format!(
            "{} became {} without a RESET",
            state.name(),
            seen.state.name()
        ));
    }
    None
}
