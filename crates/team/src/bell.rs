//! Waiting for what another thread does: first awake, because it often comes at once and waking up takes longer than most work,
//! then asleep.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

/// How often a thread looks out before it sleeps: some tens of microseconds.
const PATIENCE: usize = 1 << 10;

/// Wakes those who wait for something.
#[derive(Debug, Default)]
pub struct Bell {
    /// How many sleep, or are about to; it changes only with the lock held.
    asleep: AtomicUsize,
    lock: Mutex<()>,
    rung: Condvar,
    /// How often a thread looks out before it sleeps.
    patience: usize,
}

impl Bell {
    /// A bell between this many threads, all of which work.
    pub fn for_threads(threads: usize) -> Self {
        /// Asked once, because the answer is read from files.
        static CORES: LazyLock<usize> =
            LazyLock::new(|| available_parallelism().map_or(0, usize::from));
        // With fewer processors, whoever looks out keeps others from working.
        let patience = if *CORES >= threads { PATIENCE } else { 0 };
        Self {
            patience,
            ..Self::default()
        }
    }

    /// Wakes whoever sleeps, after something happened that may be waited for.
    pub fn ring(&self) {
        // Either this sees that somebody is about to sleep, or they see what happened.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            drop(self.lock.lock());
            self.rung.notify_all();
        }
    }

    /// Waits until something has happened, after which the bell rings.
    pub fn await_that(&self, happened: impl Fn() -> bool) {
        let looks_out = || {
            std::hint::spin_loop();
            happened()
        };
        if happened() || (0..self.patience).any(|_| looks_out()) {
            return;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !happened() {
            guard = self
                .rung
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sleeps_through_a_bell() {
        // With patience nearly nobody ever sleeps, without everybody does.
        for patience in [0, 1, PATIENCE] {
            let bell = Bell {
                patience,
                ..Bell::default()
            };
            let ball = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for player in 0..3 {
                    let (bell, ball) = (&bell, &ball);
                    scope.spawn(move || {
                        for round in 0..3_000 {
                            bell.await_that(|| ball.load(Ordering::Acquire) == 3 * round + player);
                            ball.fetch_add(1, Ordering::Release);
                            bell.ring();
                        }
                    });
                }
            });
            assert_eq!(ball.into_inner(), 9_000);
        }
    }
}
