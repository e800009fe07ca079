//! The catalogue of hosted games and the launcher of their processes. Only builds with the feature
//! `hosting` contain this module and the crates that it uses.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_harness::{JAVASCRIPT, javascript_engine};
use rhae_pyhost::{Games, GamesOptions, Limits};

use super::HostedGamesArgs;

/// The name of the hidden command that enters the sandbox.
pub(crate) const SANDBOXED: &str = "sandboxed";

/// Returns the program that enters the sandbox: this one, with the hidden command.
pub(crate) fn launcher() -> Result<Vec<OsString>> {
    let program = std::env::current_exe().context("cannot determine the path of this program")?;
    Ok(vec![program.into_os_string(), SANDBOXED.into()])
}

/// Loads the built-in environments and those of the folders.
pub(super) fn load(args: &HostedGamesArgs, folders: &[PathBuf]) -> Result<Arc<dyn Catalog>> {
    let options = GamesOptions {
        folders: folders.to_vec(),
        launcher: launcher()?,
        python: args.python.clone(),
        unsafe_host: args.unsafe_host,
        limits: Limits {
            action: Duration::from_secs_f64(args.host_seconds),
            memory_mb: args.host_memory,
        },
    };
    Ok(Arc::new(Games::load(Arc::new(Builtin), options)?))
}

/// Arguments of the launcher, which enters the sandbox and then becomes the process of a game or of
/// an interpreter. With the argument `javascript` it is the JavaScript engine.
#[derive(Args)]
pub(crate) struct SandboxedArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run_sandboxed(args: SandboxedArgs) -> ExitCode {
    let mut arguments = args.arguments.into_iter().peekable();
    match arguments.next_if(|first| first == JAVASCRIPT) {
        Some(_) => javascript_engine(arguments),
        None => rhae_sandbox::launch(arguments),
    }
}
