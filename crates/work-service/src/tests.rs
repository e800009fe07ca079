//! Property tests of a coordinator: any interleaving of leases, frozen workers, expiries, reports and
//! restarts, with a clock that the test moves, and with the log in memory, in a file, in SQLite and in
//! PostgreSQL.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rhae_protocol::{
    LeaseLoss, LeaseName, LeaseReply, LeaseRequest, ReserveReply, UnitKey, ValidationTask,
    WorkCost, WorkErrorCode, WorkLines, WorkRefusal, WorkRelease, WorkReport, WorkReserve,
    WorkSettle,
};
use rhae_runs::RunFolder;
use rhae_store::{Database, StoreLog, WorkStore};
use rhae_testkit::Postgres;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

use crate::{
    AppendError, Coordinator, CoordinatorOptions, DistributeError, EventLog, FolderLog,
    LeasePolicy, MemoryLog, WorkLimit,
};

mod test_work;

use test_work::{Disk, TestWork};

const LIMIT: u64 = 1000;
const POLICY: LeasePolicy = LeasePolicy {
    duration_ms: 60_000,
    heartbeat_ms: 15_000,
    max_failures: 3,
    max_losses: 4,
};

#[derive(Clone, Debug)]
enum Op {
    /// The worker asks for a number of units.
    Lease(usize, u32),
    Renew(usize),
    Release(usize),
    /// The worker reports its oldest lease, however stale.
    Report(usize),
    /// The worker repeats its last report, because a response was lost.
    Repeat(usize),
    /// The worker adds a line to the log of its oldest lease, and repeats the request.
    Line(usize),
    Reserve(usize, u64),
    /// The worker settles its oldest reservation at a share of its worst case, in percent.
    Settle(usize, u64),
    Tick(u64),
    EndWorker(usize, LeaseLoss),
    /// The coordinator is killed. Its workers live on.
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    let worker = 0..3usize;
    prop_oneof![
        4 => (worker.clone(), 1..4u32).prop_map(|(worker, units)| Op::Lease(worker, units)),
        1 => worker.clone().prop_map(Op::Renew),
        1 => worker.clone().prop_map(Op::Release),
        3 => worker.clone().prop_map(Op::Report),
        1 => worker.clone().prop_map(Op::Repeat),
        2 => worker.clone().prop_map(Op::Line),
        2 => (worker.clone(), 0..400u64).prop_map(|(worker, usd)| Op::Reserve(worker, usd)),
        2 => (worker.clone(), 0..=100u64).prop_map(|(worker, share)| Op::Settle(worker, share)),
        2 => (0..70_000u64).prop_map(Op::Tick),
        1 => (worker, any::<bool>()).prop_map(|(worker, node)| {
            let reason = if node { LeaseLoss::NodeLost } else { LeaseLoss::WorkerEnded };
            Op::EndWorker(worker, reason)
        }),
        1 => Just(Op::Restart),
    ]
}

/// Three workers, which know only what they were told.
#[derive(Default)]
struct TestWorker {
    held: Vec<LeaseName>,
    reported: Option<LeaseName>,
    lines: BTreeMap<LeaseName, u64>,
    reserved: Vec<(LeaseName, u64, u64)>,
    transmissions: u64,
}

/// Where the log of a coordinator is.
enum LogPlace {
    Memory,
    Folder(tempfile::TempDir),
    Database {
        runtime: Arc<Runtime>,
        store: Arc<dyn WorkStore>,
        job: String,
    },
}

impl LogPlace {
    fn folder() -> Self {
        Self::Folder(tempfile::tempdir().unwrap())
    }

    /// Returns whether a log outlives its coordinator.
    const fn is_durable(&self) -> bool {
        !matches!(self, Self::Memory)
    }

    fn open(&self) -> Box<dyn EventLog> {
        match self {
            Self::Memory => Box::new(MemoryLog),
            Self::Folder(folder) => {
                let log = FolderLog::open(&RunFolder::open(folder.path()));
                Box::new(log.unwrap())
            }
            Self::Database {
                runtime,
                store,
                job,
            } => {
                let log = StoreLog::open(Arc::clone(store), job, runtime.handle().clone());
                Box::new(runtime.block_on(log).unwrap())
            }
        }
    }
}

struct World {
    coordinator: Coordinator<TestWork>,
    disk: Arc<Mutex<Disk>>,
    now_ms: Arc<AtomicU64>,
    log: LogPlace,
    workers: [TestWorker; 3],
    /// The newest epoch of each unit.
    epochs: BTreeMap<UnitKey, u64>,
}

