//! The event log of a human study.
//!
//! The log is the only stored state of a study: everything else is computed from it. Each record
//! belongs to a chain, in which it contains the hash of the record before it. Every sitting and
//! every participant has a chain, and the study has one, in which the heads of the others are
//! recorded. If a participant is erased, the chains of this person disappear, and all other chains
//! remain verifiable.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::study::{
    ArmId, AttemptOutcome, CompletionCode, CompletionKind, Devices, Digest, EnvironmentVersion,
    ExclusionId, ParticipantId, PaymentKey, PersonKey, PlayCounts, SessionId, SiteId,
    SittingEndReason, SittingId, StudyId, StudyRole, StudyStage,
};
use crate::study_protocol::StudyProtocol;

/// The chain to which a record belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyChain {
    Study,
    Participant(ParticipantId),
    Sitting(SittingId),
    /// What is remembered of an erased person until the study is closed.
    Memory(ParticipantId),
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyRecord {
    /// The place in the log of the study, from 1. An erasure leaves gaps.
    pub seq: u64,
    pub chain: StudyChain,
    /// The place in the chain, from 1.
    pub position: u64,
    /// The server's clock, as a Unix time in milliseconds.
    pub at_ms: u64,
    pub event: StudyEvent,
    /// The hash of the previous record of the chain; 64 zeros for the first one.
    pub previous: Digest,
    /// The hash of all other fields in canonical form.
    pub hash: Digest,
}

/// What happened. The comments name the chain of each group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StudyEvent {
    // The chain of the study.
    Created {
        study: StudyId,
        title: String,
        /// The seed of all draws, such as the order of equally urgent environments.
        seed: u64,
    },
    /// The protocol of a draft was set.
    ProtocolDrafted {
        protocol: Box<StudyProtocol>,
    },
    /// The protocol was frozen. The hash covers limits, exclusion rules and the analysis plan.
    Frozen {
        protocol: Digest,
    },
    Amended {
        protocol: Box<StudyProtocol>,
        hash: Digest,
        reason: String,
    },
    Opened,
    Paused {
        reason: String,
    },
    Closed,
    ArmAdded {
        arm: ArmId,
        /// The share of participants relative to the other arms.
        weight: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_participants: Option<u32>,
    },
    EnvironmentAdded {
        environment: EnvironmentVersion,
        arm: ArmId,
        levels: u32,
        needs: Devices,
    },
    EnvironmentWithdrawn {
        environment: EnvironmentVersion,
        reason: String,
    },
    SiteAdded {
        site: SiteId,
        /// 0 for a site without seats, such as a recruiting platform.
        seats: u32,
        languages: BTreeSet<String>,
        /// The fee of this site, if it differs from the protocol.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fee_minor: Option<u64>,
    },
    SessionScheduled {
        session: SessionId,
        site: SiteId,
        starts_ms: u64,
        capacity: u32,
    },
    /// A holder of an API key became a member of the study, or got another role.
    MemberGranted {
        /// The public id of the key.
        member: String,
        role: StudyRole,
        /// The environments of an author; empty for other roles.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        environments: BTreeSet<EnvironmentVersion>,
        by: String,
    },
    MemberRevoked {
        member: String,
        by: String,
    },
    /// The recruiting platform of a site, with its completion codes.
    RecruiterSet {
        site: SiteId,
        recruiter: String,
        codes: BTreeMap<CompletionKind, CompletionCode>,
    },
    /// The share of plays that become valid was estimated from the plays so far.
    ShareEstimated {
        tenths: u32,
        counted: u64,
        ended: u64,
    },
    /// The last record of another chain.
    HeadRecorded {
        chain: StudyChain,
        position: u64,
        head: Digest,
    },
    PaymentDue {
        line: PaymentLine,
    },
    PaymentSent {
        key: PaymentKey,
        batch: String,
    },
    PaymentConfirmed {
        key: PaymentKey,
    },
    BaselinesPublished {
        revision: u32,
        /// The hash of the published file.
        file: Digest,
        /// The hashes of the attempts that contributed.
        attempts: BTreeSet<Digest>,
    },
    /// All records of a person were removed.
    Erased {
        participant: ParticipantId,
        sittings: BTreeSet<SittingId>,
        /// The hashes of the erased attempts.
        attempts: BTreeSet<Digest>,
        /// The number of removed records.
        records: u64,
    },
    /// What was remembered of erased people was removed, because the study is closed.
    Forgotten {
        participants: BTreeSet<ParticipantId>,
    },

    // The chain of a participant.
    Enrolled {
        person_key: PersonKey,
        arm: ArmId,
        site: SiteId,
        source: String,
        stage: StudyStage,
        /// The families that the person has seen in other studies or in public play.
        families_seen: BTreeSet<String>,
    },
    Consented {
        /// The hash of the text.
        text: Digest,
        language: String,
        publish_replays: bool,
        later_contact: bool,
    },
    ConsentDeclined,
    Described {
        answers: BTreeMap<String, String>,
    },
    DeviceChecked {
        devices: Devices,
        colours_distinguished: bool,
    },
    Booked {
        session: SessionId,
    },
    CheckedIn {
        session: SessionId,
        seat: u32,
    },
    Withdrew {
        data: WithdrawnData,
        receipt: String,
    },

    // The memory of an erased person.
    /// What remains until the study is closed, so that the person has no second first contact with
    /// an environment.
    Remembered {
        person_key: PersonKey,
        families: BTreeSet<String>,
    },

    // The chain of a sitting.
    SittingStarted {
        participant: ParticipantId,
        site: SiteId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<u32>,
        /// The protocol under which the sitting takes place.
        protocol: Digest,
        /// The number of the sitting's block in a fixed design, from 0.
        block: u64,
    },
    Reserved {
        /// The place in the sitting, from 1.
        position: u32,
        environment: EnvironmentVersion,
    },
    Released {
        position: u32,
        reason: ReleaseReason,
    },
    /// The participant saw the first frame.
    AttemptStarted {
        position: u32,
        /// The id of the play, whose log contains the commands.
        play: String,
    },
    /// The participant was asked to conclude.
    Prompted {
        position: u32,
        /// The prompt in the list of the protocol, from 1.
        prompt: u32,
    },
    /// The participant was in contact. It is written at most once a minute.
    Heartbeat,
    /// The participant is in contact again after an outage.
    Outage {
        /// The time of the last contact.
        from_ms: u64,
    },
    /// The page was hidden or shown again. The clock does not stop for a hidden page.
    Focus {
        hidden: bool,
    },
    PauseStarted,
    PauseEnded,
    AttemptEnded {
        position: u32,
        outcome: AttemptOutcome,
        /// The attempt's clock at its end.
        duration_ms: u64,
        counts: PlayCounts,
    },
    /// Another person helped the participant.
    Helped {
        position: u32,
        by: String,
        reason: String,
    },
    Extended {
        seconds: u64,
        by: String,
        reason: String,
    },
    Commented {
        text: String,
    },
    SittingEnded {
        reason: SittingEndReason,
        /// The play clock of the sitting at its end.
        clock_ms: u64,
        /// Who ended the sitting and why, if staff ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Excluded {
        exclusion: ExclusionId,
        /// The excluded attempt; absent if the whole sitting is excluded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u32>,
        basis: ExclusionBasis,
        evidence: String,
    },
    ExclusionUndone {
        exclusion: ExclusionId,
        by: String,
        reason: String,
    },
}

