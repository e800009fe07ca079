//! Budgets: how much work a search may do.
//!
//! Work is counted in cells that functions touch, never in time, so that the same budget gives the same answer on every machine and
//! with any number of threads. A cancelled search ends early with what it has; only then may answers differ.

/// What a search may still do.
pub(crate) struct Meter<'a> {
    left: u64,
    spent: u64,
    since: u64,
    cancelled: bool,
    cancel: &'a (dyn Fn() -> bool + Sync),
}

/// How much work is done between two looks at the cancel flag.
const LOOK_EVERY: u64 = 1 << 18;

impl<'a> Meter<'a> {
    pub(crate) fn new(work: u64, cancel: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            left: work,
            spent: 0,
            since: 0,
            cancelled: cancel(),
            cancel,
        }
    }

    /// Takes work from the budget.
    pub(crate) fn charge(&mut self, work: usize) {
        let work = work as u64;
        self.left = self.left.saturating_sub(work);
        self.spent += work;
        self.since += work;
        if self.since >= LOOK_EVERY {
            self.since = 0;
            self.cancelled |= (self.cancel)();
        }
    }

    /// Whether nothing is left.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0 || self.cancelled
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// A part of what is left, in hundredths, as a meter of its own.
    pub(crate) fn share(&self, percent: u64) -> Self {
        let mut part = Self::new(self.left / 100 * percent, self.cancel);
        part.cancelled |= self.cancelled;
        part
    }

    /// Takes what a part has spent.
    pub(crate) fn settle(&mut self, part: &Self) {
        self.left = self.left.saturating_sub(part.spent);
        self.spent += part.spent;
        self.cancelled |= part.cancelled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_end() {
        let never = || false;
        let mut meter = Meter::new(1000, &never);
        let mut part = meter.share(10);
        part.charge(60);
        assert!(!part.is_over());
        part.charge(60);
        assert!(part.is_over());
        meter.settle(&part);
        assert_eq!(meter.spent(), 120);
        assert!(!meter.is_over());
        assert!(Meter::new(1000, &|| true).is_over());
    }
}
