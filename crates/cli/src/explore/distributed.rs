//! `rhae explore --on`: an exploration whose levels workers explore.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use indicatif::ProgressBar;
use rhae_engine::{Catalog, LevelIndex};
use rhae_inspect::{
    DistributedExploration, ExploreOptions, InspectError, LevelExecutor, LevelOutputs, LevelResult,
};
use rhae_protocol::ExplorationWork;
use rhae_work_service::{Coordinator, MemoryLog};

use crate::hosted_games::HostedGamesArgs;
use crate::on::{Engine, OnArgs, Place, absolute, distribute, temporary_folder};

/// What is explored.
pub(super) struct Levels<'a> {
    pub(super) games: Arc<dyn Catalog>,
    pub(super) id: &'a str,
    pub(super) levels: &'a [LevelIndex],
    pub(super) options: ExploreOptions,
    pub(super) outputs: LevelOutputs,
}

/// Explores levels with workers and returns their results in the order of the levels.
pub(super) fn run(
    on: (&OnArgs, &Engine),
    hosted: &HostedGamesArgs,
    levels: Levels<'_>,
    interrupt: &AtomicBool,
    bar: &ProgressBar,
) -> Result<Vec<Result<LevelResult, InspectError>>> {
    let (args, engine) = on;
    let count = levels.levels.len();
    let work = DistributedExploration::new(
        levels.games,
        levels.id,
        levels.levels,
        &levels.options,
        &levels.outputs,
        absolute(&hosted.games_dir)?,
    );
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
        let explored = coordinator.workload().explored();
        bar.set_message(format!("{explored} of {count} levels explored"));
        bar.tick();
    })?;
    Ok(coordinator.workload().take_results(&coordinator.given_up()))
}

/// Opens the environment of an exploration in a worker.
pub(crate) fn level_executor(
    work: &ExplorationWork,
    hosted: &HostedGamesArgs,
) -> Result<LevelExecutor> {
    let games = hosted.games_of_run(&work.games_dirs)?;
    Ok(LevelExecutor::new(games, work.clone()))
}
