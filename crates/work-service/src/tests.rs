//! Property tests of a coordinator: any interleaving of leases, frozen workers, expiries, reports and
//! restarts, with a clock that the test moves, and with the log on disk and in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use rhae_protocol::{
    Digest, LeaseLoss, LeaseName, LeaseReply, LeaseRequest, ReserveReply, UnitKey, ValidationTask,
    ValidationWork, WorkCost, WorkErrorCode, WorkKind, WorkLines, WorkRefusal, WorkRelease,
    WorkReport, WorkReserve, WorkSettle,
};
use rhae_runs::{RunFolder, RunsError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    Coordinator, CoordinatorOptions, EventLog, LeasePolicy, NamedUnit, WorkLimit, Workload,
};

const LIMIT: u64 = 1000;
const POLICY: LeasePolicy = LeasePolicy {
    duration_ms: 60_000,
    heartbeat_ms: 15_000,
    max_failures: 3,
    max_losses: 4,
};

/// What is stored, which survives a coordinator.
#[derive(Debug, Default)]
struct Disk {
    results: BTreeMap<UnitKey, String>,
    lines: BTreeMap<UnitKey, Vec<String>>,
    spent: u64,
}

/// Work whose result is the name of its unit.
struct TestWork {
    units: Vec<NamedUnit>,
    digests: BTreeMap<String, String>,
    disk: Arc<Mutex<Disk>>,
}

impl TestWork {
    fn new(disk: &Arc<Mutex<Disk>>) -> Self {
        let units = (0..4).map(|unit| NamedUnit {
            key: UnitKey(format!("unit{unit}")),
            name: format!("unit {unit}"),
        });
        Self {
            units: units.collect(),
            digests: BTreeMap::new(),
            disk: Arc::clone(disk),
        }
    }
}

impl Workload for TestWork {
    type Task = ValidationTask;
    type Report = String;
    type Verified = String;

    fn kind(&self) -> WorkKind {
        WorkKind::Validation(Box::new(ValidationWork {
            seed: 0,
            env_seed: 0,
            steps: None,
            strict: false,
            nodes: None,
            deep: false,
            rules: Vec::new(),
            jobs: 1,
            recordings: Vec::new(),
            games_dirs: Vec::new(),
        }))
    }

    fn source_digests(&self) -> &BTreeMap<String, String> {
        &self.digests
    }

    fn units(&self) -> &[NamedUnit] {
        &self.units
    }

    fn is_stored(&self, unit: &UnitKey) -> bool {
        self.disk.lock().unwrap().results.contains_key(unit)
    }

    fn task(&self, unit: &UnitKey) -> Result<ValidationTask, RunsError> {
        let disk = self.disk.lock().unwrap();
        let lines = disk.lines.get(unit).cloned().unwrap_or_default();
        Ok(ValidationTask {
            game_id: lines.join(" "),
        })
    }

    fn verify(&self, unit: &UnitKey, report: String) -> Result<(Digest, String), String> {
        if report == unit.0 {
            Ok((Digest(report.clone()), report))
        } else {
            Err("it is of another unit".to_owned())
        }
    }

    fn store(&self, unit: &UnitKey, result: String) -> Result<(), RunsError> {
        let earlier = self
            .disk
            .lock()
            .unwrap()
            .results
            .insert(unit.clone(), result);
        assert_eq!(earlier, None, "{unit} has two results");
        Ok(())
    }

