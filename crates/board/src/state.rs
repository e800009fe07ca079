//! The state of a board: what the event log says.
//!
//! *Invariant:* the state is changed by events only, so replaying a log gives the same state. Scores
//! and ranks are computed from the state when they are needed.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    BoardClaim, BoardDefinition, BoardFlag, BoardId, BoardRun, BoardSystem, Contest, Digest,
    EntryId, RegistrationId, RetractionReason, VerificationState,
};
use rhae_scoring::Method;

use crate::tiers::played_tiers;

/// How long the plays of a registration may take: 14 days.
pub const REGISTRATION_MS: u64 = 14 * 24 * 60 * 60 * 1000;

/// The state of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardState {
    pub id: BoardId,
    pub definition: BoardDefinition,
    pub set: Digest,
    pub registrations: BTreeMap<RegistrationId, Registration>,
    pub entries: BTreeMap<EntryId, Entry>,
    pub releases: Vec<Release>,
    pub closed: Option<String>,
    /// The names of people by the hashes that the log has in their places, without the erased ones.
    pub names: BTreeMap<String, String>,
}

/// An announcement of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    pub system: BoardSystem,
    pub at_ms: u64,
    pub seeds: Vec<u64>,
    pub abandoned: bool,
    pub entry: Option<EntryId>,
}

/// A row of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub system: BoardSystem,
    pub registration: Option<RegistrationId>,
    pub claim: BoardClaim,
    /// Who submitted the row.
    pub actor: String,
    pub at_ms: u64,
    /// The number of the record that created the row.
    pub seq: u64,
    pub state: VerificationState,
    pub runs: Vec<BoardRun>,
    /// The runs of the organiser with which the score was compared last.
    pub reruns: Vec<BoardRun>,
    /// Whether the plays were found on the organiser's server.
    pub witnessed: bool,
    pub failure: Option<String>,
    /// Flags that were set by events, with their evidence.
    pub flags: BTreeMap<BoardFlag, String>,
    pub retraction: Option<Retraction>,
    pub contest: Option<Contest>,
    /// The last correction of the score.
    pub correction: Option<Correction>,
}

/// A correction of a score after an error of this program, in units of 1e-9 points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    pub at_ms: u64,
    pub release: String,
    pub note: String,
    pub old_nano: u64,
    pub new_nano: u64,
}

/// Why and when a row was retracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retraction {
    pub by: String,
    pub reason: RetractionReason,
    pub note: String,
    pub at_ms: u64,
}

/// A release of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    pub name: String,
    pub seq: u64,
    pub rows: Digest,
    pub at_ms: u64,
}

impl BoardState {
    /// Returns the scoring method. A definition that was accepted names an existing one.
    pub(crate) fn method(&self) -> Method {
        self.definition.method.parse().unwrap_or(Method::DEFAULT)
    }

    /// Returns the plays of a registration that are part of its row, and how many are due: those that
    /// were announced, without the tiers that a tiered run did not reach. On a board of static tasks, a
    /// play is the answer of a run to a task.
    pub fn progress(&self, registration: &Registration) -> (usize, usize) {
        let set = &self.definition.set;
        let announced = registration.seeds.len() * set.len();
        let entry = registration.entry.as_ref();
        let Some(entry) = entry.and_then(|entry| self.entries.get(entry)) else {
            return (0, announced);
        };
        let not_reached = entry.runs.iter().map(|run| {
            let reached = played_tiers(set, run);
            reached.map_or(0, |(repeats, games)| repeats * (set.len() - games))
        });
        let due = announced.saturating_sub(not_reached.sum());
        (entry.played().len(), due)
    }

    /// Returns the registrations whose plays are missing after 14 days and that are not yet marked.
    pub(crate) fn overdue(&self, now_ms: u64) -> Vec<RegistrationId> {
        let is_overdue = |registration: &Registration| {
            let (played, announced) = self.progress(registration);
            !registration.abandoned
                && now_ms > registration.at_ms.saturating_add(REGISTRATION_MS)
                && played < announced
        };
        let all = self.registrations.iter();
        let overdue = all.filter(|(_, registration)| is_overdue(registration));
        overdue.map(|(id, _)| id.clone()).collect()
    }
}

impl Entry {
    /// Returns the environments that were played, each with the seed of the agent, or the tasks that
    /// were answered, each with the number of the run.
    pub fn played(&self) -> BTreeSet<(&str, u64)> {
        let plays = self.runs.iter().flat_map(|run| &run.plays);
        let plays = plays.map(|play| (play.environment.as_str(), play.seed));
        let runs = (0..).zip(&self.runs);
        let answers = runs.flat_map(|(number, run)| {
            let answers = run.answers.iter();
            answers.map(move |answer| (answer.task.as_str(), number))
        });
        plays.chain(answers).collect()
    }

    pub(crate) fn is_live(&self) -> bool {
        self.retraction.is_none()
    }
}
