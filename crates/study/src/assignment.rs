//! Need-based assignment: which environment a sitting gets next.
//!
//! One environment is assigned at a time, so sittings of unequal length need no design table. The
//! environments are ordered by
//!
//! 1. the larger need,
//! 2. fewer counted plays at this third of the sitting,
//! 3. fewer people who played it together with an environment of this person,
//! 4. the smaller SHA-256 hash of `seed|sitting|position|environment`.
//!
//! Test and pilot rows never count.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    AssignmentDesign, Digest, EnvironmentVersion, SittingId, StudyStage, TargetCounts,
};

use crate::canonical::text_digest;
use crate::clock::{ClockReading, millis};
use crate::state::{AssignmentState, Sitting, StudyState};

/// The plays of one environment version that assignment looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentLoad {
    /// The plays that count towards the target.
    pub counted: u32,
    /// The reservations and plays in progress that may still count.
    pub live: u32,
    /// The counted plays by the third of the sitting in which they started.
    pub thirds: [u32; 3],
}

/// Returns the need of an environment, in tenths of a play. A live play counts with the share of
/// plays that become valid, so that more people than the target are admitted on purpose; with a share
/// of 10 tenths, the target is never exceeded.
///
/// # Examples
///
/// ```
/// use rhae_study::need_tenths;
///
/// assert_eq!(need_tenths(10, 6, 2, 7), 26);
/// assert_eq!(need_tenths(10, 10, 0, 7), 0);
/// ```
pub fn need_tenths(target: u32, counted: u32, live: u32, share_tenths: u32) -> i64 {
    10 * i64::from(target) - 10 * i64::from(counted) - i64::from(share_tenths) * i64::from(live)
}

/// Returns the load of every environment that has one.
pub fn environment_loads(state: &StudyState) -> BTreeMap<&EnvironmentVersion, EnvironmentLoad> {
    let mut loads: BTreeMap<_, EnvironmentLoad> = BTreeMap::new();
    let Some((_, protocol)) = state.protocol() else {
        return loads;
    };
    for sitting in live_sittings(state) {
        let sitting_ms = millis(state.protocol_of(sitting).limits.sitting_s);
        for (assignment, position) in sitting.assignments.iter().zip(1..) {
            let load = loads.entry(&assignment.environment).or_default();
            let starts = protocol.target_counts == TargetCounts::Starts;
            let start_ms = match &assignment.state {
                AssignmentState::Reserved => {
                    load.live += 1;
                    continue;
                }
                AssignmentState::Started(_) if !starts => {
                    load.live += 1;
                    continue;
                }
                AssignmentState::Started(attempt) => attempt.start_clock_ms,
                AssignmentState::Ended(attempt) => {
                    let counts = if starts {
                        !attempt.outcome.is_censored()
                    } else {
                        let standing = attempt.standing(protocol.attempt_rule);
                        standing.is_valid() && !sitting.is_excluded(position)
                    };
                    if !counts {
                        continue;
                    }
                    attempt.start_clock_ms
                }
                AssignmentState::Released(_) => continue,
            };
            load.counted += 1;
            load.thirds[third(start_ms, sitting_ms)] += 1;
        }
    }
    loads
}

fn live_sittings(state: &StudyState) -> impl Iterator<Item = &Sitting> {
    let sittings = state.sittings.values();
    sittings.filter(|sitting| sitting.stage == StudyStage::Live)
}

/// Returns the third of a sitting at a time of its clock: 0, 1 or 2.
fn third(clock_ms: u64, sitting_ms: u64) -> usize {
    let third = clock_ms.saturating_mul(3) / sitting_ms.max(1);
    usize::try_from(third.min(2)).unwrap_or(2)
}

/// An environment that a sitting may get, with what decides its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    need_tenths: Reverse<i64>,
    at_third: u32,
    meetings: u64,
    tie: Digest,
    pub environment: EnvironmentVersion,
}

impl Candidate {
    pub const fn need_tenths(&self) -> i64 {
        self.need_tenths.0
    }
}

/// Returns the environments that a sitting may get next, the best one first.
pub fn candidates(
    state: &StudyState,
    id: &SittingId,
    sitting: &Sitting,
    reading: ClockReading,
) -> Vec<Candidate> {
    let Some((_, protocol)) = state.protocol() else {
        return Vec::new();
    };
    let loads = environment_loads(state);
    let meetings = meetings(state, sitting);
    let share_tenths = match protocol.target_counts {
        TargetCounts::Starts => 10,
        TargetCounts::Valid => state.share_tenths,
    };
    let third = third(
        reading.sitting_ms,
        millis(state.protocol_of(sitting).limits.sitting_s),
    );
    let position = sitting.last_position() + 1;
    let mut candidates: Vec<Candidate> = eligible(state, sitting)
        .map(|environment| {
            let load = loads.get(environment).copied().unwrap_or_default();
            let need = need_tenths(protocol.target, load.counted, load.live, share_tenths);
            Candidate {
                need_tenths: Reverse(need),
                at_third: load.thirds[third],
                meetings: meetings.get(environment).copied().unwrap_or(0),
                tie: text_digest(&format!("{}|{id}|{position}|{environment}", state.seed)),
                environment: environment.clone(),
            }
        })
        .filter(|candidate| candidate.need_tenths() > 0)
        .collect();
    candidates.sort_unstable();
    candidates
}

