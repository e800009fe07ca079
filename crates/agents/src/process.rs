//! An agent in a separate process, which exchanges JSON lines over standard input and output.
//!
//! The process finds the id of its play in [`PLAY_ID_VARIABLE`], and a folder for its own files in
//! [`OUTPUT_DIR_VARIABLE`].

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rhae_protocol::{AgentMessage, AgentReply, Ending};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{AbortHandle, Agent, AgentError, Decision, PlayContext, StderrLog, View};

/// The maximum length of a line that the process writes.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// The time that the end of the standard error has to be stored after the process has ended. A child
/// in another process group may keep the pipe open.
const STDERR_GRACE_PERIOD: Duration = Duration::from_millis(200);

/// The environment variable with the id of the play.
pub const PLAY_ID_VARIABLE: &str = "RHAE_PLAY_ID";
/// The environment variable with the absolute path of a folder for files of the agent.
pub const OUTPUT_DIR_VARIABLE: &str = "RHAE_OUTPUT_DIR";

/// An agent that runs as a separate process.
///
/// The messages are [`AgentMessage`] and [`AgentReply`]. The process runs in its own process group,
/// so that its children end with it. Dropping the agent gives the process 0.2 seconds to exit and
/// then kills the group.
pub struct ProcessAgent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    stderr: StderrLog,
    /// The message that precedes the first observation. The first [`act`](Agent::act) sends it.
    /// [`ProcessAgent::start`] does not, because the write could block while the caller has no
    /// abort handle yet.
    greeting: Option<AgentMessage>,
}

impl ProcessAgent {
    /// Starts `command` with `sh -c` for the play of `context`.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Failed`] if the shell cannot be started. A command that does not exist
    /// is reported by the first [`act`](Agent::act).
    pub fn start(command: &str, context: &PlayContext) -> Result<Self, AgentError> {
        let mut child = Command::new("sh")
            .args(["-c", command])
            .env(PLAY_ID_VARIABLE, &context.play_id)
            .env(OUTPUT_DIR_VARIABLE, &context.output_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(context.stderr.open(&context.stderr_path))
            .process_group(0)
            .spawn()
            .map_err(|error| AgentError::Failed(format!("cannot start `{command}`: {error}")))?;
        let input = child.stdin.take();
        let output = child
            .stdout
            .take()
            .ok_or_else(|| AgentError::Failed("the agent's output is not connected".to_owned()))?;
        let greeting = Some(AgentMessage::Hello {
            protocol: AgentMessage::PROTOCOL,
            seed: context.seed,
        });
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
            stderr: context.stderr.clone(),
            greeting,
        })
    }

    fn send(&mut self, message: &AgentMessage) -> Result<(), AgentError> {
        let mut line =
            serde_json::to_vec(message).map_err(|error| AgentError::Failed(error.to_string()))?;
        line.push(b'\n');
        let sent = self
            .input
            .as_mut()
            .map(|input| input.write_all(&line).and_then(|()| input.flush()));
        if matches!(sent, Some(Ok(()))) {
            Ok(())
        } else {
            Err(self.disconnected())
        }
    }

    /// Returns the error for a process that closed its input or output.
    fn disconnected(&mut self) -> AgentError {
        // The process is probably exiting. Its exit status is more informative than the error of a
        // broken pipe.
        self.input = None;
        match self.wait_briefly() {
            Some(status) => {
                // The caller adds the last line to the error.
                self.stderr.wait_for_end(STDERR_GRACE_PERIOD);
                AgentError::Failed(format!("the agent's process ended ({status})"))
            }
            None => AgentError::Failed(
                "the agent's process closed its input or output but is still running".to_owned(),
            ),
        }
    }

    /// Waits up to 0.2 seconds for the process to exit and returns its exit status.
    fn wait_briefly(&mut self) -> Option<ExitStatus> {
        for _ in 0..20 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Agent for ProcessAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        if let Some(greeting) = self.greeting.take() {
            self.send(&greeting)?;
        }
        let levels = (view.levels_completed, view.win_levels);
        self.send(&AgentMessage::observation(
            view.frames,
            view.state,
            levels,
            view.available,
            view.full_reset,
        ))?;
        let mut line = String::new();
        match self
            .output
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_line(&mut line)
        {
            Ok(0) => Err(self.disconnected()),
            Ok(_) if !line.ends_with('\n') && line.len() as u64 == MAX_LINE_BYTES => Err(
                AgentError::Failed("the agent wrote a line of more than 1 MiB".to_owned()),
            ),
            Ok(_) => {
                let (action, details) = AgentReply::parse(&line)
                    .map_err(|error| AgentError::Failed(error.to_string()))?;
                Ok(Decision { action, details })
            }
            Err(error) => Err(AgentError::Failed(format!(
                "cannot read the agent's output: {error}"
            ))),
        }
    }

    fn end(&mut self, ending: &Ending) {
        // The process may have exited already.
        let _ = self.send(&AgentMessage::End {
            reason: ending.clone(),
        });
        self.input = None;
    }

    fn abort_handle(&self) -> Option<AbortHandle> {
        let group = self.group()?;
        Some(Box::new(move || {
            let _ = kill_process_group(group, Signal::KILL);
        }))
    }
}

impl Drop for ProcessAgent {
    /// Waits briefly for the process to exit, then kills its process group and stores the end of its
    /// standard error.
    fn drop(&mut self) {
        self.input = None;
        self.wait_briefly();
        if let Some(group) = self.group() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.stderr.wait_for_end(STDERR_GRACE_PERIOD);
    }
}
