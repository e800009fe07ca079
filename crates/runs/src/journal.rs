//! The journal of a run: one JSON object per line, appended and synced.
//!
//! **Invariant:** when [`Journal::append`] succeeds, the line is synced to disk. Threads that append
//! lines at the same time share one sync.
//!
//! **Invariant:** an append that fails leaves no part of its line between other lines. What was
//! written of it is removed; if that is impossible, nothing more is appended.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::{RunFolder, RunsError};

/// The name of the journal in a run folder.
pub const JOURNAL: &str = "journal.jsonl";
/// The beginning of every line: the first field of a line is its event. JSON escapes quotation
/// marks in texts, so these bytes occur only where a line starts.
const LINE_START: &[u8] = b"{\"event\":";

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
        parse_line(line).map_err(|error| RunsError::MalformedLine {
            path: path.to_owned(),
            line: index + 1,
            reason: error.to_string(),
        })
    };
    let lines = lines.enumerate().map(read).collect::<Result<_, _>>()?;
    Ok((complete, lines))
}

/// Parses a line.
///
/// Before a line, there may be incomplete ones without a newline: an older version of this software
/// did not remove what it had written when the disk was full. They were never acknowledged, so they
/// are ignored. Any other content before a line is an error.
pub(crate) fn parse_line<L: DeserializeOwned>(line: &[u8]) -> serde_json::Result<L> {
    serde_json::from_slice(line).or_else(|error| {
        let starts: Vec<usize> = line
            .windows(LINE_START.len())
            .enumerate()
            .filter_map(|(index, bytes)| (index > 0 && bytes == LINE_START).then_some(index))
            .collect();
        let mut begin = 0;
        for end in starts {
            if !is_truncated(&line[begin..end]) {
                return Err(error);
            }
            begin = end;
        }
        serde_json::from_slice(&line[begin..]).map_err(|_| error)
    })
}

/// Returns whether bytes are the beginning of a line, possibly all of it except its newline. It may
/// be followed by a part of [`LINE_START`], of which a second append wrote no more.
fn is_truncated(bytes: &[u8]) -> bool {
    let ends_early = |bytes: &[u8]| {
        serde_json::from_slice::<IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
    };
    let is_truncated = |bytes: &[u8]| {
        serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
            || ends_early(bytes)
            // A number that ends before a digit is invalid rather than incomplete.
            || ends_early(&[bytes, b"0"].concat())
    };
    (0..LINE_START.len())
        .filter_map(|length| bytes.strip_suffix(&LINE_START[..length]))
        .any(is_truncated)
}

/// An open journal with lines of type `L`, locked against other processes and shared by threads.
///
/// A line is an object whose first field is `event`.
#[derive(Debug)]
pub struct Journal<L> {
    path: PathBuf,
    /// The lock for writing one complete line.
    writer: Mutex<Writer>,
    /// What is synced, and the lock for syncing. It is never taken while `writer` is locked.
    synced: Mutex<Extent>,
    syncer: File,
    lines: PhantomData<fn(L)>,
}

#[derive(Debug)]
struct Writer {
    file: File,
    /// The complete lines written so far.
    written: Extent,
    /// Whether the file may contain something else than the complete lines.
    failed: bool,
}

/// A part of a journal, from its beginning.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// The number of lines that this process appended.
    lines: u64,
    /// The length in bytes, with the lines of earlier processes.
    bytes: u64,
}

impl Writer {
    /// Writes a line and returns its number. If only a part of it can be written, the part is
    /// removed.
    fn write(&mut self, line: &[u8], path: &Path) -> Result<u64, RunsError> {
        if self.failed {
            return Err(RunsError::JournalFailed(path.to_owned()));
        }
        if let Err(error) = self.file.write_all(line) {
            self.truncate(self.written);
            return Err(RunsError::file("write", path)(error));
        }
        self.written.lines += 1;
        self.written.bytes += line.len() as u64;
        Ok(self.written.lines)
    }

    /// Removes everything after `extent`.
    fn truncate(&mut self, extent: Extent) {
        self.failed |= self.file.set_len(extent.bytes).is_err();
    }
}

