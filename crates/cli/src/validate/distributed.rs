//! `rhae validate --on`: a validation whose environments workers check.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use indicatif::ProgressBar;
use rhae_engine::{Catalog, GameInfo};
use rhae_inspect::{DistributedValidation, EnvironmentExecutor, ValidationOptions, VerifyCommand};
use rhae_protocol::{UnitKey, ValidationWork};
use rhae_work_service::{Coordinator, MemoryLog};

use crate::hosted_games::HostedGamesArgs;
use crate::on::{Engine, OnArgs, Place, absolute, distribute, temporary_folder};

/// Checks the selected environments with workers. Returns the coordinator, whose workload has the
/// results, and the environments that ended their workers.
pub(super) fn run(
    on: (&OnArgs, &Engine),
    hosted: &HostedGamesArgs,
    games: Arc<dyn Catalog>,
    selected: Vec<GameInfo>,
    options: ValidationOptions,
    interrupt: &AtomicBool,
    bar: &ProgressBar,
) -> Result<(Arc<Coordinator<DistributedValidation>>, Vec<UnitKey>)> {
    let (args, engine) = on;
    if selected
        .iter()
        .any(|info| rhae_inspect::is_hosted(&games, info))
    {
        games.ready()?;
    }
    let recordings = absolute(&options.recordings)?;
    let folders = absolute(&hosted.games_dir)?;
    bar.set_length(selected.len() as u64);
    let work = DistributedValidation::new(games, selected, options, recordings, folders)?;
    let folder = temporary_folder(engine)?;
    let place = Place {
        engine,
        workers: args.workers,
        folder: folder.path(),
        arguments: hosted.as_flags(),
        python: hosted.python.as_deref(),
    };
    let coordinator = Coordinator::open(work, Box::new(MemoryLog), &place.coordinator_options())?;
    let coordinator = Arc::new(coordinator);
    distribute(&coordinator, &place, interrupt, &mut || {
        bar.set_position(coordinator.finished_units() as u64);
    })?;
    let given_up = coordinator.given_up();
    Ok((coordinator, given_up))
}

/// Opens the environments of a validation in a worker.
pub(crate) fn environment_executor(
    work: &ValidationWork,
    hosted: &HostedGamesArgs,
) -> Result<EnvironmentExecutor> {
    let games = hosted.games_of_run(&work.games_dirs)?;
    let mut flags = hosted.as_flags();
    if hosted.games_dir.is_empty() {
        for folder in &work.games_dirs {
            flags.extend(["--games-dir".into(), folder.into()]);
        }
    }
    let verify = VerifyCommand {
        program: std::env::current_exe()?.into_os_string(),
        arguments: vec!["replay".into(), "verify".into()],
        arguments_after_file: flags,
    };
    Ok(EnvironmentExecutor::new(games, work, verify)?)
}
