//! A server as a child process, and its CPU time.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rhae_harness::new_run_id;
use rustix::process::{Pid, Signal, kill_process};

/// A running server. It is ended when it is dropped.
pub(crate) struct Process {
    child: Child,
    out: Option<BufReader<ChildStdout>>,
    address: String,
}

impl Process {
    /// Starts `rhae serve` with a new database in a folder, and with these flags, and waits until it listens.
    pub(crate) fn rhae(folder: &Path, flags: &[&str]) -> Result<Self> {
        let rhae = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(rhae);
        command
            .args(["serve", "--addr", "127.0.0.1:0", "--db", "bench.db"])
            .args(flags)
            .current_dir(folder);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let mut out = BufReader::new(
            child
                .stdout
                .take()
                .context("the server's output is piped")?,
        );
        let mut line = String::new();
        out.read_line(&mut line)
            .context("the server says nothing")?;
        let address = line
            .strip_prefix("listening at http://")
            .and_then(|rest| rest.split_whitespace().next())
            .map(str::to_owned);
        let mut process = Self {
            child,
            out: Some(out),
            address: String::new(),
        };
        process.address = address.with_context(|| format!("the server did not start: {line}"))?;
        Ok(process)
    }

    /// Takes over a child that listens at an address.
    pub(crate) const fn other(child: Child, address: String) -> Self {
        Self {
            child,
            out: None,
            address,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// CPU time so far, in user mode and in the system, of all threads; `None` where the system does not tell it in this way.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name, in parentheses, may contain anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        Some(Duration::from_secs_f64(
            ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
        ))
    }

    /// Asks `rhae serve` to stop and gives how many transactions it committed.
    pub(crate) fn stop(mut self) -> Result<u64> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let mut rest = String::new();
        if let Some(mut out) = self.out.take() {
            out.read_to_string(&mut rest)?;
        }
        ensure!(self.child.wait()?.success(), "it failed");
        let commits = rest.lines().find_map(|line| {
            line.strip_prefix("stopped after ")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        });
        commits.context("it did not say how many commits it made")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A new folder for what a measurement leaves behind.
pub(crate) fn scratch_folder() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("rhae-bench-{}", new_run_id()?));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    Ok(folder)
}
