//! The limit of requests per minute.
//!
//! The limiter reads no clock. The caller passes the current time as a duration since a fixed
//! start.

use std::time::Duration;

/// A rate limiter that spreads requests evenly. After an idle period it allows a burst of one
/// second's worth of requests.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    /// The mean time between requests; zero if there is no limit.
    interval: Duration,
    /// The time by which a burst may run ahead of the even schedule.
    burst: Duration,
    /// The time at which the next request is due in the even schedule.
    scheduled_until: Duration,
}

impl RateLimiter {
    pub(crate) fn new(per_minute: Option<u32>) -> Self {
        let interval = per_minute.map_or(Duration::ZERO, |number| {
            Duration::from_secs(60) / number.max(1)
        });
        let per_second = per_minute.map_or(1, |number| number.div_ceil(60));
        Self {
            interval,
            burst: interval * per_second.saturating_sub(1),
            scheduled_until: Duration::ZERO,
        }
    }

    /// Returns the earliest time of the next request, which may be in the past.
    pub(crate) fn next(&self) -> Duration {
        self.scheduled_until.saturating_sub(self.burst)
    }

    /// Records that a request is sent.
    pub(crate) fn sent(&mut self, now: Duration) {
        self.scheduled_until = self.scheduled_until.max(now) + self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the requests within `seconds` if each is sent as soon as possible.
    fn sent_in(rate_limiter: &mut RateLimiter, seconds: u64) -> u32 {
        let mut sent = 0;
        let end = Duration::from_secs(seconds);
        let mut now = Duration::ZERO;
        while now < end {
            sent += 1;
            rate_limiter.sent(now);
            now = now.max(rate_limiter.next());
        }
        sent
    }

    #[test]
    fn requests_per_minute_stay_within_the_limit() {
        assert_eq!(sent_in(&mut RateLimiter::new(Some(20)), 60), 20);
        assert_eq!(sent_in(&mut RateLimiter::new(Some(1)), 180), 3);
        let fast = sent_in(&mut RateLimiter::new(Some(600)), 60);
        assert!(
            (600..=610).contains(&fast),
            "the burst is one second's worth: {fast}"
        );
    }

    #[test]
    fn no_limit_means_no_waiting() {
        let mut rate_limiter = RateLimiter::new(None);
        (0..1000).for_each(|_| rate_limiter.sent(Duration::from_secs(5)));
        assert!(rate_limiter.next() <= Duration::from_secs(5));
    }
}
