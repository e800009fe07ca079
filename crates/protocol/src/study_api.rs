//! What researchers send and get through the REST API of human studies.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::study::{
    AttemptOutcome, CompletionCode, CompletionKind, EnvironmentVersion, ExclusionId, ParticipantId,
    PaymentKey, SessionId, SiteId, SittingEndReason, SittingId, StudyRole, StudyStage,
};
use crate::study_protocol::StudyProtocol;
use crate::study_status::{StudyListing, StudyStatus};
use crate::study_terms::{AttemptStanding, AttemptState, EffortVerdict, StudyPermission};

/// A change of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum StudyRequest {
    SetProtocol {
        protocol: Box<StudyProtocol>,
    },
    Freeze,
    Amend {
        protocol: Box<StudyProtocol>,
        reason: String,
    },
    Open,
    Pause {
        reason: String,
    },
    Close,
    AddEnvironment {
        /// The id of an environment that the caller may see.
        environment: String,
    },
    WithdrawEnvironment {
        environment: EnvironmentVersion,
        reason: String,
    },
    AddSite {
        site: SiteId,
        #[serde(default)]
        seats: u32,
        #[serde(default)]
        fee_minor: Option<u64>,
    },
    ScheduleSession {
        session: SessionId,
        site: SiteId,
        starts_ms: u64,
        capacity: u32,
    },
    SetRecruiter {
        site: SiteId,
        /// The name of the platform, for example `prolific`.
        recruiter: String,
        #[serde(default)]
        #[schema(value_type = Object)]
        codes: BTreeMap<CompletionKind, CompletionCode>,
    },
    Book {
        participant: ParticipantId,
        session: SessionId,
    },
    CheckIn {
        participant: ParticipantId,
        session: SessionId,
        seat: u32,
    },
    Extend {
        sitting: SittingId,
        seconds: u64,
        reason: String,
    },
    EndSitting {
        sitting: SittingId,
        reason: String,
    },
    Exclude {
        sitting: SittingId,
        /// The excluded attempt; absent for the whole sitting.
        #[serde(default)]
        position: Option<u32>,
        reason: String,
        #[serde(default)]
        evidence: String,
    },
    Undo {
        exclusion: ExclusionId,
        reason: String,
    },
    MarkHelped {
        sitting: SittingId,
        position: u32,
        reason: String,
    },
    PublishBaselines,
    SendPayments {
        batch: String,
    },
    ConfirmPayments {
        batch: String,
    },
    Adjust {
        /// The idempotency key of the line.
        key: PaymentKey,
        participant: ParticipantId,
        amount_minor: i64,
        note: String,
    },
    Erase {
        participant: ParticipantId,
    },
    Grant {
        /// The public id of an API key.
        key: String,
        role: StudyRole,
        /// The environments of an author.
        #[serde(default)]
        environments: BTreeSet<EnvironmentVersion>,
    },
    Revoke {
        key: String,
    },
}

/// A new study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStudyBody {
    pub id: String,
    pub title: String,
    /// `rhae-1` unless given.
    #[serde(default)]
    pub preset: Option<String>,
    /// The seed of all draws; 0 unless given.
    #[serde(default)]
    pub seed: u64,
    /// Ids of environments that the caller may see.
    #[serde(default)]
    pub environments: Vec<String>,
    /// The consent texts by language.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub consent: BTreeMap<String, String>,
    /// A site `online` without seats unless given.
    #[serde(default)]
    pub sites: Vec<NewStudySite>,
}

/// A site of a new study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStudySite {
    pub site: SiteId,
    #[serde(default)]
    pub seats: u32,
}

/// The assumptions of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckBody {
    /// The protocol to check instead of the current one.
    #[serde(default)]
    pub protocol: Option<Box<StudyProtocol>>,
    /// The number of environments that a sitting starts.
    #[serde(default)]
    pub per_sitting: Option<u32>,
    /// The share of valid attempts that solve an environment.
    #[serde(default)]
    pub solve_rate: Option<f64>,
}

