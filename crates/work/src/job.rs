//! A job: the state of its units, and the decisions about requests of workers.
//!
//! Functions that decide return events and change nothing. [`Job::apply`] is the only function that
//! changes the state.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{Digest, LeaseLoss, UnitKey, WorkCost, WorkEvent};

use crate::spending::{Reservation, Spending, WorkLimit};
use crate::{LogError, Rejection};

/// How long a lease holds, and how often a unit may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasePolicy {
    /// The duration of a lease, from its start or from its last renewal.
    pub duration_ms: u64,
    /// The interval at which a worker renews its lease.
    pub heartbeat_ms: u64,
    /// A unit with which so many workers ended by themselves is given up, because it probably ends
    /// its worker.
    pub max_failures: u32,
    /// A unit that was lost so often for other reasons, such as lost machines, is given up. No such
    /// loss is the fault of the unit, so this only ensures that a job ends.
    pub max_losses: u32,
}

impl Default for LeasePolicy {
    fn default() -> Self {
        Self {
            duration_ms: 60_000,
            heartbeat_ms: 15_000,
            max_failures: 3,
            max_losses: 100,
        }
    }
}

/// The state of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitState {
    /// The epoch of the last lease; 0 before the first.
    pub epoch: u64,
    /// The number of leases whose worker ended by itself.
    pub failures: u32,
    /// The number of leases that were lost for other reasons.
    pub losses: u32,
    pub phase: Phase,
}

/// What is happening to a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No worker has the unit.
    Open,
    /// A worker has the unit.
    Leased { worker: String, until_ms: u64 },
    /// The unit has its result. Its digest is absent if the result is older than the log.
    Committed { result: Option<Digest> },
    /// Too many workers ended or disappeared with the unit.
    GivenUp,
}

/// All units of a job, and its money.
///
/// # Examples
///
/// See the [crate documentation](crate#examples).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    policy: LeasePolicy,
    /// The units in the order in which they are leased.
    order: Vec<UnitKey>,
    units: BTreeMap<UnitKey, UnitState>,
    spending: Spending,
}

impl Job {
    /// Creates a job whose units are open.
    pub fn new(
        policy: LeasePolicy,
        units: impl IntoIterator<Item = UnitKey>,
        limit: WorkLimit,
    ) -> Self {
        let order: Vec<UnitKey> = units.into_iter().collect();
        let open = UnitState {
            epoch: 0,
            failures: 0,
            losses: 0,
            phase: Phase::Open,
        };
        Self {
            policy,
            units: order
                .iter()
                .map(|key| (key.clone(), open.clone()))
                .collect(),
            order,
            spending: Spending::new(limit),
        }
    }

    pub const fn policy(&self) -> LeasePolicy {
        self.policy
    }

    /// Returns the state of a unit.
    pub fn unit(&self, unit: &UnitKey) -> Option<&UnitState> {
        self.units.get(unit)
    }

    /// Returns the units in the order in which they are leased.
    pub fn units(&self) -> impl Iterator<Item = (&UnitKey, &UnitState)> {
        self.order.iter().map(|key| (key, &self.units[key]))
    }

    /// Returns the number of units that no worker has and that have no result.
    pub fn open_units(&self) -> usize {
        self.phases(|phase| *phase == Phase::Open)
    }

    /// Returns whether every unit has its result or is given up.
    pub fn is_finished(&self) -> bool {
        self.unfinished_units() == 0
    }

    /// Returns the number of units that are open or leased.
    pub fn unfinished_units(&self) -> usize {
        self.phases(|phase| matches!(phase, Phase::Open | Phase::Leased { .. }))
    }

    fn phases(&self, counts: impl Fn(&Phase) -> bool) -> usize {
        self.units
            .values()
            .filter(|unit| counts(&unit.phase))
            .count()
    }

    /// Returns what is spent, without transmissions in flight.
    pub const fn spent(&self) -> WorkCost {
        self.spending.spent()
    }

    /// Returns the part of [`spent`](Self::spent) that was settled after its lease was lost, so that no
    /// result contains it.
    pub const fn spent_discarded(&self) -> WorkCost {
        self.spending.spent_discarded()
    }

