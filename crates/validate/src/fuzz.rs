//! Regime 3 of random play, fuzzing: actions that are not offered, clicks at the corners, bursts of
//! RESET and undo, and long plays. The rules judge what was observed.

use rhae_engine::{Action, ActionKind, PlayState, Rng, key_of};

use crate::laws::KeyMap;
use crate::levels::{enter_level, environment_failed, unreachable_level};
use crate::part::Kind;
use crate::rule::{Check, Context, checks};
use crate::rules::fuzz_frames::defect;
use crate::walk::{PlayFailure, Walk, action_of_kind, is_cancelled, random_action_of};
use crate::{Finding, Rule};

/// The maximum number of states whose frames are remembered, to detect that the same state is drawn
/// differently later.
const MAX_TRACKED_STATES: usize = 200_000;
const REPORT_INTERVAL: u64 = 4_096;
/// The cells of the first clicks. Starting with the corners makes sure that even a short check
/// tries them all.
const CORNERS: [(u8, u8); 4] = [(0, 0), (63, 0), (0, 63), (63, 63)];

/// Fuzzes one level and checks all rules about it.
pub(crate) fn check(context: Context<'_>, level: u8) -> Vec<Finding> {
    let mut rules = Kind::Fuzz.rules();
    rules.retain(|&rule| rule != Rule::Failures);
    let walk = match enter_level(context, level, &rules) {
        Ok(walk) => walk,
        Err(mut findings) => {
            if findings
                .iter()
                .all(|finding| finding.rule != Rule::Failures)
            {
                findings.push(unreachable_level(Rule::Failures, level));
            }
            return findings;
        }
    };
    let steps = context.options.steps / u64::from(context.subject.levels().max(1));
    let start = context.monitor.seconds();
    let mut fuzz = Fuzz {
        context,
        level,
        fuzzed: Fuzzed {
            steps,
            ..Fuzzed::default()
        },
        pictures: KeyMap::default(),
    };
    if let Err(failure) = fuzz.run(walk, steps) {
        return environment_failed(&rules, level, &failure);
    }
    let mut fuzzed = fuzz.fuzzed;
    fuzzed.states = fuzz.pictures.len();
    let now = context.monitor.seconds();
    fuzzed.seconds = now.zip(start).map(|(now, start)| now - start);
    let judges = checks().filter_map(|(_, check)| match check {
        Check::Fuzz(judge) => Some(judge),
        _ => None,
    });
    judges
        .filter_map(|judge| judge(context, &fuzzed))
        .map(|finding| finding.on_level(level))
        .collect()
}

/// What fuzzing observed on a level.
#[derive(Default)]
pub(crate) struct Fuzzed {
    pub(crate) steps: u64,
    pub(crate) frames: u64,
    /// The duration; `None` if the monitor has no clock.
    pub(crate) seconds: Option<f64>,
    /// The number of different states whose frames were compared.
    pub(crate) states: usize,
    /// The first invalid observation and the actions that lead to it.
    pub(crate) invalid: Option<(String, Option<Vec<Action>>)>,
    /// The actions after which a known state had another frame.
    pub(crate) drift: Option<Option<Vec<Action>>>,
    /// The shortest play that lost this level.
    pub(crate) loss: Option<Loss>,
}

/// A play that lost a level.
pub(crate) struct Loss {
    /// The number of actions on the level.
    length: usize,
    /// All actions, if the path to the level is known.
    pub(crate) actions: Option<Vec<Action>>,
}

struct Fuzz<'a> {
    context: Context<'a>,
    level: u8,
    fuzzed: Fuzzed,
    /// The frame of each state, as a hash.
    pictures: KeyMap<u64>,
}

impl Fuzz<'_> {
    fn run(&mut self, mut walk: Walk, steps: u64) -> Result<(), PlayFailure> {
        let Context {
            subject,
            options,
            monitor,
        } = self.context;
        let mut rng = Rng::new(options.seed, 3_000 + u64::from(self.level));
        let (mut length, mut burst) = (400, None);
        for step in 0..steps {
            // One play in eight is long, because some faults appear only in long plays.
            if walk.log.len() >= length {
                length = if rng.below(8) == 0 {
                    6_000
                } else {
                    30 + rng.below(900) as usize
                };
                match Walk::enter(subject, options.env_seed, self.level)? {
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
                .filter(|_| subject.info().actions.contains(ActionKind::Action6));
            let action = corner.map_or_else(
                || self.fuzz_action(&walk, &mut burst, &mut rng),
                |&(x, y)| Action::Action6 { x, y },
            );
            walk.act(action)?;
            self.fuzzed.frames += walk.observation().frames.frames().len() as u64;
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
        let (seen, hosted) = (walk.observation(), self.context.subject.is_hosted());
        let (is_lost, length) = (seen.state == PlayState::GameOver, walk.log.len());
        if is_lost
            && seen.levels_completed == self.level
            && self
                .fuzzed
                .loss
                .as_ref()
                .is_none_or(|known| length < known.length)
        {
            self.fuzzed.loss = Some(Loss {
                length,
                actions: walk.full_log(),
            });
        }
        if self.fuzzed.invalid.is_none() {
            self.fuzzed.invalid =
                defect(seen, hosted, before, action).map(|text| (text, walk.full_log()));
        }
        if self.fuzzed.drift.is_none() && self.pictures.len() < MAX_TRACKED_STATES {
            let picture = key_of(seen.settled().cells()) as u64;
            let known = *self.pictures.entry(walk.key()).or_insert(picture);
            if known != picture {
                self.fuzzed.drift = Some(walk.full_log());
            }
        }
    }
}
