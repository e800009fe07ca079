//! `rhae arc eval --on`: an evaluation whose tasks workers execute.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use rhae_eval::{EvalWork, PreparedEval, TaskExecutor, estimate, parser_of};
use rhae_protocol::{EvalEnd, EvaluationWork};

use super::{EvalArgs, host, show};
use crate::arc::data::DataArgs;
use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::interrupt_flag;
use crate::models::ModelsArgs;
use crate::on::{Engine, Place, distribute};
use crate::output::plain;

/// Executes a prepared evaluation with workers and prints its results.
pub(super) fn run(args: &EvalArgs, engine: &Engine, prepared: PreparedEval) -> Result<ExitCode> {
    let cost = estimate(
        &prepared.plan,
        prepared.solver.as_ref(),
        &prepared.ledger,
        args.retry_failed,
    );
    show::print_plan(&prepared.plan, &prepared.ledger, &cost, &prepared.folder);
    if let Some(note) = &prepared.note {
        eprintln!("note: {}", plain(note));
    }
    let mut arguments: Vec<OsString> = Vec::new();
    if let Some(python) = &args.python {
        arguments.extend(["--python".into(), python.into()]);
    }
    if args.unsafe_host {
        arguments.push("--unsafe-host".into());
    }
    let folder = prepared.folder.clone();
    let place = Place {
        engine,
        workers: args.on.workers,
        folder: folder.path(),
        arguments,
        python: args.python.as_deref(),
    };
    let options = place.coordinator_options();
    let parser = parser_of(prepared.config.parser);
    let resumed = args.resume.is_some();
    let coordinator = EvalWork::coordinate(prepared, parser, args.retry_failed, resumed, options)?;
    let coordinator = Arc::new(coordinator);
    let work = coordinator.workload();
    let interrupt = interrupt_flag()?;
    let bar = show::RunProgress::new(args.json);
    let worked = distribute(&coordinator, &place, &interrupt, &mut || {
        if work.is_timed_out() {
            coordinator.stop("the time limit of the run is reached".to_owned());
        }
        bar.show(&work.progress());
    });
    bar.finish();
    let reason = match coordinator.stopped() {
        Some(reason) => EvalEnd::from(reason),
        None if interrupt.load(Ordering::Relaxed) => EvalEnd::Interrupted,
        None => match &worked {
            Ok(()) => EvalEnd::Finished,
            Err(error) => EvalEnd::from(format!("{error:#}")),
        },
    };
    // What was answered is reported even if no worker can be started any more.
    let results = work.conclude(reason);
    worked?;
    let (config, folder) = work.run();
    show::print_results(config, &results?, folder, args.json)
}

/// Opens the tasks and the solver of an evaluation in a worker.
pub(crate) fn task_executor(
    work: &EvaluationWork,
    workers: u32,
    models: &ModelsArgs,
    hosted: &HostedGamesArgs,
) -> Result<TaskExecutor> {
    let sets = DataArgs::new(work.config.data.clone(), Vec::new())
        .load()?
        .sets;
    let host = host(models, hosted.unsafe_host, hosted.python.as_deref())?;
    Ok(TaskExecutor::open(work.clone(), &sets, workers, &host)?)
}
