//! The export of a study as a tar archive.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use rhae_protocol::StudyId;
use rhae_study_service::{ExportError, export_study};
use tokio::sync::mpsc::Receiver;

use super::Studies;
use crate::ApiError;
use crate::blocking::blocking;
use crate::folder_archive::archive_folder;

/// Exports a study as it is now, and returns the archive in chunks, see [`archive_folder`].
pub(crate) async fn export_archive(
    studies: &Arc<Studies>,
    study: &StudyId,
    public: bool,
) -> Result<Receiver<io::Result<Bytes>>, ApiError> {
    let failed = |error: io::Error| ApiError::Failed(error.to_string());
    let records = studies.service()?.records(study).await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let (runtime, at) = (tokio::runtime::Handle::current(), folder.path().to_owned());
    let service = Arc::clone(studies);
    // Hosted games block while they replay.
    let exported = blocking(move || {
        let (store, catalog) = (service.plays().store(), service.games().catalog().as_ref());
        runtime.block_on(export_study(&records, store, catalog, &at, public))
    });
    exported.await?.map_err(|error| match error {
        ExportError::Store(error) => error.into(),
        error => ApiError::Failed(error.to_string()),
    })?;
    let root = folder.path().to_owned();
    Ok(archive_folder(study.to_string(), root, folder))
}
