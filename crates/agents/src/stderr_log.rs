//! The standard error of an agent's process: a file of bounded size, and its last line in memory.
//!
//! A thread reads the pipe until the process and all its children have closed it, so an agent that
//! writes much never blocks, and nothing that the agent writes or omits can block a reader of the
//! last line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, PipeReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of bytes that a file stores from the beginning of the output.
pub const MAX_STDERR_BYTES: usize = 1 << 20;
/// The number of bytes that a file stores from the end of the output, if the output is too long.
const TAIL_BYTES: usize = 64 << 10;
/// The maximum number of characters of the last line.
const MAX_LINE_CHARS: usize = 200;

/// The standard error of one process. Clones refer to the same output.
///
/// # Examples
///
/// ```
/// use std::process::Command;
/// use std::time::Duration;
///
/// use rhae_agents::StderrLog;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("stderr.txt");
/// let log = StderrLog::default();
/// let status = Command::new("sh").args(["-c", "echo oops >&2"]).stderr(log.open(&path)).status()?;
/// assert!(status.success());
///
/// log.wait_for_end(Duration::from_secs(10));
/// assert_eq!(log.last_line().as_deref(), Some("oops"));
/// assert_eq!(std::fs::read_to_string(&path)?, "oops\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StderrLog {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    output: Mutex<Output>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Output {
    /// The last [`TAIL_BYTES`] of the output.
    tail: VecDeque<u8>,
    /// Whether a thread reads the pipe.
    is_open: bool,
}

impl StderrLog {
    /// Creates the file and returns the standard error for the process. If the file cannot be
    /// created, only the last line is kept; if there is no pipe, the output is discarded.
    pub fn open(&self, path: &Path) -> Stdio {
        let Ok((reader, writer)) = std::io::pipe() else {
            return Stdio::null();
        };
        let file = File::create(path).ok();
        self.shared.output().is_open = true;
        let shared = Arc::clone(&self.shared);
        let copied = std::thread::Builder::new()
            .name("agent-stderr".to_owned())
            .spawn(move || {
                copy(reader, file, &shared);
                shared.output().is_open = false;
                shared.ended.notify_all();
            });
        if copied.is_err() {
            self.shared.output().is_open = false;
            return Stdio::null();
        }
        Stdio::from(writer)
    }

    /// Waits until the output has ended and is stored, but at most for `limit`.
    pub fn wait_for_end(&self, limit: Duration) {
        let waited = self
            .shared
            .ended
            .wait_timeout_while(self.shared.output(), limit, |output| output.is_open);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the last line so far that is not blank, shortened to 200 characters.
    pub fn last_line(&self) -> Option<String> {
        let tail: Vec<u8> = self.shared.output().tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&tail);
        let line = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some(line.trim().chars().take(MAX_LINE_CHARS).collect())
    }
}

impl Shared {
    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the pipe to its end. Stores the beginning and the end of the output in the file, with a
/// marker between them if something is left out. If the file cannot be written, the pipe is still
/// read.
fn copy(mut pipe: PipeReader, file: Option<File>, shared: &Shared) {
    let mut buffer = [0; 16 << 10];
    let mut file = BoundedFile {
        file,
        stored: 0,
        beyond: 0,
    };
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                shared.output().push(&buffer[..length]);
                file.write(&buffer[..length]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let tail: Vec<u8> = shared.output().tail.iter().copied().collect();
    file.end(&tail);
}

impl Output {
    fn push(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
    }
}

/// A file that stores the first [`MAX_STDERR_BYTES`] of what is written to it.
struct BoundedFile {
    /// `None` after an error.
    file: Option<File>,
    stored: usize,
    /// The number of bytes beyond the limit.
    beyond: usize,
}

impl BoundedFile {
    fn write(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(MAX_STDERR_BYTES - self.stored));
        self.store(first);
        self.stored += first.len();
        if self.beyond == 0 && !rest.is_empty() {
            let marker = format!(
                "\n[rhae: the output is longer than {MAX_STDERR_BYTES} bytes; only its end follows]\n"
            );
            self.store(marker.as_bytes());
        }
        self.beyond += rest.len();
    }

    /// Appends the end of the output, of which the file does not contain the last `beyond` bytes.
    fn end(&mut self, tail: &[u8]) {
        let missing = tail.len().min(self.beyond);
        self.store(&tail[tail.len() - missing..]);
    }

    fn store(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file
            && file.write_all(bytes).is_err()
        {
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn run(script: &str) -> (StderrLog, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stderr.txt");
        let log = StderrLog::default();
        let status = Command::new("sh")
            .args(["-c", script])
            .stderr(log.open(&path))
            .status();
        assert!(status.unwrap().success());
        log.wait_for_end(LONG);
        let text = std::fs::read_to_string(&path).unwrap();
        (log, text)
    }

    #[test]
    fn short_output_is_stored_unchanged() {
        let (log, text) = run("printf 'one\\ntwo\\n\\n' >&2");
        assert_eq!(text, "one\ntwo\n\n");
        assert_eq!(log.last_line().as_deref(), Some("two"));
        let (log, text) = run("true");
        assert_eq!((text.as_str(), log.last_line()), ("", None));
    }

    #[test]
    fn long_output_is_bounded_and_keeps_its_end() {
        let (log, text) =
            run("head -c 9000000 /dev/zero | tr '\\0' x >&2; printf '\\nthe end\\n' >&2");
        assert!(
            text.len() <= MAX_STDERR_BYTES + TAIL_BYTES + 200,
            "{}",
            text.len()
        );
        assert!(text[..MAX_STDERR_BYTES].bytes().all(|byte| byte == b'x'));
        assert!(text[MAX_STDERR_BYTES..].starts_with("\n[rhae: the output is longer than"));
        assert!(text.ends_with("x\nthe end\n"));
        assert_eq!(log.last_line().as_deref(), Some("the end"));
    }

    #[test]
    fn output_slightly_beyond_the_limit_is_stored_completely() {
        let (_, text) = run("head -c 1048576 /dev/zero | tr '\\0' x >&2; printf 'beyond' >&2");
        assert_eq!(text.lines().count(), 3);
        assert!(text.ends_with("follows]\nbeyond"));
    }

    #[test]
    fn reader_does_not_wait_for_a_child_that_keeps_the_pipe_open() {
        let folder = tempfile::tempdir().unwrap();
        let log = StderrLog::default();
        let mut child = Command::new("sh")
            .args(["-c", "echo waiting >&2; read line"])
            .stdin(Stdio::piped())
            .stderr(log.open(&folder.path().join("stderr.txt")))
            .spawn()
            .unwrap();
        while log.last_line().is_none() {
            std::thread::yield_now();
        }
        log.wait_for_end(Duration::from_millis(1));
        assert_eq!(log.last_line().as_deref(), Some("waiting"));
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn unwritable_file_does_not_block_the_process() {
        let log = StderrLog::default();
        let status = Command::new("sh")
            .args([
                "-c",
                "head -c 900000 /dev/zero >&2; printf '\\ndone\\n' >&2",
            ])
            .stderr(log.open(Path::new("/no/such/folder/stderr.txt")))
            .status();
        assert!(status.unwrap().success());
        log.wait_for_end(LONG);
        assert_eq!(log.last_line().as_deref(), Some("done"));
    }
}
