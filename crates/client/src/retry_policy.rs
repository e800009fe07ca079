//! Timeouts and retries of requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a sleep checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// How long to wait for a server, and how often to retry a request.
///
/// The delay between attempts doubles from [`initial_backoff`](Self::initial_backoff) to
/// [`max_backoff`](Self::max_backoff), with random jitter. A longer `Retry-After` of the server is
/// respected up to [`max_retry_after`](Self::max_retry_after).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use rhae_client::RetryPolicy;
///
/// // Fail fast, for example in a health check.
/// let policy = RetryPolicy {
///     response_timeout: Duration::from_secs(2),
///     max_attempts: 1,
///     ..RetryPolicy::default()
/// };
/// assert_eq!(policy.connect_timeout, Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// The timeout for resolving the name and, separately, for connecting.
    pub connect_timeout: Duration,
    /// The timeout for one attempt, from connecting to the last byte of the response.
    pub response_timeout: Duration,
    /// The maximum number of attempts, the first one included.
    pub max_attempts: u32,
    /// The delay before the second attempt. Each further delay is twice as long.
    pub initial_backoff: Duration,
    /// The maximum delay between attempts.
    pub max_backoff: Duration,
    /// The maximum delay that a server may request with `Retry-After`.
    pub max_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            response_timeout: Duration::from_secs(60),
            max_attempts: 8,
            initial_backoff: Duration::from_millis(250),
            max_backoff: Duration::from_secs(8),
            max_retry_after: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// Returns the delay after `attempts` failed attempts, starting with 1.
    ///
    /// Random jitter shortens the delay by up to one half, so that clients that failed at the same
    /// time do not all retry at the same time. The delay is at least `retry_after`, which is first
    /// reduced to [`Self::max_retry_after`] if it is longer.
    pub(crate) fn backoff(&self, attempts: u32, retry_after: Option<Duration>) -> Duration {
        let doubled = self
            .initial_backoff
            .saturating_mul(1 << attempts.saturating_sub(1).min(16))
            .min(self.max_backoff);
        let backoff = doubled.mul_f64(0.5 + 0.5 * jitter());
        backoff.max(retry_after.unwrap_or_default().min(self.max_retry_after))
    }
}

/// Returns a random number from 0 to 1.
fn jitter() -> f64 {
    let mut bytes = [0; 2];
    // Without a random source all clients use the same delay, which is acceptable.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
}

/// Sleeps for `pause`. Returns `false` as soon as `cancelled` is set.
pub(crate) fn sleep(pause: Duration, cancelled: &AtomicBool) -> bool {
    let end = Instant::now() + pause;
    loop {
        if cancelled.load(Ordering::Relaxed) {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(CANCEL_CHECK_INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_to_its_limit_and_respects_retry_after() {
        let retry_policy = RetryPolicy::default();
        for attempts in 1..40 {
            let doubled =
                Duration::from_millis(250 << (attempts - 1).min(5)).min(retry_policy.max_backoff);
            let backoff = retry_policy.backoff(attempts, None);
            assert!(
                doubled / 2 <= backoff && backoff <= doubled,
                "{attempts}: {backoff:?}"
            );
        }
        assert_eq!(
            retry_policy.backoff(1, Some(Duration::from_secs(30))),
            Duration::from_secs(30)
        );
        assert_eq!(
            retry_policy.backoff(1, Some(Duration::from_secs(3600))),
            retry_policy.max_retry_after
        );
    }

    #[test]
    fn cancelled_sleep_returns_early() {
        assert!(sleep(Duration::from_millis(1), &AtomicBool::new(false)));
        assert!(!sleep(Duration::from_secs(3600), &AtomicBool::new(true)));
    }
}
