//! Regime 3, fuzzing: actions that are not offered, clicks at the corners, bursts of RESET and
//! undo, and long plays.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;
use rhae_engine::{Action, ActionKind, Observation, PlayState, Rng, key_of};

use crate::laws::KeyBits;
use crate::levels::{enter_level, environment_failed};
use crate::structure::invalid_frames;
use crate::walk::{PlayFailure, Walk, action_of_kind, is_cancelled, random_action_of};
use crate::{Finding, Monitor, Options, Rule, Subject};

/// The maximum number of states whose frames are remembered, to detect that the same state is drawn
/// differently later.
const MAX_TRACKED_STATES: usize = 200_000;
/// The speed below which the environment is reported as slow.
const MIN_FRAMES_PER_SECOND: f64 = 1_000.0;
const REPORT_INTERVAL: u64 = 4_096;
/// The cells of the first clicks. Starting with the corners makes sure that even a short check
/// tries them all.
const CORNERS: [(u8, u8); 4] = [(0, 0), (63, 0), (0, 63), (63, 63)];

/// Fuzzes one level.
pub(crate) fn check(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    monitor: &dyn Monitor,
) -> Vec<Finding> {
    let rules = [Rule::FuzzFrames, Rule::Drift, Rule::Speed];
    let walk = match enter_level(subject, options, level, &rules) {
        Ok(walk) => walk,
        Err(mut findings) => {
            if findings
                .iter()
                .all(|finding| finding.rule != Rule::Failures)
            {
                findings.push(crate::levels::unreachable_level(Rule::Failures, level));
            }
            return findings;
        }
    };
    let mut fuzz = Fuzz {
        subject,
        options,
        level,
        frames: 0,
        bad_frame: None,
        drift: None,
        pictures: HashMap::default(),
    };
    let steps = options.steps / u64::from(subject.levels().max(1));
    let start = monitor.seconds();
    match fuzz.run(walk, steps, monitor) {
        Err(failure) => environment_failed(&rules, level, &failure),
        Ok(()) => {
            let mut findings = vec![
                Finding::pass(
                    Rule::Failures,
                    format!("{steps} fuzzed actions were answered"),
                )
                .on_level(level),
            ];
            findings.push(
                fuzz.bad_frame
                    .take()
                    .unwrap_or_else(|| Finding::pass(Rule::FuzzFrames, "all frames are valid"))
                    .on_level(level),
            );
            let states = fuzz.pictures.len();
            let drift = fuzz.drift.take().unwrap_or_else(|| {
                Finding::pass(
                    Rule::Drift,
                    format!("{states} states have the same frame at every visit"),
                )
            });
            findings.push(drift.on_level(level));
            let seconds = monitor.seconds().zip(start).map(|(now, start)| now - start);
            findings.push(speed(fuzz.frames, seconds).on_level(level));
            findings
        }
    }
}

fn speed(frames: u64, seconds: Option<f64>) -> Finding {
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

struct Fuzz<'a> {
    subject: &'a dyn Subject,
    options: &'a Options,
    level: u8,
    frames: u64,
    bad_frame: Option<Finding>,
    drift: Option<Finding>,
    pictures: HashMap<u128, u64, BuildHasherDefault<KeyBits>>,
}

impl Fuzz<'_> {
    fn run(
        &mut self,
        mut walk: Walk,
        steps: u64,
        monitor: &dyn Monitor,
    ) -> Result<(), PlayFailure> {
        let mut rng = Rng::new(self.options.seed, 3_000 + u64::from(self.level));
        let (mut length, mut burst) = (400, None);
        for step in 0..steps {
            // One play in eight is long, because some faults appear only in long plays.
            if walk.log.len() >= length {
                length = if rng.below(8) == 0 {
                    6_000
                } else {
                    30 + rng.below(900) as usize
                };
                match Walk::enter(self.subject, self.options.env_seed, self.level)? {
                    Some(fresh) => walk = fresh,
                    None => return Ok(()),
                }
            }
            let before = (
                walk.observation().state,
                walk.observation().levels_completed,
            );
            let corner = CORNERS
                .get(step as usize)
                .filter(|_| self.subject.info().actions.contains(ActionKind::Action6));
            let action = corner.map_or_else(
                || self.fuzz_action(&walk, &mut burst, &mut rng),
                |&(x, y)| Action::Action6 { x, y },
            );
            walk.act(action)?;
            self.frames += walk.observation().frames.frames().len() as u64;
            self.inspect(&walk, before, action);
            if (step + 1) % REPORT_INTERVAL == 0 {
                monitor.add_steps(REPORT_INTERVAL);
            }
            if is_cancelled(monitor, step) {
                break;
            }
        }
        monitor.add_steps(steps % REPORT_INTERVAL);
        Ok(())
    }

    fn fuzz_action(&self, walk: &Walk, burst: &mut Option<(Action, u32)>, rng: &mut Rng) -> Action {
        if let Some((action, left)) = burst {
            *left -= 1;
            let action = *action;
            if *left == 0 {
                *burst = None;
            }
            return action;
        }
        let seen = walk.observation();
        if seen.state != PlayState::NotFinished && rng.below(4) > 0 {
            return Action::Reset;
        }
        let offered = random_action_of(seen.available, rng).unwrap_or(Action::Reset);
        match rng.below(40) {
            0 => Action::Reset,
            1..=3 => action_of_kind(ActionKind::ALL[rng.below(8) as usize], rng),
            4 | 5 if seen.available.contains(ActionKind::Action6) => {
                let boundary_coordinate =
                    |rng: &mut Rng| [0, 1, 31, 32, 62, 63][rng.below(6) as usize];
                Action::Action6 {
                    x: boundary_coordinate(rng),
                    y: boundary_coordinate(rng),
                }
            }
            6 => {
                let action = if rng.below(2) == 0 {
                    Action::Action7
                } else {
                    offered
                };
                *burst = Some((action, 1 + rng.below(80)));
                action
            }
            _ => offered,
        }
    }

    fn inspect(&mut self, walk: &Walk, before: (PlayState, u8), action: Action) {
        let seen = walk.observation();
        if self.bad_frame.is_none() {
            let problem = invalid_frames(seen, self.subject.is_hosted())
                .or_else(|| inconsistency(seen, before, action));
            self.bad_frame = problem.map(|text| {
                Finding::fail(Rule::FuzzFrames, text)
                    .with_evidence("the last observation is invalid", walk.full_log())
            });
        }
        if self.drift.is_none() && self.pictures.len() < MAX_TRACKED_STATES {
            let picture = key_of(seen.settled().cells()) as u64;
            let known = *self.pictures.entry(walk.key()).or_insert(picture);
            if known != picture {
                let text = "the same state key had another frame before: the frame does not follow from the key";
                let finding = if self.subject.is_hosted() {
                    Finding::warn(Rule::Drift, text)
                } else {
                    Finding::fail(Rule::Drift, text)
                };
                self.drift = Some(finding.with_evidence(
                    "the last frame differs from an earlier one with the same key",
                    walk.full_log(),
                ));
            }
        }
    }
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
