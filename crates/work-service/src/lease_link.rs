//! What the executor of a unit can ask of the coordinator: money, and a log that survives the worker.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rhae_llm::{Attempt, CostBound, SpendGuard, SpendRefusal};
use rhae_protocol::{LeaseName, ReserveReply, WorkCost, WorkLines, WorkReserve, WorkSettle};
use rhae_runs::nano_usd_up;

use crate::DistributeError;
use crate::client::{PAUSE, WorkClient, is_stale};

/// The connection of a unit to the coordinator.
pub struct LeaseLink {
    client: Arc<WorkClient>,
    lease: LeaseName,
    /// Stops the unit.
    stop: Arc<AtomicBool>,
    failed: AtomicBool,
    /// The number of the next transmission.
    next: AtomicU64,
    /// The numbers and the worst cases of the transmissions in flight.
    open: Mutex<Vec<(u64, WorkCost)>>,
    /// The number of lines in the log. The lock keeps their order.
    lines: Mutex<u64>,
}

impl LeaseLink {
    pub(crate) fn new(client: &Arc<WorkClient>, lease: LeaseName, stop: &Arc<AtomicBool>) -> Self {
        Self {
            client: Arc::clone(client),
            lease,
            stop: Arc::clone(stop),
            failed: AtomicBool::new(false),
            next: AtomicU64::new(1),
            open: Mutex::default(),
            lines: Mutex::default(),
        }
    }

    /// Adds lines to the log of the unit. They are stored by the coordinator when the function
    /// returns. If the worker no longer has the unit, the unit is stopped.
    ///
    /// # Errors
    ///
    /// Returns the reason why the lines are not stored.
    pub fn append(&self, lines: Vec<String>) -> Result<(), String> {
        let mut after = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let count = lines.len() as u64;
        let request = WorkLines {
            unit: self.lease.unit.clone(),
            epoch: self.lease.epoch,
            after: *after,
            lines,
        };
        self.client
            .post::<()>("log", &request)
            .map_err(|error| self.stopping(&error))?;
        *after += count;
        Ok(())
    }

    /// Returns whether a request failed, so that the coordinator does not know all that the unit did.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Stops the unit because of an error of a request, and returns the message.
    fn stopping(&self, error: &DistributeError) -> String {
        self.failed.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
        error.to_string()
    }
}

impl SpendGuard for LeaseLink {
    fn reserve(&self, worst: &CostBound, cancelled: &dyn Fn() -> bool) -> Result<(), SpendRefusal> {
        let transmission = self.next.fetch_add(1, Ordering::Relaxed);
        let cost = worst_case(worst);
        let request = WorkReserve {
            unit: self.lease.unit.clone(),
            epoch: self.lease.epoch,
            transmission,
            worst: cost,
        };
        loop {
            if cancelled() || self.stop.load(Ordering::Relaxed) {
                return Err(SpendRefusal::Cancelled);
            }
            match self.client.post("reserve", &request) {
                Ok(ReserveReply::Reserved) => {
                    let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                    open.push((transmission, cost));
                    return Ok(());
                }
                Ok(ReserveReply::Wait) => std::thread::sleep(PAUSE),
                Ok(ReserveReply::Refused { reason }) => return Err(SpendRefusal::Limit(reason)),
                Err(error) => {
                    let message = self.stopping(&error);
                    return Err(if is_stale(&error) {
                        SpendRefusal::Cancelled
                    } else {
                        SpendRefusal::Limit(message)
                    });
                }
            }
        }
    }

    fn settle(&self, worst: &CostBound, attempt: Option<&Attempt>) {
        let cost = worst_case(worst);
        let transmission = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let index = open.iter().position(|(_, reserved)| *reserved == cost);
            index.map(|index| open.swap_remove(index).0)
        };
        let Some(transmission) = transmission else {
            return;
        };
        let request = WorkSettle {
            unit: self.lease.unit.clone(),
            epoch: self.lease.epoch,
            transmission,
            cost: attempt.map_or_else(WorkCost::default, |attempt| cost_of(worst, attempt)),
        };
        // Without an answer, the reservation counts at its worst case.
        drop(self.client.post::<()>("settle", &request));
    }

    fn keep(&self, line: &str) -> Result<(), String> {
        self.append(vec![line.to_owned()])
    }
}

/// Returns a worst case. What has no bound counts as 0.
fn worst_case(worst: &CostBound) -> WorkCost {
    WorkCost {
        nano_usd: worst.usd().map_or(0, nano_usd_up),
        tokens: worst.tokens().unwrap_or(0),
    }
}

/// Returns what a transmission cost, with what was possibly paid.
fn cost_of(worst: &CostBound, attempt: &Attempt) -> WorkCost {
    let usd = attempt.cost_usd.unwrap_or(0.0) + worst.possibly_paid_usd(attempt);
    let tokens = attempt.usage.map_or(0, |usage| usage.total_tokens());
    WorkCost {
        nano_usd: nano_usd_up(usd),
        tokens: tokens.saturating_add(worst.possibly_used_tokens(attempt)),
    }
}
