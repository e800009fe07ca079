//! The journal of an evaluation: one JSON object a line, appended and synced.
//!
//! Invariant: when [`Journal::append`] returns, the line is on the disk. Lines of several threads that wait at the same time share
//! one sync.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rhae_protocol::EvalLine;

use crate::EvalError;

/// The lines that a folder's journal holds, without touching it.
pub fn load_lines(folder: &Path) -> Result<Vec<EvalLine>, EvalError> {
    let path = folder.join("journal.jsonl");
    let bytes = std::fs::read(&path).map_err(|error| EvalError::File {
        what: "read",
        path: path.clone(),
        error,
    })?;
    Ok(parse(&path, &bytes)?.1)
}

/// How many bytes of a journal are whole lines, and what they say. What a crash cut off after them may be anything.
fn parse(path: &Path, bytes: &[u8]) -> Result<(usize, Vec<EvalLine>), EvalError> {
    let whole = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
    let read = |(index, line)| {
        serde_json::from_slice(line).map_err(|error| EvalError::NotAnEvaluation {
            folder: path.to_owned(),
            reason: format!("line {} of the journal cannot be read: {error}", index + 1),
        })
    };
    Ok((
        whole,
        lines.enumerate().map(read).collect::<Result<_, _>>()?,
    ))
}

/// An open journal, which several threads write to.
pub(crate) struct Journal {
    path: PathBuf,
    /// Written to under this lock, one whole line at a time.
    writer: Mutex<Writer>,
    /// Synced under this lock, which is never taken with the other held.
    synced: Mutex<u64>,
    syncer: File,
}

struct Writer {
    file: File,
    /// Lines written so far.
    written: u64,
}

impl Journal {
    /// Opens the journal of a folder and reads what it holds. A last line that was cut off by a crash is removed. As long as it is
    /// open, no other process can open it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<EvalLine>), EvalError> {
        let failed = |what| {
            move |error| EvalError::File {
                what,
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
        let (whole, lines) = parse(path, &bytes)?;
        file.set_len(whole as u64).map_err(failed("write"))?;
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

    /// Appends a line and waits until it is on the disk.
    pub(crate) fn append(&self, line: &EvalLine) -> Result<(), EvalError> {
        let failed = |error| EvalError::File {
            what: "write",
            path: self.path.clone(),
            error,
        };
        let mut text =
            serde_json::to_vec(line).map_err(|error| EvalError::Config(error.to_string()))?;
        text.push(b'\n');
        let mine = {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.file.write_all(&text).map_err(failed)?;
            writer.written += 1;
            writer.written
        };
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced < mine {
            // Everything that was written before the sync begins is on the disk after it.
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
    fn a_line_that_was_cut_off_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        Journal::open(&path).unwrap().0.append(&line(1)).unwrap();
        // Cut off in the middle of a character, too.
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
    fn threads_do_not_mix_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(&folder.path().join("journal.jsonl")).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let journal = &journal;
                scope.spawn(move || {
                    (0..20).for_each(|number| journal.append(&line(thread * 100 + number)).unwrap())
                });
            }
        });
        assert_eq!(load_lines(folder.path()).unwrap().len(), 160);
    }

    #[test]
    fn a_damaged_line_is_an_error_that_names_it() {
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
