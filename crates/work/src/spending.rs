//! The money and tokens of a job: what is spent, and what transmissions in flight may cost.
//!
//! **Invariant:** if no transmission costs more than its reservation, what is spent plus what is
//! reserved never exceeds the limit.

use std::collections::BTreeMap;

use rhae_protocol::{UnitKey, WorkCost};

use crate::{LogError, Rejection};

/// The money and tokens of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spending {
    /// Unlimited if absent.
    limit_nano_usd: Option<u64>,
    spent: WorkCost,
    open: BTreeMap<u64, Reservation>,
    last: u64,
}

/// The worst case of a transmission that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(crate) unit: UnitKey,
    pub(crate) epoch: u64,
    pub(crate) worst: WorkCost,
}

impl Spending {
    pub(crate) fn new(limit_nano_usd: Option<u64>) -> Self {
        Self {
            limit_nano_usd,
            ..Self::default()
        }
    }

    pub(crate) const fn spent(&self) -> WorkCost {
        self.spent
    }

    /// Returns the sum of the reservations for which `counts` returns true.
    pub(crate) fn reserved(&self, counts: impl Fn(&Reservation) -> bool) -> WorkCost {
        let open = self.open.values().filter(|reservation| counts(reservation));
        open.fold(WorkCost::default(), |sum, one| sum.plus(one.worst))
    }

    /// Decides whether `worst` can be reserved, and returns the number of the reservation. `is_live`
    /// says whether a worker may still settle a reservation; any other reservation counts as spent.
    pub(crate) fn reserve(
        &self,
        worst: WorkCost,
        is_live: impl Fn(&Reservation) -> bool,
    ) -> Result<u64, Rejection> {
        if let Some(limit) = self.limit_nano_usd {
            let lost = self.reserved(|one| !is_live(one)).nano_usd;
            let used = self.spent.nano_usd.saturating_add(lost);
            let live = self.reserved(&is_live).nano_usd;
            // A transmission without a bound needs something that is left.
            let needed = worst.nano_usd.max(1);
            if used.saturating_add(needed) > limit {
                return Err(Rejection::SpendLimit(format!(
                    "{} of {} USD are spent or possibly paid, and the next request may cost up to {} USD",
                    usd(used),
                    usd(limit),
                    usd(worst.nano_usd)
                )));
            }
            if used.saturating_add(live).saturating_add(needed) > limit {
                return Err(Rejection::Wait);
            }
        }
        Ok(self.last + 1)
    }

    pub(crate) fn settle(&self, reservation: u64) -> Result<(), Rejection> {
        if self.open.contains_key(&reservation) {
            Ok(())
        } else {
            Err(Rejection::UnknownReservation(reservation))
        }
    }

    pub(crate) fn apply_reserved(
        &mut self,
        number: u64,
        reservation: Reservation,
    ) -> Result<(), LogError> {
        if number != self.last + 1 {
            return Err(LogError(format!(
                "the reservation {number} follows the reservation {}",
                self.last
            )));
        }
        self.last = number;
        self.open.insert(number, reservation);
        Ok(())
    }

    pub(crate) fn apply_settled(&mut self, number: u64, cost: WorkCost) -> Result<(), LogError> {
        if self.open.remove(&number).is_none() {
            return Err(LogError(format!("there is no open reservation {number}")));
        }
        self.spent = self.spent.plus(cost);
        Ok(())
    }
}

/// Formats billionths of a US dollar without trailing zeros.
fn usd(nano_usd: u64) -> String {
    let text = format!(
        "{}.{:09}",
        nano_usd / 1_000_000_000,
        nano_usd % 1_000_000_000
    );
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
