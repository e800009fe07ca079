//! The state of a board: what the event log says.
//!
//! *Invariant:* the state is changed by events only, so replaying a log gives the same state. Scores
//! and ranks are computed from the state when they are needed.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    BoardClaim, BoardDefinition, BoardFlag, BoardId, BoardRun, BoardSystem, Contest, Digest,
    EntryId, EnvironmentVersion, RegistrationId, RetractionReason, VerificationState,
};
use rhae_scoring::Method;

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
    pub failure: Option<String>,
    /// Flags that were set by events, with their evidence.
    pub flags: BTreeMap<BoardFlag, String>,
    pub retraction: Option<Retraction>,
    pub contest: Option<Contest>,
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

    /// Returns the plays of a registration that are part of its row, and how many were announced.
    pub fn progress(&self, registration: &Registration) -> (usize, usize) {
        let announced = registration.seeds.len() * self.definition.set.environments.len();
        let entry = registration.entry.as_ref();
        let entry = entry.and_then(|entry| self.entries.get(entry));
        (entry.map_or(0, |entry| entry.played().len()), announced)
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
    /// Returns the environments that were played, each with the seed of the agent.
    pub fn played(&self) -> BTreeSet<(&EnvironmentVersion, u64)> {
        let plays = self.runs.iter().flat_map(|run| &run.plays);
        plays.map(|play| (&play.environment, play.seed)).collect()
    }

    pub(crate) fn is_live(&self) -> bool {
        self.retraction.is_none()
    }

    /// Returns whether a name is that of an author.
    pub fn is_by(&self, actor: &str) -> bool {
        let mut authors = self.system.authors.iter();
        authors.any(|author| {
            crate::system_check::fold(&author.name) == crate::system_check::fold(actor)
        })
    }
}