    /// Returns the worst case of all transmissions that were not settled. Those whose worker
    /// disappeared were possibly paid.
    pub fn reserved(&self) -> WorkCost {
        self.spending.reserved(|_| true)
    }

    /// Leases the first open unit to a worker. Returns `None` if no unit is open. Call
    /// [`expire`](Self::expire) before.
    pub fn lease(&self, worker: &str, now_ms: u64) -> Option<WorkEvent> {
        self.lease_group(worker, now_ms, 1).pop()
    }

    /// Leases up to `limit` open units to a worker, which executes them in this order.
    pub fn lease_group(&self, worker: &str, now_ms: u64, limit: usize) -> Vec<WorkEvent> {
        let open = self.units().filter(|(_, unit)| unit.phase == Phase::Open);
        let lease = |(key, unit): (&UnitKey, &UnitState)| WorkEvent::Leased {
            unit: key.clone(),
            epoch: unit.epoch + 1,
            worker: worker.to_owned(),
            until_ms: now_ms.saturating_add(self.policy.duration_ms),
        };
        open.take(limit).map(lease).collect()
    }

    /// Returns the number of workers that have a unit.
    pub fn workers(&self) -> usize {
        let leased = self.units.values().filter_map(|unit| match &unit.phase {
            Phase::Leased { worker, .. } => Some(worker),
            _ => None,
        });
        leased.collect::<BTreeSet<_>>().len()
    }

    /// Ends the leases that were not renewed in time.
    pub fn expire(&self, now_ms: u64) -> Vec<WorkEvent> {
        self.lose(LeaseLoss::Expired, |_, until_ms| until_ms <= now_ms)
    }

    /// Ends the leases of a worker for a reason.
    pub fn end_worker(&self, ended: &str, reason: LeaseLoss) -> Vec<WorkEvent> {
        self.lose(reason, |worker, _| worker == ended)
    }

    /// Ends leases. A worker executes its units in their order, so only the first one was in progress.
    /// The others are returned and do not count as lost.
    fn lose(&self, reason: LeaseLoss, is_lost: impl Fn(&str, u64) -> bool) -> Vec<WorkEvent> {
        let mut ended = BTreeSet::new();
        let lost = self.units().filter_map(|(key, unit)| match &unit.phase {
            Phase::Leased { worker, until_ms } if is_lost(worker, *until_ms) => {
                Some((key.clone(), unit.epoch, worker.as_str()))
            }
            _ => None,
        });
        lost.map(|(unit, epoch, worker)| {
            if ended.insert(worker) {
                WorkEvent::Lost {
                    unit,
                    epoch,
                    reason,
                }
            } else {
                WorkEvent::Released { unit, epoch }
            }
        })
        .collect()
    }

    /// Renews a lease. A lease that has expired can be renewed until its unit is leased again.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the worker no longer has the unit.
    pub fn renew(&self, key: &UnitKey, epoch: u64, now_ms: u64) -> Result<WorkEvent, Rejection> {
        self.leased(key, epoch)?;
        Ok(WorkEvent::Renewed {
            unit: key.clone(),
            epoch,
            until_ms: now_ms.saturating_add(self.policy.duration_ms),
        })
    }

    /// Returns a unit without a result. Another worker can lease it at once.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the worker no longer has the unit.
    pub fn release(&self, key: &UnitKey, epoch: u64) -> Result<WorkEvent, Rejection> {
        self.leased(key, epoch)?;
        Ok(WorkEvent::Released {
            unit: key.clone(),
            epoch,
        })
    }

    /// Accepts the result of a unit. The caller has verified it, and stores it before the event.
    /// Returns `None` if the same result was accepted under the same lease, because a response was
    /// lost and the worker repeated its report.
    ///
    /// A result is accepted even if its lease has expired, as long as no other worker has the unit.
    ///
    /// # Errors
    ///
    /// Returns [`Rejection::StaleLease`] if the epoch is not the current one or the unit has a
    /// result. The caller then records [`discard`](Self::discard).
    pub fn commit(
        &self,
        key: &UnitKey,
        epoch: u64,
        result: &Digest,
    ) -> Result<Option<WorkEvent>, Rejection> {
        let unit = self.current(key, epoch)?;
        match &unit.phase {
            Phase::Committed { result: Some(own) } if own == result => Ok(None),
            Phase::Committed { .. } => Err(Rejection::Finished(key.clone())),
            _ => Ok(Some(WorkEvent::Committed {
                unit: key.clone(),
                epoch,
                result: result.clone(),
            })),
        }
    }

