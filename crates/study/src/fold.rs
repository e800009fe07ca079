//! Applies events to the state of a study.
//!
//! *Invariant:* an event that was accepted once applies again, so replaying a log never fails half
//! way. An event that refers to something unknown is reported as [`FoldError`], because it cannot
//! come from this crate.

mod sitting;

use rhae_protocol::{ParticipantId, PaymentKey, StudyChain, StudyEvent, StudyRecord};

pub(crate) use sitting::apply_to_sitting;

use crate::canonical::digest;
use crate::ledger::PaymentStatus;
use crate::state::{
    Arm, Consent, ErasedPerson, FrozenProtocol, Member, Participant, PooledEnvironment,
    Publication, Recruiter, Session, Site, StudyPhase, StudyState, Withdrawal,
};

/// An event that does not fit the state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq}: the event does not fit the state: {reason}")]
pub struct FoldError {
    pub seq: u64,
    pub reason: &'static str,
}

/// Applies a record. The first record of a log creates the state.
pub(crate) fn fold(state: &mut Option<StudyState>, record: &StudyRecord) -> Result<(), FoldError> {
    match (state.as_mut(), &record.event) {
        (Some(state), _) => apply(state, record),
        (None, StudyEvent::Created { study, title, seed }) => {
            *state = Some(StudyState::new(study.clone(), title.clone(), *seed));
            Ok(())
        }
        (None, _) => Err(FoldError {
            seq: record.seq,
            reason: "the study does not exist",
        }),
    }
}

/// Applies a record after the first one.
pub(crate) fn apply(state: &mut StudyState, record: &StudyRecord) -> Result<(), FoldError> {
    let error = |reason| FoldError {
        seq: record.seq,
        reason,
    };
    let applied = match &record.chain {
        StudyChain::Study => on_study(state, record),
        StudyChain::Participant(id) => on_participant(state, id, record),
        StudyChain::Sitting(id) => sitting::on_sitting(state, id, record),
        StudyChain::Memory(id) => on_memory(state, id, record),
    };
    applied.map_err(error)
}

pub(crate) type Applied = Result<(), &'static str>;

const WRONG_CHAIN: &str = "the event belongs to another chain";

fn on_study(state: &mut StudyState, record: &StudyRecord) -> Applied {
    let at_ms = record.at_ms;
    match record.event.clone() {
        StudyEvent::ProtocolDrafted { protocol } => {
            let hash = digest(&protocol);
            state.protocols.insert(hash.clone(), *protocol);
            state.current_protocol = Some(hash);
        }
        StudyEvent::Frozen { protocol: hash } => state.frozen.push(FrozenProtocol {
            hash,
            at_ms,
            reason: None,
        }),
        StudyEvent::Amended {
            protocol,
            hash,
            reason,
        } => {
            state.protocols.insert(hash.clone(), *protocol);
            state.current_protocol = Some(hash.clone());
            state.frozen.push(FrozenProtocol {
                hash,
                at_ms,
                reason: Some(reason),
            });
        }
        StudyEvent::Opened => state.phase = StudyPhase::Open,
        StudyEvent::Paused { .. } => state.phase = StudyPhase::Paused,
        StudyEvent::Closed => state.phase = StudyPhase::Closed,
        StudyEvent::ShareEstimated { tenths, .. } => state.share_tenths = tenths,
        // The chains check heads.
        StudyEvent::HeadRecorded { .. } => {}
        StudyEvent::PaymentDue { line } => state.ledger.add(line, at_ms),
        StudyEvent::PaymentSent { key, batch } => {
            let sent = PaymentStatus::Sent { batch };
            state.ledger.set_status(&key, sent, at_ms);
        }
        StudyEvent::PaymentConfirmed { key } => confirm(state, &key, at_ms),
        StudyEvent::BaselinesPublished {
            revision,
            file,
            attempts,
        } => state.published.push(Publication {
            revision,
            file,
            attempts,
            at_ms,
        }),
        StudyEvent::Erased {
            participant,
            sittings,
            attempts,
            records,
        } => {
            let person = ErasedPerson {
                remembered: None,
                sittings,
                attempts,
                records,
            };
            erase(state, participant, person);
        }
        StudyEvent::MemberGranted {
            member,
            role,
            environments,
            ..
        } => {
            state.members.insert(member, Member { role, environments });
        }
        StudyEvent::MemberRevoked { member, .. } => drop(state.members.remove(&member)),
        StudyEvent::Forgotten { participants } => {
            for participant in participants {
                if let Some(person) = state.erased.get_mut(&participant) {
                    person.remembered = None;
                }
            }
        }
        event => return on_pool(state, at_ms, event),
    }
    Ok(())
}

