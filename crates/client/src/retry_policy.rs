//! Timeouts and retries of requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rhae_throttle::Backoff;

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
    pub(crate) const fn backoff(&self) -> Backoff {
        Backoff {
            max_attempts: self.max_attempts,
            first: self.initial_backoff,
            max: self.max_backoff,
            max_requested: self.max_retry_after,
        }
    }
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
        let retry_policy = RetryPolicy {
            max_attempts: 40,
            ..RetryPolicy::default()
        };
        let pause_after = |attempts, retry_after| {
            let pause = retry_policy.backoff().pause_after(attempts, retry_after);
            pause.unwrap()
        };
        for attempts in 1..40 {
            let doubled =
                Duration::from_millis(250 << (attempts - 1).min(5)).min(retry_policy.max_backoff);
            let backoff = pause_after(attempts, None);
            assert!(
                doubled / 2 <= backoff && backoff <= doubled,
                "{attempts}: {backoff:?}"
            );
        }
        assert_eq!(
            pause_after(1, Some(Duration::from_secs(30))),
            Duration::from_secs(30)
        );
        assert_eq!(
            pause_after(1, Some(Duration::from_secs(3600))),
            retry_policy.max_retry_after
        );
    }

    #[test]
    fn cancelled_sleep_returns_early() {
        assert!(sleep(Duration::from_millis(1), &AtomicBool::new(false)));
        assert!(!sleep(Duration::from_secs(3600), &AtomicBool::new(true)));
    }
}