    /// Records a result that [`commit`](Self::commit) refused. Returns `None` if the unit is not part
    /// of the job.
    pub fn discard(&self, key: &UnitKey, epoch: u64, result: &Digest) -> Option<WorkEvent> {
        let same = match &self.units.get(key)?.phase {
            Phase::Committed { result: Some(own) } => Some(own == result),
            _ => None,
        };
        Some(WorkEvent::Discarded {
            unit: key.clone(),
            epoch,
            result: result.clone(),
            same,
        })
    }

    /// Takes over a result that is stored but not in the log. Returns `None` if the log has it.
    pub fn adopt(&self, key: &UnitKey) -> Option<WorkEvent> {
        let unit = self.units.get(key)?;
        let is_known = matches!(unit.phase, Phase::Committed { .. });
        (!is_known).then(|| WorkEvent::Adopted { unit: key.clone() })
    }

    /// Opens a unit that was given up, or whose result is not stored. Returns `None` if the unit is
    /// open or leased.
    pub fn reopen(&self, key: &UnitKey) -> Option<WorkEvent> {
        let is_closed = matches!(
            self.units.get(key)?.phase,
            Phase::GivenUp | Phase::Committed { .. }
        );
        is_closed.then(|| WorkEvent::Reopened { unit: key.clone() })
    }

    /// Replaces what is spent by `cost`, which was found elsewhere. It includes the worst case of all
    /// transmissions that were reserved and not settled, because their workers are gone.
    pub const fn count(&self, cost: WorkCost) -> WorkEvent {
        WorkEvent::Counted { cost }
    }

    /// Checks that a worker still has a unit, or that no other worker has had it since.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the unit has another lease or its result.
    pub fn check_current(&self, key: &UnitKey, epoch: u64) -> Result<(), Rejection> {
        match self.current(key, epoch)?.phase {
            Phase::Committed { .. } => Err(Rejection::Finished(key.clone())),
            Phase::Open | Phase::Leased { .. } | Phase::GivenUp => Ok(()),
        }
    }

    /// Reserves the worst case of a transmission for a leased unit.
    ///
    /// # Errors
    ///
    /// Returns [`Rejection::SpendLimit`] if the worst case can never fit into the limit,
    /// [`Rejection::Wait`] if it may fit later, and another [`Rejection`] if the worker no longer has
    /// the unit.
    pub fn reserve(
        &self,
        key: &UnitKey,
        epoch: u64,
        worst: WorkCost,
    ) -> Result<WorkEvent, Rejection> {
        self.leased(key, epoch)?;
        let is_live = |one: &Reservation| self.leased(&one.unit, one.epoch).is_ok();
        Ok(WorkEvent::Reserved {
            reservation: self.spending.reserve(worst, is_live)?,
            unit: key.clone(),
            epoch,
            worst,
        })
    }

    /// Replaces a reservation by the cost of its transmission. This is allowed after the lease was
    /// lost, because the money is spent anyway.
    ///
    /// # Errors
    ///
    /// Returns [`Rejection::UnknownReservation`] if the reservation does not exist or is settled.
    pub fn settle(&self, reservation: u64, cost: WorkCost) -> Result<WorkEvent, Rejection> {
        self.spending.settle(reservation)?;
        Ok(WorkEvent::Settled { reservation, cost })
    }

    /// Returns a unit whose current epoch is `epoch`.
    fn current(&self, key: &UnitKey, epoch: u64) -> Result<&UnitState, Rejection> {
        let unit = self
            .units
            .get(key)
            .ok_or_else(|| Rejection::UnknownUnit(key.clone()))?;
        if unit.epoch == epoch && epoch > 0 {
            Ok(unit)
        } else {
            Err(Rejection::StaleLease {
                epoch,
                current: unit.epoch,
            })
        }
    }

