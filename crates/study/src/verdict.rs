//! The counts and the verdict of each environment version.

use std::collections::{BTreeMap, BTreeSet};

pub use rhae_protocol::StudyVerdict as Verdict;
use rhae_protocol::{
    AttemptRule, EnvironmentVersion, ParticipantId, StudyProtocol, StudyStage, TargetCounts,
};
use rhae_stats::{Interval, wilson_95};

use crate::attempt_rule::Standing;
use crate::rows::{Selection, live_attempts};
use crate::state::{AssignmentState, StudyState};

/// The plays of an environment version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentCounts {
    /// Reservations that are not yet started.
    pub reserved: u32,
    pub playing: u32,
    /// People who saw the first frame.
    pub started: u32,
    /// Ended plays that were not interrupted.
    pub completed_starts: u32,
    /// Valid attempts: successes and failures.
    pub valid: u32,
    /// Valid attempts in which all levels were completed.
    pub solved: u32,
    /// Different people who solved the environment without help.
    pub independent_solves: u32,
    /// Interrupted attempts.
    pub censored: u32,
    /// Plays that are not attempts, or are excluded.
    pub not_counted: u32,
    pub excluded: u32,
}

/// The share of people who solve an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveRate {
    pub solved: u32,
    pub valid: u32,
    pub rate: f64,
    pub interval: Interval,
    /// The rate if every interrupted attempt had failed, and if every one had succeeded.
    pub bounds: Interval,
}

impl EnvironmentCounts {
    /// Returns the number of plays that count towards the target.
    pub const fn towards_target(&self, counts: TargetCounts) -> u32 {
        match counts {
            TargetCounts::Starts => self.completed_starts,
            TargetCounts::Valid => self.valid,
        }
    }

    /// Returns the verdict of an environment that was not withdrawn.
    pub const fn verdict(&self, protocol: &StudyProtocol) -> Verdict {
        let reached = self.towards_target(protocol.target_counts) >= protocol.target;
        let passes = self.independent_solves >= protocol.pass_solves;
        match (reached, passes) {
            (false, false) => Verdict::Collecting,
            (false, true) => Verdict::Passing,
            (true, true) => Verdict::Accepted,
            (true, false) => Verdict::Returned,
        }
    }

    /// Returns the solve rate with Wilson's interval; `None` without valid attempts.
    pub fn solve_rate(&self) -> Option<SolveRate> {
        if self.valid == 0 {
            return None;
        }
        let (solved, valid) = (f64::from(self.solved), f64::from(self.valid));
        let all = valid + f64::from(self.censored);
        Some(SolveRate {
            solved: self.solved,
            valid: self.valid,
            rate: solved / valid,
            interval: wilson_95(solved / valid, valid),
            bounds: Interval {
                low: solved / all,
                high: (solved + f64::from(self.censored)) / all,
            },
        })
    }
}

/// Returns the counts of every environment version in the pool.
pub fn environment_counts(
    state: &StudyState,
    selection: Selection,
) -> BTreeMap<&EnvironmentVersion, EnvironmentCounts> {
    let mut counts: BTreeMap<_, EnvironmentCounts> = state
        .environments
        .keys()
        .map(|environment| (environment, EnvironmentCounts::default()))
        .collect();
    let live = state.sittings.values();
    for sitting in live.filter(|sitting| sitting.stage == StudyStage::Live) {
        for assignment in &sitting.assignments {
            let count = counts.entry(&assignment.environment).or_default();
            match assignment.state {
                AssignmentState::Reserved => count.reserved += 1,
                AssignmentState::Started(_) => {
                    count.playing += 1;
                    count.started += 1;
                }
                AssignmentState::Ended(_) => count.started += 1,
                AssignmentState::Released(_) => {}
            }
        }
    }
    let mut solvers: BTreeMap<&EnvironmentVersion, BTreeSet<&ParticipantId>> = BTreeMap::new();
    for row in live_attempts(state) {
        let count = counts.entry(row.environment).or_default();
        count.completed_starts += u32::from(!row.attempt.outcome.is_censored());
        count.excluded += u32::from(row.excluded);
        let standing = row.standing(selection);
        match standing {
            Standing::Solved => count.solved += 1,
            Standing::Failed => {}
            Standing::Censored => count.censored += 1,
            Standing::NotCounted => count.not_counted += 1,
        }
        count.valid += u32::from(standing.is_valid());
        if standing == Standing::Solved && !row.helped {
            solvers
                .entry(row.environment)
                .or_default()
                .insert(row.participant);
        }
    }
    for (environment, people) in solvers {
        let count = counts.entry(environment).or_default();
        count.independent_solves = u32::try_from(people.len()).unwrap_or(u32::MAX);
    }
    counts
}

/// Returns the verdict of every environment version under the current protocol, with exclusions.
pub fn verdicts(state: &StudyState) -> BTreeMap<&EnvironmentVersion, Verdict> {
    let Some((_, protocol)) = state.protocol() else {
        return BTreeMap::new();
    };
    let counts = environment_counts(state, applied(protocol.attempt_rule));
    state
        .environments
        .iter()
        .map(|(environment, pooled)| {
            let verdict = if pooled.withdrawn.is_some() {
                Verdict::Stopped
            } else {
                counts[environment].verdict(protocol)
            };
            (environment, verdict)
        })
        .collect()
}

/// Returns the selection of a rule with exclusions.
pub(crate) const fn applied(rule: AttemptRule) -> Selection {
    Selection {
        rule,
        exclusions: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::protocol;
    use crate::preset::Preset;

    #[test]
    fn verdict_depends_on_target_and_solves() {
        let protocol = protocol(Preset::Rhae1);
        let verdict = |valid, independent_solves| {
            let counts = EnvironmentCounts {
                valid,
                independent_solves,
                ..EnvironmentCounts::default()
            };
            counts.verdict(&protocol)
        };
        assert_eq!(verdict(9, 1), Verdict::Collecting);
        assert_eq!(verdict(9, 2), Verdict::Passing);
        assert_eq!(verdict(10, 2), Verdict::Accepted);
        assert_eq!(verdict(10, 1), Verdict::Returned);
    }

    #[test]
    fn paper_target_counts_starts() {
        let counts = EnvironmentCounts {
            completed_starts: 10,
            valid: 7,
            independent_solves: 2,
            ..EnvironmentCounts::default()
        };
        assert_eq!(counts.verdict(&protocol(Preset::Paper)), Verdict::Accepted);
        assert_eq!(counts.verdict(&protocol(Preset::Rhae1)), Verdict::Passing);
    }

    #[test]
    fn interrupted_attempts_widen_the_bounds_only() {
        let counts = EnvironmentCounts {
            valid: 10,
            solved: 5,
            censored: 2,
            ..EnvironmentCounts::default()
        };
        let rate = counts.solve_rate().unwrap();
        assert_eq!(rate.rate, 0.5);
        assert_eq!(
            (rate.bounds.low, rate.bounds.high),
            (5.0 / 12.0, 7.0 / 12.0)
        );
        assert_eq!(EnvironmentCounts::default().solve_rate(), None);
    }
}