/// Returns the environment that a sitting gets next; `None` if no environment is left.
pub fn next_environment(
    state: &StudyState,
    id: &SittingId,
    sitting: &Sitting,
    reading: ClockReading,
) -> Option<EnvironmentVersion> {
    let (_, protocol) = state.protocol()?;
    if let AssignmentDesign::Fixed { per_sitting } = protocol.design {
        let arm = &state.participants.get(&sitting.participant)?.arm;
        let pool: Vec<&EnvironmentVersion> = state
            .environments
            .iter()
            .filter(|(_, pooled)| pooled.arm == *arm && pooled.withdrawn.is_none())
            .map(|(environment, _)| environment)
            .collect();
        let eligible: BTreeSet<_> = eligible(state, sitting).collect();
        let block = fixed_block(state.seed, &pool, per_sitting, sitting.block);
        return block.into_iter().find(|one| eligible.contains(one));
    }
    let best = candidates(state, id, sitting, reading).into_iter().next()?;
    Some(best.environment)
}

/// Returns a block of the fixed design: the entries (block · m + i) mod E of a seeded permutation
/// of the E environments, for i from 0 to m − 1, rotated by block mod m.
pub fn fixed_block(
    seed: u64,
    environments: &[&EnvironmentVersion],
    per_sitting: u32,
    block: u64,
) -> Vec<EnvironmentVersion> {
    let mut permutation: Vec<(Digest, &EnvironmentVersion)> = environments
        .iter()
        .map(|&environment| (text_digest(&format!("{seed}|{environment}")), environment))
        .collect();
    permutation.sort_unstable();
    let size = permutation.len() as u64;
    let per_sitting = u64::from(per_sitting).min(size);
    let mut entries: Vec<EnvironmentVersion> = (0..per_sitting)
        .map(|i| {
            let index =
                (u128::from(block) * u128::from(per_sitting) + u128::from(i)) % u128::from(size);
            permutation[index as usize].1.clone()
        })
        .collect();
    if per_sitting > 0 {
        let by = usize::try_from(block % per_sitting).unwrap_or(0);
        entries.rotate_left(by);
    }
    entries
}

/// Returns the open environments of the person's arm whose family the person has not seen, which fit
/// the person's devices, and which were not assigned in this sitting before.
fn eligible<'a>(
    state: &'a StudyState,
    sitting: &'a Sitting,
) -> impl Iterator<Item = &'a EnvironmentVersion> {
    let person = state.participants.get(&sitting.participant);
    let seen = state.families_seen(&sitting.participant);
    state
        .environments
        .iter()
        .filter(move |(environment, pooled)| {
            person.is_some_and(|person| {
                let devices = person.devices.unwrap_or_default();
                pooled.arm == person.arm
                    && pooled.withdrawn.is_none()
                    && devices.offer(pooled.needs)
                    && !seen.contains(environment.family())
            })
        })
        .map(|(environment, _)| environment)
}

/// Returns, for each environment, how often another person has played it together with an
/// environment of this person.
fn meetings<'a>(state: &'a StudyState, sitting: &Sitting) -> BTreeMap<&'a EnvironmentVersion, u64> {
    let mut played: BTreeMap<_, BTreeSet<&EnvironmentVersion>> = BTreeMap::new();
    for other in live_sittings(state) {
        let environments = other.started().map(|assignment| &assignment.environment);
        played
            .entry(&other.participant)
            .or_default()
            .extend(environments);
    }
    let own: BTreeSet<_> = state
        .sittings_of(&sitting.participant)
        .flat_map(|(_, one)| one.started())
        .map(|assignment| assignment.environment.clone())
        .collect();
    played.remove(&sitting.participant);
    let mut meetings = BTreeMap::new();
    for environments in played.values() {
        let shared = environments
            .iter()
            .filter(|&&one| own.contains(one))
            .count() as u64;
        if shared > 0 {
            for &environment in environments {
                *meetings.entry(environment).or_insert(0) += shared;
            }
        }
    }
    meetings
}

#[cfg(test)]
mod tests;
