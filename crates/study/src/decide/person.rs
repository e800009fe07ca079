//! Commands about a person: enrolment, consent, answers, calendar and withdrawal.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    ArmId, Digest, ParticipantId, PersonKey, PlayCounts, SessionId, SiteId, StudyChain, StudyEvent,
    StudyStage, WithdrawnData,
};

use super::closing::{Ending, end_sitting};
use super::{Events, not_closed, person, require_phase};
use crate::canonical::text_digest;
use crate::clock::Moment;
use crate::command::PersonCommand;
use crate::rejection::Rejection;
use crate::state::{Participant, StudyPhase, StudyState};

pub(super) fn decide(
    state: &StudyState,
    moment: Moment,
    id: &ParticipantId,
    command: &PersonCommand,
) -> Result<Events, Rejection> {
    // Withdrawal must always be possible.
    if !matches!(command, PersonCommand::Withdraw { .. }) {
        not_closed(state)?;
    }
    let one = |event| Ok(vec![(StudyChain::Participant(id.clone()), event)]);
    if let PersonCommand::Enrol {
        person_key,
        site,
        source,
        stage,
        families_seen,
    } = command
    {
        let arm = enrol(state, id, person_key, site, *stage)?;
        return one(StudyEvent::Enrolled {
            person_key: person_key.clone(),
            arm,
            site: site.clone(),
            source: source.clone(),
            stage: *stage,
            families_seen: known_families(state, person_key, families_seen),
        });
    }
    let found = person(state, id)?;
    if found.withdrawn.is_some() {
        return Err(Rejection::Withdrawn);
    }
    match command.clone() {
        PersonCommand::Enrol { .. } => unreachable!("handled above"),
        PersonCommand::Consent {
            text,
            language,
            publish_replays,
            later_contact,
        } => {
            check_consent_text(state, &text, &language)?;
            one(StudyEvent::Consented {
                text,
                language,
                publish_replays,
                later_contact,
            })
        }
        PersonCommand::DeclineConsent => one(StudyEvent::ConsentDeclined),
        PersonCommand::Describe { answers } => {
            check_answers(state, &answers)?;
            one(StudyEvent::Described { answers })
        }
        PersonCommand::CheckDevice {
            devices,
            colours_distinguished,
        } => one(StudyEvent::DeviceChecked {
            devices,
            colours_distinguished,
        }),
        PersonCommand::Book { session } => {
            check_booking(state, id, found, &session)?;
            one(StudyEvent::Booked { session })
        }
        PersonCommand::CheckIn { session, seat } => {
            check_seat(state, id, &session, seat)?;
            one(StudyEvent::CheckedIn { session, seat })
        }
        PersonCommand::Withdraw {
            data,
            receipt,
            counts,
        } => withdraw(state, moment, id, (data, receipt), counts.as_ref()),
    }
}

fn enrol(
    state: &StudyState,
    id: &ParticipantId,
    person_key: &PersonKey,
    site: &SiteId,
    stage: StudyStage,
) -> Result<ArmId, Rejection> {
    if stage == StudyStage::Live {
        require_phase(state, &[StudyPhase::Open], "an open study")?;
    }
    if state.participants.contains_key(id) || state.erased.contains_key(id) {
        return Err(Rejection::Duplicate(id.to_string()));
    }
    let same = |(_, one): &(&ParticipantId, &Participant)| one.person_key == *person_key;
    if let Some((enrolled, _)) = state.participants.iter().find(same) {
        return Err(Rejection::AlreadyEnrolled(enrolled.clone()));
    }
    if !state.sites.contains_key(site) {
        return Err(Rejection::UnknownSite(site.clone()));
    }
    free_arm(state, stage)
}

