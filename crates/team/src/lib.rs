//! A small thread pool whose workers help the calling thread.
//!
//! The calling thread works too and never waits for workers to wake up: each thread takes the next
//! free item, so a late worker finds less to do. An idle worker spins for a moment before it
//! sleeps, because new work often follows at once and waking up takes longer than most work. The
//! order in which items are processed is not defined.

mod bell;

use std::any::Any;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{Builder, JoinHandle};

pub use bell::Bell;

/// A pool of worker threads.
#[derive(Default)]
pub struct Team {
    desk: Arc<Desk>,
    helpers: Vec<JoinHandle<()>>,
    /// Held by the caller for which the workers work.
    turn: Mutex<()>,
}

/// The state that the caller shares with the workers.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    /// The number of calls so far, and the number of busy workers. Both grow only while the state
    /// is locked.
    calls: AtomicUsize,
    busy: AtomicUsize,
    /// Signals that there is work, and that a worker has finished.
    call: Bell,
    done: Bell,
}

#[derive(Default)]
struct State {
    work: Option<Work>,
    closed: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// The function that every worker runs once per call.
type Work = &'static (dyn Fn() + Sync);

impl Team {
    /// Creates a pool of `threads` threads, the calling thread included.
    pub fn new(threads: usize) -> io::Result<Self> {
        let (call, done) = (Bell::for_threads(threads), Bell::for_threads(threads));
        let desk = Arc::new(Desk {
            call,
            done,
            ..Desk::default()
        });
        let mut team = Self {
            desk,
            helpers: Vec::new(),
            turn: Mutex::default(),
        };
        for _ in 1..threads {
            let desk = Arc::clone(&team.desk);
            team.helpers
                .push(Builder::new().spawn(move || desk.help())?);
        }
        Ok(team)
    }

    /// Returns the number of threads, the calling thread included.
    pub const fn threads(&self) -> usize {
        1 + self.helpers.len()
    }

    /// Runs `work` on each item. A panic of `work` on any thread is passed on to the caller.
    pub fn share<I>(&self, items: I, work: impl Fn(I::Item) + Sync)
    where
        I: ExactSizeIterator + Send,
    {
        let others = items.len().saturating_sub(1);
        self.work(others, items, work, || {});
    }

    /// Like [`share`](Self::share), but the calling thread runs `first` before it takes items.
    pub fn share_after<I>(&self, first: impl FnOnce(), items: I, work: impl Fn(I::Item) + Sync)
    where
        I: ExactSizeIterator + Send,
    {
        self.work(items.len(), items, work, first);
    }

    fn work<I: Iterator + Send>(
        &self,
        others: usize,
        items: I,
        work: impl Fn(I::Item) + Sync,
        first: impl FnOnce(),
    ) {
        let items = Mutex::new(items);
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let help = || {
            while let Some(item) = next() {
                work(item);
            }
        };
        // If the pool is busy, the calling thread does the work itself.
        let turn = if self.helpers.is_empty() || others == 0 {
            None
        } else {
            self.take_turn()
        };
        let called = turn.is_some().then(|| self.desk.call(&help));
        first();
        help();
        drop(called);
        if turn.is_some()
            && let Some(panic) = self.desk.lock().panic.take()
        {
            resume_unwind(panic);
        }
    }

    /// Acquires the right to call the workers, unless another caller holds it. A poisoned lock is
    /// usable, because it protects no data.
    fn take_turn(&self) -> Option<MutexGuard<'_, ()>> {
        match self.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Pools that are not in use. Starting threads takes longer than a small piece of work, so pools
/// are kept for reuse.
static IDLE: Mutex<Vec<Team>> = Mutex::new(Vec::new());
/// The maximum number of idle pools.
const MAX_IDLE: usize = 4;

/// A pool that returns to the idle pools when dropped.
#[derive(Debug)]
pub struct Hired(Option<Team>);

impl Team {
    /// Returns an idle or new pool of `threads` threads, the calling thread included, for exclusive
    /// use. If threads cannot be started, the calling thread works alone.
    pub fn hire(threads: usize) -> Hired {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = idle
            .iter()
            .position(|team| team.threads() == threads.max(1))
            .map(|at| idle.remove(at));
        drop(idle);
        Hired(Some(
            fitting.unwrap_or_else(|| Self::new(threads).unwrap_or_default()),
        ))
    }
}

impl Deref for Hired {
    type Target = Team;

