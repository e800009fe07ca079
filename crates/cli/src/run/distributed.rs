//! `rhae run --on`: a run that workers play.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use rhae_harness::{
    LocatedRun, Progress, Results, RunPreview, RunWork, SlurmRequest, recorded_results,
};

use crate::hosted_games::HostedGamesArgs;
use crate::on::{Engine, Place, SLURM_TASKS, command_without_place, distribute};

/// Executes a run as a Slurm array and returns its results, or `None` if the user interrupts the
/// waiting. `preview` describes the run.
pub(super) fn execute_on_slurm(
    partition: Option<&str>,
    workers: Option<u32>,
    preview: &RunPreview,
    hosted: &HostedGamesArgs,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Results>> {
    let plays = preview.config.games.len() * preview.config.repeat as usize;
    let shards = workers.unwrap_or(SLURM_TASKS);
    let request = SlurmRequest {
        partition: partition.map(str::to_owned),
        shards: shards.min(u32::try_from(plays).unwrap_or(u32::MAX)),
        command: command_without_place()?,
        out: PathBuf::from(&preview.folder),
        plays,
    };
    let run = request.submit()?;
    eprintln!(
        "submitted: array {}, and job {} that merges its shards; logs are in {}",
        run.array,
        run.merge,
        run.folder.display()
    );
    if !run.wait(interrupt, progress)? {
        eprintln!(
            "the jobs continue, and the result will be in {}; `scancel {} {}` cancels them",
            preview.folder, run.array, run.merge
        );
        return Ok(None);
    }
    let folder = Path::new(&preview.folder);
    let results = recorded_results(folder, &hosted.games_dir, |dirs| hosted.games_in(dirs))?;
    Ok(Some(results))
}

/// Executes a run whose coordinator is this process. `models` is the file with the configuration of
/// the models.
pub(super) fn execute(
    run: &LocatedRun,
    engine: &Engine,
    workers: Option<u32>,
    models: &Path,
    hosted: &HostedGamesArgs,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results> {
    let mut arguments = hosted.as_flags();
    if run.spec.config.model.is_some() {
        arguments.extend(["--models".into(), std::path::absolute(models)?.into()]);
    }
    let place = Place {
        engine,
        workers,
        folder: run.spec.folder.path(),
        arguments,
        python: hosted.python.as_deref(),
    };
    let options = place.coordinator_options();
    let coordinator = Arc::new(RunWork::coordinate(run, options)?);
    let work = coordinator.workload();
    let worked = distribute(&coordinator, &place, interrupt, &mut || {
        if work.is_timed_out() {
            coordinator.stop("the time limit of the run is reached".to_owned());
        }
        progress(work.progress());
    });
    if let Some(reason) = coordinator.stopped() {
        eprintln!("stopped: {}", crate::output::plain(&reason));
    }
    // What was played is reported even if no worker can be started any more.
    let results = work.conclude();
    worked?;
    Ok(results?)
}
