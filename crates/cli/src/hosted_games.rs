//! Flags for hosted games, shared by every command with environments, and the catalogue they select.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
#[cfg(feature = "hosting")]
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_games::Builtin;
use rhae_pyhost::{Games, GamesOptions, Limits};

use crate::output;

/// The name of the hidden command that enters the sandbox.
pub(crate) const SANDBOXED: &str = "sandboxed";
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
    /// Loads the built-in environments and those of the given folders.
    pub(crate) fn games(&self) -> Result<Games> {
        self.games_in(&self.games_dir)
    }

    /// Loads the built-in environments and those of the folders that the run was started with. If
    /// flags name folders, they are used instead.
    pub(crate) fn games_of_run(&self, folders: &[String]) -> Result<Games> {
        let recorded: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
        self.games_in(if self.games_dir.is_empty() {
            &recorded
        } else {
            &self.games_dir
        })
    }

    fn games_in(&self, folders: &[PathBuf]) -> Result<Games> {
        ensure!(
            self.host_seconds > 0.0 && self.host_seconds <= 86_400.0,
            "--host-seconds must be more than 0 and at most 86,400 seconds"
        );
        ensure!(
            cfg!(feature = "hosting") || folders.is_empty(),
            "this build of rhae has no hosted games: omit --games-dir, or build rhae with the feature `hosting`"
        );
        let launcher =
            std::env::current_exe().context("cannot determine the path of this program")?;
        let options = GamesOptions {
            folders: folders.to_vec(),
            launcher: vec![launcher.into_os_string(), SANDBOXED.into()],
            python: self.python.clone(),
            unsafe_host: self.unsafe_host,
            limits: Limits {
                action: Duration::from_secs_f64(self.host_seconds),
                memory_mb: self.host_memory,
            },
        };
        let games = Games::load(Arc::new(Builtin), options)?;
        for change in games.folders().flat_map(|folder| &folder.changed) {
            eprintln!("note: {}", output::plain(change));
        }
        if self.unsafe_host && games.folders().next().is_some() {
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

    /// Returns the folders as absolute paths, for the run's configuration.
    pub(crate) fn absolute_folders(&self) -> Result<Vec<String>> {
        let absolute = |folder: &PathBuf| {
            let path = Path::canonicalize(folder)
                .with_context(|| format!("cannot find `{}`", folder.display()))?;
            path.into_os_string()
                .into_string()
                .map_err(|name| anyhow::anyhow!("`{}` is not a UTF-8 path", name.display()))
        };
        self.games_dir.iter().map(absolute).collect()
    }
}

/// Arguments of the launcher, which enters the sandbox and then becomes the game's process.
#[cfg(feature = "hosting")]
#[derive(Args)]
pub(crate) struct SandboxedArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<std::ffi::OsString>,
}

#[cfg(feature = "hosting")]
pub(crate) fn run_sandboxed(args: SandboxedArgs) -> ExitCode {
    rhae_sandbox::launch(args.arguments)
}
