//! The export of a study as a tar archive, which is sent while it is read from a temporary folder.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use rhae_protocol::StudyId;
use rhae_study_service::{ExportError, export_study};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::Studies;
use crate::ApiError;
use crate::blocking::blocking;

/// The chunks that wait until the client reads them.
const PENDING_CHUNKS: usize = 4;
const CHUNK_BYTES: usize = 256 * 1024;

/// Exports a study as it is now, and returns the archive in chunks. If it cannot be read to its end,
/// the last chunk is an error, so that the client cannot mistake a part for the whole.
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
    let (out, chunks) = channel(PENDING_CHUNKS);
    let name = study.to_string();
    tokio::task::spawn_blocking(move || {
        let sink = ChunkWriter { out: out.clone() };
        let mut archive = tar::Builder::new(io::BufWriter::with_capacity(CHUNK_BYTES, sink));
        let written = archive
            .append_dir_all(&name, folder.path())
            .and_then(|()| archive.into_inner())
            .and_then(|mut buffer| io::Write::flush(&mut buffer));
        if let Err(error) = written {
            // The client may have gone away, which needs no report.
            drop(out.blocking_send(Err(error)));
        }
    });
    Ok(chunks)
}

/// Sends what is written to it.
struct ChunkWriter {
    out: Sender<io::Result<Bytes>>,
}

impl io::Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.out.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
