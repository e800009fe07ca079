//! Giving up calls from another thread.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ureq::Agent;

/// A switch that ends every call it was given to: waits end at once, connections are cut.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    /// The requests under way, by number.
    agents: Vec<(u64, Agent)>,
    next: u64,
}

impl Cancel {
    /// Ends all calls, those to come as well.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        let agents = std::mem::take(&mut state.agents);
        drop(state);
        self.0.changed.notify_all();
        agents.into_iter().for_each(|(_, agent)| agent.shutdown());
    }

    /// Whether it was given up.
    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Sleeps until a moment; false if it was given up meanwhile.
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

    /// Sleeps; false if it was given up meanwhile.
    pub(crate) fn sleep(&self, pause: Duration) -> bool {
        self.sleep_until(Instant::now() + pause)
    }

    /// Lets the requests of an agent be cut; `None` if it was given up already.
    pub(crate) fn watch(&self, agent: &Agent) -> Option<Watched<'_>> {
        let mut state = self.state();
        if state.cancelled {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.agents.push((number, agent.clone()));
        Some(Watched {
            cancel: self,
            number,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is a single assignment, so what is guarded is whole even if a holder panicked.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that can be cut as long as this lives.
pub(crate) struct Watched<'a> {
    cancel: &'a Cancel,
    number: u64,
}

impl Drop for Watched<'_> {
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
    fn who_gives_up_does_not_sleep_on() {
        let cancel = Cancel::default();
        assert!(cancel.sleep(Duration::from_millis(1)));
        let other = cancel.clone();
        let sleeper = std::thread::spawn(move || other.sleep(Duration::from_secs(3600)));
        cancel.cancel();
        assert!(!sleeper.join().unwrap());
        assert!(cancel.is_cancelled() && cancel.watch(&Agent::new_with_defaults()).is_none());
    }
}
