//! The rate limiter, and a rate limiter per client.
//!
//! Neither reads a clock. The caller passes the current time as a duration since a fixed start.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Rate;

/// Once this many keys have a limiter, idle limiters are removed before another key is added.
const PRUNE_THRESHOLD: usize = 4096;

/// How many requests are allowed, and how the allowance is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota(Renewal);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Renewal {
    /// One request is allowed per interval. Up to `burst` requests may be sent at once after an
    /// idle period.
    Even { interval: Duration, burst: u32 },
    /// A window starts with a request. The first request after its end starts the next window.
    Window { requests: u32, period: Duration },
}

impl Quota {
    /// Spreads requests evenly. After an idle period, one second's worth of requests is allowed at
    /// once. For calls to a server that limits its clients.
    pub fn even(rate: Rate) -> Self {
        Self(Renewal::Even {
            interval: rate.interval(),
            burst: rate.in_a_second().max(1),
        })
    }

    /// Allows `requests` in each window of `period`, at any time within it. For the clients of a
    /// server: the time until the next permitted request is known exactly. At least one request is
    /// allowed.
    pub fn window(requests: u32, period: Duration) -> Self {
        Self(Renewal::Window {
            requests: requests.max(1),
            period,
        })
    }
}

/// A rate limiter.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use rhae_throttle::{Quota, RateLimiter};
///
/// let mut limiter = RateLimiter::new(Quota::even("2/min".parse()?));
/// assert_eq!(limiter.try_acquire(Duration::from_secs(5)), Ok(()));
/// // The next request may be sent 30 seconds after the first.
/// assert_eq!(limiter.try_acquire(Duration::from_secs(6)), Err(Duration::from_secs(35)));
/// # Ok::<(), rhae_throttle::RateError>(())
/// ```
#[derive(Debug)]
pub struct RateLimiter {
    quota: Quota,
    /// Even renewal: when the next request is due in the even schedule. Windows: the start of the
    /// current window.
    mark: Duration,
    /// Windows: the number of requests in the current window.
    requests: u32,
}

impl RateLimiter {
    pub const fn new(quota: Quota) -> Self {
        Self {
            quota,
            mark: Duration::ZERO,
            requests: 0,
        }
    }

    /// Returns the earliest time of the next request, which may be in the past.
    pub fn ready_at(&self) -> Duration {
        match self.quota.0 {
            Renewal::Even { interval, burst } => {
                self.mark.saturating_sub(interval.saturating_mul(burst - 1))
            }
            Renewal::Window { requests, .. } if self.requests < requests => Duration::ZERO,
            Renewal::Window { period, .. } => self.mark.saturating_add(period),
        }
    }

    /// Counts a request that is sent at `now`.
    pub fn record(&mut self, now: Duration) {
        match self.quota.0 {
            Renewal::Even { interval, .. } => {
                self.mark = self.mark.max(now).saturating_add(interval);
            }
            Renewal::Window { period, .. } => {
                if self.requests == 0 || now >= self.mark.saturating_add(period) {
                    self.mark = now;
                    self.requests = 0;
                }
                self.requests = self.requests.saturating_add(1);
            }
        }
    }

    /// Takes back the last recorded request, which was not sent.
    pub fn take_back(&mut self) {
        match self.quota.0 {
            Renewal::Even { interval, .. } => self.mark = self.mark.saturating_sub(interval),
            Renewal::Window { .. } => self.requests = self.requests.saturating_sub(1),
        }
    }

    /// Counts a request if it may be sent at `now`.
    ///
    /// # Errors
    ///
    /// Otherwise the error is the earliest time at which it may be sent.
    pub fn try_acquire(&mut self, now: Duration) -> Result<(), Duration> {
        let ready_at = self.ready_at();
        if ready_at > now {
            return Err(ready_at);
        }
        self.record(now);
        Ok(())
    }

    /// Returns whether a new limiter would behave the same from `now` on.
    fn is_idle(&self, now: Duration) -> bool {
        match self.quota.0 {
            Renewal::Even { .. } => self.mark <= now,
            Renewal::Window { period, .. } => now >= self.mark.saturating_add(period),
        }
    }
}

