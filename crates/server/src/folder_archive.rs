//! A temporary folder as a tar archive, which is sent while it is read.

use std::io;
use std::path::PathBuf;

use axum::body::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The chunks that wait until the client reads them.
const PENDING_CHUNKS: usize = 4;
const CHUNK_BYTES: usize = 256 * 1024;

/// Returns the files of a folder as an archive in chunks, below the path `name`. `held`, such as the
/// temporary folder, is dropped at the end. If the folder cannot be read to its end, the last chunk is an
/// error, so that the client cannot mistake a part for the whole.
pub(crate) fn archive_folder(
    name: String,
    folder: PathBuf,
    held: impl Send + 'static,
) -> Receiver<io::Result<Bytes>> {
    let (out, chunks) = channel(PENDING_CHUNKS);
    tokio::task::spawn_blocking(move || {
        let sink = ChunkWriter { out: out.clone() };
        let mut archive = tar::Builder::new(io::BufWriter::with_capacity(CHUNK_BYTES, sink));
        let written = archive
            .append_dir_all(&name, &folder)
            .and_then(|()| archive.into_inner())
            .and_then(|mut buffer| io::Write::flush(&mut buffer));
        if let Err(error) = written {
            // The client may have gone away, which needs no report.
            drop(out.blocking_send(Err(error)));
        }
        drop(held);
    });
    chunks
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
