//! Decides on commands: validates them against the state and returns the events that they cause.
//!
//! *Invariant:* the functions of this module change nothing. What they return always applies.

mod correction;
mod evidence;
mod run;

pub use run::{check_environment, check_kind};

use rhae_protocol::{
    BoardClaim, BoardEvent, BoardFlag, BoardSystem, Digest, EntryId, RegistrationId,
    RetractionReason,
};
use rhae_study::digest;

use crate::command::{Command, ORGANISER};
use crate::names::hashes_of;
use crate::rejection::Rejection;
use crate::rows::{Audience, day, unnamed_rows};
use crate::state::{BoardState, Entry};
use crate::system_check::{check_claim, check_system, fold};

/// The maximum number of repeats of a registration.
const MAX_REPEATS: usize = 1_000;
/// The maximum number of characters of a note or an objection.
const MAX_NOTE: usize = 5_000;

type Events = Result<Vec<BoardEvent>, Rejection>;

pub(crate) fn decide(state: &BoardState, now_ms: u64, actor: &str, command: &Command) -> Events {
    // A closed board is still corrected, so that its published rows stay right, and names are erased.
    let is_open_to = matches!(
        command,
        Command::Retract { .. }
            | Command::Rescore { .. }
            | Command::Erase { .. }
            | Command::CatchUp
    );
    if state.closed.is_some() && !is_open_to {
        return Err(Rejection::Closed);
    }
    match command.clone() {
        Command::Register {
            registration,
            system,
            seeds,
        } => register(state, registration, system, seeds),
        Command::Submit {
            entry,
            system,
            registration,
            claim,
        } => {
            check_claim(&claim, &day(now_ms))?;
            submit(state, entry, system, registration, claim)
        }
        Command::AddRun { entry, run } => run::add(state, now_ms, &entry, *run),
        Command::RefuseRun { entry, reason } => {
            live(state, &entry)?;
            Ok(vec![BoardEvent::ReplayFailed { entry, reason }])
        }
        Command::Witness { entry, cards } => evidence::witness(state, entry, cards),
        Command::Reproduce { entry, runs } => evidence::reproduce(state, entry, runs),
        Command::Certify { entry, statement } => evidence::certify(state, entry, &statement),
        Command::Flag {
            entry,
            flag,
            evidence,
        } => {
            check_manual(flag)?;
            live(state, &entry)?;
            let evidence = note(&evidence, "the evidence of a flag")?;
            Ok(vec![BoardEvent::Flagged {
                entry,
                flag,
                evidence,
            }])
        }
        Command::Unflag {
            entry,
            flag,
            reason,
        } => {
            check_manual(flag)?;
            live(state, &entry)?;
            let reason = note(&reason, "the reason why the flag is removed")?;
            Ok(vec![BoardEvent::Unflagged {
                entry,
                flag,
                reason,
            }])
        }
        Command::Retract {
            entry,
            reason,
            note,
        } => retract(state, actor, entry, reason, &note),
        Command::Contest { entry, text } => contest(state, entry, &text),
        Command::Answer { entry, text } => answer(state, entry, &text),
        Command::Release => Ok(vec![release(state, now_ms)]),
        Command::Rescore { note, rows } => correction::rescore(state, now_ms, &note, rows),
        Command::Erase { entry } => erase(state, entry),
        Command::Close { reason } => {
            let reason = note(&reason, "the reason why the board is closed")?;
            Ok(vec![BoardEvent::Closed { reason }])
        }
        Command::CatchUp => Ok(Vec::new()),
    }
}

fn erase(state: &BoardState, entry: EntryId) -> Events {
    find(state, &entry)?;
    let mut hashes = hashes_of(state, &entry).into_iter();
    if !hashes.any(|hash| state.names.contains_key(&hash)) {
        return Err(Rejection::NoNames);
    }
    Ok(vec![BoardEvent::Erased { entry }])
}

fn contest(state: &BoardState, entry: EntryId, text: &str) -> Events {
    if live(state, &entry)?.contest.is_some() {
        return Err(Rejection::ContestedBefore);
    }
    let text = note(text, "the objection")?;
    Ok(vec![BoardEvent::Contested { entry, text }])
}

fn answer(state: &BoardState, entry: EntryId, text: &str) -> Events {
    let contest = find(state, &entry)?.contest.as_ref();
    if contest.ok_or(Rejection::NotContested)?.answer.is_some() {
        return Err(Rejection::AnsweredBefore);
    }
    let text = note(text, "the answer")?;
    Ok(vec![BoardEvent::Answered { entry, text }])
}

fn find<'a>(state: &'a BoardState, id: &EntryId) -> Result<&'a Entry, Rejection> {
    let unknown = || Rejection::UnknownEntry(id.clone());
    state.entries.get(id).ok_or_else(unknown)
}

fn live<'a>(state: &'a BoardState, id: &EntryId) -> Result<&'a Entry, Rejection> {
    let entry = find(state, id)?;
    if entry.is_live() {
        Ok(entry)
    } else {
        Err(Rejection::Retracted)
    }
}