    /// Checks that a worker has a unit under the lease with this epoch.
    fn leased(&self, key: &UnitKey, epoch: u64) -> Result<(), Rejection> {
        match self.current(key, epoch)?.phase {
            Phase::Leased { .. } => Ok(()),
            Phase::Committed { .. } => Err(Rejection::Finished(key.clone())),
            Phase::Open | Phase::GivenUp => Err(Rejection::StaleLease {
                epoch,
                current: epoch,
            }),
        }
    }

    /// Applies an event of the log.
    ///
    /// # Errors
    ///
    /// Returns a [`LogError`] if the event cannot follow from the current state. The state is then
    /// unchanged.
    pub fn apply(&mut self, event: &WorkEvent) -> Result<(), LogError> {
        match event {
            WorkEvent::Reserved {
                reservation,
                unit,
                epoch,
                worst,
            } => {
                let reserved = Reservation {
                    unit: unit.clone(),
                    epoch: *epoch,
                    worst: *worst,
                };
                return self.spending.apply_reserved(*reservation, reserved);
            }
            WorkEvent::Settled { reservation, cost } => {
                let is_live = |one: &Reservation| self.check_current(&one.unit, one.epoch).is_ok();
                let is_discarded = self
                    .spending
                    .open(*reservation)
                    .is_some_and(|one| !is_live(one));
                return self
                    .spending
                    .apply_settled(*reservation, *cost, is_discarded);
            }
            WorkEvent::Counted { cost } => {
                self.spending.apply_counted(*cost);
                return Ok(());
            }
            _ => {}
        }
        let policy = self.policy;
        let unit = event.unit().and_then(|key| self.units.get_mut(key));
        let unit = unit.ok_or_else(|| LogError(format!("{event:?} is of an unknown unit")))?;
        if unit.follow(event, policy) {
            Ok(())
        } else {
            Err(LogError(format!("{event:?} cannot follow {unit:?}")))
        }
    }
}

impl UnitState {
    /// Applies an event of this unit. Returns false, and changes nothing, if it cannot follow.
    fn follow(&mut self, event: &WorkEvent, policy: LeasePolicy) -> bool {
        let is_leased = matches!(self.phase, Phase::Leased { .. });
        let is_committed = matches!(self.phase, Phase::Committed { .. });
        match event {
            WorkEvent::Leased {
                epoch,
                worker,
                until_ms,
                ..
            } if self.phase == Phase::Open && *epoch == self.epoch + 1 => {
                self.epoch = *epoch;
                self.phase = Phase::Leased {
                    worker: worker.clone(),
                    until_ms: *until_ms,
                };
            }
            WorkEvent::Renewed {
                epoch, until_ms, ..
            } if *epoch == self.epoch => {
                let Phase::Leased { until_ms: end, .. } = &mut self.phase else {
                    return false;
                };
                *end = *until_ms;
            }
            WorkEvent::Released { epoch, .. } if is_leased && *epoch == self.epoch => {
                self.phase = Phase::Open;
            }
            WorkEvent::Lost { epoch, reason, .. } if is_leased && *epoch == self.epoch => {
                match reason {
                    LeaseLoss::WorkerEnded => self.failures += 1,
                    LeaseLoss::Expired | LeaseLoss::NodeLost => self.losses += 1,
                }
                let is_over =
                    self.failures >= policy.max_failures || self.losses >= policy.max_losses;
                self.phase = if is_over { Phase::GivenUp } else { Phase::Open };
            }
            WorkEvent::Reopened { .. } if is_committed || self.phase == Phase::GivenUp => {
                (self.failures, self.losses) = (0, 0);
                self.phase = Phase::Open;
            }
            WorkEvent::Committed { epoch, result, .. } if !is_committed && *epoch == self.epoch => {
                self.phase = Phase::Committed {
                    result: Some(result.clone()),
                };
            }
            WorkEvent::Adopted { .. } if !is_committed => {
                self.phase = Phase::Committed { result: None };
            }
            WorkEvent::Discarded { .. } => {}
            _ => return false,
        }
        true
    }
}
