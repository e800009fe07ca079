//! A fixed-window rate limiter: requests per key and minute.
//!
//! A key's window starts with a request and lasts a minute; the first request after that starts the
//! next window. The time until the next permitted request is therefore known exactly. The caller
//! passes in the current time. If several servers share a store, each of them counts separately.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rhae_store::KeyId;

const WINDOW: Duration = Duration::from_secs(60);
/// Once this many keys have a window, expired windows are removed before another key is added.
const PRUNE_THRESHOLD: usize = 4096;

/// Counts the requests of each key in its current window.
#[derive(Default)]
pub(crate) struct RateLimiter(Mutex<HashMap<KeyId, Window>>);

struct Window {
    started: Duration,
    requests: u32,
}

impl RateLimiter {
    /// Counts a request at `now`, measured from the server's start.
    ///
    /// # Errors
    ///
    /// If the key has used up its `max` requests, the error is the number of seconds to wait.
    pub(crate) fn count(&self, key: KeyId, max: u32, now: Duration) -> Result<(), u64> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= PRUNE_THRESHOLD && !windows.contains_key(&key) {
            windows.retain(|_, window| now < window.started + WINDOW);
        }
        let window = windows.entry(key).or_insert(Window {
            started: now,
            requests: 0,
        });
        if now >= window.started + WINDOW {
            *window = Window {
                started: now,
                requests: 0,
            };
        }
        if window.requests >= max {
            return Err((window.started + WINDOW).saturating_sub(now).as_secs() + 1);
        }
        window.requests += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_applies_per_window_and_key() {
        let rate_limiter = RateLimiter::default();
        let at = |key: u64, ms: u64| rate_limiter.count(KeyId(key), 3, Duration::from_millis(ms));
        assert_eq!([0, 10, 59_000].map(|ms| at(1, ms)), [Ok(()); 3]);
        assert_eq!((at(1, 59_000), at(1, 59_999)), (Err(2), Err(1)));
        // Other keys are not affected.
        assert_eq!(at(2, 59_500), Ok(()));
        assert_eq!([60_000, 60_001, 60_002].map(|ms| at(1, ms)), [Ok(()); 3]);
        assert_eq!(at(1, 60_003), Err(60));
    }

    #[test]
    fn expired_windows_are_removed() {
        let rate_limiter = RateLimiter::default();
        for key in 0..PRUNE_THRESHOLD as u64 {
            rate_limiter.count(KeyId(key), 1, Duration::ZERO).unwrap();
        }
        rate_limiter.count(KeyId(u64::MAX), 1, WINDOW).unwrap();
        assert_eq!(rate_limiter.0.lock().unwrap().len(), 1);
    }
}
