//! The state of a study: what the event log says.
//!
//! *Invariant:* the state is changed by events only ([`fold`](crate::fold)), so replaying a log gives
//! the same state. Numbers such as the valid attempts of an environment are computed from the state
//! when they are needed, because exclusions can change them at any time.

mod pool;
mod sitting;

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    ArmId, Devices, Digest, EnvironmentVersion, ParticipantId, PersonKey, SessionId, SiteId,
    SittingId, StudyId, StudyProtocol, StudyRole, StudyStage, WithdrawnData,
};

pub use pool::{Arm, PooledEnvironment, Recruiter, Session, Site};
pub use rhae_protocol::StudyPhase;
pub use sitting::{
    Assignment, AssignmentState, EndedAttempt, Exclusion, OpenAttempt, Sitting, SittingEnding,
};

use crate::ledger::Ledger;

/// The state of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyState {
    pub id: StudyId,
    pub title: String,
    pub seed: u64,
    pub phase: StudyPhase,
    /// Every protocol that the study has had, by its hash, drafts included.
    pub protocols: BTreeMap<Digest, StudyProtocol>,
    /// The protocol of the draft, or the frozen one.
    pub current_protocol: Option<Digest>,
    /// The frozen protocols in the order in which they took effect.
    pub frozen: Vec<FrozenProtocol>,
    pub arms: BTreeMap<ArmId, Arm>,
    pub environments: BTreeMap<EnvironmentVersion, PooledEnvironment>,
    pub sites: BTreeMap<SiteId, Site>,
    pub sessions: BTreeMap<SessionId, Session>,
    /// The members by the ids of their API keys.
    pub members: BTreeMap<String, Member>,
    pub participants: BTreeMap<ParticipantId, Participant>,
    pub sittings: BTreeMap<SittingId, Sitting>,
    /// The share of plays that become valid, in tenths.
    pub share_tenths: u32,
    pub ledger: Ledger,
    pub published: Vec<Publication>,
    pub erased: BTreeMap<ParticipantId, ErasedPerson>,
}

/// A protocol that was frozen, or an amendment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenProtocol {
    pub hash: Digest,
    pub at_ms: u64,
    /// The reason of the amendment; `None` for the first protocol.
    pub reason: Option<String>,
}

/// A holder of an API key who has a role in the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub role: StudyRole,
    /// The environments of an author.
    pub environments: BTreeSet<EnvironmentVersion>,
}

/// A person in a study, without contact data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participant {
    pub person_key: PersonKey,
    pub arm: ArmId,
    pub site: SiteId,
    pub source: String,
    pub stage: StudyStage,
    /// The families that the person has seen outside this study.
    pub families_seen: BTreeSet<String>,
    pub consent: Option<Consent>,
    pub answers: BTreeMap<String, String>,
    pub devices: Option<Devices>,
    /// Whether the person distinguished the colours of the device check.
    pub colours_distinguished: Option<bool>,
    pub booked: Option<SessionId>,
    pub checked_in: Option<(SessionId, u32)>,
    pub withdrawn: Option<Withdrawal>,
    pub enrolled_ms: u64,
}

/// The answer to the consent text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    Given {
        text: Digest,
        language: String,
        publish_replays: bool,
        later_contact: bool,
        at_ms: u64,
    },
    Declined,
}

/// The withdrawal of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    pub data: WithdrawnData,
    pub receipt: String,
    pub at_ms: u64,
}

/// What remains of an erased person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedPerson {
    /// The key and the families seen; `None` after the study was closed.
    pub remembered: Option<(PersonKey, BTreeSet<String>)>,
    pub sittings: BTreeSet<SittingId>,
    pub attempts: BTreeSet<Digest>,
    pub records: u64,
}

/// A published revision of the baselines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    pub revision: u32,
    pub file: Digest,
    pub attempts: BTreeSet<Digest>,
    pub at_ms: u64,
}

/// The share of plays that become valid before it is estimated: 7 of 10.
pub const INITIAL_SHARE_TENTHS: u32 = 7;

impl StudyState {
    pub(crate) fn new(id: StudyId, title: String, seed: u64) -> Self {
        Self {
            id,
            title,
            seed,
            phase: StudyPhase::Draft,
            protocols: BTreeMap::new(),
            current_protocol: None,
            frozen: Vec::new(),
            arms: BTreeMap::new(),
            environments: BTreeMap::new(),
            sites: BTreeMap::new(),
            sessions: BTreeMap::new(),
            members: BTreeMap::new(),
            participants: BTreeMap::new(),
            sittings: BTreeMap::new(),
            share_tenths: INITIAL_SHARE_TENTHS,
            ledger: Ledger::default(),
            published: Vec::new(),
            erased: BTreeMap::new(),
        }
    }

    /// Returns the current protocol with its hash; `None` before one was set.
    pub fn protocol(&self) -> Option<(&Digest, &StudyProtocol)> {
        let hash = self.current_protocol.as_ref()?;
        self.protocols.get_key_value(hash)
    }

    /// Returns the protocol under which a sitting takes place.
    pub fn protocol_of(&self, sitting: &Sitting) -> &StudyProtocol {
        &self.protocols[&sitting.protocol]
    }

    /// Returns the sittings of a participant in ascending order of their ids.
    pub fn sittings_of<'a>(
        &'a self,
        participant: &'a ParticipantId,
    ) -> impl Iterator<Item = (&'a SittingId, &'a Sitting)> {
        self.sittings
            .iter()
            .filter(move |(_, sitting)| sitting.participant == *participant)
    }

    /// Returns every family that the person has seen: elsewhere, in an erased participation, and in
    /// this study from the first frame on.
    pub fn families_seen(&self, participant: &ParticipantId) -> BTreeSet<String> {
        let mut families = self
            .participants
            .get(participant)
            .map(|person| person.families_seen.clone())
            .unwrap_or_default();
        for (_, sitting) in self.sittings_of(participant) {
            let started = sitting.started();
            families.extend(started.map(|one| one.environment.family().to_owned()));
        }
        families
    }

    /// Returns the number of attempts of a publication that were erased since.
    pub fn erased_inputs(&self, publication: &Publication) -> usize {
        let erased = self.erased.values().flat_map(|person| &person.attempts);
        erased
            .filter(|attempt| publication.attempts.contains(*attempt))
            .count()
    }
}
