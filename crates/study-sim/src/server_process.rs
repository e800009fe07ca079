//! A running server process, seen from the simulation that started it.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::SimulationError;
use crate::simulated_server::{FAILED, LISTENING, SETTLED, SimulatedServer};

/// A server in a separate process.
pub(crate) struct ServerProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Starts `PROGRAM study simulation-server` and waits until it listens.
    pub(crate) fn start(program: &Path, server: &SimulatedServer) -> Result<Self, SimulationError> {
        let mut command = Command::new(program);
        command
            .args(["study", "simulation-server", "--db"])
            .arg(&server.db)
            .args(["--port", &server.port.to_string()])
            .args(["--now-ms", &server.now_ms.to_string()])
            .args(["--seed", &server.seed.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(count) = server.aliases {
            command.args(["--aliases", &count.to_string()]);
        }
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().expect("the output is a pipe");
        let mut started = Self {
            child,
            input,
            output: BufReader::new(output),
            address: SocketAddr::from(([0, 0, 0, 0], 0)),
        };
        let line = started.read_line()?;
        let address = line.strip_prefix(LISTENING).and_then(|at| at.parse().ok());
        started.address = address.ok_or_else(|| unexpected(&line))?;
        Ok(started)
    }

    /// Moves the clock of the server, and waits until it has executed what is due.
    pub(crate) fn settle_at(&mut self, now_ms: u64) -> Result<(), SimulationError> {
        if let Some(input) = &mut self.input {
            writeln!(input, "{now_ms}")?;
            input.flush()?;
        }
        let line = self.read_line()?;
        match line.strip_prefix(FAILED) {
            None if line == SETTLED => Ok(()),
            Some(reason) => Err(unexpected(reason)),
            None => Err(unexpected(&line)),
        }
    }

    /// Kills the process (`kill -9`), whatever it does at the moment.
    pub(crate) fn kill(mut self) -> Result<(), SimulationError> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops the server in an orderly way.
    pub(crate) fn stop(mut self) -> Result<(), SimulationError> {
        drop(self.input.take());
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        Err(unexpected(&format!("the process ended with {status}")))
    }

    fn read_line(&mut self) -> Result<String, SimulationError> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(unexpected("the process has ended"));
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for ServerProcess {
    /// A simulation that fails leaves no process behind.
    fn drop(&mut self) {
        drop(self.input.take());
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn unexpected(found: &str) -> SimulationError {
    SimulationError::Unexpected {
        path: "a server process".to_owned(),
        reason: found.to_owned(),
    }
}
