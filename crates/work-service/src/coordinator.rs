//! The coordinator: it answers the requests of workers.
//!
//! `rhae-work` decides which worker has which unit; a [`Workload`] verifies and stores results; the
//! coordinator connects both.
//!
//! **Invariant:** a result is stored only after it was verified, and only under the current lease of
//! its unit.
//!
//! **Invariant:** a decision is in the log before a worker learns it, so a coordinator that is killed
//! and resumed issues no epoch twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_protocol::{
    Digest, LeaseLoss, LeaseName, LeaseReply, LeaseRequest, ReserveReply, SOFTWARE, UnitKey,
    WorkCost, WorkErrorCode, WorkEvent, WorkJob, WorkLease, WorkLines, WorkRefusal, WorkRelease,
    WorkReport, WorkReserve, WorkSettle, WorkerHello,
};
use rhae_runs::{RunsError, now_ms};
use rhae_work::{AppendError, EventLog, Job, LeasePolicy, Phase, Rejection, WorkLimit};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::software::software_digest;
use crate::{DistributeError, Workload};

/// The maximum number of repeated results that differed from the accepted ones, of which the user is
/// told.
const MAX_NOTES: usize = 20;

/// The maximum number of units that a worker gets at once.
const MAX_GROUP: usize = 32;
/// The time for which a worker that has no unit counts as one, after it asked for a unit.
const IDLE_MS: u64 = 5_000;

/// Returns the time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How work is distributed.
#[derive(Clone)]
pub struct CoordinatorOptions {
    pub policy: LeasePolicy,
    /// The spend limit of all workers together.
    pub limit: WorkLimit,
    /// What earlier processes spent or possibly paid, according to the files of the run.
    pub spent: WorkCost,
    /// The number of workers that share a rate limit; 0 counts as 1.
    pub workers: u32,
    /// Whether workers that find no unit end, except one, so that a cluster can remove their machines.
    pub releases_idle_workers: bool,
    /// The clock by which leases end.
    pub clock: Clock,
}

impl Default for CoordinatorOptions {
    fn default() -> Self {
        Self {
            policy: LeasePolicy::default(),
            limit: WorkLimit::default(),
            spent: WorkCost::default(),
            workers: 1,
            releases_idle_workers: false,
            clock: Arc::new(now_ms),
        }
    }
}

/// A coordinator. All functions can be called from several threads.
pub struct Coordinator<W> {
    workload: W,
    software_digest: Digest,
    workers: u32,
    releases_idle_workers: bool,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    job: Job,
    log: Box<dyn EventLog>,
    /// The times at which workers found no unit.
    idle: BTreeMap<String, u64>,
    /// The reservations of workers, by their lease and the number of the transmission.
    reservations: BTreeMap<(LeaseName, u64), u64>,
    /// The number of lines that were added under a lease.
    lines: BTreeMap<LeaseName, u64>,
    stopped: Option<String>,
    notes: Vec<String>,
}

/// The response to a request of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkAnswer {
    /// The HTTP status.
    pub status: u16,
    /// A JSON document.
    pub body: String,
}

/// Why a request is refused.
struct Refused(WorkErrorCode, String);

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        let code = match rejection {
            Rejection::UnknownUnit(_) | Rejection::UnknownReservation(_) => {
                WorkErrorCode::InvalidRequest
            }
            _ => WorkErrorCode::StaleLease,
        };
        Self(code, rejection.to_string())
    }
}

impl From<RunsError> for Refused {
    fn from(error: RunsError) -> Self {
        Self(WorkErrorCode::Failed, error.to_string())
    }
}

impl From<AppendError> for Refused {
    fn from(error: AppendError) -> Self {
        Self(WorkErrorCode::Failed, error.to_string())
    }
}

