//! The monitor of running checks: progress, interruption, time, memory, and replays in a new
//! process.

use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use rhae_engine::Action;
use rhae_pyhost::Games;
use rhae_validate::{Monitor, Subject};

use super::evidence;
use crate::hosted_games::HostedGamesArgs;

/// Creates a progress bar with an estimated duration. It is hidden if `quiet` is set or if standard
/// error is not a terminal.
pub(crate) fn progress_bar(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{bar:24} {percent:>3} %  {elapsed} of about {duration}  {msg}",
    );
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The monitor that all checks of one command share.
pub(super) struct CommandMonitor<'a> {
    games: &'a Games,
    /// The flags that give a new process the same hosted games.
    flags: Vec<std::ffi::OsString>,
    seed: u64,
    bar: ProgressBar,
    interrupt: Arc<AtomicBool>,
    started: Instant,
}

impl<'a> CommandMonitor<'a> {
    pub(super) fn new(
        games: &'a Games,
        hosted: &HostedGamesArgs,
        seed: u64,
        bar: ProgressBar,
        interrupt: Arc<AtomicBool>,
    ) -> Self {
        Self {
            games,
            flags: hosted.as_flags(),
            seed,
            bar,
            interrupt,
            started: Instant::now(),
        }
    }

    pub(super) const fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// Records the actions and verifies the recording in a new process of this program.
    fn replay_in_process(&self, id: &str, actions: &[Action]) -> Result<Result<(), String>> {
        let recording = evidence::recording(self.games, id, self.seed, evidence::AGENT, actions)?;
        let folder = evidence::TemporaryFolder::new()?;
        let file = folder.path().join("play.jsonl");
        std::fs::write(&file, recording)?;
        let program =
            std::env::current_exe().context("cannot determine the path of this program")?;
        // The replay gets its own process group. Otherwise Ctrl-C would end it, which would look
        // like a mismatch.
        let output = Command::new(program)
            .args(["replay", "verify"])
            .arg(&file)
            .args(&self.flags)
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

impl Monitor for CommandMonitor<'_> {
    fn add_steps(&self, steps: u64) {
        self.bar.inc(steps);
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
        let replayed = self.replay_in_process(subject.info().id.as_str(), actions);
        Some(
            replayed
                .unwrap_or_else(|error| Err(format!("cannot replay in a new process: {error:#}"))),
        )
    }
}
