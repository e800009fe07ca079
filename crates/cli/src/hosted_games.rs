//! Flags for hosted games, shared by every command with environments, and the catalogue they select.

#[cfg(feature = "hosting")]
mod sandboxed;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_engine::Catalog;
use rhae_harness::PythonSettings;

use crate::output;

#[cfg(feature = "hosting")]
pub(crate) use sandboxed::launcher;
#[cfg(feature = "hosting")]
use sandboxed::load;
#[cfg(feature = "hosting")]
pub(crate) use sandboxed::{SANDBOXED, SandboxedArgs, run_sandboxed};

/// Default time limit of a game for one action, in seconds.
pub(crate) const HOST_SECONDS: f64 = 10.0;
/// Default memory limit of a game's process, in MiB of address space.
pub(crate) const HOST_MEMORY: u64 = 2048;
pub(crate) const HOST_MEMORY_RANGE: RangeInclusive<u64> = 64..=1 << 20;

#[derive(Args, Clone)]
#[command(next_help_heading = "Hosted games (docs/hosting.md)")]
pub(crate) struct HostedGamesArgs {
    /// Folder of games in the official toolkit's layout, in addition to the built-in environments;
    /// may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) games_dir: Vec<PathBuf>,
    /// Python interpreter that runs the games [default: the first with an engine: the active virtual
    /// environment, python3, …]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) python: Option<PathBuf>,
    /// Time limit of a game for one action, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = HOST_SECONDS)]
    pub(crate) host_seconds: f64,
    /// Memory limit of a game's process, in MiB of address space
    #[arg(long, value_name = "MIB", default_value_t = HOST_MEMORY, value_parser = clap::value_parser!(u64).range(HOST_MEMORY_RANGE))]
    pub(crate) host_memory: u64,
    /// Run games even if the system cannot fully isolate them from your files and the network
    #[arg(long)]
    pub(crate) unsafe_host: bool,
}

impl HostedGamesArgs {
    /// Returns how the code of a model is executed: with the same interpreter and sandbox as games.
    pub(crate) fn python_tool(&self) -> Result<PythonSettings> {
        Ok(PythonSettings {
            launcher: launcher()?,
            python: self.python.clone(),
            unsafe_host: self.unsafe_host,
            ..PythonSettings::default()
        })
    }

    /// Loads the built-in environments and those of the given folders.
    pub(crate) fn games(&self) -> Result<Arc<dyn Catalog>> {
        self.games_in(&self.games_dir)
    }

    /// Loads the built-in environments and those of the folders that the run was started with. If
    /// flags name folders, they are used instead.
    pub(crate) fn games_of_run(&self, folders: &[String]) -> Result<Arc<dyn Catalog>> {
        let recorded: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
        self.games_in(if self.games_dir.is_empty() {
            &recorded
        } else {
            &self.games_dir
        })
    }

    /// Loads the built-in environments and those of `folders`.
    pub(crate) fn games_in(&self, folders: &[PathBuf]) -> Result<Arc<dyn Catalog>> {
        ensure!(
            self.host_seconds > 0.0 && self.host_seconds <= 86_400.0,
            "--host-seconds must be more than 0 and at most 86,400 seconds"
        );
        let games = load(self, folders)?;
        for reason in games.skipped_games() {
            eprintln!("warning: skipped a game: {}", output::plain(&reason));
        }
        let hosted = games.hosted_games();
        for change in hosted.iter().flat_map(|game| &game.changes) {
            eprintln!("note: {}", output::plain(change));
        }
        if self.unsafe_host && !hosted.is_empty() {
            eprintln!(
                "warning: --unsafe-host: games may access your files and the network where sandbox layers are missing"
            );
        }
        Ok(games)
    }

    /// Returns the flags that differ from their defaults, so that another process of this program
    /// can be started with the same hosted games.
    pub(crate) fn as_flags(&self) -> Vec<std::ffi::OsString> {
        let mut flags: Vec<std::ffi::OsString> = Vec::new();
        for folder in &self.games_dir {
            flags.extend(["--games-dir".into(), folder.clone().into_os_string()]);
        }
        if let Some(python) = &self.python {
            flags.extend(["--python".into(), python.clone().into_os_string()]);
        }
        if self.host_seconds != HOST_SECONDS {
            flags.extend([
                "--host-seconds".into(),
                self.host_seconds.to_string().into(),
            ]);
        }
        if self.host_memory != HOST_MEMORY {
            flags.extend(["--host-memory".into(), self.host_memory.to_string().into()]);
        }
        if self.unsafe_host {
            flags.push("--unsafe-host".into());
        }
        flags
    }
}

/// Returns no program: a build without the feature `hosting` has no sandbox.
#[cfg(not(feature = "hosting"))]
pub(crate) fn launcher() -> Result<Vec<std::ffi::OsString>> {
    Ok(Vec::new())
}

/// Returns the built-in environments, the only ones of a build without the feature `hosting`.
#[cfg(not(feature = "hosting"))]
fn load(_: &HostedGamesArgs, folders: &[PathBuf]) -> Result<Arc<dyn Catalog>> {
    ensure!(
        folders.is_empty(),
        "this build of rhae has no hosted games: omit --games-dir, or build rhae with the feature `hosting`"
    );
    Ok(Arc::new(rhae_games::Builtin))
}
