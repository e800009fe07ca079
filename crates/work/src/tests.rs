use proptest::prelude::*;
use rhae_protocol::{Digest, LeaseLoss, UnitKey, WorkCost, WorkEvent};

use crate::{Job, LeasePolicy, Phase, Rejection, WorkLimit};

const LIMIT: u64 = 1000;
const POLICY: LeasePolicy = LeasePolicy {
    duration_ms: 60_000,
    heartbeat_ms: 15_000,
    max_failures: 3,
    max_losses: 4,
};

/// What workers, clocks and machines do. A worker that is not mentioned is frozen.
#[derive(Clone, Debug)]
enum Op {
    /// The worker asks for a number of units.
    Lease(usize, usize),
    Renew(usize),
    Release(usize),
    /// The worker reports its oldest lease, however stale.
    Report(usize),
    /// The worker repeats its last report, because a response was lost.
    Repeat(usize),
    Tick(u64),
    Expire,
    EndWorker(usize, LeaseLoss),
    /// The coordinator is killed and applies its log.
    Restart,
    Reserve(usize, u64),
    Settle(usize, u64),
}

fn op() -> impl Strategy<Value = Op> {
    let worker = 0..3usize;
    prop_oneof![
        4 => (worker.clone(), 1..4usize).prop_map(|(worker, units)| Op::Lease(worker, units)),
        1 => worker.clone().prop_map(Op::Renew),
        1 => worker.clone().prop_map(Op::Release),
        3 => worker.clone().prop_map(Op::Report),
        1 => worker.clone().prop_map(Op::Repeat),
        2 => (0..70_000u64).prop_map(Op::Tick),
        2 => Just(Op::Expire),
        1 => (worker.clone(), any::<bool>()).prop_map(|(worker, node)| {
            let reason = if node { LeaseLoss::NodeLost } else { LeaseLoss::WorkerEnded };
            Op::EndWorker(worker, reason)
        }),
        1 => Just(Op::Restart),
        2 => (worker, 0..400u64).prop_map(|(worker, usd)| Op::Reserve(worker, usd)),
        2 => (any::<usize>(), 0..=100u64).prop_map(|(one, share)| Op::Settle(one, share)),
    ]
}

fn keys() -> Vec<UnitKey> {
    (0..4).map(|unit| UnitKey(format!("unit{unit}"))).collect()
}

fn new_job() -> Job {
    let limit = WorkLimit {
        nano_usd: Some(LIMIT),
        tokens: None,
    };
    Job::new(POLICY, keys(), limit)
}

fn result_of(unit: &UnitKey) -> Digest {
    Digest(format!("result of {unit}"))
}

/// A coordinator with its log and three workers, which know only what they were told.
struct World {
    job: Job,
    log: Vec<WorkEvent>,
    now_ms: u64,
    /// The leases that each worker believes to have, oldest first.
    held: [Vec<(UnitKey, u64)>; 3],
    reported: [Option<(UnitKey, u64)>; 3],
    reservations: Vec<(u64, u64)>,
}

impl World {
    fn new() -> Self {
        Self {
            job: new_job(),
            log: Vec::new(),
            now_ms: 0,
            held: Default::default(),
            reported: Default::default(),
            reservations: Vec::new(),
        }
    }

    fn append(&mut self, event: WorkEvent) {
        self.job.apply(&event).expect("a decision can be applied");
        self.log.push(event);
    }

    fn report(&mut self, unit: &UnitKey, epoch: u64) -> Result<bool, Rejection> {
        let result = result_of(unit);
        match self.job.commit(unit, epoch, &result) {
            Ok(event) => {
                let is_new = event.is_some();
                event.into_iter().for_each(|event| self.append(event));
                Ok(is_new)
            }
            Err(rejection) => {
                let event = self.job.discard(unit, epoch, &result).unwrap();
                self.append(event);
                Err(rejection)
            }
        }
    }

