//! The clock of a server. The caller passes it in, so that tests can set the time.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of the current time.
///
/// # Examples
///
/// ```
/// use rhae_server::{Clock, SystemClock};
///
/// struct FixedClock(u64);
///
/// impl Clock for FixedClock {
///     fn now_ms(&self) -> u64 {
///         self.0
///     }
/// }
///
/// assert_eq!(FixedClock(5).now_ms(), 5);
/// assert!(SystemClock.now_ms() > 0);
/// ```
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        // A system clock that shows a time before the epoch is wrong anyway; the time then counts
        // as 0.
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
