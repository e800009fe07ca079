//! Long work on another thread, while the calling thread stays responsive to Python.
//!
//! **Invariants:** the worker never touches Python objects. The calling thread is detached from the
//! interpreter while it waits, so other Python threads run. Progress callbacks and signal handlers
//! run on the calling thread, as Python requires. When a call returns, its worker has ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The time between two checks for signals and progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The state that a worker shares with the calling thread.
pub(crate) struct Shared<P> {
    /// Set when the work must stop: after Ctrl-C, or after an exception of the progress callback.
    pub(crate) interrupt: Arc<AtomicBool>,
    /// The latest progress. It is removed when it is reported.
    progress: Mutex<Option<P>>,
    ended: Mutex<bool>,
    wake: Condvar,
}

impl<P> Shared<P> {
    /// Replaces the progress that is reported next.
    pub(crate) fn report(&self, progress: P) {
        *lock(&self.progress) = Some(progress);
    }

    /// Waits until the work has ended, but not longer than [`POLL_INTERVAL`]. Returns whether it has
    /// ended.
    fn wait(&self) -> bool {
        let ended = lock(&self.ended);
        let waited = self
            .wake
            .wait_timeout_while(ended, POLL_INTERVAL, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Marks the work as ended, also if it panics.
struct EndGuard<'a, P>(&'a Shared<P>);

impl<P> Drop for EndGuard<'_, P> {
    fn drop(&mut self) {
        *lock(&self.0.ended) = true;
        self.0.wake.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on another thread and returns its result.
///
/// The latest progress is passed to `callback` about twenty times per second. If a signal handler
/// or the callback raises an exception, the interrupt flag is set, and the exception is raised as
/// soon as the work has ended.
pub(crate) fn run_in_background<P, T, W>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: W,
) -> PyResult<T>
where
    P: Send + for<'py> IntoPyObject<'py>,
    T: Send,
    W: FnOnce(&Shared<P>) -> T + Send,
{
    let shared = Shared {
        interrupt: Arc::default(),
        progress: Mutex::new(None),
        ended: Mutex::new(false),
        wake: Condvar::new(),
    };
    let report = || match (lock(&shared.progress).take(), callback) {
        (Some(progress), Some(callback)) => callback.call1((progress,)).map(drop),
        _ => Ok(()),
    };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _end = EndGuard(&shared);
            work(&shared)
        });
        let mut raised = None;
        while !py.detach(|| shared.wait()) {
            if raised.is_none()
                && let Err(error) = py.check_signals().and_then(|()| report())
            {
                shared.interrupt.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let result = worker
            .join()
            .map_err(|_| PyRuntimeError::new_err("the work panicked, which is a bug in rhae"));
        match raised {
            Some(error) => Err(error),
            None => py.check_signals().and_then(|()| report()).and(result),
        }
    })
}
