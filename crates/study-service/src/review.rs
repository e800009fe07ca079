//! Exclusions by people, erasure, and small helpers of commands.

use std::io::Write as _;
use std::path::Path;

use rhae_protocol::{ExclusionId, ParticipantId, SittingId, StudyId, StudyRecord};
use rhae_store::{IdentityRead, IdentityStore};
use rhae_study::{Command, Moment, Rejection, StudyState, contact_has_expired};

use crate::{Contact, IdentityError, IdentityKey, StudyError, StudyService};

/// Returns the sitting that a decision concerns, with the id of the exclusion: a new one for a
/// sitting, or the one to undo.
///
/// # Errors
///
/// Returns [`Rejection`] if the sitting or the exclusion is not known.
pub fn exclusion_target(
    state: &StudyState,
    sitting: Option<&str>,
    undo: Option<&str>,
) -> Result<(SittingId, ExclusionId), Rejection> {
    if let Some(undo) = undo {
        let wanted = ExclusionId::from(undo);
        let mut sittings = state.sittings.iter();
        let found = sittings.find(|(_, one)| one.exclusions.iter().any(|one| one.id == wanted));
        let (id, _) = found.ok_or_else(|| Rejection::UnknownExclusion(wanted.clone()))?;
        return Ok((id.clone(), wanted));
    }
    let id = SittingId::from(sitting.unwrap_or_default());
    let unknown = || Rejection::UnknownSitting(id.clone());
    let found = state.sittings.get(&id).ok_or_else(unknown)?;
    let number = found.exclusions.len() + 1;
    Ok((id.clone(), ExclusionId(format!("{id}/exclusion-{number}"))))
}

/// Returns the kinds of the events of some records.
pub fn event_kinds(records: &[StudyRecord]) -> Vec<String> {
    let kind = |record: &StudyRecord| {
        let event = serde_json::to_value(&record.event).ok()?;
        event["kind"].as_str().map(str::to_owned)
    };
    records.iter().filter_map(kind).collect()
}

/// Erases a person with records, plays and contact data. The contact data is removed first, so that
/// nothing identifies the person if the process stops in between.
///
/// # Errors
///
/// Returns [`StudyError`] if the person is unknown or has an open sitting; nothing is removed then.
pub async fn erase_person(
    service: &StudyService,
    identities: &dyn IdentityStore,
    study: &StudyId,
    moment: Moment,
    participant: &ParticipantId,
) -> Result<Vec<StudyRecord>, StudyError> {
    let command = Command::Erase(participant.clone());
    service
        .read(study, |study| study.prepare(moment, &command).map(|_| ()))
        .await??;
    let people = vec![participant.clone()];
    identities.remove_identities(study, people).await?;
    service.execute(study, moment, &command).await
}

/// Removes the contact data whose time has passed, and returns of how many people.
///
/// # Errors
///
/// Returns [`StudyError`] if the study is unknown or a database fails.
pub async fn remove_expired_contacts(
    service: &StudyService,
    identities: &dyn IdentityStore,
    study: &StudyId,
    now_ms: u64,
) -> Result<u64, StudyError> {
    let stored = identities.identified(study).await?;
    let expired = service.read(study, |one| {
        let expired = stored.into_iter().filter(|(participant, stored_ms)| {
            contact_has_expired(one.state(), participant, *stored_ms, now_ms)
        });
        expired
            .map(|(participant, _)| participant)
            .collect::<Vec<_>>()
    });
    let expired = expired.await?;
    if expired.is_empty() {
        return Ok(0);
    }
    Ok(identities.remove_identities(study, expired).await?)
}

/// Reads and decrypts the contact data of a participant. The read is recorded.
///
/// # Errors
///
/// Returns [`IdentityError`] if the database fails or the data was encrypted with another key.
pub async fn read_contact(
    store: &dyn IdentityStore,
    key: &IdentityKey,
    read: IdentityRead,
) -> Result<Option<Contact>, IdentityError> {
    let (study, participant) = (read.study.clone(), read.participant.clone());
    let sealed = store.read_identity(read).await?;
    let contact = sealed.map(|sealed| key.open(&study, &participant, &sealed));
    contact.transpose()
}

/// Writes a file that must not exist.
///
/// # Errors
///
/// Returns the error of the file system, also if the file exists.
pub fn write_new_file(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut created = options.write(true).create_new(true).open(file)?;
    created.write_all(text.as_bytes())?;
    created.sync_all()
}
