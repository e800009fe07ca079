//! The monitor of running checks: progress, interruption, time, memory, and replays in a new
//! process.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rhae_engine::{Action, Catalog, GameInfo};
use rhae_validate::{Monitor, Part, Subject};

use crate::InspectError;
use crate::evidence::{AGENT, record};

/// The progress of a validation.
#[derive(Clone, Copy, Debug)]
pub enum ValidationProgress<'a> {
    /// The validation begins. It takes about this number of steps.
    Started { total_steps: u64 },
    /// A check of an environment begins.
    Check { info: &'a GameInfo, part: Part },
    /// Further steps are done.
    Steps(u64),
}

/// A command that replays a recording in a new process and exits with code 0 if every entry
/// matches. The file of the recording is passed between the two lists of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyCommand {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub arguments_after_file: Vec<OsString>,
}

/// The monitor that all checks of one validation share.
pub(crate) struct ProcessMonitor<'a> {
    pub(crate) games: &'a dyn Catalog,
    /// The seed of the environments.
    pub(crate) env_seed: u64,
    pub(crate) verify: Option<&'a VerifyCommand>,
    pub(crate) progress: &'a (dyn Fn(ValidationProgress<'_>) + Sync),
    pub(crate) interrupt: &'a AtomicBool,
    pub(crate) started: Instant,
}

impl ProcessMonitor<'_> {
    /// Records the actions and verifies the recording in a new process.
    fn replay(
        &self,
        verify: &VerifyCommand,
        id: &str,
        actions: &[Action],
    ) -> Result<Result<(), String>, InspectError> {
        let recording = record(self.games, id, self.env_seed, AGENT, actions)?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("play.jsonl");
        std::fs::write(&file, recording)?;
        // The replay gets its own process group. Otherwise Ctrl-C would end it, which would look
        // like a mismatch.
        let output = Command::new(&verify.program)
            .args(&verify.arguments)
            .arg(&file)
            .args(&verify.arguments_after_file)
            .process_group(0)
            .output()?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr
            .lines()
            .rfind(|line| !line.trim().is_empty())
            .unwrap_or("no reason was given");
        Ok(Err(format!(
            "a replay in a new process fails: {}",
            last.trim_start_matches("error: ")
        )))
    }
}

impl Monitor for ProcessMonitor<'_> {
    fn started(&self, total_steps: u64) {
        (self.progress)(ValidationProgress::Started { total_steps });
    }

    fn part_started(&self, info: &GameInfo, part: Part) {
        (self.progress)(ValidationProgress::Check { info, part });
    }

    fn add_steps(&self, steps: u64) {
        (self.progress)(ValidationProgress::Steps(steps));
    }

    fn should_continue(&self) -> bool {
        !self.interrupt.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.started.elapsed().as_secs_f64())
    }

    #[cfg(target_os = "linux")]
    fn memory_bytes(&self) -> Option<u64> {
        let pages: u64 = std::fs::read_to_string("/proc/self/statm")
            .ok()?
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    fn replay_in_fresh_process(
        &self,
        subject: &dyn Subject,
        actions: &[Action],
    ) -> Option<Result<(), String>> {
        let replayed = self.replay(self.verify?, subject.info().id.as_str(), actions);
        Some(
            replayed
                .unwrap_or_else(|error| Err(format!("cannot replay in a new process: {error}"))),
        )
    }
}
