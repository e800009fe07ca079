//! A game's process, which handles one request at a time, each with a deadline.
//!
//! **Invariant:** whatever the process does (hang, crash, write garbage), a request returns in
//! bounded time. After a timeout, a crash or a violation of the protocol, the process is killed and
//! receives no further request.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_sandbox::SETUP_FAILED;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::wire::{MAX_MESSAGE_BYTES, PROTOCOL, Reply, Request, sanitize};

/// How long a process may take to start. An interpreter reads many files at start-up, which takes
/// long on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait for the exit status of a process that has closed its pipe.
const EXIT_WAIT: Duration = Duration::from_millis(500);
/// How much longer than the limit of one action a part of a reply may take: a process may collect
/// results for half a second before it starts the action that uses up the limit.
const PART_MARGIN: Duration = Duration::from_secs(1);
/// The number of bytes kept from the end of a process's standard error.
const STDERR_TAIL_BYTES: usize = 2000;

/// The resources that a game's process may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The time limit of one request. Because a process has a single thread, this also limits its
    /// CPU time per action.
    pub action: Duration,
    /// The memory limit of a process, in MiB of address space.
    pub memory_mb: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            action: Duration::from_secs(10),
            memory_mb: 2048,
        }
    }
}

/// The reason why a request has no regular response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The process does not support the request; the play continues.
    Unsupported(String),
    /// The game failed, and the play is over.
    PlayFailed(String),
    /// The process had ended before the request, so this play is not at fault.
    ProcessGone,
}

/// A process and the plays that share it.
pub(crate) struct Host {
    process: Mutex<Process>,
    dead: AtomicBool,
    /// The number of plays in the process.
    pub(crate) plays: AtomicUsize,
    next: AtomicU32,
    /// Plays whose CLOSE is sent along with the next request.
    closing: Mutex<Vec<u32>>,
    limit: Duration,
    pid: u32,
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: Arc<Errors>,
}

/// The tail of a process's standard error.
#[derive(Default)]
struct Errors {
    tail: Mutex<Vec<u8>>,
    ended: AtomicBool,
}

