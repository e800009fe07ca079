//! What checks are told and tell: progress, time, memory, and a fresh process for replays.

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
use rhae_validate::{Subject, Watch};

use super::evidence;
use crate::outside::OutsideArgs;

/// A bar with an estimate, where somebody looks.
pub(crate) fn bar(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{bar:24} {percent:>3} %  {elapsed} of about {duration}  {msg}",
    );
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The watch of a command.
pub(super) struct CommandWatch<'a> {
    games: &'a Games,
    /// The flags that lead a fresh process to the same games.
    flags: Vec<std::ffi::OsString>,
    seed: u64,
    bar: ProgressBar,
    interrupt: Arc<AtomicBool>,
    begun: Instant,
}

impl<'a> CommandWatch<'a> {
    pub(super) fn new(
        games: &'a Games,
        outside: &OutsideArgs,
        seed: u64,
        bar: ProgressBar,
        interrupt: Arc<AtomicBool>,
    ) -> Self {
        Self {
            games,
            flags: outside.as_flags(),
            seed,
            bar,
            interrupt,
            begun: Instant::now(),
        }
    }

    pub(super) const fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    fn replay_freshly(&self, id: &str, actions: &[Action]) -> Result<Result<(), String>> {
        let recording = evidence::recording(self.games, id, self.seed, evidence::AGENT, actions)?;
        let folder = evidence::TemporaryFolder::new()?;
        let file = folder.path().join("play.jsonl");
        std::fs::write(&file, recording)?;
        let program = std::env::current_exe().context("cannot find the program that is running")?;
        // In a group of its own: whoever interrupts the check at a terminal does not interrupt the replay, which would look like a fault.
        let output = Command::new(program)
            .args(["replay", "verify"])
            .arg(&file)
            .args(&self.flags)
            .process_group(0)
            .output()?;
        if output.status.success() {
            return Ok(Ok(()));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said
            .lines()
            .rfind(|line| !line.trim().is_empty())
            .unwrap_or("no reason was given");
        Ok(Err(format!(
            "a fresh process disagrees: {}",
            last.trim_start_matches("error: ")
        )))
    }
}

impl Watch for CommandWatch<'_> {
    fn steps(&self, steps: u64) {
        self.bar.inc(steps);
    }

    fn goes_on(&self) -> bool {
        !self.interrupt.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.begun.elapsed().as_secs_f64())
    }

    #[cfg(target_os = "linux")]
    fn memory(&self) -> Option<u64> {
        let pages: u64 = std::fs::read_to_string("/proc/self/statm")
            .ok()?
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    fn fresh(&self, subject: &dyn Subject, actions: &[Action]) -> Option<Result<(), String>> {
        let replayed = self.replay_freshly(subject.info().id.as_str(), actions);
        Some(
            replayed
                .unwrap_or_else(|error| Err(format!("no fresh process could be asked: {error:#}"))),
        )
    }
}