    fn execute(&mut self, op: &Op) {
        match *op {
            Op::Lease(worker, units) => {
                let name = format!("w{worker}");
                for event in self.job.lease_group(&name, self.now_ms, units) {
                    let WorkEvent::Leased { unit, epoch, .. } = &event else {
                        panic!("{event:?}")
                    };
                    self.held[worker].push((unit.clone(), *epoch));
                    self.append(event);
                }
            }
            Op::Renew(worker) => {
                if let Some((unit, epoch)) = self.held[worker].last()
                    && let Ok(event) = self.job.renew(unit, *epoch, self.now_ms)
                {
                    self.append(event);
                }
            }
            Op::Release(worker) => {
                if let Some((unit, epoch)) = self.held[worker].pop()
                    && let Ok(event) = self.job.release(&unit, epoch)
                {
                    self.append(event);
                }
            }
            Op::Report(worker) => {
                if !self.held[worker].is_empty() {
                    let (unit, epoch) = self.held[worker].remove(0);
                    let before = self.job.unit(&unit).unwrap().clone();
                    let accepted = self.report(&unit, epoch);
                    let is_current =
                        before.epoch == epoch && !matches!(before.phase, Phase::Committed { .. });
                    assert_eq!(accepted == Ok(true), is_current, "{before:?} {epoch}");
                    self.reported[worker] = Some((unit, epoch));
                }
            }
            Op::Repeat(worker) => {
                if let Some((unit, epoch)) = self.reported[worker].clone() {
                    assert_ne!(self.report(&unit, epoch), Ok(true), "a second result");
                }
            }
            Op::Tick(ms) => self.now_ms += ms,
            Op::Expire => {
                let events = self.job.expire(self.now_ms);
                events.into_iter().for_each(|event| self.append(event));
                assert!(self.job.expire(self.now_ms).is_empty());
            }
            Op::EndWorker(worker, reason) => {
                let events = self.job.end_worker(&format!("w{worker}"), reason);
                let is_lost = |event: &&WorkEvent| matches!(event, WorkEvent::Lost { .. });
                let lost = events.iter().filter(is_lost).count();
                assert!(lost <= 1, "only one unit was in progress: {events:?}");
                events.into_iter().for_each(|event| self.append(event));
            }
            Op::Restart => {
                let mut restarted = new_job();
                for event in &self.log {
                    restarted.apply(event).unwrap();
                }
                assert_eq!(restarted, self.job);
                self.job = restarted;
            }
            Op::Reserve(worker, nano_usd) => self.reserve(worker, nano_usd),
            Op::Settle(index, share) => self.settle(index, share),
        }
    }

    fn reserve(&mut self, worker: usize, nano_usd: u64) {
        let worst = WorkCost {
            nano_usd,
            tokens: 1,
        };
        if let Some((unit, epoch)) = self.held[worker].last()
            && let Ok(event) = self.job.reserve(unit, *epoch, worst)
        {
            let WorkEvent::Reserved { reservation, .. } = event else {
                panic!("{event:?}")
            };
            self.reservations.push((reservation, nano_usd));
            self.append(event);
        }
    }

    /// Settles a reservation at a share of its worst case, in percent.
    fn settle(&mut self, index: usize, share: u64) {
        if self.reservations.is_empty() {
            return;
        }
        let index = index % self.reservations.len();
        let (reservation, worst) = self.reservations.swap_remove(index);
        let cost = WorkCost {
            nano_usd: worst * share / 100,
            tokens: 1,
        };
        let event = self.job.settle(reservation, cost).unwrap();
        self.append(event);
        assert!(self.job.settle(reservation, cost).is_err(), "settled twice");
    }

