//! Regime 3: play as odd as it gets. Actions that are not offered, clicks at corners, RESET and undo in bursts, long plays.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;
use rhae_engine::{Action, ActionKind, Observation, PlayState, Rng, key_of};

use crate::laws::KeyBits;
use crate::levels::{entered, stopped};
use crate::structure::invalid_frames;
use crate::walk::{Broken, Walk, is_over, random_of, some_action};
use crate::{Finding, Options, Rule, Subject, Watch};

/// States whose pictures are remembered.
const MOST_STATES: usize = 200_000;
/// Frames a second below which a run is slow.
const SLOW: f64 = 1_000.0;
const REPORT: u64 = 4_096;
/// Where clicks begin, so that even a short check has been there.
const CORNERS: [(u8, u8); 4] = [(0, 0), (63, 0), (0, 63), (63, 63)];

/// A level's share of the regime.
pub(crate) fn check(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    watch: &dyn Watch,
) -> Vec<Finding> {
    let rules = [Rule::FuzzFrames, Rule::Drift, Rule::Speed];
    let walk = match entered(subject, options, level, &rules) {
        Ok(walk) => walk,
        Err(mut findings) => {
            if findings
                .iter()
                .all(|finding| finding.rule != Rule::Failures)
            {
                findings.push(crate::levels::no_way(Rule::Failures, level));
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
    let begun = watch.seconds();
    match fuzz.run(walk, steps, watch) {
        Err(broken) => stopped(&rules, level, &broken),
        Ok(()) => {
            let mut findings = vec![
                Finding::pass(Rule::Failures, format!("{steps} odd actions were answered"))
                    .on(level),
            ];
            findings.push(
                fuzz.bad_frame
                    .take()
                    .unwrap_or_else(|| Finding::pass(Rule::FuzzFrames, "all frames are valid"))
                    .on(level),
            );
            let states = fuzz.pictures.len();
            let drift = fuzz.drift.take().unwrap_or_else(|| {
                Finding::pass(
                    Rule::Drift,
                    format!("{states} states look the same each time"),
                )
            });
            findings.push(drift.on(level));
            let seconds = watch.seconds().zip(begun).map(|(now, begun)| now - begun);
            findings.push(speed(fuzz.frames, seconds).on(level));
            findings
        }
    }
}

fn speed(frames: u64, seconds: Option<f64>) -> Finding {
    let Some(seconds) = seconds.filter(|&seconds| seconds > 0.0) else {
        return Finding::open(Rule::Speed, "not measured");
    };
    let per_second = frames as f64 / seconds;
    // Two digits: the rest is chance, and differs from run to run.
    let rounded = 10_f64.powf(per_second.max(1.0).log10().floor() - 1.0);
    let text = format!(
        "about {:.0} frames a second",
        (per_second / rounded).round() * rounded
    );
    if per_second < SLOW {
        Finding::warn(
            Rule::Speed,
            format!("{text}: below 1,000, a million steps take long"),
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
    fn run(&mut self, mut walk: Walk, steps: u64, watch: &dyn Watch) -> Result<(), Broken> {
        let mut rng = Rng::new(self.options.seed, 3_000 + u64::from(self.level));
        let (mut length, mut burst) = (400, None);
        for step in 0..steps {
            // Some plays are long, to see what only long ones show.
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
            let before = (walk.seen().state, walk.seen().levels_completed);
            let corner = CORNERS
                .get(step as usize)
                .filter(|_| self.subject.info().actions.contains(ActionKind::Action6));
            let action = corner.map_or_else(
                || self.odd_action(&walk, &mut burst, &mut rng),
                |&(x, y)| Action::Action6 { x, y },
            );
            walk.act(action)?;
            self.frames += walk.seen().frames.frames().len() as u64;
            self.look(&walk, before, action);
            if (step + 1) % REPORT == 0 {
                watch.steps(REPORT);
            }
            if is_over(watch, step) {
                break;
            }
        }
        watch.steps(steps % REPORT);
        Ok(())
    }

    fn odd_action(&self, walk: &Walk, burst: &mut Option<(Action, u32)>, rng: &mut Rng) -> Action {
        if let Some((action, left)) = burst {
            *left -= 1;
            let action = *action;
            if *left == 0 {
                *burst = None;
            }
            return action;
        }
        let seen = walk.seen();
        if seen.state != PlayState::NotFinished && rng.below(4) > 0 {
            return Action::Reset;
        }
        let offered = random_of(seen.available, rng).unwrap_or(Action::Reset);
        match rng.below(40) {
            0 => Action::Reset,
            1..=3 => some_action(ActionKind::ALL[rng.below(8) as usize], rng),
            4 | 5 if seen.available.contains(ActionKind::Action6) => {
                let rim = |rng: &mut Rng| [0, 1, 31, 32, 62, 63][rng.below(6) as usize];
                Action::Action6 {
                    x: rim(rng),
                    y: rim(rng),
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

    fn look(&mut self, walk: &Walk, before: (PlayState, u8), action: Action) {
        let seen = walk.seen();
        if self.bad_frame.is_none() {
            let wrong = invalid_frames(seen, self.subject.is_hosted())
                .or_else(|| impossible(seen, before, action));
            self.bad_frame = wrong.map(|text| {
                Finding::fail(Rule::FuzzFrames, text).shown("the last answer shows it", walk.line())
            });
        }
        if self.drift.is_none() && self.pictures.len() < MOST_STATES {
            let picture = key_of(seen.settled().cells()) as u64;
            let known = *self.pictures.entry(walk.key()).or_insert(picture);
            if known != picture {
                let text = "the same state key was seen with another picture before: key and frame drift apart";
                let finding = if self.subject.is_hosted() {
                    Finding::warn(Rule::Drift, text)
                } else {
                    Finding::fail(Rule::Drift, text)
                };
                self.drift = Some(finding.shown(
                    "the last picture differs from an earlier one of the same key",
                    walk.line(),
                ));
            }
        }
    }
}

/// Counts that cannot be, in words.
fn impossible(
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
            "{now} of {} levels are completed and the state is {}",
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