impl World {
    fn new(log: LogPlace) -> Self {
        let (disk, now_ms) = (Arc::default(), Arc::default());
        let coordinator = open(log.open(), &disk, &now_ms, false);
        Self {
            coordinator,
            disk,
            now_ms,
            log,
            workers: Default::default(),
            epochs: BTreeMap::new(),
        }
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, WorkErrorCode> {
        let body = serde_json::to_vec(body).unwrap();
        let answer = self.coordinator.answer(&format!("/work/{path}"), &body);
        if answer.status == 200 {
            return Ok(serde_json::from_str(&answer.body).unwrap());
        }
        let refusal: WorkRefusal = serde_json::from_str(&answer.body).unwrap();
        Err(refusal.error)
    }

    fn ask(&self, worker: usize, units: u32) -> LeaseReply<ValidationTask> {
        let request = LeaseRequest {
            worker: format!("w{worker}"),
            source_digests: BTreeMap::new(),
            units,
        };
        self.post("lease", &request).unwrap()
    }

    fn lease(&mut self, worker: usize, units: u32) -> bool {
        let LeaseReply::Leased { leases } = self.ask(worker, units) else {
            return false;
        };
        assert!((1..=units as usize).contains(&leases.len()));
        for lease in leases {
            let newest = self.epochs.entry(lease.unit.clone()).or_insert(0);
            // A log in memory is lost with its coordinator.
            if self.log.is_durable() {
                assert!(lease.epoch > *newest, "an epoch is issued twice");
            }
            *newest = lease.epoch;
            self.workers[worker].held.push(LeaseName {
                unit: lease.unit,
                epoch: lease.epoch,
            });
        }
        true
    }

    fn report(&self, lease: &LeaseName) -> Result<(), WorkErrorCode> {
        let report = WorkReport {
            unit: lease.unit.clone(),
            epoch: lease.epoch,
            result: lease.unit.0.clone(),
            stop: None,
        };
        self.post("result", &report)
    }

    fn execute(&mut self, op: &Op) {
        match *op {
            Op::Lease(worker, units) => drop(self.lease(worker, units)),
            Op::Renew(worker) => {
                if let Some(lease) = self.workers[worker].held.last() {
                    let _ = self.post::<()>("renew", lease);
                }
            }
            Op::Release(worker) => {
                if let Some(lease) = self.workers[worker].held.pop() {
                    let _ = self.post::<()>("release", &WorkRelease { lease, stop: None });
                }
            }
            Op::Report(worker) => {
                if !self.workers[worker].held.is_empty() {
                    let lease = self.workers[worker].held.remove(0);
                    let answer = self.report(&lease);
                    assert!(matches!(answer, Ok(()) | Err(WorkErrorCode::StaleLease)));
                    self.workers[worker].reported = Some(lease);
                }
            }
            Op::Repeat(worker) => {
                if let Some(lease) = self.workers[worker].reported.clone() {
                    // `store` refuses a second result.
                    let _ = self.report(&lease);
                }
            }
            Op::Line(worker) => self.add_line(worker),
            Op::Reserve(worker, nano_usd) => self.reserve(worker, nano_usd),
            Op::Settle(worker, share) => self.settle(worker, share),
            Op::Tick(ms) => drop(self.now_ms.fetch_add(ms, Ordering::Relaxed)),
            Op::EndWorker(worker, reason) => {
                let name = format!("w{worker}");
                self.coordinator.end_worker(&name, reason).unwrap();
            }
            Op::Restart => self.restart(),
        }
    }

    fn add_line(&mut self, worker: usize) {
        let Some(lease) = self.workers[worker].held.first().cloned() else {
            return;
        };
        let after = self.workers[worker].lines.get(&lease).copied().unwrap_or(0);
        let request = WorkLines {
            unit: lease.unit.clone(),
            epoch: lease.epoch,
            after,
            lines: vec![after.to_string()],
        };
        let before = self
            .disk
            .lock()
            .unwrap()
            .lines
            .get(&lease.unit)
            .map_or(0, Vec::len);
        if self.post::<()>("log", &request).is_ok() {
            assert_eq!(lease.epoch, self.epochs[&lease.unit], "a stale line");
            self.workers[worker].lines.insert(lease.clone(), after + 1);
            self.post::<()>("log", &request).unwrap();
            assert_eq!(
                self.disk.lock().unwrap().lines[&lease.unit].len(),
                before + 1
            );
        }
    }

    fn reserve(&mut self, worker: usize, nano_usd: u64) {
        let Some(lease) = self.workers[worker].held.last().cloned() else {
            return;
        };
        self.workers[worker].transmissions += 1;
        let transmission = self.workers[worker].transmissions;
        let worst = WorkCost {
            nano_usd,
            tokens: 1,
        };
        let request = WorkReserve {
            unit: lease.unit.clone(),
            epoch: lease.epoch,
            transmission,
            worst,
        };
        for _ in 0..2 {
            let answer = self.post("reserve", &request);
            if answer != Ok(ReserveReply::Reserved) {
                return;
            }
        }
        let reserved = &mut self.workers[worker].reserved;
        reserved.push((lease, transmission, nano_usd));
        // Its worst case is in the files of the run before it is sent.
        self.disk.lock().unwrap().spent += nano_usd;
    }

    fn settle(&mut self, worker: usize, share: u64) {
        if self.workers[worker].reserved.is_empty() {
            return;
        }
        let (lease, transmission, worst) = self.workers[worker].reserved.remove(0);
        let cost = worst * share / 100;
        let request = WorkSettle {
            unit: lease.unit,
            epoch: lease.epoch,
            transmission,
            cost: WorkCost {
                nano_usd: cost,
                tokens: 1,
            },
        };
        if self.post::<()>("settle", &request).is_ok() {
            self.post::<()>("settle", &request).unwrap();
            self.disk.lock().unwrap().spent -= worst - cost;
        }
    }

    fn restart(&mut self) {
        // The file of a log is open in one process at a time.
        let spare = open(Box::new(MemoryLog), &Arc::default(), &self.now_ms, false);
        drop(std::mem::replace(&mut self.coordinator, spare));
        self.coordinator = open(self.log.open(), &self.disk, &self.now_ms, false);
        if !self.log.is_durable() {
            // A coordinator without a log has another token, so earlier workers cannot reach it.
            self.workers = Default::default();
        }
    }
}

fn open(
    log: Box<dyn EventLog>,
    disk: &Arc<Mutex<Disk>>,
    now_ms: &Arc<AtomicU64>,
    releases_idle_workers: bool,
) -> Coordinator<TestWork> {
    let clock = Arc::clone(now_ms);
    let options = CoordinatorOptions {
        policy: POLICY,
        limit: WorkLimit {
            nano_usd: Some(LIMIT),
            tokens: None,
        },
        spent: WorkCost {
            nano_usd: disk.lock().unwrap().spent,
            tokens: 0,
        },
        workers: 1,
        releases_idle_workers,
        clock: Arc::new(move || clock.load(Ordering::Relaxed)),
    };
    Coordinator::open(TestWork::new(disk), log, &options).unwrap()
}

/// Executes many interleavings, each with another log.
fn check_interleavings(cases: u32, place: impl Fn(u32) -> LogPlace) {
    let config = ProptestConfig {
        failure_persistence: None,
        cases,
        ..ProptestConfig::default()
    };
    let next = Cell::new(0);
    let ops = prop::collection::vec(op(), 0..120);
    let checked = TestRunner::new(config).run(&ops, |ops| {
        next.set(next.get() + 1);
        check_interleaving(&ops, place(next.get()));
        Ok(())
    });
    checked.unwrap();
}

fn check_interleaving(ops: &[Op], log: LogPlace) {
    let mut world = World::new(log);
    for op in ops {
        world.execute(op);
        let spent = world.disk.lock().unwrap().spent;
        assert!(spent <= LIMIT, "{spent}");
    }
    // A coordinator that starts again has units that it can try again, and a worker that neither
    // freezes nor ends completes them.
    world.execute(&Op::Restart);
    while world.lease(0, 3) {
        for lease in std::mem::take(&mut world.workers[0].held) {
            let answer = world.report(&lease);
            assert!(matches!(answer, Ok(()) | Err(WorkErrorCode::StaleLease)));
        }
    }
    assert!(world.coordinator.is_over());
    assert_eq!(world.disk.lock().unwrap().results.len(), 4);
    assert!(world.coordinator.given_up().is_empty());
}

/// Opens a database, and returns a function that returns its logs by their numbers.
fn database(db: impl AsRef<Path>) -> impl Fn(u32) -> LogPlace {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = Arc::new(runtime.unwrap());
    let opened = runtime.block_on(Database::open(db.as_ref()));
    let store = opened.unwrap().work();
    move |log| LogPlace::Database {
        runtime: Arc::clone(&runtime),
        store: Arc::clone(&store),
        job: format!("job {log}"),
    }
}

#[test]
fn every_unit_gets_one_result_with_the_log_in_memory() {
    check_interleavings(256, |_| LogPlace::Memory);
}

// Every event of the other logs is synced to disk.

#[test]
fn every_unit_gets_one_result_with_the_log_in_a_file() {
    check_interleavings(24, |_| LogPlace::folder());
}

#[test]
fn every_unit_gets_one_result_with_the_log_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    check_interleavings(24, database(folder.path().join("rhae.db")));
}

