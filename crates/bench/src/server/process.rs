//! A server in a child process.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rhae_runs::new_run_id;
use rustix::process::{Pid, Signal, kill_process};

use crate::BenchError;

/// A running server. Dropping it kills the process.
pub(crate) struct Process {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    address: String,
}

impl Process {
    /// Starts `program serve` with a new database in `folder` and waits until it listens.
    pub(crate) fn start_rhae(
        program: &Path,
        folder: &Path,
        flags: &[&str],
    ) -> Result<Self, BenchError> {
        let mut command = Command::new(program);
        command
            .args(["serve", "--addr", "127.0.0.1:0", "--db", "bench.db"])
            .args(flags)
            .current_dir(folder);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(BenchError::io("cannot start the server"))?;
        let mut stdout = BufReader::new(child.stdout.take().expect("the server's output is piped"));
        let mut line = String::new();
        stdout
            .read_line(&mut line)
            .map_err(BenchError::io("cannot read the output of the server"))?;
        let address = line
            .strip_prefix("listening at http://")
            .and_then(|rest| rest.split_whitespace().next())
            .map(str::to_owned);
        let mut process = Self {
            child,
            stdout: Some(stdout),
            address: String::new(),
        };
        process.address = address
            .ok_or_else(|| BenchError::Process(format!("the server did not start: {line}")))?;
        Ok(process)
    }

    /// Wraps a child process that listens on an address.
    pub(crate) const fn from_child(child: Child, address: String) -> Self {
        Self {
            child,
            stdout: None,
            address,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns whether the process has exited.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the user and system CPU time of all threads so far, or `None` on a system without
    /// `/proc`.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The process name, in parentheses, may contain spaces and parentheses.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_secs_f64(
            ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
        ))
    }

    /// Stops `rhae serve` and returns the number of transactions it committed.
    pub(crate) fn stop(mut self) -> Result<u64, BenchError> {
        let failed = "the server did not stop correctly";
        kill_process(Pid::from_child(&self.child), Signal::TERM)
            .map_err(|error| BenchError::io(failed)(error.into()))?;
        let mut rest = String::new();
        if let Some(mut stdout) = self.stdout.take() {
            stdout
                .read_to_string(&mut rest)
                .map_err(BenchError::io(failed))?;
        }
        let status = self.child.wait().map_err(BenchError::io(failed))?;
        if !status.success() {
            return Err(BenchError::Process(format!("{failed}: {status}")));
        }
        let commits = rest.lines().find_map(|line| {
            line.strip_prefix("stopped after ")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        });
        commits.ok_or_else(|| {
            BenchError::Process(format!("{failed}: it did not report the number of commits"))
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates a new temporary folder for one measurement.
pub(crate) fn scratch_folder() -> Result<PathBuf, BenchError> {
    let folder = std::env::temp_dir().join(format!("rhae-bench-{}", new_run_id()?));
    std::fs::create_dir_all(&folder).map_err(BenchError::io(format!(
        "cannot create `{}`",
        folder.display()
    )))?;
    Ok(folder)
}
