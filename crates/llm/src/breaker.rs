//! The circuit breaker: after too many failures in a row, nothing is sent for a while.
//!
//! It knows no clock: every moment is passed in, as time since some beginning.

use std::time::Duration;

use crate::BreakerConfig;
use crate::config::seconds;

/// The longest that nothing is sent.
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(600);

/// Whether requests are sent.
#[derive(Debug)]
pub(crate) struct Breaker {
    config: BreakerConfig,
    state: State,
    /// How often it opened since the last success.
    rounds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All is well, but for so many failures in a row.
    Closed { failures: u32 },
    /// Nothing is sent until this moment.
    Open { until: Duration },
    /// One request is on its way to find out.
    Trying,
    /// It opened too often.
    Broken,
}

/// What a request has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go,
    /// Come back at this moment.
    Wait(Duration),
    /// Come back when something has changed.
    WaitForOther,
    Fail,
}

impl Breaker {
    pub(crate) fn new(config: BreakerConfig) -> Self {
        Self {
            config,
            state: State::Closed { failures: 0 },
            rounds: 0,
        }
    }

    /// Whether a request may be sent now. It does not take a turn; [`Breaker::sent`] does.
    pub(crate) fn verdict(&self, now: Duration) -> Verdict {
        match self.state {
            State::Closed { .. } => Verdict::Go,
            State::Open { until } if now >= until => Verdict::Go,
            State::Open { until } => Verdict::Wait(until),
            State::Trying => Verdict::WaitForOther,
            State::Broken => Verdict::Fail,
        }
    }

    /// A request is sent.
    pub(crate) fn sent(&mut self) {
        if matches!(self.state, State::Open { .. }) {
            self.state = State::Trying;
        }
    }

    /// The server answered sensibly, be it with a refusal.
    pub(crate) fn succeeded(&mut self) {
        if self.state != State::Broken {
            self.state = State::Closed { failures: 0 };
            self.rounds = 0;
        }
    }

    /// The server is in trouble.
    pub(crate) fn failed(&mut self, now: Duration) {
        match self.state {
            State::Closed { failures } if failures + 1 < self.config.failures => {
                self.state = State::Closed {
                    failures: failures + 1,
                };
            }
            State::Closed { .. } | State::Trying => self.open(now),
            // A request from before it opened says nothing new.
            State::Open { .. } | State::Broken => {}
        }
    }

    /// A request ended without a word about the server, as when the caller gave up.
    pub(crate) fn abandoned(&mut self, now: Duration) {
        if self.state == State::Trying {
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
            .min(LONGEST_COOL_DOWN);
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

    fn breaker() -> Breaker {
        Breaker::new(BreakerConfig {
            failures: 3,
            cool_down_s: 10.0,
            rounds: 2,
        })
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_tries_one_request() {
        let mut breaker = breaker();
        breaker.failed(S);
        breaker.failed(S);
        breaker.succeeded();
        breaker.failed(S);
        breaker.failed(S);
        assert_eq!(
            breaker.verdict(S),
            Verdict::Go,
            "a success in between starts the count anew"
        );
        breaker.failed(S);
        assert_eq!(breaker.verdict(S), Verdict::Wait(11 * S));
        breaker.failed(5 * S);
        assert_eq!(
            breaker.verdict(5 * S),
            Verdict::Wait(11 * S),
            "late news do not lengthen it"
        );
        assert_eq!(breaker.verdict(11 * S), Verdict::Go);
        breaker.sent();
        assert_eq!(breaker.verdict(11 * S), Verdict::WaitForOther);
        breaker.succeeded();
        assert_eq!(breaker.verdict(11 * S), Verdict::Go);
    }

    #[test]
    fn it_gives_up_after_its_rounds() {
        let mut breaker = breaker();
        (0..3).for_each(|_| breaker.failed(S));
        breaker.sent();
        breaker.failed(20 * S);
        assert_eq!(
            breaker.verdict(20 * S),
            Verdict::Wait(40 * S),
            "the second time is twice as long"
        );
        breaker.sent();
        breaker.abandoned(40 * S);
        assert_eq!(
            breaker.verdict(40 * S),
            Verdict::Go,
            "a call that was given up lets another try"
        );
        breaker.sent();
        breaker.failed(50 * S);
        assert_eq!(breaker.verdict(99 * S), Verdict::Fail);
        breaker.succeeded();
        assert_eq!(
            breaker.verdict(99 * S),
            Verdict::Fail,
            "nothing is sent any more, so no late answer changes it"
        );
    }
}