impl<L: Serialize + DeserializeOwned> Journal<L> {
    /// Opens, locks and reads the journal of a run. A last line that a crash truncated is removed.
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::InUse`] if another process has opened the journal, and an error if it
    /// cannot be read or has a malformed line.
    pub fn open(folder: &RunFolder) -> Result<(Self, Vec<L>), RunsError> {
        Self::open_named(folder, JOURNAL)
    }

    /// Opens, locks and reads another journal in a run folder, like [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn open_named(folder: &RunFolder, name: &str) -> Result<(Self, Vec<L>), RunsError> {
        let path = folder.file(name);
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
        let written = Extent {
            lines: 0,
            bytes: complete as u64,
        };
        let journal = Self {
            path,
            writer: Mutex::new(Writer {
                file,
                written,
                failed: false,
            }),
            synced: Mutex::new(written),
            syncer,
            lines: PhantomData,
        };
        Ok((journal, lines))
    }

    /// Appends a line and waits until it is synced. After an error, the line is not in the journal.
    ///
    /// # Errors
    ///
    /// Returns an error if the line cannot be serialised, written or synced. Other lines can still
    /// be appended, unless the error is of the sync: then every later append returns
    /// [`RunsError::JournalFailed`].
    pub fn append(&self, line: &L) -> Result<(), RunsError> {
        self.append_all(std::slice::from_ref(line))
    }

    /// Appends lines with one sync. If the function fails, it has appended none of them.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`append`](Self::append).
    pub fn append_all(&self, lines: &[L]) -> Result<(), RunsError> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line).map_err(|error| RunsError::Json {
                path: self.path.clone(),
                reason: error.to_string(),
            })?;
            text.push(b'\n');
        }
        if text.is_empty() {
            return Ok(());
        }
        let line_number = lock(&self.writer).write(&text, &self.path)?;
        let mut synced = lock(&self.synced);
        if synced.lines >= line_number {
            return Ok(());
        }
        // The sync covers all lines written before it starts, including those of other threads.
        let written = {
            let writer = lock(&self.writer);
            if writer.failed {
                return Err(RunsError::JournalFailed(self.path.clone()));
            }
            writer.written
        };
        if let Err(error) = self.syncer.sync_data() {
            // A second sync could succeed although the data of the first one are lost.
            let mut writer = lock(&self.writer);
            writer.truncate(*synced);
            writer.failed = true;
            return Err(RunsError::file("write", &self.path)(error));
        }
        *synced = written;
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

    /// Returns a line that is longer than the file may become in the test below.
    fn long_line() -> JournalLine {
        let result = rhae_protocol::PlayResult {
            repeat: 1,
            game_id: "ab12-v1".to_owned(),
            guid: "g".to_owned(),
            recording: "x".repeat(10_000),
            levels: None,
            runs: Vec::new(),
        };
        JournalLine::Play { at_ms: 2, result }
    }

    /// Runs itself again in a process whose files may have at most 512 or 1024 bytes, depending on
    /// the shell. The write that reaches this limit ends in the middle of its line.
    #[cfg(unix)]
    #[test]
    fn append_that_fails_half_way_leaves_no_partial_line() {
        const FOLDER: &str = "RHAE_TEST_JOURNAL_FOLDER";
        if let Some(folder) = std::env::var_os(FOLDER) {
            let (journal, _) = Journal::open(&RunFolder::open(Path::new(&folder))).unwrap();
            journal.append(&line(1)).unwrap();
            for _ in 0..2 {
                let error = journal.append(&long_line()).unwrap_err().to_string();
                assert!(error.contains("File too large"), "{error}");
            }
            journal.append(&line(3)).unwrap();
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact journal::tests::append_that_fails_half_way_leaves_no_partial_line";
        let child = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .env(FOLDER, temp.path())
            .output()
            .unwrap();
        assert!(child.status.success(), "{child:?}");
        let lines: Vec<JournalLine> = load_lines(temp.path()).unwrap();
        assert_eq!(lines, [line(1), line(3)]);
    }

    #[test]
    fn incomplete_lines_before_a_line_are_ignored() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(JOURNAL);
        let text = |line: &JournalLine| serde_json::to_string(line).unwrap();
        let long = text(&long_line());
        // Every length at which a write can end, also twice in a row.
        for end in (1..200).chain([long.len()]) {
            let (once, twice) = (&long[..end], &long[..200 - end.min(199)]);
            let journal = format!(
                "{}\n{once}{twice}{}\n{once}",
                text(&line(1)),
                text(&line(2))
            );
            std::fs::write(&path, journal).unwrap();
            let lines = load_lines::<JournalLine>(temp.path());
            assert_eq!(lines.unwrap(), [line(1), line(2)], "{end}");
        }
        // A number may end before its fraction.
        let fraction = format!("{{\"event\":\"x\",\"cost_usd\":0.{}\n", text(&line(2)));
        std::fs::write(&path, fraction).unwrap();
        assert_eq!(load_lines::<JournalLine>(temp.path()).unwrap(), [line(2)]);
        // Other damage is an error, because acknowledged lines may be lost.
        for damaged in [
            format!("{}\n", &long[..50]),
            format!("\0\0\0{}\n", text(&line(2))),
            format!("{}x{}\n", text(&line(1)), text(&line(2))),
            format!("{}{}\n", &long[..50], &long[..60]),
        ] {
            std::fs::write(&path, format!("{}\n{damaged}", text(&line(1)))).unwrap();
            let error = load_lines::<JournalLine>(temp.path()).unwrap_err();
            assert!(error.to_string().contains("line 2 of the journal"));
        }
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
