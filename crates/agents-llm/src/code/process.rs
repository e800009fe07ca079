//! The process of an interpreter: it is started in the sandbox, and each message has a deadline.
//!
//! **Invariant:** whatever the process does, an exchange returns in bounded time, and after an error
//! the process group is killed.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rhae_llm::CancelToken;
use rhae_sandbox::{Launcher, ResourceLimits, SandboxSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// How long an interpreter may take to start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest message.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// How often a wait checks whether the play was cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(50);
/// The number of bytes kept from the end of standard error.
const STDERR_TAIL_BYTES: usize = 2000;

/// The program of an interpreter, and the sandbox in which it runs.
pub(crate) struct Sandboxed {
    pub(crate) launcher: Launcher,
    /// The program and its arguments.
    pub(crate) program: Vec<OsString>,
    /// The files that the program needs.
    pub(crate) read: Vec<PathBuf>,
    /// The environment variables of the program. It has no others.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    pub(crate) limits: ResourceLimits,
    /// The time after which the process of a call is killed, in seconds.
    pub(crate) wall_seconds: f64,
    /// Whether the program runs even if required layers of the sandbox are missing.
    pub(crate) partial: bool,
}

impl Sandboxed {
    /// Tests whether the system has all required layers.
    ///
    /// # Errors
    ///
    /// Returns what the system lacks, unless the caller waives it.
    pub(crate) fn check(&self) -> Result<(), String> {
        let layers = self.launcher.layers(self.limits);
        let missing = layers.map_err(|error| error.to_string())?.missing();
        if missing.is_empty() || self.partial {
            return Ok(());
        }
        Err(format!(
            "the code of models cannot run: this system lacks {}",
            missing.join(", ")
        ))
    }

    fn command(&self) -> Command {
        let mut command = self.launcher.command(&SandboxSpec {
            read: self.read.clone(),
            limits: self.limits,
            partial: self.partial,
            program: self.program.clone(),
            ..SandboxSpec::default()
        });
        let environment = self.environment.iter().copied();
        command.env_clear().envs(environment).current_dir("/");
        command
    }
}

/// A running interpreter.
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    cancel: CancelToken,
    timeout: Duration,
}