#[test]
fn every_unit_gets_one_result_with_the_log_in_postgresql() {
    let Some(server) = Postgres::start() else {
        return;
    };
    check_interleavings(24, database(server.url()));
}

/// A coordinator that was frozen continues after another process has continued its log.
fn check_replaced_coordinator(log: LogPlace) {
    let mut world = World::new(log);
    world.lease(0, 1);
    let unit = world.workers[0].held[0].unit.clone();
    let other = open(world.log.open(), &world.disk, &world.now_ms, false);
    let request = LeaseRequest {
        worker: "w1".to_owned(),
        source_digests: BTreeMap::new(),
        units: 1,
    };
    let body = serde_json::to_vec(&request).unwrap();
    let answer = other.answer("/work/lease", &body).body;
    assert!(answer.contains("\"epoch\":2"), "{answer}");
    // The first coordinator accepts no result, and stops.
    let renewed = world.post::<()>("renew", &LeaseName { unit, epoch: 1 });
    assert_eq!(renewed, Err(WorkErrorCode::Failed));
    assert!(world.coordinator.is_over() && !other.is_over());
    let reason = "another coordinator has continued this work";
    assert_eq!(world.coordinator.stopped().as_deref(), Some(reason));
    assert!(matches!(
        world.coordinator.end_all_workers(),
        Err(DistributeError::Append(AppendError::Taken))
    ));
    assert_eq!(world.ask(0, 1), LeaseReply::Finished);
}

