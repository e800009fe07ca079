//! Threads that help the one that has work to do.
//!
//! The caller's thread works too and never waits for others to wake up: whoever is free takes the next item, so a helper that
//! comes late finds less to do. A helper without work looks out for some before it sleeps, because work often comes again at
//! once, and waking up takes longer than most of it. What is not known here: in which order items are done.

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

/// Threads that wait for work.
#[derive(Default)]
pub struct Team {
    desk: Arc<Desk>,
    helpers: Vec<JoinHandle<()>>,
    /// Held by whom the helpers work for.
    turn: Mutex<()>,
}

/// Where work is handed out.
#[derive(Default)]
struct Desk {
    state: Mutex<State>,
    /// How often work was put there, and how many helpers are at it. Both grow only with the state locked.
    calls: AtomicUsize,
    busy: AtomicUsize,
    /// Rings when there is work, and when a helper is done with it.
    call: Bell,
    done: Bell,
}

#[derive(Default)]
struct State {
    work: Option<Work>,
    closed: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// What every helper does once.
type Work = &'static (dyn Fn() + Sync);

impl Team {
    /// This many threads, the caller's included.
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

    /// How many threads work, the caller's included.
    pub const fn threads(&self) -> usize {
        1 + self.helpers.len()
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
        // Who finds the helpers at work for another does all alone.
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

    /// The right to call the helpers, unless another has it. Those who panicked with it have left nothing behind.
    fn take_turn(&self) -> Option<MutexGuard<'_, ()>> {
        match self.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Teams that nobody works with at the moment. Threads take longer to start than small work takes, so they wait here for more.
static IDLE: Mutex<Vec<Team>> = Mutex::new(Vec::new());
/// The most teams that wait.
const MOST_IDLE: usize = 4;

/// A team that others get when it is dropped.
#[derive(Debug)]
pub struct Hired(Option<Team>);

impl Team {
    /// A team of this many threads, the caller's included, with which nobody else works: one that waits, or a new one. Where threads cannot
    /// be started the caller works alone.
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
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl Drop for Hired {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.0.take().filter(|team| team.threads() > 1));
        // Those who waited longest go, and are waited for after others can hire again.
        let surplus = if idle.len() > MOST_IDLE {
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
            // What a helper's work panics with was handed on, so there is nothing to learn here.
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

    /// Calls the helpers to some work until what this gives is dropped.
    fn call<'a>(&'a self, work: &'a (dyn Fn() + Sync)) -> Called<'a> {
        #[expect(
            unsafe_code,
            reason = "small searches on two threads find 1.7 times the states that they do with threads which sleep at once: see docs/benchmarks.md"
        )]
        // SAFETY: only the lifetime changes. When `Called` is dropped, which the borrow checker sees to before the work
        // goes, the work is taken back and whoever is at it is waited for.
        let work = unsafe { std::mem::transmute::<&'a (dyn Fn() + Sync), Work>(work) };
        let mut state = self.lock();
        state.work = Some(work);
        state.panic = None;
        self.calls.fetch_add(1, Ordering::Release);
        drop(state);
        self.call.ring();
        Called(self)
    }

    /// What a helper does all its life.
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

/// Work that helpers have been called to.
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
    fn a_team_is_called_again_and_again_by_several() {
        let team = Team::new(3).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for round in 0..5_000 {
                        let done = AtomicUsize::new(0);
                        team.share(0..round % 7, |item| {
                            _ = done.fetch_add(item, Ordering::Relaxed)
                        });
                        assert_eq!(done.into_inner(), (0..round % 7).sum());
                        // Now and then everybody has fallen asleep.
                        if round % 1_000 == 0 {
                            std::thread::sleep(std::time::Duration::from_millis(2));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn helpers_go_when_the_team_does() {
        for round in 0..500 {
            let team = Team::new(3).unwrap();
            team.share(0..round % 3, |_| {});
            drop(team);
        }
    }

    #[test]
    fn whoever_hires_has_a_team_for_themselves() {
        let ids = |team: &Team| {
            team.helpers
                .iter()
                .map(|helper| helper.thread().id())
                .collect::<Vec<_>>()
        };
        // Teams of a size that no other test asks for.
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
            "a team that waits is hired again"
        );
        // More teams than wait for others at a time.
        let many: Vec<Hired> = (0..2 * MOST_IDLE).map(|_| Team::hire(4)).collect();
        drop(many);
        assert!(IDLE.lock().unwrap().len() <= MOST_IDLE);
    }

    #[test]
    fn who_is_in_the_middle_of_work_may_share_more_of_it() {
        let (team, done) = (Team::new(2).unwrap(), AtomicUsize::new(0));
        team.share(0..10, |_| {
            team.share(0..10, |_| _ = done.fetch_add(1, Ordering::Relaxed))
        });
        assert_eq!(done.into_inner(), 100);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_works_on() {
        let team = Team::new(3).unwrap();
        let broken = AssertUnwindSafe(|| team.share(0..100, |item| assert_ne!(item, 50)));
        assert!(catch_unwind(broken).is_err());
        let broken = AssertUnwindSafe(|| {
            team.share_after(|| panic!("before the others are done"), 0..100, |_| {})
        });
        assert!(catch_unwind(broken).is_err());
        // Each of these waits for the others, so three threads work.
        let all = Barrier::new(3);
        team.share(0..3, |_| _ = all.wait());
    }
}
