//! Work metering.
//!
//! Work is counted in cells that functions process, never in time. The same budget therefore gives
//! the same answers on every machine and with any number of threads. A cancelled search ends early
//! with the answers found so far; only then may answers differ.

/// Counts the work of a search and detects the end of the budget and cancellation.
pub(crate) struct Meter<'a> {
    remaining: u64,
    spent: u64,
    since_check: u64,
    cancelled: bool,
    cancel: &'a (dyn Fn() -> bool + Sync),
}

/// The work between two calls of the cancel function.
const CANCEL_CHECK_INTERVAL: u64 = 1 << 18;

impl<'a> Meter<'a> {
    pub(crate) fn new(work: u64, cancel: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            remaining: work,
            spent: 0,
            since_check: 0,
            cancelled: cancel(),
            cancel,
        }
    }

    /// Subtracts work from the budget.
    pub(crate) fn charge(&mut self, work: usize) {
        let work = work as u64;
        self.remaining = self.remaining.saturating_sub(work);
        self.spent += work;
        self.since_check += work;
        if self.since_check >= CANCEL_CHECK_INTERVAL {
            self.since_check = 0;
            self.cancelled |= (self.cancel)();
        }
    }

    /// Returns whether no work remains or the search is cancelled.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.remaining == 0 || self.cancelled
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Creates a separate meter with a percentage of the remaining work. Its work counts for this
    /// meter only after [`absorb`](Self::absorb).
    pub(crate) fn share(&self, percent: u64) -> Self {
        let mut part = Self::new(self.remaining / 100 * percent, self.cancel);
        part.cancelled |= self.cancelled;
        part
    }

    /// Charges the work of a meter from [`share`](Self::share).
    pub(crate) fn absorb(&mut self, part: &Self) {
        self.remaining = self.remaining.saturating_sub(part.spent);
        self.spent += part.spent;
        self.cancelled |= part.cancelled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_part_is_charged() {
        let never = || false;
        let mut meter = Meter::new(1000, &never);
        let mut part = meter.share(10);
        part.charge(60);
        assert!(!part.is_exhausted());
        part.charge(60);
        assert!(part.is_exhausted());
        meter.absorb(&part);
        assert_eq!(meter.spent(), 120);
        assert!(!meter.is_exhausted());
        assert!(Meter::new(1000, &|| true).is_exhausted());
    }
}