/// A rate limiter for each client of a server.
#[derive(Debug)]
pub struct KeyedRateLimiter<K>(Mutex<HashMap<K, RateLimiter>>);

impl<K> Default for KeyedRateLimiter<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> KeyedRateLimiter<K> {
    /// Counts a request of `key` at `now` under `quota`.
    ///
    /// # Errors
    ///
    /// If the key has used up its quota, the error is the number of whole seconds after which a
    /// request is permitted.
    pub fn try_acquire(&self, key: K, quota: Quota, now: Duration) -> Result<(), u64> {
        let mut limiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if limiters.len() >= PRUNE_THRESHOLD && !limiters.contains_key(&key) {
            limiters.retain(|_, limiter| !limiter.is_idle(now));
        }
        let limiter = limiters
            .entry(key)
            .or_insert_with(|| RateLimiter::new(quota));
        if limiter.quota != quota {
            *limiter = RateLimiter::new(quota);
        }
        limiter
            .try_acquire(now)
            .map_err(|ready_at| ready_at.saturating_sub(now).as_secs() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn per_minute(number: u32) -> RateLimiter {
        RateLimiter::new(Quota::even(Rate::per_minute(f64::from(number)).unwrap()))
    }

    /// Counts the requests within `seconds` if each is sent as soon as possible.
    fn sent_in(limiter: &mut RateLimiter, seconds: u64) -> u32 {
        let mut sent = 0;
        let end = Duration::from_secs(seconds);
        let mut now = Duration::ZERO;
        while now < end {
            sent += 1;
            limiter.record(now);
            now = now.max(limiter.ready_at());
        }
        sent
    }

    #[test]
    fn requests_per_minute_stay_within_the_limit() {
        assert_eq!(sent_in(&mut per_minute(20), 60), 20);
        assert_eq!(sent_in(&mut per_minute(1), 180), 3);
        let fast = sent_in(&mut per_minute(600), 60);
        assert!(
            (600..=610).contains(&fast),
            "the burst is one second's worth: {fast}"
        );
    }

    #[test]
    fn idle_time_is_not_saved_up() {
        let mut limiter = per_minute(60);
        let hour = Duration::from_secs(3600);
        assert_eq!(limiter.try_acquire(hour), Ok(()));
        let next = hour + Duration::from_secs(1);
        assert_eq!(limiter.try_acquire(hour), Err(next));
        assert_eq!(limiter.try_acquire(next), Ok(()));
    }

    #[test]
    fn request_that_is_taken_back_does_not_count() {
        for quota in [
            Quota::even(Rate::per_minute(1.0).unwrap()),
            Quota::window(1, MINUTE),
        ] {
            let mut limiter = RateLimiter::new(quota);
            assert_eq!(limiter.try_acquire(MINUTE), Ok(()));
            limiter.take_back();
            assert_eq!(limiter.try_acquire(MINUTE), Ok(()), "{quota:?}");
            assert!(limiter.try_acquire(MINUTE).is_err(), "{quota:?}");
        }
    }

    #[test]
    fn limit_applies_per_window_and_key() {
        let rate_limiter = KeyedRateLimiter::default();
        let at = |key: u64, ms: u64| {
            rate_limiter.try_acquire(key, Quota::window(3, MINUTE), Duration::from_millis(ms))
        };
        assert_eq!([0, 10, 59_000].map(|ms| at(1, ms)), [Ok(()); 3]);
        assert_eq!((at(1, 59_000), at(1, 59_999)), (Err(2), Err(1)));
        // Other keys are not affected.
        assert_eq!(at(2, 59_500), Ok(()));
        assert_eq!([60_000, 60_001, 60_002].map(|ms| at(1, ms)), [Ok(()); 3]);
        assert_eq!(at(1, 60_003), Err(60));
    }

    #[test]
    fn expired_windows_are_removed() {
        let rate_limiter = KeyedRateLimiter::default();
        let quota = Quota::window(1, MINUTE);
        for key in 0..PRUNE_THRESHOLD as u64 {
            rate_limiter
                .try_acquire(key, quota, Duration::ZERO)
                .unwrap();
        }
        rate_limiter.try_acquire(u64::MAX, quota, MINUTE).unwrap();
        assert_eq!(rate_limiter.0.lock().unwrap().len(), 1);
    }
}