/// Returns the arm that has the fewest participants of a stage relative to its weight, and a free
/// place.
fn free_arm(state: &StudyState, stage: StudyStage) -> Result<ArmId, Rejection> {
    let count = |arm: &ArmId| {
        let same = |one: &&Participant| one.arm == *arm && one.stage == stage;
        u32::try_from(state.participants.values().filter(same).count()).unwrap_or(u32::MAX)
    };
    state
        .arms
        .iter()
        .map(|(id, arm)| (id, arm, count(id)))
        .filter(|(_, arm, count)| arm.max_participants.is_none_or(|limit| *count < limit))
        .min_by(|one, other| {
            let (a, b) = (u64::from(one.2), u64::from(other.2));
            (a * u64::from(other.1.weight)).cmp(&(b * u64::from(one.1.weight)))
        })
        .map(|(id, _, _)| id.clone())
        .ok_or(Rejection::NoFreeArm)
}

/// Returns the given families and those that the person saw in an erased participation.
fn known_families(
    state: &StudyState,
    person_key: &PersonKey,
    families: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut families = families.clone();
    let remembered = state
        .erased
        .values()
        .filter_map(|person| person.remembered.as_ref());
    for (_, seen) in remembered.filter(|(key, _)| key == person_key) {
        families.extend(seen.iter().cloned());
    }
    families
}

/// Checks that the participant saw the current text.
pub(super) fn check_consent_text(
    state: &StudyState,
    text: &Digest,
    language: &str,
) -> Result<(), Rejection> {
    let (_, protocol) = state.protocol().ok_or(Rejection::NoProtocol)?;
    let current = protocol.consent.get(language);
    let current = current.ok_or_else(|| Rejection::Language(language.to_owned()))?;
    let current = text_digest(&current.text);
    if *text != current {
        return Err(Rejection::ConsentText { current });
    }
    Ok(())
}

fn check_answers(state: &StudyState, answers: &BTreeMap<String, String>) -> Result<(), Rejection> {
    let (_, protocol) = state.protocol().ok_or(Rejection::NoProtocol)?;
    for (question, answer) in answers {
        let known = protocol
            .demographics
            .iter()
            .any(|one| one.id == *question && one.bands.contains(answer));
        if !known {
            return Err(Rejection::Answer {
                question: question.clone(),
                answer: answer.clone(),
            });
        }
    }
    Ok(())
}

fn check_booking(
    state: &StudyState,
    id: &ParticipantId,
    person: &Participant,
    session: &SessionId,
) -> Result<(), Rejection> {
    let unknown = || Rejection::UnknownSession(session.clone());
    let found = state.sessions.get(session).ok_or_else(unknown)?;
    if person.booked.is_some() || found.booked.contains(id) {
        return Err(Rejection::Duplicate(format!("the booking of {id}")));
    }
    if found.booked.len() >= usize::try_from(found.capacity).unwrap_or(usize::MAX) {
        return Err(Rejection::SessionFull(found.capacity));
    }
    Ok(())
}

fn check_seat(
    state: &StudyState,
    id: &ParticipantId,
    session: &SessionId,
    seat: u32,
) -> Result<(), Rejection> {
    let unknown = || Rejection::UnknownSession(session.clone());
    let found = state.sessions.get(session).ok_or_else(unknown)?;
    let seats = state.sites.get(&found.site).map_or(0, |site| site.seats);
    let taken = found.seats.get(&seat).is_some_and(|other| other != id);
    let elsewhere = found
        .seats
        .iter()
        .any(|(&other, one)| one == id && other != seat);
    if seat == 0 || seat > seats || taken || elsewhere {
        return Err(Rejection::Seat(seat));
    }
    if !found.booked.contains(id)
        && found.seats.len() >= usize::try_from(found.capacity).unwrap_or(0)
    {
        return Err(Rejection::SessionFull(found.capacity));
    }
    Ok(())
}

/// Ends an open sitting and records the withdrawal.
fn withdraw(
    state: &StudyState,
    moment: Moment,
    id: &ParticipantId,
    (data, receipt): (WithdrawnData, String),
    counts: Option<&PlayCounts>,
) -> Result<Events, Rejection> {
    let open = state.sittings_of(id).find(|(_, sitting)| sitting.is_open());
    let mut events = match open {
        Some((sitting, _)) => end_sitting(state, moment, sitting, &Ending::Withdrawal, counts)?,
        None => Vec::new(),
    };
    let withdrew = StudyEvent::Withdrew { data, receipt };
    events.push((StudyChain::Participant(id.clone()), withdrew));
    Ok(events)
}
