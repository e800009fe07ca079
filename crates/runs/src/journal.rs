//! The journal of a run: one JSON object per line, appended and synced.
//!
//! **Invariant:** when [`Journal::append`] returns, the line is synced to disk. Threads that append
//! lines at the same time share one sync.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{RunFolder, RunsError};

/// The name of the journal in a run folder.
pub const JOURNAL: &str = "journal.jsonl";

/// Loads the lines of the journal in a run folder, without locking or changing it.
///
/// # Errors
///
/// Returns an error if the journal is missing or has a malformed line.
pub fn load_lines<L: DeserializeOwned>(folder: &Path) -> Result<Vec<L>, RunsError> {
    let path = folder.join(JOURNAL);
    let bytes = std::fs::read(&path).map_err(RunsError::file("read", &path))?;
    Ok(parse(&path, &bytes)?.1)
}

/// Parses the complete lines of a journal and returns their length in bytes. An incomplete last
/// line, which a crash can leave, is ignored.
fn parse<L: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<(usize, Vec<L>), RunsError> {
    let complete = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let lines = bytes[..complete].split_inclusive(|&byte| byte == b'\n');
    let read = |(index, line)| {
        serde_json::from_slice(line).map_err(|error| RunsError::MalformedLine {
            path: path.to_owned(),
            line: index + 1,
            reason: error.to_string(),
        })
    };
    let lines = lines.enumerate().map(read).collect::<Result<_, _>>()?;
    Ok((complete, lines))
}

/// An open journal with lines of type `L`, locked against other processes and shared by threads.
#[derive(Debug)]
pub struct Journal<L> {
    path: PathBuf,
    /// The lock for writing one complete line.
    writer: Mutex<Writer>,
    /// The number of synced lines, and the lock for syncing. It is never taken while `writer` is
    /// locked.
    synced: Mutex<u64>,
    syncer: File,
    lines: PhantomData<fn(L)>,
}

#[derive(Debug)]
struct Writer {
    file: File,
    /// The number of lines written so far.
    written: u64,
}

impl<L: Serialize + DeserializeOwned> Journal<L> {
    /// Opens, locks and reads the journal of a run. A last line that a crash truncated is removed.
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::InUse`] if another process has opened the journal, and an error if it
    /// cannot be read or has a malformed line.
    pub fn open(folder: &RunFolder) -> Result<(Self, Vec<L>), RunsError> {
        let path = folder.file(JOURNAL);
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .map_err(RunsError::file("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RunsError::InUse(path)),
            Err(TryLockError::Error(error)) => return Err(RunsError::file("lock", &path)(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(RunsError::file("read", &path))?;
        let (complete, lines) = parse(&path, &bytes)?;
        file.set_len(complete as u64)
            .map_err(RunsError::file("write", &path))?;
        let syncer = file.try_clone().map_err(RunsError::file("open", &path))?;
        let journal = Self {
            path,
            writer: Mutex::new(Writer { file, written: 0 }),
            synced: Mutex::new(0),
            syncer,
            lines: PhantomData,
        };
        Ok((journal, lines))
    }

    /// Appends a line and waits until it is synced.
    ///
    /// # Errors
    ///
    /// Returns an error if the line cannot be serialised, written or synced.
    pub fn append(&self, line: &L) -> Result<(), RunsError> {
        let mut text = serde_json::to_vec(line).map_err(|error| RunsError::Json {
            path: self.path.clone(),
            reason: error.to_string(),
        })?;
        text.push(b'\n');
        let line_number = {
            let mut writer = lock(&self.writer);
            writer
                .file
                .write_all(&text)
                .map_err(RunsError::file("write", &self.path))?;
            writer.written += 1;
            writer.written
        };
        let mut synced = lock(&self.synced);
        if *synced < line_number {
            // The sync covers all lines written before it starts, including those of other threads.
            let written = lock(&self.writer).written;
            self.syncer
                .sync_data()
                .map_err(RunsError::file("write", &self.path))?;
            *synced = written;
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rhae_protocol::JournalLine;

    use super::*;

    fn line(at_ms: u64) -> JournalLine {
        JournalLine::Finished { at_ms }
    }

    #[test]
    fn truncated_line_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(temp.path());
        Journal::open(&folder).unwrap().0.append(&line(1)).unwrap();
        // The line ends within a UTF-8 character.
        let mut bytes = std::fs::read(folder.file(JOURNAL)).unwrap();
        bytes.extend_from_slice(b"{\"event\":\"pla\xc3");
        std::fs::write(folder.file(JOURNAL), bytes).unwrap();
        let (journal, lines) = Journal::open(&folder).unwrap();
        assert_eq!(lines, [line(1)]);
        journal.append(&line(2)).unwrap();
        assert!(
            matches!(
                Journal::<JournalLine>::open(&folder),
                Err(RunsError::InUse(_))
            ),
            "one process at a time"
        );
        drop(journal);
        assert_eq!(
            load_lines::<JournalLine>(temp.path()).unwrap(),
            [line(1), line(2)]
        );
    }

    #[test]
    fn concurrent_appends_write_complete_lines() {
        let temp = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(&RunFolder::open(temp.path())).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let journal = &journal;
                scope.spawn(move || {
                    (0..20)
                        .for_each(|number| journal.append(&line(thread * 100 + number)).unwrap());
                });
            }
        });
        assert_eq!(load_lines::<JournalLine>(temp.path()).unwrap().len(), 160);
    }

    #[test]
    fn malformed_line_is_named_in_the_error() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join(JOURNAL), "{\"event\":\"nothing\"}\n").unwrap();
        let error = load_lines::<JournalLine>(temp.path()).unwrap_err();
        assert!(error.to_string().contains("line 1 of the journal"));
    }
}