/// What a member sees of a study first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyOverview {
    #[serde(flatten)]
    pub listing: StudyListing,
    pub role: StudyRole,
    /// The permissions of the role.
    pub permissions: Vec<StudyPermission>,
    /// The current protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<StudyProtocol>,
    /// Whether the protocol is frozen.
    pub frozen: bool,
    pub sites: Vec<SiteRow>,
    pub sessions: Vec<SessionRow>,
    /// The members by the ids of their keys; empty if the caller does not manage members.
    #[schema(value_type = Object)]
    pub members: BTreeMap<String, StudyRole>,
    /// The state, if the caller may read results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<StudyStatus>,
}

/// A site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SiteRow {
    pub site: SiteId,
    pub seats: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee_minor: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recruiter: Option<String>,
}

/// A session in the calendar of a site, with its check-in list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionRow {
    pub session: SessionId,
    pub site: SiteId,
    pub starts_ms: u64,
    pub capacity: u32,
    pub booked: Vec<ParticipantId>,
    /// The people who are present, by seat.
    #[schema(value_type = Object)]
    pub seats: BTreeMap<u32, ParticipantId>,
}

/// People to be enrolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewParticipants {
    pub site: SiteId,
    /// The number of people without an external id, at most 1,000.
    #[serde(default)]
    pub count: u32,
    /// People with an external id, at most 1,000. They require an identity key.
    #[serde(default)]
    pub external_ids: Vec<String>,
    /// `live` unless given.
    #[serde(default)]
    pub stage: Option<StudyStage>,
}

/// The link of one person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PersonalLink {
    pub participant: ParticipantId,
    /// `/s/` and the token. It is returned only here.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
}

/// The links that several people use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyLinks {
    pub arrivals: Vec<ArrivalLink>,
    pub seats: Vec<SeatLink>,
}

/// The link of a site, for all people whom a recruiting platform sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArrivalLink {
    pub site: SiteId,
    pub path: String,
}

/// The link of the machine at a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SeatLink {
    pub site: SiteId,
    pub seat: u32,
    pub path: String,
}

/// An open sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveSitting {
    pub sitting: SittingId,
    pub participant: ParticipantId,
    pub stage: StudyStage,
    pub site: SiteId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
    /// The environment that is reserved or played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentVersion>,
    /// The number of environments that were assigned.
    pub position: u32,
    /// The level that is played, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_ms: Option<u64>,
    pub sitting_ms: u64,
    pub remaining_ms: u64,
    /// The time since the last contact.
    pub idle_ms: u64,
    /// Whether the last contact is recent.
    pub connected: bool,
    pub paused: bool,
    /// Whether the page is hidden.
    pub hidden: bool,
}

/// A sitting with what a reviewer needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SittingRow {
    pub sitting: SittingId,
    pub participant: ParticipantId,
    pub stage: StudyStage,
    pub site: SiteId,
    pub started_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<SittingEndRow>,
    pub attempts: Vec<AttemptRow>,
    pub effort: EffortRow,
    pub exclusions: Vec<ExclusionRow>,
    pub comments: Vec<String>,
}

/// The end of a sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SittingEndRow {
    pub reason: SittingEndReason,
    pub at_ms: u64,
    pub clock_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An environment of a sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptRow {
    pub position: u32,
    pub environment: EnvironmentVersion,
    pub state: AttemptState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AttemptOutcome>,
    /// What the attempt counts as under the rule of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<AttemptStanding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels_completed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play: Option<String>,
    /// Who helped the participant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helped: Option<String>,
}

/// The finding of the low-effort rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EffortRow {
    pub verdict: EffortVerdict,
    pub evidence: String,
}

/// An exclusion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExclusionRow {
    pub exclusion: ExclusionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Who excluded it: a key, or the rule with its version.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub evidence: String,
    pub at_ms: u64,
    /// Who undid it, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
}
