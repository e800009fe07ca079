//! The pauses between retries, and the header with which a server requests one.

use std::time::{Duration, SystemTime};

/// The largest number of times that a pause is doubled.
const MAX_DOUBLINGS: u32 = 30;

/// Exponential backoff with jitter.
///
/// The pause doubles after each failure from [`first`](Self::first) to [`max`](Self::max). Jitter
/// shortens it by up to one half, so that requests that failed at the same time are not retried at
/// the same time. A longer pause that the server requests is respected up to
/// [`max_requested`](Self::max_requested).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use rhae_throttle::Backoff;
///
/// let backoff = Backoff {
///     max_attempts: 3,
///     first: Duration::from_secs(1),
///     max: Duration::from_secs(60),
///     max_requested: Duration::from_secs(120),
/// };
/// let pause = backoff.pause_after(1, None).expect("the first failure is not the last attempt");
/// assert!((0.5..=1.0).contains(&pause.as_secs_f64()));
/// assert_eq!(backoff.pause_after(3, None), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The maximum number of attempts, including the first.
    pub max_attempts: u32,
    /// The pause after the first failure.
    pub first: Duration,
    /// The upper limit of pauses.
    pub max: Duration,
    /// The upper limit of the pause that a server may request.
    pub max_requested: Duration,
}

impl Backoff {
    /// Returns the pause after so many failed attempts, or `None` if that was the last attempt.
    pub fn pause_after(&self, attempts: u32, requested: Option<Duration>) -> Option<Duration> {
        (attempts < self.max_attempts).then(|| self.pause(attempts, requested, jitter()))
    }

    /// Returns the pause for a jitter from 0 (half of the nominal length) to 1.
    fn pause(&self, attempts: u32, requested: Option<Duration>, jitter: f64) -> Duration {
        let doublings = attempts.saturating_sub(1).min(MAX_DOUBLINGS);
        let nominal = self.first.saturating_mul(1 << doublings).min(self.max);
        let pause = nominal.mul_f64(0.5 + 0.5 * jitter);
        pause.max(requested.unwrap_or_default().min(self.max_requested))
    }
}

/// Returns a random number from 0 to 1.
fn jitter() -> f64 {
    let mut bytes = [0; 2];
    // If the system provides no randomness, the jitter is 0 and retries are not spread over time,
    // which is harmless.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
}

/// Parses the value of a `Retry-After` header: a number of seconds, or a date.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use rhae_throttle::parse_retry_after;
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
/// assert_eq!(parse_retry_after("2.5", now), Some(Duration::from_millis(2500)));
/// let date = "Sun, 06 Nov 1994 08:49:47 GMT";
/// assert_eq!(parse_retry_after(date, now), Some(Duration::from_secs(10)));
/// assert_eq!(parse_retry_after("soon", now), None);
/// ```
pub fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let seconds = value.parse::<f64>().ok();
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(pause) => Some(pause),
        None => httpdate::parse_http_date(value)
            .ok()
            .map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        max_attempts: 8,
        first: Duration::from_secs(1),
        max: Duration::from_secs(60),
        max_requested: Duration::from_secs(600),
    };

    #[test]
    fn pauses_double_up_to_the_limit_and_respect_the_server() {
        for (attempts, max) in [(1, 1), (2, 2), (4, 8), (7, 60), (4000, 60)] {
            let max = Duration::from_secs(max);
            assert_eq!(BACKOFF.pause(attempts, None, 1.0), max);
            assert_eq!(BACKOFF.pause(attempts, None, 0.0), max / 2);
        }
        let requested = |seconds| BACKOFF.pause(1, Some(Duration::from_secs(seconds)), 0.5);
        assert_eq!(requested(30), Duration::from_secs(30));
        assert_eq!(requested(1_000_000), BACKOFF.max_requested);
    }

    #[test]
    fn last_attempt_is_not_followed_by_a_pause() {
        for attempts in 1..8 {
            let pause = BACKOFF.pause_after(attempts, None).unwrap();
            let nominal = Duration::from_secs(1 << (attempts - 1)).min(BACKOFF.max);
            assert!((nominal / 2..=nominal).contains(&pause), "{attempts}");
        }
        assert_eq!(BACKOFF.pause_after(8, None), None);
    }
}
