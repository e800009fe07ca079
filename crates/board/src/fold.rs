//! Applies events to the state of a board.

use rhae_protocol::{BoardEvent, BoardFlag, BoardRecord, Contest, EntryId, VerificationState};

use crate::names::{hash, hashes_of};
use crate::state::{BoardState, Correction, Entry, Registration, Release, Retraction};

/// An event that does not fit the state, so that it cannot come from this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq}: the event does not fit the state: {reason}")]
pub struct FoldError {
    pub seq: u64,
    pub reason: &'static str,
}

/// Applies a record. The first record of a log creates the state.
pub(crate) fn fold(state: &mut Option<BoardState>, record: &BoardRecord) -> Result<(), FoldError> {
    let applied = match (state.as_mut(), &record.event) {
        (
            None,
            BoardEvent::Created {
                board,
                definition,
                set,
            },
        ) => {
            *state = Some(BoardState {
                id: board.clone(),
                definition: (**definition).clone(),
                set: set.clone(),
                registrations: Default::default(),
                entries: Default::default(),
                releases: Vec::new(),
                closed: None,
                names: Default::default(),
            });
            Ok(())
        }
        (None, _) => Err("the board does not exist"),
        (Some(state), _) => {
            let names = record.names.iter();
            let names = names.map(|name| (hash(name), name.text.clone()));
            state.names.extend(names);
            apply(state, record)
        }
    };
    applied.map_err(|reason| FoldError {
        seq: record.seq,
        reason,
    })
}

fn apply(state: &mut BoardState, record: &BoardRecord) -> Result<(), &'static str> {
    match record.event.clone() {
        BoardEvent::Created { .. } => return Err("the board exists already"),
        BoardEvent::Registered {
            registration,
            system,
            repeats,
            seeds,
        } => {
            if usize::try_from(repeats) != Ok(seeds.len()) {
                return Err("the seeds do not match the repeats");
            }
            let registered = Registration {
                system: *system,
                at_ms: record.at_ms,
                seeds,
                abandoned: false,
                entry: None,
            };
            state.registrations.insert(registration, registered);
        }
        BoardEvent::Abandoned { registration } => {
            let registration = state.registrations.get_mut(&registration);
            let registration = registration.ok_or("the registration is unknown")?;
            registration.abandoned = true;
            if let Some(entry) = registration.entry.clone() {
                let evidence = "registered plays are missing after 14 days".to_owned();
                entry_mut(state, &entry)?
                    .flags
                    .insert(BoardFlag::Abandoned, evidence);
            }
        }
        BoardEvent::Submitted {
            entry,
            system,
            registration,
            claim,
        } => {
            if let Some(id) = &registration {
                let registered = state.registrations.get_mut(id);
                registered.ok_or("the registration is unknown")?.entry = Some(entry.clone());
            }
            let submitted = Entry {
                system: *system,
                registration,
                claim,
                actor: record.actor.clone(),
                at_ms: record.at_ms,
                seq: record.seq,
                state: VerificationState::Claimed,
                runs: Vec::new(),
                reruns: Vec::new(),
                witnessed: false,
                failure: None,
                flags: Default::default(),
                retraction: None,
                contest: None,
                correction: None,
            };
            state.entries.insert(entry, submitted);
        }
        BoardEvent::Released { release, rows } => state.releases.push(Release {
            name: release,
            seq: record.seq,
            rows,
            at_ms: record.at_ms,
        }),
        BoardEvent::Closed { reason } => state.closed = Some(reason),
        event => return on_entry(state, record, event),
    }
    Ok(())
}

