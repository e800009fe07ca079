//! Commands of researchers about results: exclusions, payments, publication and erasure.

use rhae_protocol::{
    BaselineFile, ExclusionBasis, ParticipantId, PaymentItem, PaymentKey, SittingId, StudyChain,
    StudyEvent,
};

use super::{Events, on_study, person, require_reason, sitting as find_sitting};
use crate::baselines::publishable_baselines;
use crate::canonical::digest;
use crate::command::{MoneyCommand, ReviewCommand};
use crate::ledger::PaymentStatus;
use crate::protocol_check::MAX_AMOUNT_MINOR;
use crate::rejection::Rejection;
use crate::state::{Sitting, StudyPhase, StudyState};

/// The longest extension of a sitting, in seconds.
const MAX_EXTENSION_S: u64 = 24 * 60 * 60;

pub(super) fn decide(
    state: &StudyState,
    id: &SittingId,
    command: &ReviewCommand,
) -> Result<Events, Rejection> {
    let sitting = find_sitting(state, id)?;
    let event = match command.clone() {
        ReviewCommand::Exclude {
            exclusion,
            position,
            by,
            reason,
            evidence,
        } => {
            require_reason(&reason)?;
            let mut all = state.sittings.values().flat_map(|one| &one.exclusions);
            if all.any(|one| one.id == exclusion) {
                return Err(Rejection::Duplicate(exclusion.to_string()));
            }
            if let Some(position) = position {
                ended(sitting, position)?;
            }
            StudyEvent::Excluded {
                exclusion,
                position,
                basis: ExclusionBasis::Person { by, reason },
                evidence,
            }
        }
        ReviewCommand::Undo {
            exclusion,
            by,
            reason,
        } => {
            require_reason(&reason)?;
            let found = sitting.exclusions.iter().find(|one| one.id == exclusion);
            match found {
                None => return Err(Rejection::UnknownExclusion(exclusion)),
                Some(one) if one.undone.is_some() => {
                    return Err(Rejection::AlreadyUndone(exclusion));
                }
                Some(_) => StudyEvent::ExclusionUndone {
                    exclusion,
                    by,
                    reason,
                },
            }
        }
        ReviewCommand::MarkHelped {
            position,
            by,
            reason,
        } => {
            ended(sitting, position)?;
            StudyEvent::Helped {
                position,
                by,
                reason,
            }
        }
        ReviewCommand::Extend {
            seconds,
            by,
            reason,
        } => {
            require_reason(&reason)?;
            if !sitting.is_open() {
                return Err(Rejection::SittingEnded);
            }
            if seconds > MAX_EXTENSION_S {
                return Err(Rejection::Amount("an extension is at most one day"));
            }
            StudyEvent::Extended {
                seconds,
                by,
                reason,
            }
        }
    };
    Ok(vec![(StudyChain::Sitting(id.clone()), event)])
}

fn ended(sitting: &Sitting, position: u32) -> Result<(), Rejection> {
    if sitting.ended().any(|(at, _, _)| at == position) {
        return Ok(());
    }
    Err(Rejection::NoEndedAttempt(position))
}

pub(super) fn money(state: &StudyState, command: &MoneyCommand) -> Result<Events, Rejection> {
    let status = |key: &PaymentKey| {
        let entry = state.ledger.get(key);
        entry
            .map(|entry| &entry.status)
            .ok_or_else(|| Rejection::UnknownPayment(key.clone()))
    };
    let event = match command.clone() {
        MoneyCommand::Send { key, batch } => match status(&key)? {
            PaymentStatus::Due => StudyEvent::PaymentSent { key, batch },
            // A repeated request has no effect.
            PaymentStatus::Sent { batch: sent } if *sent == batch => return Ok(Vec::new()),
            other => {
                return Err(Rejection::PaymentStatus {
                    found: other.state().name(),
                    expected: "due",
                    key,
                });
            }
        },
        MoneyCommand::Confirm { key } => match status(&key)? {
            PaymentStatus::Sent { .. } => StudyEvent::PaymentConfirmed { key },
            PaymentStatus::Confirmed { .. } => return Ok(Vec::new()),
            PaymentStatus::Due => {
                return Err(Rejection::PaymentStatus {
                    found: "due",
                    expected: "sent",
                    key,
                });
            }
        },
        MoneyCommand::Adjust(line) => {
            if let Some(entry) = state.ledger.get(&line.key) {
                if entry.line == line {
                    return Ok(Vec::new());
                }
                return Err(Rejection::Duplicate(line.key.to_string()));
            }
            require_reason(&line.note)?;
            person(state, &line.participant)?;
            if line.item != PaymentItem::Adjustment {
                return Err(Rejection::Amount("fees and bonuses follow from sittings"));
            }
            if line.amount_minor == 0 || line.amount_minor.unsigned_abs() > MAX_AMOUNT_MINOR {
                return Err(Rejection::Amount("it is 0 or too large"));
            }
            let (_, protocol) = state.protocol().ok_or(Rejection::NoProtocol)?;
            if line.currency != protocol.money.currency {
                return Err(Rejection::Amount("the currency is not that of the study"));
            }
            StudyEvent::PaymentDue { line }
        }
    };
    Ok(vec![on_study(event)])
}

/// Publishes baselines after computing them again.
pub(super) fn publish(state: &StudyState, file: &BaselineFile) -> Result<Events, Rejection> {
    let published = state.published.iter().map(|one| one.revision).max();
    let expected = published.unwrap_or(0) + 1;
    if file.revision != expected {
        return Err(Rejection::Revision {
            found: file.revision,
            expected,
        });
    }
    let computed = publishable_baselines(state, expected).ok_or(Rejection::NotFrozen)?;
    if computed != *file {
        return Err(Rejection::Baselines);
    }
    let levels = file.environments.iter().flat_map(|one| &one.levels);
    Ok(vec![on_study(StudyEvent::BaselinesPublished {
        revision: file.revision,
        file: digest(file),
        attempts: levels.flat_map(|level| level.attempts.clone()).collect(),
    })])
}

/// Erases a person. The caller must then remove the records of the person's chains.
pub(super) fn erase(state: &StudyState, id: &ParticipantId) -> Result<Events, Rejection> {
    let found = person(state, id)?;
    if let Some((sitting, _)) = state.sittings_of(id).find(|(_, one)| one.is_open()) {
        return Err(Rejection::SittingOpen(sitting.clone()));
    }
    let sittings = || state.sittings_of(id);
    let mut events = vec![on_study(StudyEvent::Erased {
        participant: id.clone(),
        sittings: sittings().map(|(sitting, _)| sitting.clone()).collect(),
        attempts: sittings()
            .flat_map(|(_, sitting)| sitting.ended())
            .map(|(_, _, attempt)| attempt.hash())
            .collect(),
        // The chains know the number of records.
        records: 0,
    })];
    if state.phase != StudyPhase::Closed {
        let remembered = StudyEvent::Remembered {
            person_key: found.person_key.clone(),
            families: state.families_seen(id),
        };
        events.push((StudyChain::Memory(id.clone()), remembered));
    }
    Ok(events)
}
