//! A condition variable that spins before it sleeps, because events often follow at once and waking
//! up takes longer than most work.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

/// The number of spins before a thread sleeps: some tens of microseconds.
const SPIN_LIMIT: usize = 1 << 10;

/// Wakes threads that wait for a condition. A waiting thread checks the condition up to
/// [`SPIN_LIMIT`] times before it sleeps.
#[derive(Debug, Default)]
pub(crate) struct SpinCondvar {
    /// The number of threads that sleep or are about to. It changes only while the lock is held.
    asleep: AtomicUsize,
    lock: Mutex<()>,
    condvar: Condvar,
    /// The number of spins before a thread sleeps.
    spin_limit: usize,
}

impl SpinCondvar {
    /// Creates a condition variable for `threads` threads that are all busy.
    pub(crate) fn for_threads(threads: usize) -> Self {
        /// Queried once, because the operating system reads it from files.
        static CORES: LazyLock<usize> =
            LazyLock::new(|| available_parallelism().map_or(0, usize::from));
        // With fewer cores than threads, spinning would keep other threads from working.
        let spin_limit = if *CORES >= threads { SPIN_LIMIT } else { 0 };
        Self {
            spin_limit,
            ..Self::default()
        }
    }

    /// Wakes all sleeping threads. Call it after a condition may have become true.
    pub(crate) fn notify_all(&self) {
        // Either this thread sees that another is about to sleep, or that one sees the new state.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            drop(self.lock.lock());
            self.condvar.notify_all();
        }
    }

    /// Blocks until `condition` returns true. The thread that changes the condition must call
    /// [`notify_all`](Self::notify_all).
    pub(crate) fn wait_until(&self, condition: impl Fn() -> bool) {
        let spin = |_| {
            std::hint::spin_loop();
            condition()
        };
        if condition() || (0..self.spin_limit).any(spin) {
            return;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !condition() {
            guard = self
                .condvar
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
    fn no_wakeup_is_lost() {
        // Without spinning every wait sleeps; with the default limit hardly any does.
        for spin_limit in [0, 1, SPIN_LIMIT] {
            let condvar = SpinCondvar {
                spin_limit,
                ..SpinCondvar::default()
            };
            let ball = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for player in 0..3 {
                    let (condvar, ball) = (&condvar, &ball);
                    scope.spawn(move || {
                        for round in 0..3_000 {
                            condvar
                                .wait_until(|| ball.load(Ordering::Acquire) == 3 * round + player);
                            ball.fetch_add(1, Ordering::Release);
                            condvar.notify_all();
                        }
                    });
                }
            });
            assert_eq!(ball.into_inner(), 9_000);
        }
    }
}
