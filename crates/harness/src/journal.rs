//! The journal of a run: one JSON object per line, appended and synced.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rhae_protocol::{JournalLine, PlayResult};

use crate::HarnessError;

/// Loads the results of all journalled plays, without locking or changing the journal.
///
/// # Errors
///
/// Returns an error if the journal is missing or has a malformed line.
pub fn load_plays(folder: &Path) -> Result<Vec<PlayResult>, HarnessError> {
    let path = folder.join("journal.jsonl");
    let bytes = std::fs::read(&path).map_err(|error| HarnessError::File {
        operation: "read",
        path: path.clone(),
        error,
    })?;
    Ok(plays(parse(&path, &bytes)?.1))
}

/// Returns the results of the plays among the lines of a journal.
pub(crate) fn plays(lines: Vec<JournalLine>) -> Vec<PlayResult> {
    let play = |line| {
        if let JournalLine::Play { result, .. } = line {
            Some(result)
        } else {
            None
        }
    };
    lines.into_iter().filter_map(play).collect()
}

/// Parses the complete lines of a journal and returns their length in bytes. An incomplete last
/// line, which a crash can leave, is ignored.
fn parse(path: &Path, bytes: &[u8]) -> Result<(usize, Vec<JournalLine>), HarnessError> {
    let complete = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let lines = bytes[..complete].split_inclusive(|&byte| byte == b'\n');
    let read = |(index, line)| {
        serde_json::from_slice(line).map_err(|error| HarnessError::NotARun {
            folder: path.to_owned(),
            reason: format!("line {} of the journal cannot be read: {error}", index + 1),
        })
    };
    Ok((
        complete,
        lines.enumerate().map(read).collect::<Result<_, _>>()?,
    ))
}

/// An open journal, locked against other processes.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens, locks and reads a journal. A last line that a crash truncated is removed.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<JournalLine>), HarnessError> {
        let failed = |operation| {
            move |error| HarnessError::File {
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
            Err(TryLockError::WouldBlock) => return Err(HarnessError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let (complete, lines) = parse(path, &bytes)?;
        file.set_len(complete as u64).map_err(failed("write"))?;
        Ok((
            Self {
                path: path.to_owned(),
                file,
            },
            lines,
        ))
    }

    /// Appends a line and syncs the file.
    pub(crate) fn append(&mut self, line: &JournalLine) -> Result<(), HarnessError> {
        let mut text =
            serde_json::to_vec(line).map_err(|error| HarnessError::Config(error.to_string()))?;
        text.push(b'\n');
        let written = self
            .file
            .write_all(&text)
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| HarnessError::File {
            operation: "write",
            path: self.path.clone(),
            error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_line_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let line = JournalLine::Started {
            at_ms: 5,
            resumed: false,
        };
        Journal::open(&path).unwrap().0.append(&line).unwrap();
        // The line ends within a UTF-8 character.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"event\":\"pla\xc3");
        std::fs::write(&path, bytes).unwrap();
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert_eq!(lines, std::slice::from_ref(&line));
        journal.append(&line).unwrap();
        assert!(
            matches!(Journal::open(&path), Err(HarnessError::InUse(_))),
            "one process at a time"
        );
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().1, [line.clone(), line]);
    }

    #[test]
    fn malformed_line_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "{\"event\":\"nothing\"}\n").unwrap();
        assert!(
            Journal::open(&path)
                .err()
                .unwrap()
                .to_string()
                .contains("line 1 of the journal")
        );
    }
}
