//! Worker processes on this machine: starts them, replaces those that end, and ends them all.
//!
//! **Invariant:** no worker outlives its coordinator. A worker ends when its standard input closes,
//! which happens even if the coordinator is killed.

use std::ffi::OsString;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_runs::{RunsError, new_run_id};

use crate::{Coordinator, HarnessError, Progress};

/// The interval at which workers are checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// The time that workers have to return their plays.
const EXIT_GRACE_PERIOD: Duration = Duration::from_secs(5);
/// Workers that end without a result in succession, after which the run is given up.
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

/// Executes a run with `count` workers. Returns when every play has its result, the time limit of the
/// run has passed, or `interrupt` becomes true. The caller then writes the results with
/// [`Coordinator::conclude`].
///
/// # Errors
///
/// Returns an error if workers cannot be started, or end again and again without a result.
pub fn run_local_workers(
    coordinator: &Coordinator,
    command: &WorkerCommand,
    count: usize,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), HarnessError> {
    let mut workers: Vec<LocalWorker> = Vec::new();
    let mut failures = 0;
    let mut done = 0;
    let result = loop {
        let is_over = coordinator.is_finished() || coordinator.is_timed_out();
        if is_over || interrupt.load(Ordering::Relaxed) {
            break Ok(());
        }
        let current = coordinator.progress();
        progress(current);
        if current.done > done {
            (done, failures) = (current.done, 0);
        }
        failures += reap(coordinator, &mut workers)?;
        if failures >= MAX_FAILURES {
            break Err(HarnessError::Work(format!(
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

fn start(command: &WorkerCommand) -> Result<LocalWorker, HarnessError> {
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
fn reap(coordinator: &Coordinator, workers: &mut Vec<LocalWorker>) -> Result<usize, HarnessError> {
    let mut alive = Vec::new();
    let mut ended = 0;
    for mut worker in workers.drain(..) {
        let status = worker.process.try_wait();
        if status.is_ok_and(|status| status.is_none()) {
            alive.push(worker);
        } else {
            coordinator.end_worker(&worker.name)?;
            ended += 1;
        }
    }
    *workers = alive;
    Ok(ended)
}

/// Ends all workers. They return their plays when their standard input closes; those that do not are
/// killed.
fn end(coordinator: &Coordinator, mut workers: Vec<LocalWorker>) -> Result<(), HarnessError> {
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
        coordinator.end_worker(&worker.name)?;
    }
    Ok(())
}