    fn deref(&self) -> &Team {
        self.0.as_ref().expect("present until dropped")
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.0.take().filter(|team| team.threads() > 1));
        // The pool that was idle longest is dropped after the lock is released.
        let surplus = if idle.len() > MAX_IDLE {
            Some(idle.remove(0))
        } else {
            None
        };
        drop(idle);
        drop(surplus);
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        let mut state = self.desk.lock();
        state.closed = true;
        self.desk.calls.fetch_add(1, Ordering::Release);
        drop(state);
        self.desk.call.ring();
        for helper in self.helpers.drain(..) {
            // A panic of the work has already been passed on.
            let _ = helper.join();
        }
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the workers run `work` until the returned guard is dropped.
    fn call<'a>(&'a self, work: &'a (dyn Fn() + Sync)) -> Called<'a> {
        #[expect(
            unsafe_code,
            reason = "small searches on two threads find 1.7 times the states that they do with threads which sleep at once: see docs/benchmarks.md"
        )]
        // SAFETY: only the lifetime changes. Dropping `Called`, which the borrow checker enforces
        // before `work` ends, withdraws the work and waits for the workers that still run it.
        let work = unsafe { std::mem::transmute::<&'a (dyn Fn() + Sync), Work>(work) };
        let mut state = self.lock();
        state.work = Some(work);
        state.panic = None;
        self.calls.fetch_add(1, Ordering::Release);
        drop(state);
        self.call.ring();
        Called(self)
    }

    /// The main loop of a worker.
    fn help(&self) {
        let mut seen = 0;
        loop {
            self.call
                .await_that(|| self.calls.load(Ordering::Acquire) != seen);
            let state = self.lock();
            if state.closed {
                return;
            }
            seen = self.calls.load(Ordering::Acquire);
            let Some(work) = state.work else { continue };
            self.busy.fetch_add(1, Ordering::AcqRel);
            drop(state);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                self.lock().panic.get_or_insert(panic);
            }
            self.busy.fetch_sub(1, Ordering::AcqRel);
            self.done.ring();
        }
    }
}

/// A guard for work that the workers run.
struct Called<'a>(&'a Desk);

impl Drop for Called<'_> {
    fn drop(&mut self) {
        let Self(desk) = self;
        desk.lock().work = None;
        desk.done
            .await_that(|| desk.busy.load(Ordering::Acquire) == 0);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_item_is_processed_once_and_first_runs_once() {
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
    fn team_can_be_shared_by_several_callers() {
        let team = Team::new(3).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for round in 0..5_000 {
                        let done = AtomicUsize::new(0);
                        team.share(0..round % 7, |item| {
                            _ = done.fetch_add(item, Ordering::Relaxed);
                        });
                        assert_eq!(done.into_inner(), (0..round % 7).sum());
                        // Pauses long enough for all workers to fall asleep.
                        if round % 1_000 == 0 {
                            std::thread::sleep(std::time::Duration::from_millis(2));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn dropping_a_team_stops_its_workers() {
        for round in 0..500 {
            let team = Team::new(3).unwrap();
            team.share(0..round % 3, |_| {});
            drop(team);
        }
    }

    #[test]
    fn hired_teams_are_exclusive_and_reused() {
        let ids = |team: &Team| {
            team.helpers
                .iter()
                .map(|helper| helper.thread().id())
                .collect::<Vec<_>>()
        };
        // No other test uses pools of this size.
        let (one, other) = (Team::hire(4), Team::hire(4));
        assert_eq!(
            (one.threads(), other.threads(), Team::hire(0).threads()),
            (4, 4, 1)
        );
        assert_ne!(ids(&one), ids(&other));
        let known = [ids(&one), ids(&other)];
        drop((one, other));
        assert!(
            known.contains(&ids(&Team::hire(4))),
            "an idle team is reused"
        );
        // More pools than may be idle.
        let many: Vec<Hired> = (0..2 * MAX_IDLE).map(|_| Team::hire(4)).collect();
        drop(many);
        assert!(IDLE.lock().unwrap().len() <= MAX_IDLE);
    }

    #[test]
    fn nested_share_runs_on_the_calling_thread() {
        let (team, done) = (Team::new(2).unwrap(), AtomicUsize::new(0));
        team.share(0..10, |_| {
            team.share(0..10, |_| _ = done.fetch_add(1, Ordering::Relaxed));
        });
        assert_eq!(done.into_inner(), 100);
    }

    #[test]
    fn panic_reaches_the_caller_and_the_team_stays_usable() {
        let team = Team::new(3).unwrap();
        let broken = AssertUnwindSafe(|| team.share(0..100, |item| assert_ne!(item, 50)));
        assert!(catch_unwind(broken).is_err());
        let broken = AssertUnwindSafe(|| {
            team.share_after(|| panic!("before the others are done"), 0..100, |_| {});
        });
        assert!(catch_unwind(broken).is_err());
        // Each item waits for the others, so three threads must be working.
        let all = Barrier::new(3);
        team.share(0..3, |_| _ = all.wait());
    }
}
