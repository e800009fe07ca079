//! Threads that help the one that has work to do.
//!
//! The caller's thread works too and never waits for others to wake up: whoever is free takes the next item, so a helper that
//! comes late finds less to do. What is not known here: in which order items are done.

use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Threads that wait for work.
#[derive(Debug, Default)]
pub struct Team {
    helpers: Option<ThreadPool>,
}

impl Team {
    /// This many threads, the caller's included.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let helpers = match threads {
            0 | 1 => None,
            _ => Some(ThreadPoolBuilder::new().num_threads(threads - 1).build()?),
        };
        Ok(Self { helpers })
    }

    /// How many threads work, the caller's included.
    pub fn threads(&self) -> usize {
        1 + self.helpers.as_ref().map_or(0, ThreadPool::current_num_threads)
    }

    /// Does some work on each item. A panic of the work, wherever it happens, is passed on to the caller.
    pub fn share<I>(&self, items: I, work: impl Fn(I::Item) + Sync)
    where
        I: ExactSizeIterator + Send,
    {
        let others = items.len().saturating_sub(1);
        self.work(others, items, work, || {});
    }

    /// As [`share`](Self::share), but the caller's thread has something else to do first.
    pub fn share_after<I>(&self, first: impl FnOnce(), items: I, work: impl Fn(I::Item) + Sync)
    where
        I: ExactSizeIterator + Send,
    {
        self.work(items.len(), items, work, first);
    }

    fn work<I: Iterator + Send>(&self, others: usize, items: I, work: impl Fn(I::Item) + Sync, first: impl FnOnce()) {
        let items = Mutex::new(items);
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let help = || {
            while let Some(item) = next() {
                work(item);
            }
        };
        let own = || {
            first();
            help();
        };
        match &self.helpers {
            Some(helpers) if others > 0 => helpers.in_place_scope(|scope| {
                for _ in 0..helpers.current_num_threads().min(others) {
                    scope.spawn(|_| help());
                }
                own();
            }),
            _ => own(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_item_is_done_once_and_the_caller_does_its_own_work() {
        for threads in [0, 1, 2, 5] {
            let team = Team::new(threads).unwrap();
            assert_eq!(team.threads(), threads.max(1));
            for count in [0, 1, 7, 1000] {
                let mut items = vec![0; count];
                let (done, mut first) = (AtomicUsize::new(0), 0);
                let work = |item: &mut i32| {
                    *item += 1;
                    done.fetch_add(1, Ordering::Relaxed);
                };
                team.share_after(|| first += 1, items.iter_mut(), work);
                assert_eq!((done.into_inner(), first), (count, 1));
                assert!(items.iter().all(|&item| item == 1));
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_works_on() {
        let team = Team::new(3).unwrap();
        let broken = AssertUnwindSafe(|| team.share(0..100, |item| assert_ne!(item, 50)));
        assert!(catch_unwind(broken).is_err());
        let done = AtomicUsize::new(0);
        team.share(0..100, |_| _ = done.fetch_add(1, Ordering::Relaxed));
        assert_eq!(done.into_inner(), 100);
    }
}
