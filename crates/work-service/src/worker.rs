//! A worker: leases units from a coordinator, executes them and reports the results.
//!
//! **Invariant:** a worker that loses its coordinator or its lease stops its unit. What it reports
//! under an old lease is refused by the coordinator.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
/// The duration of a group of short units. It is long compared with a request, and short compared with
/// a lease.
const GROUP_TIME: Duration = Duration::from_secs(2);

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

/// Executes units until the coordinator has no more, or the worker is interrupted: then the units that
/// it has are returned to the coordinator. `name` is a name that no other process has, and `scratch` a
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
    let mut request = LeaseRequest {
        worker: name.to_owned(),
        source_digests: executor.source_digests(),
        units: 1,
    };
    let worker = Worker {
        client,
        executor,
        scratch,
        heartbeat: Duration::from_millis(job.heartbeat_ms),
    };
    let mut accepted = 0;
    while !client.is_interrupted() {
        match client.post("lease", &request)? {
            LeaseReply::Leased { leases } => {
                let started = Instant::now();
                let count = leases.len();
                accepted += worker.execute_group(leases)?;
                request.units = group_size(started.elapsed(), count);
            }
            LeaseReply::Wait => std::thread::sleep(PAUSE),
            LeaseReply::Finished => break,
        }
    }
    Ok(accepted)
}

/// Returns the number of units that take about [`GROUP_TIME`], if `count` units took `elapsed`.
fn group_size(elapsed: Duration, count: usize) -> u32 {
    let unit = elapsed.as_secs_f64() / count.max(1) as f64;
    // The conversion limits the number of units that take no time.
    (GROUP_TIME.as_secs_f64() / unit).max(1.0) as u32
}

/// What all units of a worker need.
struct Worker<'a, E> {
    client: &'a Arc<WorkClient>,
    executor: &'a E,
    scratch: &'a Path,
    heartbeat: Duration,
}

/// The leases of a group.
struct Held {
    /// The leases of units without a result, of which the first is in progress.
    leases: Mutex<VecDeque<LeaseName>>,
    /// Stops the unit in progress.
    stop: Mutex<Arc<AtomicBool>>,
    /// Whether the group has ended.
    ended: AtomicBool,
}

impl Held {
    fn leases(&self) -> MutexGuard<'_, VecDeque<LeaseName>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a lease, and stops its unit if it is in progress.
    fn forget(&self, name: &LeaseName) {
        let mut leases = self.leases();
        if leases.front() == Some(name) {
            self.stop_unit();
        } else {
            leases.retain(|lease| lease != name);
        }
    }

    fn stop_unit(&self) {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.store(true, Ordering::Relaxed);
    }

    /// Makes a lease the first one, whose unit `stop` stops. Returns false if it was lost.
    fn start(&self, name: &LeaseName, stop: &Arc<AtomicBool>) -> bool {
        let leases = self.leases();
        let mut current = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::clone(stop);
        leases.front() == Some(name)
    }
}

impl<E: Executor> Worker<'_, E> {
    /// Executes units and reports them. Returns the number of results that the coordinator accepted.
    fn execute_group(&self, leases: Vec<WorkLease<E::Task>>) -> Result<u64, DistributeError> {
        let names = leases.iter().map(|lease| LeaseName {
            unit: lease.unit.clone(),
            epoch: lease.epoch,
        });
        let held = Held {
            leases: Mutex::new(names.collect()),
            stop: Mutex::default(),
            ended: AtomicBool::new(false),
        };
        let (client, heartbeat) = (self.client, self.heartbeat);
        std::thread::scope(|scope| {
            let renewing = scope.spawn(|| renew_until_ended(client, &held, heartbeat));
            // The thread must end even if the executor panics.
            let _end = EndOnDrop(&held.ended, renewing.thread().clone());
            let mut accepted = 0;
            for lease in leases {
                let executed = self.execute(lease, &held)?;
                accepted += u64::from(executed.is_accepted);
                if executed.is_last {
                    break;
                }
            }
            let left: Vec<LeaseName> = held.leases().drain(..).collect();
            for lease in left {
                self.release(lease, None);
            }
            Ok(accepted)
        })
    }

    /// Executes a unit and reports it.
    fn execute(&self, lease: WorkLease<E::Task>, held: &Held) -> Result<Executed, DistributeError> {
        let name = LeaseName {
            unit: lease.unit,
            epoch: lease.epoch,
        };
        let stop = Arc::new(AtomicBool::new(false));
        if !held.start(&name, &stop) || self.client.is_interrupted() {
            return Ok(Executed {
                is_accepted: false,
                is_last: self.client.is_interrupted(),
            });
        }
        let scratch = self.scratch.join(format!("{}-{}", name.unit, name.epoch));
        let context = UnitContext {
            scratch: &scratch,
            link: Arc::new(LeaseLink::new(self.client, name.clone(), &stop)),
            stop: Arc::clone(&stop),
        };
        let end = self.executor.execute(lease.task, &context)?;
        held.leases().pop_front();
        let is_last = match &end {
            UnitEnd::Finished { stop, .. } | UnitEnd::Stopped { stop } => stop.is_some(),
        };
        let is_accepted = match end {
            UnitEnd::Finished { report, stop } => {
                let report = WorkReport {
                    unit: name.unit,
                    epoch: name.epoch,
                    result: report,
                    stop,
                };
                match self.client.post("result", &report) {
                    Ok(()) => true,
                    // A stale lease is no error of the worker.
                    Err(error) if is_stale(&error) => false,
                    Err(error) => return Err(error),
                }
            }
            UnitEnd::Stopped { stop } => {
                self.release(name, stop);
                false
            }
        };
        match std::fs::remove_dir_all(&scratch) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RunsError::file("remove", &scratch)(error).into())
            }
            _ => Ok(Executed {
                is_accepted,
                is_last,
            }),
        }
    }

    fn release(&self, lease: LeaseName, stop: Option<String>) {
        let release = WorkRelease { lease, stop };
        // A lease that cannot be returned expires.
        drop(self.client.post::<()>("release", &release));
    }
}

/// Renews the leases of a group until it has ended. Stops a unit if its lease is lost, the coordinator
/// does not answer, or the worker is interrupted.
fn renew_until_ended(client: &WorkClient, held: &Held, heartbeat: Duration) {
    let mut renewed = Instant::now();
    while !held.ended.load(Ordering::Acquire) {
        if client.is_interrupted() {
            return held.stop_unit();
        }
        if renewed.elapsed() >= heartbeat {
            let names: Vec<LeaseName> = held.leases().iter().cloned().collect();
            for name in names {
                if client.post::<()>("renew", &name).is_err() {
                    held.forget(&name);
                }
            }
            renewed = Instant::now();
        }
        std::thread::park_timeout(WATCH_INTERVAL);
    }
}

/// How the execution of a unit ended.
struct Executed {
    /// Whether the coordinator accepted the result.
    is_accepted: bool,
    /// Whether no other unit can be executed.
    is_last: bool,
}

/// Ends the thread that renews the leases.
struct EndOnDrop<'a>(&'a AtomicBool, Thread);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}