impl Host {
    /// Starts a process and waits until it is ready. `code` is the source of a Python game, which
    /// the process executes instead of the content of its file. `limit` is the time limit of later
    /// requests.
    pub(crate) fn start(
        mut command: Command,
        code: Option<&[u8]>,
        limit: Duration,
    ) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start its process: {error}"))?;
        let (Some(input), Some(output), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("its process has no pipes".to_owned());
        };
        let errors = Arc::new(Errors::default());
        let mut process = Process {
            child,
            input,
            output,
            errors: Arc::clone(&errors),
        };
        let unblocked = set_nonblocking(process.input.as_fd())
            .and_then(|()| set_nonblocking(process.output.as_fd()));
        unblocked.map_err(|error| format!("cannot set up the pipes of its process: {error}"))?;
        std::thread::Builder::new()
            .name("game-errors".to_owned())
            .spawn(move || collect_stderr(stderr, &errors))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        if let Some(code) = code {
            process.send_code(code)?;
        }
        match process.request(&[], Request::Hello, START_TIMEOUT) {
            Ok(Reply::Ready(PROTOCOL, _)) => {}
            Ok(Reply::Ready(other, _)) => {
                return Err(format!(
                    "its process uses version {other} of the protocol, but this software needs version {PROTOCOL}"
                ));
            }
            Ok(_) => return Err(protocol_error("expected READY first")),
            Err(reason) => return Err(reason),
        }
        Ok(Self {
            pid: process.child.id(),
            process: Mutex::new(process),
            dead: AtomicBool::new(false),
            plays: AtomicUsize::new(0),
            next: AtomicU32::new(1),
            closing: Mutex::default(),
            limit,
        })
    }

    /// Returns the resident memory of the process, or `None` if the system does not report it.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let pid = rhae_sandbox::program_id(self.pid);
        let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// Returns an unused id for a new play.
    pub(crate) fn next_play_id(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Kills the process without waiting for the request that it handles, which then fails. Meant
    /// for the end of a program: a process that has just ended may have given its id to another.
    pub(crate) fn end(&self) {
        let group = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(group) = group.filter(|_| !self.is_dead()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Schedules a play to be closed with the next request. CLOSE has no response, so the caller
    /// need not wait.
    pub(crate) fn close(&self, play: u32) {
        lock(&self.closing).push(play);
    }

    /// Sends a request and waits for the response, at most for the time limit of one action.
    pub(crate) fn request(&self, request: Request<'_>) -> Result<Reply, RequestError> {
        let mut received = None;
        self.exchange(request, Duration::ZERO, &mut |reply| {
            received = Some(reply);
            Ok(false)
        })?;
        received.ok_or(RequestError::ProcessGone)
    }

    /// Sends a request whose response has several parts. `on_reply` receives each part and returns
    /// whether another follows; an error means that the process broke the protocol. Each part may
    /// take the time limit of one action.
    pub(crate) fn request_parts(
        &self,
        request: Request<'_>,
        on_reply: &mut dyn FnMut(Reply) -> Result<bool, String>,
    ) -> Result<(), RequestError> {
        self.exchange(request, PART_MARGIN, on_reply)
    }

    fn exchange(
        &self,
        request: Request<'_>,
        margin: Duration,
        on_reply: &mut dyn FnMut(Reply) -> Result<bool, String>,
    ) -> Result<(), RequestError> {
        let mut process = lock(&self.process);
        if self.is_dead() {
            return Err(RequestError::ProcessGone);
        }
        if !matches!(process.child.try_wait(), Ok(None)) {
            self.dead.store(true, Ordering::Release);
            return Err(RequestError::ProcessGone);
        }
        let closing = std::mem::take(&mut *lock(&self.closing));
        let mut refused = None;
        let exchanged =
            process.exchange(
                &closing,
                request,
                (self.limit, margin),
                &mut |reply| match reply {
                    Reply::Failed(reason) => {
                        refused = Some(RequestError::PlayFailed(reason));
                        Ok(false)
                    }
                    Reply::Unsupported(reason) => {
                        refused = Some(RequestError::Unsupported(reason));
                        Ok(false)
                    }
                    reply => on_reply(reply),
                },
            );
        match (exchanged, refused) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(error)) => Err(error),
            (Err(reason), _) => {
                self.dead.store(true, Ordering::Release);
                Err(RequestError::PlayFailed(reason))
            }
        }
    }

    /// Kills the process because its response does not match the request.
    pub(crate) fn reject(&self, detail: &str) -> RequestError {
        self.dead.store(true, Ordering::Release);
        lock(&self.process).kill();
        RequestError::PlayFailed(protocol_error(detail))
    }
}

impl Process {
    /// Sends a request and reads one response. Kills the process after an error.
    fn request(
        &mut self,
        closing: &[u32],
        request: Request<'_>,
        limit: Duration,
    ) -> Result<Reply, String> {
        let mut received = None;
        self.exchange(closing, request, (limit, Duration::ZERO), &mut |reply| {
            received = Some(reply);
            Ok(false)
        })?;
        received.ok_or_else(|| protocol_error("no response"))
    }

    /// Sends a request and reads responses as long as `on_reply` returns true, each within `limit`
    /// and a margin. Kills the process after an error.
    fn exchange(
        &mut self,
        closing: &[u32],
        request: Request<'_>,
        (limit, margin): (Duration, Duration),
        on_reply: &mut dyn FnMut(Reply) -> Result<bool, String>,
    ) -> Result<(), String> {
        let mut deadline = Instant::now() + limit + margin;
        let mut bytes: Vec<u8> = closing
            .iter()
            .flat_map(|&play| Request::Close { play }.to_bytes())
            .collect();
        bytes.extend(request.to_bytes());
        let mut exchanged = self.write(&bytes, deadline);
        while exchanged.is_ok() {
            let reply = self.read(deadline);
            match reply.and_then(|reply| on_reply(reply).map_err(PipeError::Protocol)) {
                Ok(true) => deadline = Instant::now() + limit + margin,
                Ok(false) => break,
                Err(error) => exchanged = Err(error),
            }
        }
        exchanged.map_err(|error| self.failure(error, limit))
    }

    /// Kills the process after an error and returns the reason.
    fn failure(&mut self, error: PipeError, limit: Duration) -> String {
        let reason = match error {
            PipeError::Timeout => {
                format!("the game did not respond within {} s", limit.as_secs_f64())
            }
            PipeError::Protocol(detail) => protocol_error(&detail),
            PipeError::Closed => self.exit_reason(),
        };
        self.kill();
        reason
    }