fn on_entry(
    state: &mut BoardState,
    record: &BoardRecord,
    event: BoardEvent,
) -> Result<(), &'static str> {
    match event {
        BoardEvent::Replayed { entry, runs } => {
            let entry = entry_mut(state, &entry)?;
            entry.runs.extend(runs);
            entry.state = entry.state.max(VerificationState::Replayed);
            entry.failure = None;
        }
        BoardEvent::ReplayFailed { entry, reason } => {
            entry_mut(state, &entry)?.failure = Some(reason);
        }
        BoardEvent::Witnessed { entry, .. } => {
            raise(state, &entry, VerificationState::Witnessed)?;
            entry_mut(state, &entry)?.witnessed = true;
        }
        BoardEvent::Reproduced {
            entry,
            agrees,
            runs,
        } => {
            if agrees {
                raise(state, &entry, VerificationState::Reproduced)?;
            } else {
                disagree(entry_mut(state, &entry)?);
            }
            entry_mut(state, &entry)?.reruns = runs;
        }
        event @ BoardEvent::Rescored { .. } => rescore(state, record, event)?,
        BoardEvent::Certified { entry, .. } => raise(state, &entry, VerificationState::Official)?,
        BoardEvent::Flagged {
            entry,
            flag,
            evidence,
        } => {
            entry_mut(state, &entry)?.flags.insert(flag, evidence);
        }
        BoardEvent::Unflagged { entry, flag, .. } => {
            entry_mut(state, &entry)?.flags.remove(&flag);
        }
        BoardEvent::Retracted {
            entry,
            reason,
            note,
        } => {
            entry_mut(state, &entry)?.retraction = Some(Retraction {
                by: record.actor.clone(),
                reason,
                note,
                at_ms: record.at_ms,
            });
        }
        BoardEvent::Erased { entry } => {
            entry_mut(state, &entry)?;
            for hash in hashes_of(state, &entry) {
                state.names.remove(&hash);
            }
        }
        BoardEvent::Contested { entry, text } => {
            entry_mut(state, &entry)?.contest = Some(Contest {
                by: record.actor.clone(),
                text,
                answer: None,
            });
        }
        BoardEvent::Answered { entry, text } => {
            let contest = entry_mut(state, &entry)?.contest.as_mut();
            contest.ok_or("the row is not contested")?.answer = Some(text);
        }
        _ => return Err("the event is not about a row"),
    }
    Ok(())
}

fn disagree(entry: &mut Entry) {
    let evidence = "the organiser's runs do not agree with the score".to_owned();
    entry.flags.insert(BoardFlag::Contested, evidence);
}

/// Replaces the counts of a row. A row without a run that is still accepted is a claim again, and one
/// whose score no longer agrees with the organiser's runs is not reproduced.
fn rescore(
    state: &mut BoardState,
    record: &BoardRecord,
    event: BoardEvent,
) -> Result<(), &'static str> {
    let BoardEvent::Rescored {
        entry,
        runs,
        reruns,
        agrees,
        failure,
        old_nano,
        new_nano,
        note,
        release,
    } = event
    else {
        return Err("the event is not a correction");
    };
    let entry = entry_mut(state, &entry)?;
    if runs.is_empty() {
        entry.state = VerificationState::Claimed;
    } else if agrees == Some(false) && entry.state == VerificationState::Reproduced {
        entry.state = match entry.witnessed {
            true => VerificationState::Witnessed,
            false => VerificationState::Replayed,
        };
        disagree(entry);
    }
    entry.runs = runs;
    entry.reruns = reruns;
    if failure.is_some() {
        entry.failure = failure;
    }
    entry.correction = Some(Correction {
        at_ms: record.at_ms,
        release,
        note,
        old_nano,
        new_nano,
    });
    Ok(())
}

fn raise(
    state: &mut BoardState,
    entry: &EntryId,
    to: VerificationState,
) -> Result<(), &'static str> {
    let entry = entry_mut(state, entry)?;
    entry.state = entry.state.max(to);
    Ok(())
}

fn entry_mut<'a>(state: &'a mut BoardState, id: &EntryId) -> Result<&'a mut Entry, &'static str> {
    state.entries.get_mut(id).ok_or("the row is unknown")
}
