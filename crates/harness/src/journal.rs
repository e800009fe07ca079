//! The journal of a run: one JSON object a line, appended and synced.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rhae_protocol::{JournalLine, PlayResult};

use crate::HarnessError;

/// The plays that a run folder's journal holds, without touching it.
pub fn load_plays(folder: &Path) -> Result<Vec<PlayResult>, HarnessError> {
    let path = folder.join("journal.jsonl");
    let bytes = std::fs::read(&path).map_err(|error| HarnessError::File {
        what: "read",
        path: path.clone(),
        error,
    })?;
    Ok(plays(parse(&path, &bytes)?.1))
}

/// The plays among a journal's lines.
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

/// How many bytes of a journal are whole lines, and what they say. What a crash cut off after them may be anything.
fn parse(path: &Path, bytes: &[u8]) -> Result<(usize, Vec<JournalLine>), HarnessError> {
    let whole = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let lines = bytes[..whole].split_inclusive(|&byte| byte == b'\n');
    let read = |(index, line)| {
        serde_json::from_slice(line).map_err(|error| HarnessError::NotARun {
            folder: path.to_owned(),
            reason: format!("line {} of the journal cannot be read: {error}", index + 1),
        })
    };
    Ok((
        whole,
        lines.enumerate().map(read).collect::<Result<_, _>>()?,
    ))
}

/// An open journal.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal of a run folder and reads what it holds. A last line that was cut off by a crash is removed. As long
    /// as it is open, no other process can open it.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<JournalLine>), HarnessError> {
        let failed = |what| {
            move |error| HarnessError::File {
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
            Err(TryLockError::WouldBlock) => return Err(HarnessError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let (whole, lines) = parse(path, &bytes)?;
        file.set_len(whole as u64).map_err(failed("write"))?;
        Ok((
            Self {
                path: path.to_owned(),
                file,
            },
            lines,
        ))
    }

    /// Appends a line and waits until it is on the disk.
    pub(crate) fn append(&mut self, line: &JournalLine) -> Result<(), HarnessError> {
        let mut text =
            serde_json::to_vec(line).map_err(|error| HarnessError::Config(error.to_string()))?;
        text.push(b'\n');
        let written = self
            .file
            .write_all(&text)
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| HarnessError::File {
            what: "write",
            path: self.path.clone(),
            error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let line = JournalLine::Started {
            at_ms: 5,
            resumed: false,
        };
        Journal::open(&path).unwrap().0.append(&line).unwrap();
        // Cut off in the middle of a character, too.
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
    fn a_damaged_line_is_an_error_that_names_it() {
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