#[test]
fn coordinator_that_was_replaced_stops() {
    let folder = tempfile::tempdir().unwrap();
    check_replaced_coordinator(database(folder.path().join("rhae.db"))(1));
    if let Some(server) = Postgres::start() {
        check_replaced_coordinator(database(server.url())(1));
    }
}

#[test]
fn groups_shrink_when_few_units_are_open() {
    let mut world = World::new(LogPlace::Memory);
    // Half of the four units, then a share of the rest for two workers.
    assert!(world.lease(0, 9) && world.lease(1, 9));
    assert_eq!(world.workers[0].held.len(), 2);
    assert_eq!(world.workers[1].held.len(), 1);
}

#[test]
fn one_idle_worker_stays_until_the_end() {
    let mut world = World::new(LogPlace::Memory);
    world.coordinator = open(Box::new(MemoryLog), &world.disk, &world.now_ms, true);
    for _ in 0..4 {
        assert!(world.lease(0, 1));
    }
    assert_eq!(world.ask(1, 1), LeaseReply::Wait);
    assert_eq!(world.ask(2, 1), LeaseReply::Finished);
    assert_eq!(world.ask(1, 1), LeaseReply::Wait);
    // A worker that no longer asks is not counted on.
    world.now_ms.fetch_add(10_000, Ordering::Relaxed);
    assert_eq!(world.ask(2, 1), LeaseReply::Wait);
    // It gets the units of a lost worker.
    world.execute(&Op::EndWorker(0, LeaseLoss::NodeLost));
    assert!(world.lease(2, 1));
}

#[test]
fn log_of_a_lost_worker_reaches_the_next_one() {
    let mut world = World::new(LogPlace::folder());
    world.lease(0, 1);
    world.execute(&Op::Line(0));
    world.execute(&Op::Line(0));
    world.execute(&Op::EndWorker(0, LeaseLoss::NodeLost));
    world.execute(&Op::Restart);
    let answer = world.ask(1, 1);
    let LeaseReply::Leased { leases } = &answer else {
        panic!("{answer:?}")
    };
    let lease = &leases[0];
    assert_eq!((lease.task.game_id.as_str(), lease.epoch), ("1:0 1:1", 2));
    // The lost worker awakes.
    let stale = &world.workers[0].held[0];
    let lines = WorkLines {
        unit: stale.unit.clone(),
        epoch: stale.epoch,
        after: 2,
        lines: vec!["late".to_owned()],
    };
    assert_eq!(
        world.post::<()>("log", &lines),
        Err(WorkErrorCode::StaleLease)
    );
}