impl<W: Workload> Coordinator<W> {
    /// Opens a coordinator. `log` may be that of one that ended before.
    ///
    /// Units whose results are stored count as finished, and all others are tried again, even those
    /// that were given up. No worker of an earlier coordinator is left.
    ///
    /// # Errors
    ///
    /// Returns an error if the log is of other work, or a file cannot be used.
    pub fn open(
        workload: W,
        mut log: Box<dyn EventLog>,
        options: &CoordinatorOptions,
    ) -> Result<Self, DistributeError> {
        let keys = workload.units().iter().map(|unit| unit.key.clone());
        let mut job = Job::new(options.policy, keys, options.limit);
        for event in log.take_earlier() {
            job.apply(&event)?;
        }
        let mut state = State {
            job,
            log,
            idle: BTreeMap::new(),
            reservations: BTreeMap::new(),
            lines: BTreeMap::new(),
            stopped: None,
            notes: Vec::new(),
        };
        let lost = state.job.expire(u64::MAX);
        state.append(lost)?;
        for unit in workload.units() {
            let event = if workload.is_stored(&unit.key) {
                state.job.adopt(&unit.key)
            } else {
                state.job.reopen(&unit.key)
            };
            state.append(event)?;
        }
        if options.spent != state.job.spent().plus(state.job.reserved()) {
            let counted = state.job.count(options.spent);
            state.append([counted])?;
        }
        Ok(Self {
            workload,
            software_digest: software_digest()?,
            workers: options.workers.max(1),
            releases_idle_workers: options.releases_idle_workers,
            clock: Arc::clone(&options.clock),
            state: Mutex::new(state),
        })
    }

