//! Worker processes on this machine: starts them, replaces those that end, and ends them all.
//!
//! **Invariant:** no worker outlives its coordinator. A worker ends when its standard input closes,
//! which happens even if the coordinator is killed.

use std::ffi::OsString;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_protocol::LeaseLoss;
use rhae_runs::{RunsError, new_run_id};

use crate::{Coordinator, DistributeError, Workload};

/// The interval at which workers are checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// The time that workers have to return their units.
const EXIT_GRACE_PERIOD: Duration = Duration::from_secs(5);
/// Workers that end without a result in succession, after which the work is given up.
const MAX_FAILURES: usize = 10;

/// The command that starts a worker: a program and its arguments. The name of the worker is appended
/// as `--name NAME`.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    pub program: OsString,
    pub arguments: Vec<OsString>,
}

/// A worker process.
struct LocalWorker {
    name: String,
    process: Child,
}

/// Executes the units of a coordinator with `count` workers. Returns when the work is over, or
/// `interrupt` becomes true. `progress` is called about every 20 milliseconds.
///
/// # Errors
///
/// Returns an error if workers cannot be started, or end again and again without a result.
pub fn run_local_workers<W: Workload>(
    coordinator: &Coordinator<W>,
    command: &WorkerCommand,
    count: usize,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(),
) -> Result<(), DistributeError> {
    let mut workers: Vec<LocalWorker> = Vec::new();
    let mut failures = 0;
    let mut done = 0;
    let result = loop {
        if coordinator.is_over() || interrupt.load(Ordering::Relaxed) {
            break Ok(());
        }
        progress();
        let finished = coordinator.finished_units();
        if finished > done {
            (done, failures) = (finished, 0);
        }
        failures += reap(coordinator, &mut workers)?;
        if failures >= MAX_FAILURES {
            break Err(DistributeError::Workers(format!(
                "{failures} workers in succession ended without a result; their messages are above"
            )));
        }
        while workers.len() < count {
            workers.push(start(command)?);
        }
        std::thread::sleep(WATCH_INTERVAL);
    };
    end(coordinator, workers)?;
    result
}

fn start(command: &WorkerCommand) -> Result<LocalWorker, DistributeError> {
    // A name is never used again, so that the end of a process ends only its own leases.
    let name = format!("local-{}", new_run_id()?);
    let process = Command::new(&command.program)
        .args(&command.arguments)
        .args(["--name", &name])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(RunsError::file("start", command.program.as_ref()))?;
    Ok(LocalWorker { name, process })
}

/// Removes the workers whose process has ended, and returns their number.
fn reap<W: Workload>(
    coordinator: &Coordinator<W>,
    workers: &mut Vec<LocalWorker>,
) -> Result<usize, DistributeError> {
    let mut alive = Vec::new();
    let mut ended = 0;
    for mut worker in workers.drain(..) {
        let status = worker.process.try_wait();
        if status.is_ok_and(|status| status.is_none()) {
            alive.push(worker);
        } else {
            coordinator.end_worker(&worker.name, LeaseLoss::WorkerEnded)?;
            ended += 1;
        }
    }
    *workers = alive;
    Ok(ended)
}

/// Ends all workers. They return their units when their standard input closes; those that do not are
/// killed.
fn end<W: Workload>(
    coordinator: &Coordinator<W>,
    mut workers: Vec<LocalWorker>,
) -> Result<(), DistributeError> {
    for worker in &mut workers {
        drop(worker.process.stdin.take());
    }
    let deadline = Instant::now() + EXIT_GRACE_PERIOD;
    while !workers.is_empty() && Instant::now() < deadline {
        reap(coordinator, &mut workers)?;
        std::thread::sleep(WATCH_INTERVAL);
    }
    for worker in &mut workers {
        // Killing fails only if the process has ended.
        let _ = worker.process.kill();
        let _ = worker.process.wait();
        // It is not the fault of its unit.
        coordinator.end_worker(&worker.name, LeaseLoss::NodeLost)?;
    }
    Ok(())
}
