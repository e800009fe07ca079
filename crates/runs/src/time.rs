//! The clock of journals.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the Unix time in milliseconds, or 0 if the clock is before 1970.
pub fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