    /// Returns what is distributed.
    pub const fn workload(&self) -> &W {
        &self.workload
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Events are applied one by one, and each application is complete or has no effect.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request of a worker. The caller has checked its token.
    pub fn answer(&self, path: &str, body: &[u8]) -> WorkAnswer {
        let answer = match path {
            "/work/job" => parse(body).and_then(|hello| to_json(&self.job(&hello)?)),
            "/work/lease" => parse(body).and_then(|request| to_json(&self.lease(&request)?)),
            "/work/renew" => parse(body).and_then(|lease| to_json(&self.renew(&lease)?)),
            "/work/release" => parse(body).and_then(|release| to_json(&self.release(release)?)),
            "/work/result" => parse(body).and_then(|report| to_json(&self.report(report)?)),
            "/work/log" => parse(body).and_then(|lines| to_json(&self.append_lines(&lines)?)),
            "/work/reserve" => parse(body).and_then(|request| to_json(&self.reserve(request)?)),
            "/work/settle" => parse(body).and_then(|request| to_json(&self.settle(&request)?)),
            _ => Err(Refused(
                WorkErrorCode::InvalidRequest,
                "a coordinator has no such path".to_owned(),
            )),
        };
        match answer {
            Ok(body) => WorkAnswer { status: 200, body },
            Err(Refused(error, message)) => {
                let refusal = WorkRefusal { error, message };
                WorkAnswer {
                    status: error.status(),
                    body: serde_json::to_string(&refusal).expect("a refusal is valid JSON"),
                }
            }
        }
    }

    fn job(&self, hello: &WorkerHello) -> Result<WorkJob, Refused> {
        if hello.software != SOFTWARE || hello.software_digest != self.software_digest {
            return Err(Refused(
                WorkErrorCode::OtherSoftware,
                format!(
                    "the worker is another build of `{}` than the coordinator, `{SOFTWARE}`; start both from the same file",
                    hello.software
                ),
            ));
        }
        let policy = self.state().job.policy();
        Ok(WorkJob {
            work: self.workload.kind(),
            heartbeat_ms: policy.heartbeat_ms,
            lease_ms: policy.duration_ms,
            workers: self.workers,
        })
    }

    fn lease(&self, request: &LeaseRequest) -> Result<LeaseReply<W::Task>, Refused> {
        for (id, digest) in self.workload.source_digests() {
            if request.source_digests.get(id) != Some(digest) {
                return Err(Refused(
                    WorkErrorCode::OtherSoftware,
                    format!("the worker has another source of `{id}` than the coordinator"),
                ));
            }
        }
        let now = (self.clock)();
        let mut state = self.state();
        let expired = state.job.expire(now);
        state.append(expired)?;
        if state.stopped.is_some() {
            return Ok(LeaseReply::Finished);
        }
        // Towards the end, groups are small, so that no worker waits for another one's group.
        let workers = (self.workers as usize).max(state.job.workers() + 1);
        let share = state.job.open_units().div_ceil(2 * workers);
        let limit = (request.units as usize).min(share).clamp(1, MAX_GROUP);
        let events = state.job.lease_group(&request.worker, now, limit);
        if events.is_empty() {
            let ends = self.releases_idle_workers && state.has_idle_besides(&request.worker, now);
            return Ok(if ends || state.job.is_finished() {
                LeaseReply::Finished
            } else {
                LeaseReply::Wait
            });
        }
        state.idle.remove(&request.worker);
        let mut leases = Vec::new();
        for event in &events {
            let WorkEvent::Leased { unit, epoch, .. } = event else {
                unreachable!("a decision about a lease is a lease")
            };
            leases.push(WorkLease {
                unit: unit.clone(),
                epoch: *epoch,
                task: self.workload.task(unit)?,
            });
        }
        state.append(events)?;
        Ok(LeaseReply::Leased { leases })
    }

    fn renew(&self, lease: &LeaseName) -> Result<(), Refused> {
        let mut state = self.state();
        let event = state.job.renew(&lease.unit, lease.epoch, (self.clock)())?;
        Ok(state.append([event])?)
    }

    fn release(&self, release: WorkRelease) -> Result<(), Refused> {
        let WorkRelease { lease, stop } = release;
        let mut state = self.state();
        let event = state.job.release(&lease.unit, lease.epoch)?;
        state.append([event])?;
        state.stop(stop);
        Ok(())
    }

    /// Verifies and stores a result.
    fn report(&self, report: WorkReport<W::Report>) -> Result<(), Refused> {
        let WorkReport {
            unit,
            epoch,
            result,
            stop,
        } = report;
        let known = self.state().job.unit(&unit).is_some();
        if !known {
            return Err(Rejection::UnknownUnit(unit).into());
        }
        // A verification takes as long as the work did, so it happens outside the lock.
        let (digest, verified) = self.workload.verify(&unit, result).map_err(|reason| {
            let message = format!("the result is not accepted: {reason}");
            Refused(WorkErrorCode::NotVerified, message)
        })?;
        let mut state = self.state();
        let event = match state.job.commit(&unit, epoch, &digest) {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(()),
            Err(rejection) => {
                if let Some(event) = state.job.discard(&unit, epoch, &digest) {
                    state.note_difference(&event, || self.name(&unit));
                    state.append([event])?;
                }
                return Err(rejection.into());
            }
        };
        self.workload.store(&unit, verified)?;
        state.append([event])?;
        state.stop(stop);
        Ok(())
    }

    fn append_lines(&self, request: &WorkLines) -> Result<(), Refused> {
        let mut state = self.state();
        state.job.check_current(&request.unit, request.epoch)?;
        let lease = LeaseName {
            unit: request.unit.clone(),
            epoch: request.epoch,
        };
        let known = state.lines.get(&lease).copied().unwrap_or(0);
        let repeated = known.checked_sub(request.after).ok_or_else(|| {
            let message = format!("{} lines are missing before these", request.after - known);
            Refused(WorkErrorCode::InvalidRequest, message)
        })?;
        let repeated = usize::try_from(repeated).unwrap_or(usize::MAX);
        let Some(new @ [_, ..]) = request.lines.get(repeated..) else {
            return Ok(());
        };
        self.workload
            .append_log(&request.unit, request.epoch, new)
            .map_err(|reason| Refused(WorkErrorCode::NotVerified, reason))?;
        state.lines.insert(lease, known + new.len() as u64);
        Ok(())
    }

    fn reserve(&self, request: WorkReserve) -> Result<ReserveReply, Refused> {
        let WorkReserve {
            unit,
            epoch,
            transmission,
            worst,
        } = request;
        let mut state = self.state();
        let key = (
            LeaseName {
                unit: unit.clone(),
                epoch,
            },
            transmission,
        );
        if state.reservations.contains_key(&key) {
            return Ok(ReserveReply::Reserved);
        }
        let event = match state.job.reserve(&unit, epoch, worst) {
            Ok(event) => event,
            Err(Rejection::Wait) => return Ok(ReserveReply::Wait),
            Err(Rejection::SpendLimit(reason)) => {
                let reason = format!("the spend limit is reached: {reason}");
                return Ok(ReserveReply::Refused { reason });
            }
            Err(other) => return Err(other.into()),
        };
        if let WorkEvent::Reserved { reservation, .. } = &event {
            state.reservations.insert(key, *reservation);
        }
        state.append([event])?;
        Ok(ReserveReply::Reserved)
    }

    fn settle(&self, request: &WorkSettle) -> Result<(), Refused> {
        let lease = LeaseName {
            unit: request.unit.clone(),
            epoch: request.epoch,
        };
        let mut state = self.state();
        let key = (lease, request.transmission);
        let Some(reservation) = state.reservations.get(&key).copied() else {
            return Err(Rejection::UnknownReservation(request.transmission).into());
        };
        match state.job.settle(reservation, request.cost) {
            Ok(event) => Ok(state.append([event])?),
            // The worker repeats a request whose response it did not get.
            Err(_) => Ok(()),
        }
    }

    fn name(&self, key: &UnitKey) -> String {
        let mut units = self.workload.units().iter();
        units
            .find(|unit| unit.key == *key)
            .map_or_else(|| key.to_string(), |unit| unit.name.clone())
    }

    /// Ends the leases of a worker that has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be written.
    pub fn end_worker(&self, worker: &str, reason: LeaseLoss) -> Result<(), DistributeError> {
        let mut state = self.state();
        state.idle.remove(worker);
        let events = state.job.end_worker(worker, reason);
        Ok(state.append(events)?)
    }

    /// Ends all leases, because no worker is left.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be written.
    pub fn end_all_workers(&self) -> Result<(), DistributeError> {
        let mut state = self.state();
        let events = state.job.expire(u64::MAX);
        Ok(state.append(events)?)
    }

    /// Returns whether no further unit will be leased: every unit has its result or is given up, or
    /// a worker reported a reason that affects all units.
    pub fn is_over(&self) -> bool {
        let state = self.state();
        state.stopped.is_some() || state.job.is_finished()
    }

    /// Returns the reason why the work was stopped before its end.
    pub fn stopped(&self) -> Option<String> {
        self.state().stopped.clone()
    }

    /// Stops the work.
    pub fn stop(&self, reason: String) {
        self.state().stop(Some(reason));
    }

    /// Returns the number of finished units.
    pub fn finished_units(&self) -> usize {
        let state = self.state();
        let finished = |phase: &Phase| matches!(phase, Phase::Committed { .. });
        state
            .job
            .units()
            .filter(|(_, unit)| finished(&unit.phase))
            .count()
    }

    /// Returns the number of units that are open or leased.
    pub fn unfinished_units(&self) -> usize {
        self.state().job.unfinished_units()
    }

    /// Returns the names of the units that were given up.
    pub fn given_up(&self) -> Vec<UnitKey> {
        let state = self.state();
        let given_up = state.job.units();
        given_up
            .filter(|(_, unit)| unit.phase == Phase::GivenUp)
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Returns notes for the user: units that were given up, results that are not reproducible, and
    /// money that no result contains.
    pub fn notes(&self) -> Vec<String> {
        let state = self.state();
        let mut notes = state.notes.clone();
        for (key, unit) in state.job.units() {
            if unit.phase == Phase::GivenUp {
                notes.push(format!(
                    "{} failed: {} workers ended while they executed it, and {} were lost",
                    self.name(key),
                    unit.failures,
                    unit.losses
                ));
            }
        }
        let discarded = state.job.spent_discarded().nano_usd;
        if discarded > 0 {
            notes.push(format!(
                "{} USD were spent on requests of workers that were lost",
                discarded as f64 / 1e9
            ));
        }
        notes
    }
}

impl State {
    /// Appends decisions to the log and applies them.
    fn append(&mut self, events: impl IntoIterator<Item = WorkEvent>) -> Result<(), AppendError> {
        let events: Vec<WorkEvent> = events.into_iter().collect();
        if events.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.log.append(&events) {
            if error == AppendError::Taken {
                self.stop(Some(error.to_string()));
            }
            return Err(error);
        }
        for event in events {
            self.job
                .apply(&event)
                .expect("a decision follows from the state");
        }
        Ok(())
    }

    /// Records that a worker found no unit. Returns whether another one waits for a unit, so that this
    /// one is not needed if a worker is lost.
    fn has_idle_besides(&mut self, worker: &str, now: u64) -> bool {
        self.idle.retain(|_, at| now < at.saturating_add(IDLE_MS));
        let has_other = self.idle.keys().any(|other| other != worker);
        if has_other {
            self.idle.remove(worker);
        } else {
            self.idle.insert(worker.to_owned(), now);
        }
        has_other
    }

    fn stop(&mut self, reason: Option<String>) {
        if let Some(reason) = reason {
            self.stopped.get_or_insert(reason);
        }
    }

    /// Keeps a note if a discarded result differs from the accepted one.
    fn note_difference(&mut self, event: &WorkEvent, name: impl Fn() -> String) {
        let differs = matches!(
            event,
            WorkEvent::Discarded {
                same: Some(false),
                ..
            }
        );
        if differs && self.notes.len() < MAX_NOTES {
            self.notes.push(format!(
                "not reproducible: two workers executed {} with different results; the first is used",
                name()
            ));
        }
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("the body of the request is not valid: {error}");
        Refused(WorkErrorCode::InvalidRequest, message)
    })
}

fn to_json(value: &impl Serialize) -> Result<String, Refused> {
    serde_json::to_string(value).map_err(|error| Refused(WorkErrorCode::Failed, error.to_string()))
}
