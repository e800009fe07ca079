//! Publishes baselines.

use rhae_protocol::{BaselineFile, StudyId};
use rhae_study::{Command, Moment, Rejection, Study, publishable_baselines};

use crate::{StudyError, StudyService};

/// Returns the baselines that the next publication would contain.
///
/// # Errors
///
/// Returns [`Rejection::NotFrozen`] before the protocol is frozen.
pub fn next_baselines(study: &Study) -> Result<BaselineFile, Rejection> {
    let revisions = study.state().published.iter().map(|one| one.revision);
    let revision = revisions.max().unwrap_or(0) + 1;
    publishable_baselines(study.state(), revision).ok_or(Rejection::NotFrozen)
}

/// Publishes the baselines of a study as its next revision. The file is stored with the study.
///
/// # Errors
///
/// Returns [`StudyError::Unchanged`] if the newest revision contains the same baselines, and the
/// errors of [`StudyService::execute`].
pub async fn publish_baselines(
    service: &StudyService,
    id: &StudyId,
    moment: Moment,
) -> Result<BaselineFile, StudyError> {
    let next = service.read(id, next_baselines).await??;
    if let Some(last) = newest_publication(service, id).await?
        && last.environments == next.environments
        && last.protocol == next.protocol
    {
        return Err(StudyError::Unchanged(last.revision));
    }
    let make = |study: &Study| Ok(Command::Publish(Box::new(next_baselines(study)?)));
    service.execute_with(id, moment, make).await?;
    let published = newest_publication(service, id).await?;
    Ok(published.expect("the publication was stored above"))
}

/// Returns the newest published baselines of a study.
///
/// # Errors
///
/// Returns [`StudyError::File`] if the stored file cannot be read.
pub async fn newest_publication(
    service: &StudyService,
    id: &StudyId,
) -> Result<Option<BaselineFile>, StudyError> {
    let files = service.files(id).await?;
    let newest = files.last().map(|file| {
        serde_json::from_str(&file.content).map_err(|error| StudyError::File {
            name: file.name.clone(),
            reason: error.to_string(),
        })
    });
    newest.transpose()
}
