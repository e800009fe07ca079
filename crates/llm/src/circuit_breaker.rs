//! The circuit breaker, which blocks requests for a while after too many consecutive failures.
//!
//! The breaker reads no clock. The caller passes the current time as a duration since a fixed
//! start.

use std::time::Duration;

use crate::BreakerConfig;
use crate::config::seconds;

/// The upper limit of the cool-down, which doubles each time that the breaker opens again.
const MAX_COOL_DOWN: Duration = Duration::from_secs(600);

/// A circuit breaker that allows one trial request after each cool-down.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    config: BreakerConfig,
    state: State,
    /// The number of times that the breaker has opened since the last success.
    rounds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Requests are allowed. `failures` counts the consecutive failures so far.
    Closed { failures: u32 },
    /// Requests are blocked until this time.
    Open { until: Duration },
    /// One trial request is in flight.
    HalfOpen,
    /// Requests are blocked permanently, because too many trial requests failed.
    Broken,
}

/// The decision for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Send,
    /// Wait until this time.
    Wait(Duration),
    /// Wait for the result of the trial request.
    WaitForTrial,
    Fail,
}

impl CircuitBreaker {
    pub(crate) fn new(config: BreakerConfig) -> Self {
        Self {
            config,
            state: State::Closed { failures: 0 },
            rounds: 0,
        }
    }

    /// Returns whether a request may be sent at `now`. This does not change the state; the caller
    /// reports the request with [`CircuitBreaker::sent`].
    pub(crate) fn verdict(&self, now: Duration) -> Verdict {
        match self.state {
            State::Closed { .. } => Verdict::Send,
            State::Open { until } if now >= until => Verdict::Send,
            State::Open { until } => Verdict::Wait(until),
            State::HalfOpen => Verdict::WaitForTrial,
            State::Broken => Verdict::Fail,
        }
    }

    /// Records that a request is sent.
    pub(crate) fn sent(&mut self) {
        if matches!(self.state, State::Open { .. }) {
            self.state = State::HalfOpen;
        }
    }

    /// Records a valid response of the server, including refusals.
    pub(crate) fn succeeded(&mut self) {
        if self.state != State::Broken {
            self.state = State::Closed { failures: 0 };
            self.rounds = 0;
        }
    }

    /// Records a server fault.
    pub(crate) fn failed(&mut self, now: Duration) {
        match self.state {
            State::Closed { failures } if failures + 1 < self.config.failures => {
                self.state = State::Closed {
                    failures: failures + 1,
                };
            }
            State::Closed { .. } | State::HalfOpen => self.open(now),
            // The request was sent before the breaker opened, so its failure changes nothing.
            State::Open { .. } | State::Broken => {}
        }
    }

    /// Records that a request ended without information about the server, for example because the
    /// caller cancelled it.
    pub(crate) fn abandoned(&mut self, now: Duration) {
        if self.state == State::HalfOpen {
            self.state = State::Open { until: now };
        }
    }

    fn open(&mut self, now: Duration) {
        if self.rounds >= self.config.rounds {
            self.state = State::Broken;
            return;
        }
        let times = 1 << self.rounds.min(16);
        let cool_down = seconds(self.config.cool_down_s)
            .saturating_mul(times)
            .min(MAX_COOL_DOWN);
        self.rounds += 1;
        self.state = State::Open {
            until: now + cool_down,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn breaker() -> CircuitBreaker {
        CircuitBreaker::new(BreakerConfig {
            failures: 3,
            cool_down_s: 10.0,
            rounds: 2,
        })
    }

    #[test]
    fn opens_after_consecutive_failures_and_allows_one_trial() {
        let mut breaker = breaker();
        breaker.failed(S);
        breaker.failed(S);
        breaker.succeeded();
        breaker.failed(S);
        breaker.failed(S);
        assert_eq!(
            breaker.verdict(S),
            Verdict::Send,
            "a success resets the count"
        );
        breaker.failed(S);
        assert_eq!(breaker.verdict(S), Verdict::Wait(11 * S));
        breaker.failed(5 * S);
        assert_eq!(
            breaker.verdict(5 * S),
            Verdict::Wait(11 * S),
            "late failures do not extend the cool-down"
        );
        assert_eq!(breaker.verdict(11 * S), Verdict::Send);
        breaker.sent();
        assert_eq!(breaker.verdict(11 * S), Verdict::WaitForTrial);
        breaker.succeeded();
        assert_eq!(breaker.verdict(11 * S), Verdict::Send);
    }

    #[test]
    fn breaks_permanently_after_the_last_round() {
        let mut breaker = breaker();
        (0..3).for_each(|_| breaker.failed(S));
        breaker.sent();
        breaker.failed(20 * S);
        assert_eq!(
            breaker.verdict(20 * S),
            Verdict::Wait(40 * S),
            "the second cool-down is twice as long"
        );
        breaker.sent();
        breaker.abandoned(40 * S);
        assert_eq!(
            breaker.verdict(40 * S),
            Verdict::Send,
            "after a cancelled trial, another request may try"
        );
        breaker.sent();
        breaker.failed(50 * S);
        assert_eq!(breaker.verdict(99 * S), Verdict::Fail);
        breaker.succeeded();
        assert_eq!(
            breaker.verdict(99 * S),
            Verdict::Fail,
            "a late success does not repair it"
        );
    }
}