    /// Checks what must hold after every step.
    fn check(&self) {
        let used = self.job.spent().plus(self.job.reserved());
        assert!(used.nano_usd <= LIMIT, "{used:?}");
        for key in keys() {
            let of_unit = || self.log.iter().filter(|event| event.unit() == Some(&key));
            let commits = of_unit().filter(|event| matches!(event, WorkEvent::Committed { .. }));
            assert!(commits.count() <= 1, "{key} has several results");
            let epochs = of_unit().filter_map(|event| match event {
                WorkEvent::Leased { epoch, .. } => Some(*epoch),
                _ => None,
            });
            let epochs: Vec<u64> = epochs.collect();
            let expected: Vec<u64> = (1..=epochs.len() as u64).collect();
            assert_eq!(epochs, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_unit_gets_one_result_under_any_interleaving(ops in prop::collection::vec(op(), 0..120)) {
        let mut world = World::new();
        for op in &ops {
            world.execute(op);
            world.check();
        }
        // A worker that neither freezes nor ends completes the open units.
        world.now_ms += POLICY.duration_ms;
        world.execute(&Op::Expire);
        while !world.job.is_finished() {
            world.execute(&Op::Lease(0, 1));
            let (unit, epoch) = world.held[0].pop().expect("an unfinished job has an open unit");
            assert_eq!(world.report(&unit, epoch), Ok(true));
            world.check();
        }
        for (key, unit) in world.job.units() {
            let is_committed = unit.phase == Phase::Committed { result: Some(result_of(key)) };
            let is_over =
                unit.losses == POLICY.max_losses || unit.failures == POLICY.max_failures;
            let is_given_up = unit.phase == Phase::GivenUp && is_over;
            assert!(is_committed || is_given_up, "{unit:?}");
        }
        world.execute(&Op::Restart);
    }
}

#[test]
fn frozen_worker_reports_too_late() {
    let mut world = World::new();
    world.execute(&Op::Lease(0, 1));
    world.now_ms = 60_000;
    world.execute(&Op::Expire);
    world.execute(&Op::Lease(1, 1));
    let unit = keys().remove(0);
    let stale = Rejection::StaleLease {
        epoch: 1,
        current: 2,
    };
    assert_eq!(world.report(&unit, 1), Err(stale.clone()));
    assert_eq!(world.report(&unit, 2), Ok(true));
    assert_eq!(world.report(&unit, 1), Err(stale));
    let Some(WorkEvent::Discarded { same, .. }) = world.log.last() else {
        panic!("{:?}", world.log)
    };
    assert_eq!(*same, Some(true));
}

#[test]
fn expired_lease_is_accepted_until_its_unit_is_leased_again() {
    let mut world = World::new();
    world.execute(&Op::Lease(0, 1));
    world.now_ms = 90_000;
    world.execute(&Op::Expire);
    assert_eq!(world.report(&keys()[0], 1), Ok(true));
}

#[test]
fn reservations_of_a_lost_worker_count_until_they_are_settled() {
    let mut world = World::new();
    world.execute(&Op::Lease(0, 1));
    world.execute(&Op::Reserve(0, 700));
    world.execute(&Op::Lease(1, 1));
    let (unit, epoch) = world.held[1][0].clone();
    let worst = |nano_usd| WorkCost {
        nano_usd,
        tokens: 0,
    };
    // While the first worker lives, its request may turn out to be cheap.
    let refused = world.job.reserve(&unit, epoch, worst(400));
    assert_eq!(refused, Err(Rejection::Wait));
    world.execute(&Op::EndWorker(0, LeaseLoss::WorkerEnded));
    let refused = world.job.reserve(&unit, epoch, worst(400)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the spend limit is reached: 0.0000007 of 0.000001 USD are spent or possibly paid, and the next request may cost up to 0.0000004 USD"
    );
    assert!(world.job.reserve(&unit, epoch, worst(300)).is_ok());
    world.execute(&Op::Settle(0, 10));
    assert!(world.job.reserve(&unit, epoch, worst(900)).is_ok());
}

#[test]
fn stored_result_without_an_event_is_adopted() {
    let mut world = World::new();
    world.execute(&Op::Lease(0, 1));
    let unit = keys().remove(0);
    let event = world.job.adopt(&unit).unwrap();
    world.append(event);
    assert_eq!(world.job.adopt(&unit), None);
    assert_eq!(world.report(&unit, 1), Err(Rejection::Finished(unit)));
}

#[test]
fn damaged_log_is_refused() {
    let mut job = new_job();
    let unit = keys().remove(0);
    let lease = |epoch| WorkEvent::Leased {
        unit: unit.clone(),
        epoch,
        worker: "w".to_owned(),
        until_ms: 0,
    };
    assert!(job.apply(&lease(2)).is_err(), "epochs have no gaps");
    job.apply(&lease(1)).unwrap();
    assert!(job.apply(&lease(2)).is_err(), "the unit is leased");
    let other = WorkEvent::Adopted {
        unit: UnitKey("other".to_owned()),
    };
    assert!(job.apply(&other).is_err());
    let settled = WorkEvent::Settled {
        reservation: 1,
        cost: WorkCost::default(),
    };
    assert!(job.apply(&settled).is_err());
}

#[test]
fn lost_machine_is_no_failure_of_the_unit() {
    let lose = |job: &mut Job, reason: LeaseLoss| {
        let lease = job.lease("w", 0).unwrap();
        let unit = lease.unit().unwrap().clone();
        job.apply(&lease).unwrap();
        for event in job.end_worker("w", reason) {
            job.apply(&event).unwrap();
        }
        job.unit(&unit).unwrap().phase.clone()
    };
    let unit = keys().remove(0);
    let mut job = Job::new(POLICY, [unit.clone()], WorkLimit::default());
    for _ in 0..3 {
        assert_eq!(lose(&mut job, LeaseLoss::NodeLost), Phase::Open);
    }
    assert_eq!(lose(&mut job, LeaseLoss::NodeLost), Phase::GivenUp);
    let reopened = job.reopen(&unit).unwrap();
    job.apply(&reopened).unwrap();
    assert_eq!(job.reopen(&unit), None);
    assert_eq!(lose(&mut job, LeaseLoss::WorkerEnded), Phase::Open);
    assert_eq!(lose(&mut job, LeaseLoss::WorkerEnded), Phase::Open);
    assert_eq!(lose(&mut job, LeaseLoss::WorkerEnded), Phase::GivenUp);
}

#[test]
fn money_of_a_lost_lease_is_counted_as_discarded() {
    let mut world = World::new();
    world.execute(&Op::Lease(0, 1));
    world.execute(&Op::Reserve(0, 300));
    world.now_ms = 60_000;
    world.execute(&Op::Expire);
    world.execute(&Op::Settle(0, 50));
    assert_eq!(
        world.job.spent_discarded().nano_usd,
        0,
        "nobody else has it"
    );
    world.execute(&Op::Lease(0, 1));
    world.execute(&Op::Reserve(0, 300));
    world.now_ms = 120_000;
    world.execute(&Op::Expire);
    world.execute(&Op::Lease(1, 1));
    world.execute(&Op::Settle(0, 10));
    assert_eq!(world.job.spent_discarded().nano_usd, 30);
    assert_eq!(world.job.spent().nano_usd, 180);
    let counted = world.job.count(WorkCost {
        nano_usd: 40,
        tokens: 0,
    });
    world.append(counted);
    assert_eq!(world.job.spent().nano_usd, 40);
}

#[test]
fn tokens_have_a_limit_too() {
    let limit = WorkLimit {
        nano_usd: None,
        tokens: Some(10),
    };
    let unit = keys().remove(0);
    let mut job = Job::new(POLICY, [unit.clone()], limit);
    let lease = job.lease("w", 0).unwrap();
    job.apply(&lease).unwrap();
    let worst = |tokens| WorkCost {
        nano_usd: 5,
        tokens,
    };
    assert!(job.reserve(&unit, 1, worst(10)).is_ok());
    let refused = job.reserve(&unit, 1, worst(11)).unwrap_err().to_string();
    assert!(refused.contains("0 of 10 tokens"), "{refused}");
}

#[test]
fn only_the_unit_in_progress_counts_as_failed_with_its_worker() {
    let mut world = World::new();
    world.execute(&Op::Lease(0, 3));
    let [first, second, third, _] = &keys()[..] else {
        panic!("there are four units")
    };
    assert_eq!(world.report(first, 1), Ok(true));
    world.execute(&Op::EndWorker(0, LeaseLoss::WorkerEnded));
    let failures = |unit: &UnitKey| world.job.unit(unit).unwrap().failures;
    assert_eq!((failures(second), failures(third)), (1, 0));
    assert_eq!(world.job.open_units(), 3);
    // The other units were only waiting, and are leased again under the next epoch.
    let leases = world.job.lease_group("w1", 0, 9);
    assert_eq!(leases.len(), 3);
    assert!(matches!(&leases[1], WorkEvent::Leased { unit, epoch: 2, .. } if unit == third));
}
