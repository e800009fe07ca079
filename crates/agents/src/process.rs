//! Anyone's agent: a process that speaks JSON lines on its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rhae_protocol::{AgentMessage, AgentReply};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{Agent, AgentError, Decision, Stopper, View};

/// The longest line that is read from an agent.
const LONGEST_LINE: u64 = 1 << 20;

/// An agent in a process of its own, in a process group of its own, so that what it starts ends with it.
pub struct ProcessAgent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What is said before the first observation. Saying it at the start could block or fail before anyone watches.
    greeting: Option<AgentMessage>,
}

impl ProcessAgent {
    /// Starts a shell command. What it writes to its standard error goes to `errors`.
    pub fn start(command: &str, seed: u64, errors: Stdio) -> Result<Self, AgentError> {
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
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
            seed,
        });
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
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
            Err(self.gone())
        }
    }

    /// What became of a process that no longer listens or speaks.
    fn gone(&mut self) -> AgentError {
        // A process that closed its output is about to end; its status says more than a broken pipe.
        self.input = None;
        match self.wait_briefly() {
            Some(status) => AgentError::Failed(format!("the agent's process ended ({status})")),
            None => AgentError::Failed(
                "the agent's process closed its input or output but goes on running".to_owned(),
            ),
        }
    }

    /// The status of a process that ends within a fifth of a second.
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
        match self.output.by_ref().take(LONGEST_LINE).read_line(&mut line) {
            Ok(0) => Err(self.gone()),
            Ok(_) if !line.ends_with('\n') && line.len() as u64 == LONGEST_LINE => Err(
                AgentError::Failed("the agent wrote a line of more than 1 MiB".to_owned()),
            ),
            Ok(_) => {
                let (action, details) = AgentReply::parse(&line)
                    .map_err(|error| AgentError::Failed(error.to_string()))?;
                Ok(Decision { action, details })
            }
            Err(error) => Err(AgentError::Failed(format!(
                "cannot read what the agent wrote: {error}"
            ))),
        }
    }

    fn end(&mut self, reason: &str) {
        // An agent that has already gone needs no farewell.
        let _ = self.send(&AgentMessage::End {
            reason: reason.to_owned(),
        });
        self.input = None;
    }

    fn stopper(&self) -> Option<Stopper> {
        let group = self.group()?;
        Some(Box::new(move || {
            let _ = kill_process_group(group, Signal::KILL);
        }))
    }
}

impl Drop for ProcessAgent {
    /// Gives the process a moment to end by itself, then ends it and what it started.
    fn drop(&mut self) {
        self.input = None;
        self.wait_briefly();
        if let Some(group) = self.group() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
