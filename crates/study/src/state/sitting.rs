//! A sitting with its assignments and attempts.

use rhae_protocol::{
    AttemptOutcome, Digest, EnvironmentVersion, ExclusionBasis, ExclusionId, ParticipantId,
    PlayCounts, ReleaseReason, SiteId, SittingEndReason, StudyStage,
};
use serde::Serialize;

use crate::canonical::digest;
use crate::clock::PlayClock;

/// One visit of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sitting {
    pub participant: ParticipantId,
    pub site: SiteId,
    pub seat: Option<u32>,
    pub protocol: Digest,
    /// The number of the sitting's block in a fixed design.
    pub block: u64,
    pub stage: StudyStage,
    pub started_ms: u64,
    pub clock: PlayClock,
    /// Time that staff added to the sitting.
    pub extension_ms: u64,
    /// The assignments in the order of their positions, which start at 1.
    pub assignments: Vec<Assignment>,
    pub exclusions: Vec<Exclusion>,
    pub comments: Vec<String>,
    pub ending: Option<SittingEnding>,
}

/// An environment that was given to a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub environment: EnvironmentVersion,
    pub reserved_ms: u64,
    pub state: AssignmentState,
    /// Who helped the participant.
    pub helped: Option<String>,
}

/// The state of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentState {
    Reserved,
    Started(OpenAttempt),
    Ended(EndedAttempt),
    Released(ReleaseReason),
}

/// An attempt in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAttempt {
    pub play: String,
    pub started_ms: u64,
    /// The sitting's clock at the first frame.
    pub start_clock_ms: u64,
    /// The number of prompts to conclude that were shown.
    pub prompts: u32,
}

/// A finished attempt. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndedAttempt {
    pub play: String,
    pub started_ms: u64,
    pub start_clock_ms: u64,
    pub ended_ms: u64,
    pub outcome: AttemptOutcome,
    /// The attempt's clock at its end.
    pub duration_ms: u64,
    pub counts: PlayCounts,
}

impl EndedAttempt {
    /// Returns the hash that identifies the attempt in published baselines.
    pub fn hash(&self) -> Digest {
        digest(self)
    }
}

/// A decision to leave a sitting or one of its attempts out of the analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    pub id: ExclusionId,
    /// The position of the excluded attempt; `None` for the whole sitting.
    pub position: Option<u32>,
    pub basis: ExclusionBasis,
    pub evidence: String,
    pub at_ms: u64,
    /// Who undid the exclusion, and why.
    pub undone: Option<(String, String)>,
}

/// The end of a sitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SittingEnding {
    pub reason: SittingEndReason,
    pub at_ms: u64,
    pub clock_ms: u64,
    pub note: Option<String>,
}

impl Sitting {
    pub const fn is_open(&self) -> bool {
        self.ending.is_none()
    }

    /// Returns the last assignment with its position, if it is reserved or started.
    pub fn current(&self) -> Option<(u32, &Assignment)> {
        let assignment = self.assignments.last()?;
        let is_current = matches!(
            assignment.state,
            AssignmentState::Reserved | AssignmentState::Started(_)
        );
        is_current.then_some((self.last_position(), assignment))
    }

    /// Returns the attempt in progress with its position.
    pub fn open_attempt(&self) -> Option<(u32, &Assignment, &OpenAttempt)> {
        let (position, assignment) = self.current()?;
        match &assignment.state {
            AssignmentState::Started(attempt) => Some((position, assignment, attempt)),
            _ => None,
        }
    }

    /// Returns the assignments whose first frame was seen.
    pub fn started(&self) -> impl Iterator<Item = &Assignment> {
        self.assignments.iter().filter(|assignment| {
            matches!(
                assignment.state,
                AssignmentState::Started(_) | AssignmentState::Ended(_)
            )
        })
    }

    /// Returns the finished attempts with their positions.
    pub fn ended(&self) -> impl Iterator<Item = (u32, &Assignment, &EndedAttempt)> {
        self.assignments
            .iter()
            .zip(1..)
            .filter_map(|(assignment, position)| match &assignment.state {
                AssignmentState::Ended(attempt) => Some((position, assignment, attempt)),
                _ => None,
            })
    }

    /// Returns the position of the last assignment; 0 before the first one.
    pub fn last_position(&self) -> u32 {
        u32::try_from(self.assignments.len()).unwrap_or(u32::MAX)
    }

    /// Returns whether the attempt at a position is excluded, by itself or with the sitting.
    pub fn is_excluded(&self, position: u32) -> bool {
        self.active_exclusions()
            .any(|exclusion| exclusion.position.is_none_or(|one| one == position))
    }

    /// Returns the exclusions that were not undone.
    pub fn active_exclusions(&self) -> impl Iterator<Item = &Exclusion> {
        self.exclusions
            .iter()
            .filter(|exclusion| exclusion.undone.is_none())
    }

    pub(crate) fn assignment_mut(&mut self, position: u32) -> Option<&mut Assignment> {
        let index = usize::try_from(position).ok()?.checked_sub(1)?;
        self.assignments.get_mut(index)
    }
}
