//! How long to wait for a server, and how often to ask again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a sleep looks whether the caller has given up.
const SLICE: Duration = Duration::from_millis(20);

/// How long to wait, and how often to try.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long a connection may take.
    pub connect: Duration,
    /// How long an answer may take, its body included.
    pub answer: Duration,
    /// How many times a request is sent at most.
    pub attempts: u32,
    /// The pause before the second attempt; every further one is twice as long.
    pub first_pause: Duration,
    /// The longest of these pauses.
    pub longest_pause: Duration,
    /// The longest pause that a server may ask for by `Retry-After`.
    pub longest_asked: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            attempts: 8,
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(8),
            longest_asked: Duration::from_secs(120),
        }
    }
}

impl Patience {
    /// The pause after so many attempts, from 1. A part of it is left to chance, so that clients which failed together do not come
    /// back together. What the server asked for is never cut short, unless it is too long to be meant.
    pub(crate) fn pause(&self, attempts: u32, asked: Option<Duration>) -> Duration {
        let doubled = self
            .first_pause
            .saturating_mul(1 << attempts.saturating_sub(1).min(16))
            .min(self.longest_pause);
        let pause = doubled.mul_f64(0.5 + 0.5 * chance());
        pause.max(asked.unwrap_or_default().min(self.longest_asked))
    }
}

/// A number from 0 to 1.
fn chance() -> f64 {
    let mut bytes = [0; 2];
    // Without randomness every client waits as long as the others, which does no harm.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
}

/// Sleeps, unless the caller gives up meanwhile; then it gives false.
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
        std::thread::sleep(left.min(SLICE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_honour_the_server() {
        let patience = Patience::default();
        for attempts in 1..40 {
            let doubled =
                Duration::from_millis(250 << (attempts - 1).min(5)).min(patience.longest_pause);
            let pause = patience.pause(attempts, None);
            assert!(
                doubled / 2 <= pause && pause <= doubled,
                "{attempts}: {pause:?}"
            );
        }
        assert_eq!(
            patience.pause(1, Some(Duration::from_secs(30))),
            Duration::from_secs(30)
        );
        assert_eq!(
            patience.pause(1, Some(Duration::from_secs(3600))),
            patience.longest_asked
        );
    }

    #[test]
    fn who_gives_up_does_not_sleep_on() {
        assert!(sleep(Duration::from_millis(1), &AtomicBool::new(false)));
        assert!(!sleep(Duration::from_secs(3600), &AtomicBool::new(true)));
    }
}
