//! The journal of an evaluation: one JSON object per line, appended and synced.
//!
//! **Invariant:** when [`Journal::append`] returns, the line is synced to disk. Threads that append
//! lines at the same time share one sync.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rhae_protocol::EvalLine;

use crate::EvalError;

/// Loads the lines of a folder's journal, without locking or changing it.
///
/// # Errors
///
/// Returns an error if the journal is missing or has a malformed line.
pub fn load_lines(folder: &Path) -> Result<Vec<EvalLine>, EvalError> {
    let path = folder.join("journal.jsonl");
    let bytes = std::fs::read(&path).map_err(|error| EvalError::File {
        operation: "read",
        path: path.clone(),
        error,
    })?;
    Ok(parse(&path, &bytes)?.1)
}

/// Parses the complete lines of a journal and returns their length in bytes. An incomplete last
/// line, which a crash can leave, is ignored.
fn parse(path: &Path, bytes: &[u8]) -> Result<(usize, Vec<EvalLine>), EvalError> {
    let complete = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let lines = bytes[..complete].split_inclusive(|&byte| byte == b'\n');
    let read = |(index, line)| {
        serde_json::from_slice(line).map_err(|error| EvalError::NotAnEvaluation {
            folder: path.to_owned(),
            reason: format!("line {} of the journal cannot be read: {error}", index + 1),
        })
    };
    Ok((
        complete,
        lines.enumerate().map(read).collect::<Result<_, _>>()?,
    ))
}

/// An open journal, locked against other processes and shared by the worker threads.
pub(crate) struct Journal {
    path: PathBuf,
    /// The lock for writing one complete line.
    writer: Mutex<Writer>,
    /// The number of synced lines, and the lock for syncing. It is never taken while `writer` is
    /// locked.
    synced: Mutex<u64>,
    syncer: File,
}

struct Writer {
    file: File,
    /// The number of lines written so far.
    written: u64,
}

impl Journal {
    /// Opens, locks and reads a journal. A last line that a crash truncated is removed.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<EvalLine>), EvalError> {
        let failed = |operation| {
            move |error| EvalError::File {
                operation,
                path: path.to_owned(),
                error,
            }
        };
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(EvalError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let (complete, lines) = parse(path, &bytes)?;
        file.set_len(complete as u64).map_err(failed("write"))?;
        let syncer = file.try_clone().map_err(failed("open"))?;
        let writer = Mutex::new(Writer { file, written: 0 });
        Ok((
            Self {
                path: path.to_owned(),
                writer,
                synced: Mutex::new(0),
                syncer,
            },
            lines,
        ))
    }

    /// Appends a line and waits until it is synced.
    pub(crate) fn append(&self, line: &EvalLine) -> Result<(), EvalError> {
        let failed = |error| EvalError::File {
            operation: "write",
            path: self.path.clone(),
            error,
        };
        let mut text =
            serde_json::to_vec(line).map_err(|error| EvalError::Config(error.to_string()))?;
        text.push(b'\n');
        let line_number = {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.file.write_all(&text).map_err(failed)?;
            writer.written += 1;
            writer.written
        };
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced < line_number {
            // The sync covers all lines written before it starts, including those of other threads.
            let written = self
                .writer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .written;
            self.syncer.sync_data().map_err(failed)?;
            *synced = written;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at_ms: u64) -> EvalLine {
        EvalLine::Ended {
            at_ms,
            reason: "finished".to_owned(),
        }
    }

    #[test]
    fn truncated_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        Journal::open(&path).unwrap().0.append(&line(1)).unwrap();
        // The line ends within a UTF-8 character.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"event\":\"ans\xc3");
        std::fs::write(&path, bytes).unwrap();
        let (journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines, [line(1)]);
        journal.append(&line(2)).unwrap();
        assert!(
            matches!(Journal::open(&path), Err(EvalError::InUse(_))),
            "one process at a time"
        );
        drop(journal);
        assert_eq!(load_lines(folder.path()).unwrap(), [line(1), line(2)]);
    }

    #[test]
    fn concurrent_appends_write_complete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(&folder.path().join("journal.jsonl")).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let journal = &journal;
                scope.spawn(move || {
                    (0..20)
                        .for_each(|number| journal.append(&line(thread * 100 + number)).unwrap());
                });
            }
        });
        assert_eq!(load_lines(folder.path()).unwrap().len(), 160);
    }

    #[test]
    fn malformed_line_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("journal.jsonl"),
            "{\"event\":\"nothing\"}\n",
        )
        .unwrap();
        assert!(
            load_lines(folder.path())
                .err()
                .unwrap()
                .to_string()
                .contains("line 1 of the journal")
        );
    }
}
