//! The people of a simulation: their traits, and what they intend at each environment.
//!
//! The model is `people-1`. Its times are a fit to the numbers of the ARC-AGI-3 paper: minutes of
//! solved and unsolved attempts are lognormal and below 30. Everything else is a plausible guess,
//! which the calibration test compares with the numbers of attempts, people and hours of the paper.
//!
//! *Invariant:* a person depends only on the seed and on the person's number.

use std::f64::consts::LN_2;

use crate::chance::Chance;

/// The name of the model with its version. The same seed gives the same people only under the same
/// version.
pub const MODEL: &str = "people-1";

const MINUTE_MS: f64 = 60_000.0;
/// Attempts of the fit are shorter than this.
const MAX_ATTEMPT_MIN: f64 = 30.0;
/// No attempt with more than 30 actions is shorter than this.
const MIN_ATTEMPT_MIN: f64 = 0.1;
/// The minutes of attempts: median and sigma of the lognormal distribution.
const SOLVED_MINUTES: (f64, f64) = (8.12, 0.51);
const UNSOLVED_MINUTES: (f64, f64) = (15.3, 1.99);
/// The correlation of a person's durations.
const TEMPO_SHARE: f64 = 0.2;

const LOW_EFFORT: f64 = 0.03;
const LOW_EFFORT_QUITS: f64 = 0.7;
/// The probability that a person without low effort looks at an environment only briefly.
const SKIPS: f64 = 0.235;
/// How often a person without low effort does so in a sitting.
const MAX_SKIPS: u32 = 2;
/// The probability that a person plays on up to the hard limit.
const PERSISTS: f64 = 0.1;
/// The share of a person's skill, of learning and of fatigue in the logit of solving.
const SKILL_SIGMA: f64 = 0.7;
const DIFFICULTY_SIGMA: f64 = 1.3;
const LEARNING: f64 = 0.25;
const FATIGUE: f64 = 0.45;
const SOLVE_LOGIT: f64 = -0.75;

/// A simulated person.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Person {
    seed: u64,
    pub(crate) number: u32,
    skill: f64,
    learning: f64,
    fatigue: f64,
    tempo: f64,
    /// The mean time between two actions.
    action_ms: f64,
    low_effort: bool,
    pub(crate) fate: Fate,
    /// The probability of a double click at an action.
    pub(crate) double_clicks: f64,
    /// The probability that the connection is lost after an action was sent.
    pub(crate) lost_responses: f64,
    /// The probability that the page is reloaded after an action.
    pub(crate) reloads: f64,
    /// The probability that the browser crashes at an action and is started again.
    pub(crate) crashes: f64,
    /// The probability of a pause after an environment.
    pub(crate) pauses: f64,
}

/// How a person's participation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The person stays until the sitting is over.
    Stays,
    /// The person leaves after this time of the sitting.
    Leaves(u64),
    /// The person is never heard of again after this time.
    Vanishes(u64),
    WithdrawsKeepingData(u64),
    WithdrawsDeletingData(u64),
}

/// What a person knows when an environment begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    /// The position in the sitting, from 1.
    pub(crate) position: u32,
    /// The time since the start of the sitting.
    pub(crate) sitting_ms: u64,
    pub(crate) difficulty: f64,
    /// The number of environments that the person has only looked at.
    pub(crate) skipped: u32,
}

/// What a person does with an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Looks at the environment and leaves after at most 30 actions.
    Skip,
    Solve,
    GiveUp,
    /// Plays on, unsuccessfully, until the server ends the attempt.
    Persist,
}

/// An intent with its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntendedPlay {
    pub(crate) intent: Intent,
    pub(crate) duration_ms: u64,
    /// The number of actions in this time. Solving may need more.
    pub(crate) actions: usize,
}

impl Person {
    pub(crate) fn new(seed: u64, number: u32) -> Self {
        let mut chance = Chance::new(seed, &[PERSON, number.into()]);
        let fate = fate(&mut chance);
        Self {
            seed,
            number,
            skill: SKILL_SIGMA * chance.normal(),
            learning: LEARNING * chance.between(0.5, 1.5),
            fatigue: FATIGUE * chance.between(0.5, 1.5),
            tempo: chance.normal(),
            action_ms: 2150.0 * (0.25 * chance.normal()).exp(),
            low_effort: chance.happens(LOW_EFFORT),
            fate,
            double_clicks: chance.between(0.0, 0.006),
            lost_responses: chance.between(0.0, 0.003),
            reloads: chance.between(0.0, 0.003),
            crashes: chance.between(0.0, 0.0006),
            pauses: chance.between(0.0, 0.1),
        }
    }

