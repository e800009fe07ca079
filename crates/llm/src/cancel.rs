//! The cancellation of calls from another thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::Agent;

/// A token that cancels every call it was passed to. Waiting calls return immediately, and open
/// connections are closed. Clones share one state.
///
/// # Examples
///
/// ```
/// use rhae_llm::{CancelToken, FailureKind, Model, Models, Request};
///
/// let file = "[models.m]\nprovider = \"mock\"\nreplies = [\"yes\"]";
/// let model = Model::open(&Models::parse(file)?, "m")?;
/// let cancel = CancelToken::default();
/// cancel.clone().cancel();
/// let outcome = model.ask(&Request::text("Is it?"), &cancel, None, &mut ());
/// assert_eq!(outcome.reply.unwrap_err().kind, FailureKind::Cancelled);
/// assert!(outcome.attempts.is_empty());
/// # Ok::<(), rhae_llm::LlmError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    /// The connections with a request in flight, by number.
    agents: Vec<(u64, Agent)>,
    next: u64,
}

impl CancelToken {
    /// Cancels all current and future calls with this token.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        let agents = std::mem::take(&mut state.agents);
        drop(state);
        self.0.changed.notify_all();
        agents.into_iter().for_each(|(_, agent)| agent.shutdown());
    }

    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Sleeps until `end`. Returns false if the token is cancelled before that.
    pub(crate) fn sleep_until(&self, end: Instant) -> bool {
        let mut state = self.state();
        loop {
            if state.cancelled {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self
                .0
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Sleeps for `pause`. Returns false if the token is cancelled before its end.
    pub(crate) fn sleep(&self, pause: Duration) -> bool {
        self.sleep_until(Instant::now() + pause)
    }

    /// Registers a connection to be closed on cancellation. Returns `None` if the token is
    /// cancelled already.
    pub(crate) fn register(&self, agent: &Agent) -> Option<CancelGuard<'_>> {
        let mut state = self.state();
        if state.cancelled {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.agents.push((number, agent.clone()));
        Some(CancelGuard {
            cancel: self,
            number,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is a single assignment, so the state is consistent even after a panic.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a connection registered until it is dropped.
pub(crate) struct CancelGuard<'a> {
    cancel: &'a CancelToken,
    number: u64,
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        self.cancel
            .state()
            .agents
            .retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancellation_interrupts_a_sleep() {
        let cancel = CancelToken::default();
        assert!(cancel.sleep(Duration::from_millis(1)));
        let other = cancel.clone();
        let sleeper = std::thread::spawn(move || other.sleep(Duration::from_secs(3600)));
        cancel.cancel();
        assert!(!sleeper.join().unwrap());
        assert!(cancel.is_cancelled() && cancel.register(&Agent::new_with_defaults()).is_none());
    }
}
