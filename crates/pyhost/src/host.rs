//! A game's process: one request at a time, each with a deadline.
//!
//! **Invariant:** whatever the process does (hang, die, write rubbish), a request returns in time, and after the first
//! failure the process is ended and no further request reaches it.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::sandbox::REFUSED;
use crate::wire::{LONGEST, PROTOCOL, Reply, Request, clean};

/// How long a process may take to come up: an interpreter on a busy machine reads a lot of files.
const STARTING: Duration = Duration::from_secs(60);
/// How long a process that has closed its pipe is waited for, to learn how it ended.
const PARTING: Duration = Duration::from_millis(500);
/// How much is kept of what a process wrote to its standard error.
const LAST_WORDS: usize = 2000;

/// What a game's process may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How long one action may take, and with it all that a process computes for it: it has one thread.
    pub action: Duration,
    /// The memory of a process, in MiB of address space.
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

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The process cannot do that; the play goes on.
    Impossible(String),
    /// The play is over.
    Play(String),
    /// The process had ended before it was asked, through no fault of this play.
    Gone,
}

/// A process, shared by the plays in it.
pub(crate) struct Host {
    process: Mutex<Process>,
    dead: AtomicBool,
    /// How many plays are in it.
    pub(crate) plays: AtomicUsize,
    next: AtomicU32,
    /// Plays to be closed with the next request.
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

/// The end of what a process wrote to its standard error.
#[derive(Default)]
struct Errors {
    tail: Mutex<Vec<u8>>,
    ended: AtomicBool,
}

impl Host {
    /// Starts a process and waits until it is ready.
    pub(crate) fn start(mut command: Command, limit: Duration) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| format!("its process cannot be started: {error}"))?;
        let (Some(input), Some(output), Some(said)) =
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
        let unblocked =
            unblock(process.input.as_fd()).and_then(|()| unblock(process.output.as_fd()));
        unblocked.map_err(|error| format!("its pipes cannot be set up: {error}"))?;
        std::thread::Builder::new()
            .name("game-errors".to_owned())
            .spawn(move || listen(said, &errors))
            .map_err(|error| format!("no thread can be started: {error}"))?;
        match process.ask(&[], Request::Hello, STARTING) {
            Ok(Reply::Ready(PROTOCOL, _)) => {}
            Ok(Reply::Ready(other, _)) => {
                return Err(format!(
                    "its process speaks version {other} of the protocol, and this software version {PROTOCOL}"
                ));
            }
            Ok(_) => return Err(broken("expected READY first")),
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

    /// The memory that the process holds, where the system tells.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.pid)).ok()?;
        let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// A number for a new play.
    pub(crate) fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Lets a play be closed with the next request; nobody waits for that.
    pub(crate) fn close(&self, play: u32) {
        lock(&self.closing).push(play);
    }

    /// Asks, and waits for the answer as long as one action may take.
    pub(crate) fn ask(&self, request: Request<'_>) -> Result<Reply, Trouble> {
        let mut process = lock(&self.process);
        if self.is_dead() {
            return Err(Trouble::Gone);
        }
        if !matches!(process.child.try_wait(), Ok(None)) {
            self.dead.store(true, Ordering::Release);
            return Err(Trouble::Gone);
        }
        let closing = std::mem::take(&mut *lock(&self.closing));
        match process.ask(&closing, request, self.limit) {
            Ok(Reply::Failed(reason)) => Err(Trouble::Play(reason)),
            Ok(Reply::Impossible(reason)) => Err(Trouble::Impossible(reason)),
            Ok(reply) => Ok(reply),
            Err(reason) => {
                self.dead.store(true, Ordering::Release);
                Err(Trouble::Play(reason))
            }
        }
    }

    /// Ends the process because of an answer that does not fit its request.
    pub(crate) fn reject(&self, what: &str) -> Trouble {
        self.dead.store(true, Ordering::Release);
        lock(&self.process).end();
        Trouble::Play(broken(what))
    }
}

impl Process {
    /// One request and its answer. After an error the process is ended.
    fn ask(
        &mut self,
        closing: &[u32],
        request: Request<'_>,
        limit: Duration,
    ) -> Result<Reply, String> {
        let deadline = Instant::now() + limit;
        let mut bytes: Vec<u8> = closing
            .iter()
            .flat_map(|&play| Request::Close { play }.to_bytes())
            .collect();
        bytes.extend(request.to_bytes());
        let answered = self
            .write(&bytes, deadline)
            .and_then(|()| self.read(deadline));
        answered.map_err(|trouble| {
            let reason = match trouble {
                Pipe::Late => format!("the game gave no answer within {} s", limit.as_secs_f64()),
                Pipe::Rubbish(what) => broken(&what),
                Pipe::Closed => self.parting(),
            };
            self.end();
            reason
        })
    }

    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), Pipe> {
        while !bytes.is_empty() {
            wait(self.input.as_fd(), PollFlags::OUT, deadline)?;
            match self.input.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_passing(&error) => {}
                Err(_) => return Err(Pipe::Closed),
            }
        }
        Ok(())
    }

    fn read(&mut self, deadline: Instant) -> Result<Reply, Pipe> {
        let mut head = [0; 4];
        self.fill(&mut head, deadline)?;
        let length = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
        if !(1..=LONGEST).contains(&length) {
            return Err(Pipe::Rubbish(format!("a message of {length} bytes")));
        }
        let mut message = vec![0; length];
        self.fill(&mut message, deadline)?;
        Reply::parse(&message).map_err(Pipe::Rubbish)
    }

    fn fill(&mut self, mut room: &mut [u8], deadline: Instant) -> Result<(), Pipe> {
        while !room.is_empty() {
            wait(self.output.as_fd(), PollFlags::IN, deadline)?;
            match self.output.read(room) {
                Ok(0) => return Err(Pipe::Closed),
                Ok(count) => room = &mut room[count..],
                Err(error) if is_passing(&error) => {}
                Err(_) => return Err(Pipe::Closed),
            }
        }
        Ok(())
    }

    /// How a process ended that has closed its pipe, with the last it said.
    fn parting(&mut self) -> String {
        let deadline = Instant::now() + PARTING;
        let mut status = None;
        while Instant::now() < deadline
            && !(status.is_some() && self.errors.ended.load(Ordering::Acquire))
        {
            status = self.child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(2));
        }
        let tail = String::from_utf8_lossy(&lock(&self.errors.tail)).into_owned();
        let last = tail.lines().map(clean).rfind(|line| !line.is_empty());
        match (status, last) {
            (Some(status), Some(said)) if status.code() == Some(REFUSED.into()) => said,
            (Some(status), Some(said)) => {
                format!(
                    "the game's process ended ({status}); the last it said on standard error: `{said}`"
                )
            }
            (Some(status), None) => format!("the game's process ended ({status})"),
            (None, _) => "the game's process closed its pipe but goes on running".to_owned(),
        }
    }

    fn end(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that was waited for has left its number to others.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// What can happen on a pipe.
enum Pipe {
    Late,
    Closed,
    Rubbish(String),
}

fn broken(what: &str) -> String {
    format!("the game's process broke the protocol: {what}")
}

fn unblock(pipe: BorrowedFd<'_>) -> rustix::io::Result<()> {
    fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)
}

fn is_passing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Waits until something can be done on a pipe.
fn wait(pipe: BorrowedFd<'_>, what: PollFlags, deadline: Instant) -> Result<(), Pipe> {
    loop {
        let left = deadline
            .checked_duration_since(Instant::now())
            .ok_or(Pipe::Late)?;
        let left = Timespec::try_from(left).map_err(|_| Pipe::Late)?;
        match poll(&mut [PollFd::from_borrowed_fd(pipe, what)], Some(&left)) {
            Ok(0) => return Err(Pipe::Late),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(Pipe::Closed),
        }
    }
}

/// Reads what a process writes to its standard error for as long as it lives, and keeps the end of it.
fn listen(mut said: ChildStderr, errors: &Errors) {
    let mut room = [0; 4096];
    while let Ok(count @ 1..) = said.read(&mut room) {
        let mut tail = lock(&errors.tail);
        tail.extend_from_slice(&room[..count]);
        let surplus = tail.len().saturating_sub(LAST_WORDS);
        tail.drain(..surplus);
    }
    errors.ended.store(true, Ordering::Release);
}

/// Nothing that holds these locks leaves half a change when it panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