/// What happens to the data of a participant who withdraws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WithdrawnData {
    Keep,
    Delete,
}

/// Why a reservation was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseReason {
    /// The participant was not in contact for too long.
    Expired,
    SittingEnded,
    /// The environment was withdrawn from the study.
    EnvironmentWithdrawn,
}

/// Who decided on an exclusion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExclusionBasis {
    Rule { id: String, version: u32 },
    Person { by: String, reason: String },
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentLine {
    pub key: PaymentKey,
    pub participant: ParticipantId,
    pub item: PaymentItem,
    /// The amount in minor units; negative for a correction.
    pub amount_minor: i64,
    pub currency: String,
    pub note: String,
}

/// What a line of the ledger pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaymentItem {
    Fee,
    Bonus,
    Adjustment,
}

impl PaymentItem {
    /// Returns the name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fee => "fee",
            Self::Bonus => "bonus",
            Self::Adjustment => "adjustment",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_keeps_its_serialised_form() {
        let record = StudyRecord {
            seq: 7,
            chain: StudyChain::Sitting(SittingId::from("s1")),
            position: 2,
            at_ms: 1_794_736_800_123,
            event: StudyEvent::Reserved {
                position: 1,
                environment: EnvironmentVersion::from("ab12-v1"),
            },
            previous: Digest::from("00"),
            hash: Digest::from("ff"),
        };
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(
            json,
            r#"{"seq":7,"chain":{"sitting":"s1"},"position":2,"at_ms":1794736800123,"event":{"kind":"reserved","position":1,"environment":"ab12-v1"},"previous":"00","hash":"ff"}"#
        );
        assert_eq!(serde_json::from_str::<StudyRecord>(&json).unwrap(), record);
    }

    #[test]
    fn events_without_fields_round_trip() {
        for event in [
            StudyEvent::Opened,
            StudyEvent::Heartbeat,
            StudyEvent::ConsentDeclined,
        ] {
            let json = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<StudyEvent>(&json).unwrap(), event);
        }
        assert_eq!(
            serde_json::to_string(&StudyChain::Study).unwrap(),
            r#""study""#
        );
    }
}
