//! The rule `frames`: the frames at the start of a level and along its solution are valid.

use rhae_engine::{MAX_FRAMES, Observation};

use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "frames",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "Every observation has 1 to 1,000 frames in sixteen colours.",
    checks: &[Check::Structure(check)],
};

fn check(_context: Context<'_>, starts: &[LevelStart]) -> Vec<Finding> {
    LevelStart::judge_each(starts, Rule::Frames, |entered| {
        match &entered.invalid_frame {
            None => Finding::pass(Rule::Frames, "draws valid frames"),
            Some((problem, log)) => Finding::fail(Rule::Frames, problem)
                .with_evidence("the last observation has an invalid frame", log.clone()),
        }
    })
}

/// Returns a description of the first invalid frame of an observation, or of an invalid number of
/// frames. Hosted games may return one frame more than native ones.
pub(crate) fn invalid_frames(seen: &Observation, hosted: bool) -> Option<String> {
    let frames = seen.frames.frames();
    let max = if hosted { MAX_FRAMES + 1 } else { MAX_FRAMES };
    if !(1..=max).contains(&frames.len()) {
        return Some(format!(
            "{} frames in one observation: expected 1 to {MAX_FRAMES}",
            frames.len()
        ));
    }
    let (number, frame) = frames
        .iter()
        .enumerate()
        .find(|(_, frame)| !frame.is_valid())?;
    let cell = frame
        .cells()
        .iter()
        .position(|&cell| cell > 15)
        .unwrap_or_default();
    Some(format!(
        "colour {} at column {}, row {} of frame {}: expected 0 to 15",
        frame.cells()[cell] as i8,
        cell % 64,
        cell / 64,
        number + 1
    ))
}
