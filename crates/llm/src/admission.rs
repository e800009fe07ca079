//! Admission control for the requests of a model: the concurrency limit, the rate limit, the pauses
//! requested by the server and the circuit breaker.
//!
//! **Invariant:** every permit is released exactly once, whatever the result of its request.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_throttle::{Quota, RateLimiter};

use crate::circuit_breaker::{CircuitBreaker, Verdict};
use crate::config::seconds;
use crate::failure::{Failure, FailureKind};
use crate::{CancelToken, ModelConfig};

/// The interval at which a waiting call checks whether it was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The admission control that all calls of a model share.
#[derive(Debug)]
pub(crate) struct Admission {
    started: Instant,
    max_in_flight: u32,
    max_retry_after: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    in_flight: u32,
    /// Absent if the rate is not limited.
    rate_limiter: Option<RateLimiter>,
    breaker: CircuitBreaker,
    /// The end of the pause that the server requested.
    retry_after_until: Duration,
}

impl Admission {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        let state = State {
            in_flight: 0,
            rate_limiter: config
                .limits
                .rate()
                .map(|rate| RateLimiter::new(Quota::even(rate))),
            breaker: CircuitBreaker::new(config.breaker),
            retry_after_until: Duration::ZERO,
        };
        Self {
            started: Instant::now(),
            max_in_flight: config.limits.in_flight,
            max_retry_after: seconds(config.retries.longest_asked_s),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Waits until a request may be sent.
    ///
    /// # Errors
    ///
    /// Returns a failure if the call is cancelled, its deadline passes or the circuit breaker is
    /// permanently open.
    pub(crate) fn acquire(
        &self,
        cancel: &CancelToken,
        deadline: Option<Instant>,
    ) -> Result<Permit<'_>, Failure> {
        let mut state = self.state();
        loop {
            if cancel.is_cancelled() {
                return Err(Failure::new(
                    FailureKind::Cancelled,
                    "the call was cancelled",
                ));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(Failure::new(
                    FailureKind::TimedOut,
                    "the deadline passed before the request could be sent",
                ));
            }
            let now = self.started.elapsed();
            let until = match state.breaker.verdict(now) {
                Verdict::Fail => {
                    let message =
                        "the circuit breaker is open: too many consecutive requests have failed";
                    return Err(Failure::new(FailureKind::CircuitOpen, message));
                }
                Verdict::Wait(until) => Some(until),
                Verdict::WaitForTrial => Some(now + POLL_INTERVAL),
                Verdict::Send if state.in_flight >= self.max_in_flight => Some(now + POLL_INTERVAL),
                Verdict::Send => {
                    let ready_at = state.rate_limiter.as_ref().map(RateLimiter::ready_at);
                    Some(ready_at.unwrap_or_default().max(state.retry_after_until))
                        .filter(|until| *until > now)
                }
            };
            let Some(until) = until else {
                state.in_flight += 1;
                if let Some(rate_limiter) = &mut state.rate_limiter {
                    rate_limiter.record(now);
                }
                state.breaker.sent();
                return Ok(Permit {
                    admission: self,
                    settled: false,
                });
            };
            let wait = until
                .saturating_sub(now)
                .clamp(Duration::from_millis(1), POLL_INTERVAL);
            state = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No external code runs under this lock, so the state is consistent even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The permission to send one request. Dropping it releases its slot.
pub(crate) struct Permit<'a> {
    admission: &'a Admission,
    settled: bool,
}

impl Permit<'_> {
    /// Reports the result of the request and releases the permit.
    pub(crate) fn complete(mut self, failure: Option<&Failure>) {
        let now = self.admission.started.elapsed();
        let mut state = self.admission.state();
        match failure {
            None => state.breaker.succeeded(),
            Some(failure) if failure.is_server_fault() => state.breaker.failed(now),
            Some(failure) if failure.kind == FailureKind::Status => state.breaker.succeeded(),
            Some(_) => state.breaker.abandoned(now),
        }
        if let Some(requested) = failure.and_then(|failure| failure.retry_after) {
            // All calls of a model go to the same server, so all of them wait for the end of the
            // pause.
            state.retry_after_until = state
                .retry_after_until
                .max(now + requested.min(self.admission.max_retry_after));
        }
        self.settled = true;
        drop(state);
        drop(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        state.in_flight -= 1;
        if !self.settled {
            // The request was refused after its admission, so it was not sent.
            state.breaker.abandoned(self.admission.started.elapsed());
            if let Some(rate_limiter) = &mut state.rate_limiter {
                rate_limiter.take_back();
            }
        }
        drop(state);
        self.admission.changed.notify_all();
    }
}