fn confirm(state: &mut StudyState, key: &PaymentKey, at_ms: u64) {
    let batch = match state.ledger.get(key).map(|entry| &entry.status) {
        Some(PaymentStatus::Sent { batch }) => batch.clone(),
        _ => String::new(),
    };
    state
        .ledger
        .set_status(key, PaymentStatus::Confirmed { batch }, at_ms);
}

fn erase(state: &mut StudyState, participant: ParticipantId, person: ErasedPerson) {
    state.participants.remove(&participant);
    state
        .sittings
        .retain(|_, sitting| sitting.participant != participant);
    for session in state.sessions.values_mut() {
        session.booked.remove(&participant);
        session.seats.retain(|_, seated| *seated != participant);
    }
    state.erased.insert(participant, person);
}

fn on_pool(state: &mut StudyState, at_ms: u64, event: StudyEvent) -> Applied {
    match event {
        StudyEvent::ArmAdded {
            arm,
            weight,
            max_participants,
        } => {
            let added = Arm {
                weight,
                max_participants,
            };
            state.arms.insert(arm, added);
        }
        StudyEvent::EnvironmentAdded {
            environment,
            arm,
            levels,
            needs,
        } => {
            let added = PooledEnvironment {
                arm,
                levels,
                needs,
                added_ms: at_ms,
                withdrawn: None,
            };
            state.environments.insert(environment, added);
        }
        StudyEvent::EnvironmentWithdrawn {
            environment,
            reason,
        } => {
            let pooled = state.environments.get_mut(&environment);
            pooled.ok_or("the environment is unknown")?.withdrawn = Some(reason);
        }
        StudyEvent::SiteAdded {
            site,
            seats,
            languages,
            fee_minor,
        } => {
            let added = Site {
                seats,
                languages,
                fee_minor,
                recruiter: None,
            };
            state.sites.insert(site, added);
        }
        StudyEvent::RecruiterSet {
            site,
            recruiter: name,
            codes,
        } => {
            let site = state.sites.get_mut(&site).ok_or("the site is unknown")?;
            site.recruiter = Some(Recruiter { name, codes });
        }
        StudyEvent::SessionScheduled {
            session,
            site,
            starts_ms,
            capacity,
        } => {
            let added = Session {
                site,
                starts_ms,
                capacity,
                booked: Default::default(),
                seats: Default::default(),
            };
            state.sessions.insert(session, added);
        }
        _ => return Err(WRONG_CHAIN),
    }
    Ok(())
}

fn on_participant(state: &mut StudyState, id: &ParticipantId, record: &StudyRecord) -> Applied {
    let at_ms = record.at_ms;
    if let StudyEvent::Enrolled {
        person_key,
        arm,
        site,
        source,
        stage,
        families_seen,
    } = record.event.clone()
    {
        let enrolled = Participant {
            person_key,
            arm,
            site,
            source,
            stage,
            families_seen,
            consent: None,
            answers: Default::default(),
            devices: None,
            colours_distinguished: None,
            booked: None,
            checked_in: None,
            withdrawn: None,
            enrolled_ms: at_ms,
        };
        state.participants.insert(id.clone(), enrolled);
        return Ok(());
    }
    let person = state.participants.get_mut(id);
    let person = person.ok_or("the participant is unknown")?;
    match record.event.clone() {
        StudyEvent::Consented {
            text,
            language,
            publish_replays,
            later_contact,
        } => {
            person.consent = Some(Consent::Given {
                text,
                language,
                publish_replays,
                later_contact,
                at_ms,
            });
        }
        StudyEvent::ConsentDeclined => person.consent = Some(Consent::Declined),
        StudyEvent::Described { answers } => person.answers = answers,
        StudyEvent::DeviceChecked {
            devices,
            colours_distinguished,
        } => {
            person.devices = Some(devices);
            person.colours_distinguished = Some(colours_distinguished);
        }
        StudyEvent::Booked { session } => {
            person.booked = Some(session.clone());
            let session = state.sessions.get_mut(&session);
            let session = session.ok_or("the session is unknown")?;
            session.booked.insert(id.clone());
        }
        StudyEvent::CheckedIn { session, seat } => {
            person.checked_in = Some((session.clone(), seat));
            let session = state.sessions.get_mut(&session);
            let session = session.ok_or("the session is unknown")?;
            session.seats.insert(seat, id.clone());
        }
        StudyEvent::Withdrew { data, receipt } => {
            person.withdrawn = Some(Withdrawal {
                data,
                receipt,
                at_ms,
            });
        }
        _ => return Err(WRONG_CHAIN),
    }
    Ok(())
}

fn on_memory(state: &mut StudyState, id: &ParticipantId, record: &StudyRecord) -> Applied {
    let person = state
        .erased
        .get_mut(id)
        .ok_or("the person was not erased")?;
    match record.event.clone() {
        StudyEvent::Remembered {
            person_key,
            families,
        } => person.remembered = Some((person_key, families)),
        _ => return Err(WRONG_CHAIN),
    }
    Ok(())
}
