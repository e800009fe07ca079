//! What every request to a model passes: so many at once, so many a minute, none while the server asks for peace or is in trouble.
//!
//! **Invariant:** a pass is given back exactly once, whatever becomes of the request.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::breaker::{Breaker, Verdict};
use crate::config::seconds;
use crate::failure::{Failure, FailureKind};
use crate::pace::Pace;
use crate::{Cancel, ModelConfig};

/// How often who waits looks whether the call was given up.
const SLICE: Duration = Duration::from_millis(50);

/// One gate for all calls of a model, from however many threads.
#[derive(Debug)]
pub(crate) struct Gate {
    begun: Instant,
    in_flight: u32,
    longest_asked: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    in_flight: u32,
    pace: Pace,
    breaker: Breaker,
    /// The server asked for peace until then.
    peace_until: Duration,
}

impl Gate {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        let state = State {
            in_flight: 0,
            pace: Pace::new(config.limits.requests_per_minute),
            breaker: Breaker::new(config.breaker),
            peace_until: Duration::ZERO,
        };
        Self {
            begun: Instant::now(),
            in_flight: config.limits.in_flight,
            longest_asked: seconds(config.retries.longest_asked_s),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Waits until a request may be sent.
    pub(crate) fn pass(
        &self,
        cancel: &Cancel,
        deadline: Option<Instant>,
    ) -> Result<Pass<'_>, Failure> {
        let mut state = self.state();
        loop {
            if cancel.is_cancelled() {
                return Err(Failure::new(
                    FailureKind::Cancelled,
                    "the call was given up",
                ));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Failure::new(
                    FailureKind::TimedOut,
                    "the time ran out before the request could be sent",
                ));
            }
            let now = self.begun.elapsed();
            let until = match state.breaker.verdict(now) {
                Verdict::Fail => {
                    let message =
                        "too many requests in a row have failed, so none is sent any more";
                    return Err(Failure::new(FailureKind::CircuitOpen, message));
                }
                Verdict::Wait(until) => Some(until),
                Verdict::WaitForOther => Some(now + SLICE),
                Verdict::Go if state.in_flight >= self.in_flight => Some(now + SLICE),
                Verdict::Go => {
                    Some(state.pace.next().max(state.peace_until)).filter(|until| *until > now)
                }
            };
            let Some(until) = until else {
                state.in_flight += 1;
                state.pace.sent(now);
                state.breaker.sent();
                return Ok(Pass {
                    gate: self,
                    settled: false,
                });
            };
            let wait = until
                .saturating_sub(now)
                .clamp(Duration::from_millis(1), SLICE);
            state = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing foreign runs under this lock, so what it guards is whole even if its holder panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to send one request.
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    settled: bool,
}

impl Pass<'_> {
    /// Says what became of the request.
    pub(crate) fn settle(mut self, failure: Option<&Failure>) {
        let now = self.gate.begun.elapsed();
        let mut state = self.gate.state();
        match failure {
            None => state.breaker.succeeded(),
            Some(failure) if failure.is_trouble() => state.breaker.failed(now),
            Some(failure) if failure.kind == FailureKind::Status => state.breaker.succeeded(),
            Some(_) => state.breaker.abandoned(now),
        }
        if let Some(asked) = failure.and_then(|failure| failure.retry_after) {
            // All calls go to the same server, so all of them leave it in peace.
            state.peace_until = state
                .peace_until
                .max(now + asked.min(self.gate.longest_asked));
        }
        self.settled = true;
        drop(state);
        drop(self);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.in_flight -= 1;
        if !self.settled {
            state.breaker.abandoned(self.gate.begun.elapsed());
        }
        drop(state);
        self.gate.changed.notify_all();
    }
}
