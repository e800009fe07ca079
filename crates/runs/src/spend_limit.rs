//! The limit of money and tokens that all requests of a run share.
//!
//! **Invariant:** if every transmission has a bound, the sum of what was measured, of what was
//! possibly paid and of the worst cases of all transmissions in flight never exceeds the limit. This
//! holds for money and for tokens separately: the limit of tokens needs no prices. Sums are
//! integers, so rounding cannot break the invariant.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rhae_llm::{Attempt, CostBound, SpendGuard, SpendRefusal};

/// The interval at which a waiting reservation checks whether it was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The spend limit of a run.
///
/// A transmission is sent only if its worst case, in money and in tokens, fits into the rest of each
/// limit after everything that was spent, possibly paid or reserved. If it would fit once a
/// transmission in flight turns out to be cheap, it waits; waiting transmissions are admitted in the
/// order of their arrival. A transmission without a bound for a limit is sent while anything of that
/// limit is left, so it may exceed it.
///
/// # Examples
///
/// ```
/// use rhae_llm::{CostBound, SpendGuard, SpendRefusal, TokenBound};
/// use rhae_runs::{SpendLimit, SpendLimits, Spent};
///
/// let worst = CostBound { tokens: Ok(TokenBound { prompt: 1000, output: 500 }), usd: Ok(0.4) };
/// let limits = SpendLimits { usd: Some(1.0), tokens: None };
/// // A resumed run starts with what its earlier processes spent.
/// let limit = SpendLimit::new(limits, Spent { usd: 0.5, tokens: 900 });
/// limit.reserve(&worst, &|| false).unwrap();
/// // 0.5 USD are spent, so a second request with this worst case can never fit.
/// let larger = CostBound { usd: Ok(0.6), ..worst };
/// let Err(SpendRefusal::Limit(reason)) = limit.reserve(&larger, &|| false) else { panic!() };
/// assert!(reason.ends_with("the smallest limit that allows it is 1.1 USD (`--max-cost 1.1`)"));
/// ```
#[derive(Debug)]
pub struct SpendLimit {
    usd: Option<u64>,
    tokens: Option<u64>,
    state: Mutex<State>,
    changed: Condvar,
}

/// The limits of a run; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpendLimits {
    /// US dollars.
    pub usd: Option<f64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
}

/// What counts towards the limits: measured usage, and the worst case of transmissions that were
/// possibly paid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub usd: f64,
    pub tokens: u64,
}

#[derive(Debug, Default)]
struct State {
    spent: Amount,
    /// The worst cases of the transmissions in flight.
    reserved: Amount,
    /// The tickets of waiting reservations, oldest first.
    waiting: VecDeque<u64>,
    next_ticket: u64,
}

/// An amount of money, in billionths of a US dollar, and of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    nano_usd: u64,
    tokens: u64,
}

/// The answer to a reservation.
enum Verdict {
    Fits,
    /// The reservation fits if a transmission in flight turns out to be cheap.
    Wait,
    /// The reservation can never fit.
    Exceeds(String),
}

