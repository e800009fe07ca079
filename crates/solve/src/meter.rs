//! Work metering.
//!
//! Work is counted in grid cells that the functions of programs process, never in time. The same
//! budget therefore gives the same answers on every machine and with any number of threads. A
//! search that the caller cancels ends early with the answers found so far. Only then may the
//! answers differ between machines.

/// Counts the work of a search and reports when the budget is exhausted or the caller has cancelled
/// the search.
pub(crate) struct Meter<'a> {
    remaining: u64,
    spent: u64,
    since_check: u64,
    cancelled: bool,
    cancel: &'a (dyn Fn() -> bool + Sync),
}

/// The amount of work between two calls of the cancel function.
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

    /// Creates a separate meter with a percentage of the remaining work. The work counted by the
    /// new meter is charged to this one only by [`absorb`](Self::absorb).
    pub(crate) fn share(&self, percent: u64) -> Self {
        let mut part = Self::new(self.remaining / 100 * percent, self.cancel);
        part.cancelled |= self.cancelled;
        part
    }

    /// Charges this meter with the work of a meter that [`share`](Self::share) created, and takes
    /// over its cancellation.
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