    /// Sends the source of a Python game: its length in four bytes, then its bytes.
    fn send_code(&mut self, code: &[u8]) -> Result<(), String> {
        let length = u32::try_from(code.len()).map_err(|_| "its source is too large".to_owned())?;
        let deadline = Instant::now() + START_TIMEOUT;
        self.write(&length.to_le_bytes(), deadline)
            .and_then(|()| self.write(code, deadline))
            .map_err(|error| self.failure(error, START_TIMEOUT))
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), PipeError> {
        while !bytes.is_empty() {
            wait(self.input.as_fd(), PollFlags::OUT, deadline)?;
            match self.input.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_transient(&error) => {}
                Err(_) => return Err(PipeError::Closed),
            }
        }
        Ok(())
    }

    fn read(&mut self, deadline: Instant) -> Result<Reply, PipeError> {
        let mut head = [0; 4];
        self.fill(&mut head, deadline)?;
        let length = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
        if !(1..=MAX_MESSAGE_BYTES).contains(&length) {
            return Err(PipeError::Protocol(format!("a message of {length} bytes")));
        }
        let mut message = vec![0; length];
        self.fill(&mut message, deadline)?;
        Reply::parse(&message).map_err(PipeError::Protocol)
    }

    fn fill(&mut self, mut room: &mut [u8], deadline: Instant) -> Result<(), PipeError> {
        while !room.is_empty() {
            wait(self.output.as_fd(), PollFlags::IN, deadline)?;
            match self.output.read(room) {
                Ok(0) => return Err(PipeError::Closed),
                Ok(count) => room = &mut room[count..],
                Err(error) if is_transient(&error) => {}
                Err(_) => return Err(PipeError::Closed),
            }
        }
        Ok(())
    }

    /// Describes how a process that has closed its pipe ended, with the last line of its standard
    /// error.
    fn exit_reason(&mut self) -> String {
        let deadline = Instant::now() + EXIT_WAIT;
        let mut status = None;
        while Instant::now() < deadline
            && !(status.is_some() && self.errors.ended.load(Ordering::Acquire))
        {
            status = self.child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(2));
        }
        let tail = String::from_utf8_lossy(&lock(&self.errors.tail)).into_owned();
        let last = tail.lines().map(sanitize).rfind(|line| !line.is_empty());
        match (status, last) {
            (Some(status), Some(stderr)) if status.code() == Some(SETUP_FAILED.into()) => stderr,
            (Some(status), Some(stderr)) => {
                format!(
                    "the game's process ended ({status}); last line of its standard error: `{stderr}`"
                )
            }
            (Some(status), None) => format!("the game's process ended ({status})"),
            (None, _) => "the game's process closed its pipe but is still running".to_owned(),
        }
    }

    fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process is killed only if it is still running, because after a successful wait the
        // pid may belong to another process.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

/// A failure to exchange a message over the pipes.
enum PipeError {
    Timeout,
    Closed,
    Protocol(String),
}

fn protocol_error(detail: &str) -> String {
    format!("the game's process broke the protocol: {detail}")
}

fn set_nonblocking(pipe: BorrowedFd<'_>) -> rustix::io::Result<()> {
    fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)
}

fn is_transient(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Waits until a pipe is ready for `events`.
fn wait(pipe: BorrowedFd<'_>, events: PollFlags, deadline: Instant) -> Result<(), PipeError> {
    loop {
        let left = deadline
            .checked_duration_since(Instant::now())
            .ok_or(PipeError::Timeout)?;
        let left = Timespec::try_from(left).map_err(|_| PipeError::Timeout)?;
        match poll(&mut [PollFd::from_borrowed_fd(pipe, events)], Some(&left)) {
            Ok(0) => return Err(PipeError::Timeout),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(PipeError::Closed),
        }
    }
}

/// Reads a process's standard error until it is closed and keeps the tail.
fn collect_stderr(mut stderr: ChildStderr, errors: &Errors) {
    let mut room = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut room) {
        let mut tail = lock(&errors.tail);
        tail.extend_from_slice(&room[..count]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.drain(..surplus);
    }
    errors.ended.store(true, Ordering::Release);
}

/// Locks a mutex and ignores poisoning: no holder leaves the data inconsistent when it panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
