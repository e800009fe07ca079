//! A worker: leases units from a coordinator, executes them and reports the results.
//!
//! **Invariant:** a worker that loses its coordinator or its lease stops its unit. What it reports
//! under an old lease is refused by the coordinator.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use rhae_protocol::{
    LeaseName, LeaseReply, LeaseRequest, WorkJob, WorkLease, WorkRelease, WorkReport,
};
use rhae_runs::RunsError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::{PAUSE, WorkClient, is_stale};
use crate::{DistributeError, LeaseLink};

/// The interval at which a worker looks for an interruption.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);

/// Executes the units of one kind of work.
pub trait Executor {
    type Task: DeserializeOwned;
    type Report: Serialize;

    /// Returns the digests of the sources of this machine's hosted games, by id.
    fn source_digests(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Executes a unit. It stops early when [`UnitContext::stop`] becomes true.
    ///
    /// # Errors
    ///
    /// Returns an error if this worker cannot execute any unit. An error of the unit itself is part of
    /// its result.
    fn execute(
        &self,
        task: Self::Task,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<Self::Report>, DistributeError>;
}

/// What a unit needs besides its task.
pub struct UnitContext<'a> {
    /// A folder for the files of the unit, which does not exist yet. It is removed afterwards.
    pub scratch: &'a Path,
    /// The connection to the coordinator.
    pub link: Arc<LeaseLink>,
    pub stop: Arc<AtomicBool>,
}

impl UnitContext<'_> {
    /// Returns whether the unit must stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// How a unit ended.
#[derive(Debug)]
pub enum UnitEnd<R> {
    /// The unit has a result.
    Finished {
        report: R,
        /// Why no further unit can be executed.
        stop: Option<String>,
    },
    /// The unit was stopped. Another worker executes it, unless `stop` says why that is impossible.
    Stopped { stop: Option<String> },
}

/// Executes units until the coordinator has no more, or the worker is interrupted: then the unit in
/// progress is returned to the coordinator. `name` is a name that no other process has, and `scratch` a
/// folder for the files of units in progress. Returns the number of results that the coordinator
/// accepted.
///
/// # Errors
///
/// Returns an error if the coordinator refuses the worker or does not answer, or a file cannot be
/// written.
pub fn work<E: Executor>(
    client: &Arc<WorkClient>,
    job: &WorkJob,
    executor: &E,
    name: &str,
    scratch: &Path,
) -> Result<u64, DistributeError> {
    let request = LeaseRequest {
        worker: name.to_owned(),
        source_digests: executor.source_digests(),
    };
    let heartbeat = Duration::from_millis(job.heartbeat_ms);
    let mut accepted = 0;
    while !client.is_interrupted() {
        match client.post("lease", &request)? {
            LeaseReply::Leased(lease) => {
                let scratch = scratch.join(format!("{}-{}", lease.unit, lease.epoch));
                let is_accepted = execute(client, executor, lease, &scratch, heartbeat)?;
                accepted += u64::from(is_accepted);
            }
            LeaseReply::Wait => std::thread::sleep(PAUSE),
            LeaseReply::Finished => break,
        }
    }
    Ok(accepted)
}

/// Executes a unit and reports it. Returns whether the coordinator accepted the result.
fn execute<E: Executor>(
    client: &Arc<WorkClient>,
    executor: &E,
    lease: WorkLease<E::Task>,
    scratch: &Path,
    heartbeat: Duration,
) -> Result<bool, DistributeError> {
    let name = LeaseName {
        unit: lease.unit,
        epoch: lease.epoch,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let context = UnitContext {
        scratch,
        link: Arc::new(LeaseLink::new(client, name.clone(), &stop)),
        stop: Arc::clone(&stop),
    };
    let ended = AtomicBool::new(false);
    let end = std::thread::scope(|scope| {
        let renewing = scope.spawn(|| renew_until(client, &name, &ended, &stop, heartbeat));
        // The thread must end even if the executor panics.
        let _end = EndOnDrop(&ended, renewing.thread().clone());
        executor.execute(lease.task, &context)
    })?;
    let accepted = match end {
        UnitEnd::Finished { report, stop } => {
            let report = WorkReport {
                unit: name.unit,
                epoch: name.epoch,
                result: report,
                stop,
            };
            match client.post("result", &report) {
                Ok(()) => true,
                // A stale lease is no error of the worker.
                Err(error) if is_stale(&error) => false,
                Err(error) => return Err(error),
            }
        }
        UnitEnd::Stopped { stop } => {
            let release = WorkRelease { lease: name, stop };
            // A lease that cannot be returned expires.
            drop(client.post::<()>("release", &release));
            false
        }
    };
    match std::fs::remove_dir_all(scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunsError::file("remove", scratch)(error).into())
        }
        _ => Ok(accepted),
    }
}

/// Ends the thread that renews a lease.
struct EndOnDrop<'a>(&'a AtomicBool, Thread);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}

/// Renews a lease until the unit has ended. Stops the unit if the lease is lost, the coordinator does
/// not answer, or the worker is interrupted.
fn renew_until(
    client: &WorkClient,
    name: &LeaseName,
    ended: &AtomicBool,
    stop: &AtomicBool,
    heartbeat: Duration,
) {
    let mut renewed = Instant::now();
    while !ended.load(Ordering::Acquire) {
        let is_due = renewed.elapsed() >= heartbeat;
        let is_lost = is_due && client.post::<()>("renew", name).is_err();
        if is_lost || client.is_interrupted() {
            return stop.store(true, Ordering::Relaxed);
        }
        if is_due {
            renewed = Instant::now();
        }
        std::thread::park_timeout(WATCH_INTERVAL);
    }
}
