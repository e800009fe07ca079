//! Requests a minute, as evenly as they come.
//!
//! It knows no clock: every moment is passed in, as time since some beginning.

use std::time::Duration;

/// When the next request may be sent: after a pause of no requests some may follow each other at once, a second's worth of them.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The time that each request stands for; zero if there is no limit.
    interval: Duration,
    /// How much time requests may be ahead.
    ahead: Duration,
    /// When the time that all requests stand for is over.
    booked_until: Duration,
}

impl Pace {
    pub(crate) fn new(per_minute: Option<u32>) -> Self {
        let interval = per_minute.map_or(Duration::ZERO, |number| {
            Duration::from_secs(60) / number.max(1)
        });
        let burst = per_minute.map_or(1, |number| number.div_ceil(60));
        Self {
            interval,
            ahead: interval * burst.saturating_sub(1),
            booked_until: Duration::ZERO,
        }
    }

    /// When a request may be sent; in the past if now.
    pub(crate) fn next(&self) -> Duration {
        self.booked_until.saturating_sub(self.ahead)
    }

    /// A request is sent.
    pub(crate) fn sent(&mut self, now: Duration) {
        self.booked_until = self.booked_until.max(now) + self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many requests are sent in a number of seconds if they are sent as soon as possible.
    fn sent_in(pace: &mut Pace, seconds: u64) -> u32 {
        let mut sent = 0;
        let end = Duration::from_secs(seconds);
        let mut now = Duration::ZERO;
        while now < end {
            sent += 1;
            pace.sent(now);
            now = now.max(pace.next());
        }
        sent
    }

    #[test]
    fn a_minute_has_no_more_than_allowed() {
        assert_eq!(sent_in(&mut Pace::new(Some(20)), 60), 20);
        assert_eq!(sent_in(&mut Pace::new(Some(1)), 180), 3);
        let fast = sent_in(&mut Pace::new(Some(600)), 60);
        assert!(
            (600..=610).contains(&fast),
            "a second's worth may come at once: {fast}"
        );
    }

    #[test]
    fn without_a_limit_nothing_waits() {
        let mut pace = Pace::new(None);
        (0..1000).for_each(|_| pace.sent(Duration::from_secs(5)));
        assert!(pace.next() <= Duration::from_secs(5));
    }
}