fn note(text: &str, what: &'static str) -> Result<String, Rejection> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_NOTE {
        return Err(Rejection::NoText(what));
    }
    Ok(text.to_owned())
}

/// Refuses to set or remove flags that follow from the row.
fn check_manual(flag: BoardFlag) -> Result<(), Rejection> {
    match flag {
        BoardFlag::Stale | BoardFlag::Exposed | BoardFlag::Suspicious | BoardFlag::Copied => Ok(()),
        other => Err(Rejection::Flag(other.name())),
    }
}

fn register(
    state: &BoardState,
    registration: RegistrationId,
    system: Box<BoardSystem>,
    seeds: Vec<u64>,
) -> Events {
    check_system(&system)?;
    check_name(state, &system)?;
    if state.registrations.contains_key(&registration) {
        return Err(Rejection::Duplicate(registration.to_string()));
    }
    let invalid = |text: &str| Err(Rejection::Registration(text.to_owned()));
    if seeds.is_empty() || seeds.len() > MAX_REPEATS {
        return invalid("expected 1 to 1000 repeats");
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < seeds.len() {
        return invalid("the seeds must differ");
    }
    Ok(vec![BoardEvent::Registered {
        registration,
        system,
        repeats: u32::try_from(seeds.len()).expect("there are at most 1000 seeds"),
        seeds,
    }])
}

fn submit(
    state: &BoardState,
    entry: EntryId,
    system: Box<BoardSystem>,
    registration: Option<RegistrationId>,
    claim: BoardClaim,
) -> Events {
    check_system(&system)?;
    if state.entries.contains_key(&entry) {
        return Err(Rejection::Duplicate(entry.to_string()));
    }
    check_name(state, &system)?;
    if let Some(id) = &registration {
        let unknown = || Rejection::UnknownRegistration(id.clone());
        let registered = state.registrations.get(id).ok_or_else(unknown)?;
        if state.named(&registered.system) != *system {
            return Err(Rejection::OtherSystem(id.clone()));
        }
        if let Some(used) = &registered.entry {
            return Err(Rejection::RegistrationUsed(id.clone(), used.clone()));
        }
    }
    let mut superseded = Vec::new();
    for (id, other) in state.entries.iter().filter(|(_, other)| other.is_live()) {
        if fold(&other.system.name) == fold(&system.name) {
            if fold(&other.system.version) == fold(&system.version) {
                let name = format!("{} {}", system.name, system.version);
                return Err(Rejection::Duplicate(name));
            }
            superseded.push(BoardEvent::Flagged {
                entry: id.clone(),
                flag: BoardFlag::Superseded,
                evidence: format!("by the row `{entry}`"),
            });
        }
    }
    let mut events = vec![BoardEvent::Submitted {
        entry,
        system,
        registration,
        claim,
    }];
    events.extend(superseded);
    Ok(events)
}

/// Refuses a name that other authors use, in whatever case or composition.
fn check_name(state: &BoardState, system: &BoardSystem) -> Result<(), Rejection> {
    let entries = state.entries.values().map(|entry| &entry.system);
    let registered = state.registrations.values().map(|one| &one.system);
    let mut others = entries.chain(registered);
    let (own, name) = (state.folded_authors(system), fold(&system.name));
    let is_taken = others
        .any(|other| fold(&other.name) == name && state.folded_authors(other).is_disjoint(&own));
    if is_taken {
        return Err(Rejection::NameTaken(system.name.clone()));
    }
    Ok(())
}

fn retract(
    state: &BoardState,
    actor: &str,
    entry: EntryId,
    reason: RetractionReason,
    text: &str,
) -> Events {
    live(state, &entry)?;
    if (reason == RetractionReason::Author) == (actor == ORGANISER) {
        return Err(Rejection::Reason);
    }
    let note = note(text, "the reason of the retraction")?;
    Ok(vec![BoardEvent::Retracted {
        entry,
        reason,
        note,
    }])
}

/// Returns the event of a release of the rows as they are.
pub(crate) fn release(state: &BoardState, now_ms: u64) -> BoardEvent {
    BoardEvent::Released {
        release: release_name(state, now_ms),
        rows: rows_digest(state),
    }
}

/// Returns the name of the next release, such as `main-2026.11.1`.
fn release_name(state: &BoardState, now_ms: u64) -> String {
    let month = day(now_ms)
        .chars()
        .take(7)
        .collect::<String>()
        .replace('-', ".");
    let prefix = format!("{}-{month}.", state.id);
    let count = state
        .releases
        .iter()
        .filter(|one| one.name.starts_with(&prefix))
        .count();
    format!("{prefix}{}", count + 1)
}

/// Returns the hash of the rows as the public sees them, with hashes in the places of names.
pub(crate) fn rows_digest(state: &BoardState) -> Digest {
    digest(&unnamed_rows(state, Audience::Public))
}
