//! The money and tokens of a job: what is spent, and what transmissions in flight may cost.
//!
//! **Invariant:** if no transmission costs more than its reservation, what is spent plus what is
//! reserved never exceeds the limit.

use std::collections::BTreeMap;

use rhae_protocol::{UnitKey, WorkCost};

use crate::{LogError, Rejection};

/// The spend limit of a job; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkLimit {
    /// Billionths of a US dollar.
    pub nano_usd: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
}

/// The money and tokens of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spending {
    limit: WorkLimit,
    spent: WorkCost,
    /// The part of `spent` that was settled after its lease was lost.
    discarded: WorkCost,
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
    pub(crate) fn new(limit: WorkLimit) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub(crate) const fn spent(&self) -> WorkCost {
        self.spent
    }

    pub(crate) const fn spent_discarded(&self) -> WorkCost {
        self.discarded
    }

    /// Returns a reservation that is not settled.
    pub(crate) fn open(&self, number: u64) -> Option<&Reservation> {
        self.open.get(&number)
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
        let lost = self.reserved(|one| !is_live(one));
        let (used, live) = (self.spent.plus(lost), self.reserved(&is_live));
        let mut waits = false;
        for (limit, used, live, worst, unit) in [
            (
                self.limit.nano_usd,
                used.nano_usd,
                live.nano_usd,
                worst.nano_usd,
                Unit::Usd,
            ),
            (
                self.limit.tokens,
                used.tokens,
                live.tokens,
                worst.tokens,
                Unit::Tokens,
            ),
        ] {
            let Some(limit) = limit else { continue };
            // A transmission without a bound needs something that is left.
            let needed = worst.max(1);
            if used.saturating_add(needed) > limit {
                return Err(Rejection::SpendLimit(unit.reason(used, limit, worst)));
            }
            waits |= used.saturating_add(live).saturating_add(needed) > limit;
        }
        if waits {
            return Err(Rejection::Wait);
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

    pub(crate) fn apply_settled(
        &mut self,
        number: u64,
        cost: WorkCost,
        is_discarded: bool,
    ) -> Result<(), LogError> {
        if self.open.remove(&number).is_none() {
            return Err(LogError(format!("there is no open reservation {number}")));
        }
        self.spent = self.spent.plus(cost);
        if is_discarded {
            self.discarded = self.discarded.plus(cost);
        }
        Ok(())
    }

    pub(crate) fn apply_counted(&mut self, cost: WorkCost) {
        self.spent = cost;
        self.open.clear();
    }
}

/// The unit of a limit.
#[derive(Clone, Copy)]
enum Unit {
    Usd,
    Tokens,
}

impl Unit {
    fn reason(self, used: u64, limit: u64, worst: u64) -> String {
        match self {
            Self::Usd => format!(
                "{} of {} USD are spent or possibly paid, and the next request may cost up to {} USD",
                usd(used),
                usd(limit),
                usd(worst)
            ),
            Self::Tokens => format!(
                "{used} of {limit} tokens are used or possibly used, and the next request may use up to {worst} tokens"
            ),
        }
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