impl SpendLimit {
    /// Creates a limit. `spent` is what earlier processes of the same run spent.
    pub fn new(limits: SpendLimits, spent: Spent) -> Self {
        let state = State {
            spent: Amount {
                nano_usd: nano_usd_up(spent.usd),
                tokens: spent.tokens,
            },
            ..State::default()
        };
        Self {
            // A limit is rounded down, costs are rounded up.
            usd: limits.usd.map(|usd| (usd * 1e9 + 1e-3) as u64),
            tokens: limits.tokens,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Returns a sentence about requests that cannot be bounded, or `None` if the limits hold.
    pub fn warning(&self, worst: &CostBound) -> Option<String> {
        // If the tokens have no bound, neither has the cost, for the same reason.
        let (amount, reason) = match (&worst.usd, &worst.tokens) {
            (Err(reason), _) if self.usd.is_some() => ("the cost of a request has", reason),
            (_, Err(reason)) if self.tokens.is_some() => ("the tokens of a request have", reason),
            _ => return None,
        };
        Some(format!(
            "{amount} no upper bound ({reason}), so the requests in flight may exceed the limit"
        ))
    }

    /// Returns what counts towards the limits, without the transmissions in flight.
    pub fn spent(&self) -> Spent {
        let spent = self.lock().spent;
        Spent {
            usd: spent.nano_usd as f64 / 1e9,
            tokens: spent.tokens,
        }
    }

    fn verdict(&self, state: &State, bound: &CostBound) -> Verdict {
        let money = (
            self.usd,
            [state.spent.nano_usd, state.reserved.nano_usd],
            bound.usd().map(nano_usd_up),
            usd_reason as fn(u64, u64, u64) -> String,
        );
        let tokens = (
            self.tokens,
            [state.spent.tokens, state.reserved.tokens],
            bound.tokens(),
            token_reason as fn(u64, u64, u64) -> String,
        );
        let mut wait = false;
        for (limit, [spent, reserved], worst, reason) in [money, tokens] {
            let Some(limit) = limit else { continue };
            // Without a bound, anything that is left suffices.
            let needed = worst.unwrap_or(1);
            let fits = |used: u64| used.saturating_add(needed) <= limit;
            if !fits(spent) {
                return Verdict::Exceeds(reason(spent, limit, worst.unwrap_or(0)));
            }
            wait |= !fits(spent.saturating_add(reserved));
        }
        if wait { Verdict::Wait } else { Verdict::Fits }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change completes before the lock is released, so the state is consistent even after
        // a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpendGuard for SpendLimit {
    fn reserve(&self, worst: &CostBound, cancelled: &dyn Fn() -> bool) -> Result<(), SpendRefusal> {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back(ticket);
        let result = loop {
            if cancelled() {
                break Err(SpendRefusal::Cancelled);
            }
            if state.waiting.front() == Some(&ticket) {
                match self.verdict(&state, worst) {
                    Verdict::Fits => {
                        state.reserved.add(Amount::of(worst));
                        break Ok(());
                    }
                    Verdict::Exceeds(reason) => break Err(SpendRefusal::Limit(reason)),
                    Verdict::Wait => {}
                }
            }
            state = self
                .changed
                .wait_timeout(state, POLL_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        };
        state.waiting.retain(|&waiting| waiting != ticket);
        drop(state);
        self.changed.notify_all();
        result
    }

    fn check_first(&self, worst: &CostBound) -> Result<(), String> {
        match self.verdict(&self.lock(), worst) {
            Verdict::Exceeds(reason) => Err(reason),
            Verdict::Fits | Verdict::Wait => Ok(()),
        }
    }

    fn settle(&self, worst: &CostBound, attempt: Option<&Attempt>) {
        let amount = Amount::of(worst);
        let mut state = self.lock();
        state.reserved.nano_usd = state.reserved.nano_usd.saturating_sub(amount.nano_usd);
        state.reserved.tokens = state.reserved.tokens.saturating_sub(amount.tokens);
        if let Some(attempt) = attempt {
            let usd = attempt.cost_usd.unwrap_or(0.0) + worst.possibly_paid_usd(attempt);
            let tokens = attempt.usage.map_or(0, |usage| usage.total_tokens());
            state.spent.add(Amount {
                nano_usd: nano_usd_up(usd),
                tokens: tokens.saturating_add(worst.possibly_used_tokens(attempt)),
            });
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl Amount {
    /// Returns a worst case. What has no bound counts as 0.
    fn of(bound: &CostBound) -> Self {
        Self {
            nano_usd: bound.usd().map_or(0, nano_usd_up),
            tokens: bound.tokens().unwrap_or(0),
        }
    }

    fn add(&mut self, other: Self) {
        self.nano_usd = self.nano_usd.saturating_add(other.nano_usd);
        self.tokens = self.tokens.saturating_add(other.tokens);
    }
}

/// Converts US dollars to billionths and rounds up. An error of floating-point arithmetic below a
/// thousandth of a billionth is not rounded up.
pub fn nano_usd_up(usd: f64) -> u64 {
    (usd * 1e9 - 1e-3).ceil().max(0.0) as u64
}

fn usd_reason(spent: u64, limit: u64, worst: u64) -> String {
    let smallest = dollars_up(spent.saturating_add(worst));
    match (spent, worst) {
        (0, _) => format!(
            "the spend limit of {} USD is too small: the first request may cost up to {} USD; the smallest limit that allows it is {smallest} USD (`--max-cost {smallest}`)",
            dollars(limit),
            dollars_up(worst)
        ),
        (_, 0) => format!(
            "the spend limit is reached: {} of {} USD are spent; raise it with `--max-cost`",
            dollars_up(spent),
            dollars(limit)
        ),
        _ => format!(
            "the spend limit is reached: {} of {} USD are spent, and the next request may cost up to {} USD; the smallest limit that allows it is {smallest} USD (`--max-cost {smallest}`)",
            dollars_up(spent),
            dollars(limit),
            dollars_up(worst)
        ),
    }
}

fn token_reason(spent: u64, limit: u64, worst: u64) -> String {
    let smallest = spent.saturating_add(worst);
    match (spent, worst) {
        (0, _) => format!(
            "the token limit of {limit} is too small: the first request may use up to {worst} tokens; the smallest limit that allows it is {smallest} (`--token-limit {smallest}`)"
        ),
        (_, 0) => format!(
            "the token limit is reached: {spent} of {limit} tokens are used; raise it with `--token-limit`"
        ),
        _ => format!(
            "the token limit is reached: {spent} of {limit} tokens are used, and the next request may use up to {worst}; the smallest limit that allows it is {smallest} (`--token-limit {smallest}`)"
        ),
    }
}

/// Formats billionths of a dollar exactly, without trailing zeros.
fn dollars(nano_usd: u64) -> String {
    let text = format!(
        "{}.{:09}",
        nano_usd / 1_000_000_000,
        nano_usd % 1_000_000_000
    );
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats billionths of a dollar rounded up to a hundredth of a cent, so that a limit of the
/// formatted amount suffices.
fn dollars_up(nano_usd: u64) -> String {
    dollars(nano_usd.div_ceil(100_000).saturating_mul(100_000))
}

#[cfg(test)]
mod tests;