impl Process {
    /// Starts an interpreter and executes the prelude.
    pub(super) fn start(
        sandboxed: &Sandboxed,
        prelude: &str,
        cancel: &CancelToken,
    ) -> Result<Self, String> {
        let mut command = sandboxed.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| format!("the interpreter cannot be started: {error}"))?;
        let (Some(input), Some(output), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the interpreter has no pipes".to_owned());
        };
        let stderr_tail = Arc::new(Mutex::new(Vec::new()));
        let tail = Arc::clone(&stderr_tail);
        let mut process = Self {
            child,
            input,
            output,
            stderr_tail,
            cancel: cancel.clone(),
            timeout: START_TIMEOUT,
        };
        let unblocked = set_nonblocking(process.input.as_fd())
            .and_then(|()| set_nonblocking(process.output.as_fd()));
        unblocked.map_err(|error| format!("the pipes cannot be set up: {error}"))?;
        std::thread::Builder::new()
            .name("interpreter-errors".to_owned())
            .spawn(move || collect_stderr(stderr, &tail))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        process.send(&json!({"prelude": prelude}))?;
        let ready = process.receive()?;
        if ready["ready"] != true {
            return Err(format!("the interpreter did not start: {ready}"));
        }
        process.timeout = Duration::from_secs_f64(sandboxed.wall_seconds);
        Ok(process)
    }

    /// Sends a message. After an error the process is dead.
    pub(super) fn send(&mut self, message: &Value) -> Result<(), String> {
        let text = message.to_string();
        let length = u32::try_from(text.len()).map_err(|_| "the message is too large")?;
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        let deadline = Instant::now() + self.timeout;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let waited = wait(self.input.as_fd(), PollFlags::OUT, deadline, &self.cancel);
            waited.map_err(|error| self.kill_after(error))?;
            match self.input.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if is_transient(&error) => {}
                Err(_) => return Err(self.kill_after(PipeError::Closed)),
            }
        }
        Ok(())
    }

    /// Receives a message. After an error the process is dead.
    pub(super) fn receive(&mut self) -> Result<Value, String> {
        let deadline = Instant::now() + self.timeout;
        let received = self.read_message(deadline);
        received.map_err(|error| self.kill_after(error))
    }

    fn read_message(&mut self, deadline: Instant) -> Result<Value, PipeError> {
        let mut head = [0; 4];
        self.fill(&mut head, deadline)?;
        let length = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
        if length > MAX_MESSAGE_BYTES {
            return Err(PipeError::Protocol);
        }
        let mut message = Vec::new();
        // The length is not trusted, so the buffer grows with what arrives.
        while message.len() < length {
            let start = message.len();
            message.resize(length.min(start + (1 << 16)), 0);
            self.fill(&mut message[start..], deadline)?;
        }
        let value: Value = serde_json::from_slice(&message).map_err(|_| PipeError::Protocol)?;
        if value.is_object() {
            Ok(value)
        } else {
            Err(PipeError::Protocol)
        }
    }

    fn fill(&mut self, mut room: &mut [u8], deadline: Instant) -> Result<(), PipeError> {
        while !room.is_empty() {
            wait(self.output.as_fd(), PollFlags::IN, deadline, &self.cancel)?;
            match self.output.read(room) {
                Ok(0) => return Err(PipeError::Closed),
                Ok(count) => room = &mut room[count..],
                Err(error) if is_transient(&error) => {}
                Err(_) => return Err(PipeError::Closed),
            }
        }
        Ok(())
    }

    /// Kills the process and returns the reason.
    fn kill_after(&mut self, error: PipeError) -> String {
        self.kill();
        match error {
            PipeError::Timeout => format!(
                "the code did not end within {} s",
                self.timeout.as_secs_f64()
            ),
            PipeError::Cancelled => "the play was cancelled".to_owned(),
            PipeError::Protocol => "the code disturbed the interpreter".to_owned(),
            PipeError::Closed => {
                let tail = self
                    .stderr_tail
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                let tail = String::from_utf8_lossy(&tail).into_owned();
                match tail.lines().rev().find(|line| !line.trim().is_empty()) {
                    Some(line) => format!("the interpreter ended: {}", line.trim()),
                    None => "the interpreter ended".to_owned(),
                }
            }
        }
    }

    fn kill(&mut self) {
        // The id of a process that was waited for may belong to another one.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A failure to exchange a message.
#[derive(Clone, Copy)]
enum PipeError {
    Timeout,
    Cancelled,
    Closed,
    Protocol,
}

fn set_nonblocking(pipe: BorrowedFd<'_>) -> rustix::io::Result<()> {
    fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)
}

fn is_transient(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Waits until a pipe is ready.
fn wait(
    pipe: BorrowedFd<'_>,
    events: PollFlags,
    deadline: Instant,
    cancel: &CancelToken,
) -> Result<(), PipeError> {
    loop {
        if cancel.is_cancelled() {
            return Err(PipeError::Cancelled);
        }
        let left = deadline
            .checked_duration_since(Instant::now())
            .ok_or(PipeError::Timeout)?
            .min(CANCEL_CHECK);
        let left = Timespec::try_from(left).map_err(|_| PipeError::Timeout)?;
        match poll(&mut [PollFd::from_borrowed_fd(pipe, events)], Some(&left)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(_) => return Err(PipeError::Closed),
        }
    }
}

/// Reads standard error until it is closed and keeps the tail.
fn collect_stderr(mut stderr: ChildStderr, tail: &Mutex<Vec<u8>>) {
    let mut room = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut room) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&room[..count]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.drain(..surplus);
    }
}