    /// Returns the source of draws for a purpose at a position of the sitting.
    pub(crate) fn chance(&self, purpose: u64, position: u32) -> Chance {
        Chance::new(self.seed, &[purpose, self.number.into(), position.into()])
    }

    /// Decides what to do with an environment.
    pub(crate) fn intend(&self, now: Circumstances) -> IntendedPlay {
        let mut chance = self.chance(INTENT, now.position);
        let skips = if self.low_effort {
            chance.happens(LOW_EFFORT_QUITS)
        } else {
            now.skipped < MAX_SKIPS && chance.happens(SKIPS)
        };
        if skips {
            let minutes = 1.2 * (0.5 * chance.normal()).exp();
            return IntendedPlay {
                intent: Intent::Skip,
                duration_ms: (minutes * MINUTE_MS) as u64,
                actions: 3 + chance.index(26),
            };
        }
        let minutes_played = now.sitting_ms as f64 / MINUTE_MS;
        let logit = SOLVE_LOGIT + self.skill - now.difficulty
            + self.learning * f64::from(now.position).ln() / LN_2
            - self.fatigue * minutes_played / 90.0;
        let solves = chance.happens(1.0 / (1.0 + (-logit).exp()));
        let (intent, minutes) = if solves {
            (Intent::Solve, self.minutes(SOLVED_MINUTES, &mut chance))
        } else if chance.happens(PERSISTS / (1.0 - SOLVED_SHARE)) {
            (Intent::Persist, MAX_ATTEMPT_MIN + 0.5)
        } else {
            (Intent::GiveUp, self.minutes(UNSOLVED_MINUTES, &mut chance))
        };
        let duration_ms = (minutes * MINUTE_MS) as u64;
        let actions = (minutes * MINUTE_MS / self.action_ms) as usize;
        IntendedPlay {
            intent,
            duration_ms,
            actions: actions.max(MIN_ATTEMPT_ACTIONS),
        }
    }

    /// Draws the minutes of an attempt from the part of the distribution below the hard limit.
    fn minutes(&self, (median, sigma): (f64, f64), chance: &mut Chance) -> f64 {
        let own = (1.0 - TEMPO_SHARE * TEMPO_SHARE).sqrt();
        loop {
            let normal = TEMPO_SHARE * self.tempo + own * chance.normal();
            let minutes = median * (sigma * normal).exp();
            if (MIN_ATTEMPT_MIN..MAX_ATTEMPT_MIN).contains(&minutes) {
                return minutes;
            }
        }
    }
}

/// The share of solved attempts, by which the probability to persist is divided, because only
/// people who do not solve an environment persist.
const SOLVED_SHARE: f64 = 0.48;
/// An attempt has more than 30 actions.
const MIN_ATTEMPT_ACTIONS: usize = 31;

/// The purposes of draws.
const PERSON: u64 = 1;
const INTENT: u64 = 2;
pub(crate) const PLAN: u64 = 3;
pub(crate) const INCIDENTS: u64 = 4;
pub(crate) const ARRIVAL: u64 = 5;
pub(crate) const KILLS: u64 = 7;
const ENVIRONMENT: u64 = 6;

/// Returns the difficulty of an environment in logits; 0 is the mean.
pub(crate) fn difficulty(seed: u64, environment: u32) -> f64 {
    DIFFICULTY_SIGMA * Chance::new(seed, &[ENVIRONMENT, environment.into()]).normal()
}

fn fate(chance: &mut Chance) -> Fate {
    let kind = chance.unit();
    let at_ms = (chance.between(5.0, 85.0) * MINUTE_MS) as u64;
    match kind {
        kind if kind < 0.02 => Fate::Leaves(at_ms),
        kind if kind < 0.03 => Fate::Vanishes(at_ms),
        kind if kind < 0.037 => Fate::WithdrawsKeepingData(at_ms),
        kind if kind < 0.044 => Fate::WithdrawsDeletingData(at_ms),
        _ => Fate::Stays,
    }
}

#[cfg(test)]
mod tests;