    fn append_log(&self, unit: &UnitKey, epoch: u64, lines: &[String]) -> Result<(), String> {
        let mut disk = self.disk.lock().unwrap();
        let log = disk.lines.entry(unit.clone()).or_default();
        log.extend(lines.iter().map(|line| format!("{epoch}:{line}")));
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Op {
    Lease(usize),
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
        4 => worker.clone().prop_map(Op::Lease),
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

struct World {
    coordinator: Coordinator<TestWork>,
    disk: Arc<Mutex<Disk>>,
    now_ms: Arc<AtomicU64>,
    folder: Option<tempfile::TempDir>,
    workers: [TestWorker; 3],
    /// The newest epoch of each unit.
    epochs: BTreeMap<UnitKey, u64>,
}

impl World {
    fn new(on_disk: bool) -> Self {
        let folder = on_disk.then(|| tempfile::tempdir().unwrap());
        let (disk, now_ms) = (Arc::default(), Arc::default());
        let coordinator = open(folder.as_ref(), &disk, &now_ms);
        Self {
            coordinator,
            disk,
            now_ms,
            folder,
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

    fn lease(&mut self, worker: usize) -> bool {
        let request = LeaseRequest {
            worker: format!("w{worker}"),
            source_digests: BTreeMap::new(),
        };
        let LeaseReply::Leased(lease) = self
            .post::<LeaseReply<ValidationTask>>("lease", &request)
            .unwrap()
        else {
            return false;
        };
        let newest = self.epochs.entry(lease.unit.clone()).or_insert(0);
        // A log in memory is lost with its coordinator.
        if self.folder.is_some() {
            assert!(lease.epoch > *newest, "an epoch is issued twice");
        }
        *newest = lease.epoch;
        self.workers[worker].held.push(LeaseName {
            unit: lease.unit,
            epoch: lease.epoch,
        });
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
            Op::Lease(worker) => drop(self.lease(worker)),
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
        // The log is open in one process at a time.
        let spare = tempfile::tempdir().unwrap();
        self.coordinator = open(Some(&spare), &Arc::default(), &self.now_ms);
        self.coordinator = open(self.folder.as_ref(), &self.disk, &self.now_ms);
        if self.folder.is_none() {
            // A coordinator without a log has another token, so earlier workers cannot reach it.
            self.workers = Default::default();
        }
    }
}

fn open(
    folder: Option<&tempfile::TempDir>,
    disk: &Arc<Mutex<Disk>>,
    now_ms: &Arc<AtomicU64>,
) -> Coordinator<TestWork> {
    let log = match folder {
        Some(folder) => EventLog::in_folder(&RunFolder::open(folder.path())).unwrap(),
        None => EventLog::in_memory(),
    };
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
        workers: 3,
        clock: Arc::new(move || clock.load(Ordering::Relaxed)),
    };
    Coordinator::open(TestWork::new(disk), log, &options).unwrap()
}

fn check_interleaving(ops: &[Op], on_disk: bool) {
    let mut world = World::new(on_disk);
    for op in ops {
        world.execute(op);
        let spent = world.disk.lock().unwrap().spent;
        assert!(spent <= LIMIT, "{spent}");
    }
    // A coordinator that starts again has units that it can try again, and a worker that neither
    // freezes nor ends completes them.
    world.execute(&Op::Restart);
    while world.lease(0) {
        let lease = world.workers[0].held.pop().unwrap();
        assert_eq!(world.report(&lease), Ok(()));
    }
    assert!(world.coordinator.is_over());
    assert_eq!(world.disk.lock().unwrap().results.len(), 4);
    assert!(world.coordinator.given_up().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_unit_gets_one_result_with_the_log_in_memory(ops in prop::collection::vec(op(), 0..120)) {
        check_interleaving(&ops, false);
    }
}

proptest! {
    // Every event is synced to disk.
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_unit_gets_one_result_with_the_log_on_disk(ops in prop::collection::vec(op(), 0..120)) {
        check_interleaving(&ops, true);
    }
}

#[test]
fn log_of_a_lost_worker_reaches_the_next_one() {
    let mut world = World::new(true);
    world.lease(0);
    world.execute(&Op::Line(0));
    world.execute(&Op::Line(0));
    world.execute(&Op::EndWorker(0, LeaseLoss::NodeLost));
    world.execute(&Op::Restart);
    let request = LeaseRequest {
        worker: "w1".to_owned(),
        source_digests: BTreeMap::new(),
    };
    let answer = world.post::<LeaseReply<ValidationTask>>("lease", &request);
    let Ok(LeaseReply::Leased(lease)) = answer else {
        panic!("{answer:?}")
    };
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
