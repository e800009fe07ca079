//! Arms, environments, sites and their calendar.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{ArmId, CompletionCode, CompletionKind, Devices, ParticipantId, SiteId};

/// A group of participants who get environments from one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The share of participants relative to the other arms.
    pub weight: u32,
    pub max_participants: Option<u32>,
}

/// An environment version in the pool of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PooledEnvironment {
    pub arm: ArmId,
    pub levels: u32,
    pub needs: Devices,
    pub added_ms: u64,
    /// The reason why the environment was withdrawn.
    pub withdrawn: Option<String>,
}

/// A place where people are tested, or a recruiting platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// 0 for a site without seats.
    pub seats: u32,
    pub languages: BTreeSet<String>,
    pub fee_minor: Option<u64>,
    /// The recruiting platform; `None` for the researcher's own panel.
    pub recruiter: Option<Recruiter>,
}

/// The recruiting platform of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recruiter {
    /// The name, by which external ids of different platforms are distinguished.
    pub name: String,
    pub codes: BTreeMap<CompletionKind, CompletionCode>,
}

/// A date in the calendar of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub site: SiteId,
    pub starts_ms: u64,
    pub capacity: u32,
    /// The people who are expected.
    pub booked: BTreeSet<ParticipantId>,
    /// The people who are present, by seat.
    pub seats: BTreeMap<u32, ParticipantId>,
}
