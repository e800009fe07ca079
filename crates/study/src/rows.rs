//! The ended attempts of a study as rows, from which all results are computed.
//!
//! *Invariant:* results use live rows only. Every result can be computed with and without the
//! exclusions ([`Selection`]).

use std::collections::BTreeSet;

use rhae_protocol::{
    AttemptRule, Digest, EnvironmentVersion, ExclusionId, ParticipantId, SittingId, StudyStage,
};

use crate::attempt_rule::Standing;
use crate::canonical::digest;
use crate::state::{EndedAttempt, Sitting, StudyState};

/// Which attempts a result uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    pub rule: AttemptRule,
    /// Whether exclusions apply.
    pub exclusions: bool,
}

/// An ended live attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptRow<'a> {
    pub participant: &'a ParticipantId,
    pub sitting_id: &'a SittingId,
    pub sitting: &'a Sitting,
    pub position: u32,
    pub environment: &'a EnvironmentVersion,
    pub attempt: &'a EndedAttempt,
    pub helped: bool,
    pub excluded: bool,
}

impl AttemptRow<'_> {
    /// Returns what the attempt counts as. An excluded attempt does not count.
    pub fn standing(&self, selection: Selection) -> Standing {
        if selection.exclusions && self.excluded {
            return Standing::NotCounted;
        }
        self.attempt.standing(selection.rule)
    }
}

/// Returns all ended live attempts, in the order of sittings and positions.
pub fn live_attempts(state: &StudyState) -> impl Iterator<Item = AttemptRow<'_>> {
    state
        .sittings
        .iter()
        .filter(|(_, sitting)| sitting.stage == StudyStage::Live)
        .flat_map(|(id, sitting)| {
            sitting
                .ended()
                .map(move |(position, assignment, attempt)| AttemptRow {
                    participant: &sitting.participant,
                    sitting_id: id,
                    sitting,
                    position,
                    environment: &assignment.environment,
                    attempt,
                    helped: assignment.helped.is_some(),
                    excluded: sitting.is_excluded(position),
                })
        })
}

/// Returns the hash of the set of exclusions that are in force. A result names it, so that the
/// result can be computed again after exclusions were added or undone.
pub fn exclusion_set(state: &StudyState) -> Digest {
    let active: BTreeSet<&ExclusionId> = state
        .sittings
        .values()
        .flat_map(Sitting::active_exclusions)
        .map(|exclusion| &exclusion.id)
        .collect();
    digest(&active)
}
