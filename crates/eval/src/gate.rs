//! Who may send now: the queue of requests under all limits.
//!
//! Invariant: money and tokens are measured. While a limit on them is set, nothing is sent that would exceed it if everything in
//! flight cost as much as the dearest request so far; before the first cost is known, one request is sent alone.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_protocol::{EvalLimits, EvalSpent};

use crate::plan::Job;
use crate::solver::FailureKind;

/// The queue.
pub(crate) struct Gate {
    limits: EvalLimits,
    run_deadline: Option<Instant>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    jobs: Vec<Job>,
    next: usize,
    in_flight: usize,
    ended: usize,
    spent: EvalSpent,
    /// The dearest request so far; `None` before the first has ended.
    dearest: Option<EvalSpent>,
    next_send: Instant,
    /// When each task's first request was sent.
    begun: BTreeMap<(usize, String), Instant>,
    stop: Option<String>,
    next_request: u64,
}

/// A request that may be sent.
pub(crate) struct Admitted {
    pub(crate) request: u64,
    pub(crate) job: Job,
    /// Absent if the task's time is over already.
    pub(crate) may_send: bool,
    pub(crate) deadline: Option<(Instant, FailureKind)>,
}

/// A moment's view.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) ended: usize,
    pub(crate) in_flight: usize,
    pub(crate) spent: EvalSpent,
    pub(crate) stop: Option<String>,
}

impl Gate {
    /// A queue of jobs; `spent` and `seconds` are those of earlier processes.
    pub(crate) fn new(
        jobs: Vec<Job>,
        limits: EvalLimits,
        spent: EvalSpent,
        seconds: f64,
        next_request: u64,
    ) -> Self {
        let now = Instant::now();
        let run_deadline = limits
            .run_seconds
            .map(|limit| now + duration((limit - seconds).max(0.0)));
        let state = State {
            jobs,
            next: 0,
            in_flight: 0,
            ended: 0,
            spent,
            dearest: None,
            next_send: now,
            begun: BTreeMap::new(),
            stop: None,
            next_request,
        };
        Self {
            limits,
            run_deadline,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Waits until the next request may be sent; `None` if there is none, or none may be sent any more.
    pub(crate) fn admit(&self) -> Option<Admitted> {
        let mut state = self.lock();
        loop {
            if state.stop.is_some() || state.next >= state.jobs.len() {
                return None;
            }
            let now = Instant::now();
            if self.run_deadline.is_some_and(|deadline| now >= deadline) {
                state.stop = Some("the time for the run is over".to_owned());
                self.changed.notify_all();
                return None;
            }
            if let Some(reason) = self.used_up(&state) {
                state.stop = Some(reason);
                self.changed.notify_all();
                return None;
            }
            let wait = if state.in_flight > 0 && self.might_exceed(&state) {
                Some(Duration::from_secs(1))
            } else {
                (state.next_send > now).then(|| state.next_send - now)
            };
            let Some(wait) = wait else {
                return Some(self.take(&mut state, now));
            };
            let wait = self.run_deadline.map_or(wait, |deadline| {
                wait.min(deadline.saturating_duration_since(now))
            });
            state = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn take(&self, state: &mut State, now: Instant) -> Admitted {
        let job = state.jobs[state.next].clone();
        state.next += 1;
        state.in_flight += 1;
        let request = state.next_request;
        state.next_request += 1;
        let begun = *state
            .begun
            .entry((job.set, job.asked.task.clone()))
            .or_insert(now);
        let task_end = self
            .limits
            .task_seconds
            .map(|limit| begun + duration(limit));
        let may_send = task_end.is_none_or(|end| now < end);
        if may_send && let Some(rate) = self.limits.requests_per_minute {
            state.next_send = state.next_send.max(now) + duration(60.0 / rate);
        }
        let request_end = self
            .limits
            .request_seconds
            .map(|limit| now + duration(limit));
        let ends = [
            request_end.map(|end| (end, FailureKind::RequestTime)),
            task_end.map(|end| (end, FailureKind::TaskTime)),
            self.run_deadline.map(|end| (end, FailureKind::RunTime)),
        ];
        let deadline = ends.into_iter().flatten().min_by_key(|(end, _)| *end);
        Admitted {
            request,
            job,
            may_send,
            deadline,
        }
    }

    /// Counts what a transmission cost before its request ends.
    pub(crate) fn charge(&self, spent: &EvalSpent) {
        self.lock().spent.add(spent);
        self.changed.notify_all();
    }

    /// A request has ended. What it cost beyond what was charged already is `rest`, all of it is `whole`.
    pub(crate) fn end(&self, rest: &EvalSpent, whole: &EvalSpent) {
        let mut state = self.lock();
        state.in_flight -= 1;
        state.ended += 1;
        state.spent.add(rest);
        let dearest = state.dearest.unwrap_or_default();
        let tokens = if whole.tokens() > dearest.tokens() {
            whole
        } else {
            &dearest
        };
        state.dearest = Some(EvalSpent {
            cost_usd: whole.cost_usd.max(dearest.cost_usd),
            ..*tokens
        });
        drop(state);
        self.changed.notify_all();
    }

    /// Lets nothing more be sent.
    pub(crate) fn stop(&self, reason: impl Into<String>) {
        let mut state = self.lock();
        state.stop.get_or_insert_with(|| reason.into());
        drop(state);
        self.changed.notify_all();
    }

    /// How things stand, after a while or when something happened.
    pub(crate) fn wait(&self, most: Duration) -> Standing {
        let state = self.lock();
        let state = self
            .changed
            .wait_timeout(state, most)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        Standing {
            ended: state.ended,
            in_flight: state.in_flight,
            spent: state.spent,
            stop: state.stop.clone(),
        }
    }

    /// Why nothing may be sent any more, if money or tokens are used up.
    pub(crate) fn used_up_now(&self) -> Option<String> {
        self.used_up(&self.lock())
    }

    fn used_up(&self, state: &State) -> Option<String> {
        if let Some(limit) = self
            .limits
            .cost_usd
            .filter(|&limit| state.spent.cost_usd >= limit)
        {
            return Some(format!(
                "{:.4} USD are spent, and the limit is {limit}",
                state.spent.cost_usd
            ));
        }
        let limit = self
            .limits
            .tokens
            .filter(|&limit| state.spent.tokens() >= limit)?;
        Some(format!(
            "{} tokens are used, and the limit is {limit}",
            state.spent.tokens()
        ))
    }

    fn might_exceed(&self, state: &State) -> bool {
        if self.limits.cost_usd.is_none() && self.limits.tokens.is_none() {
            return false;
        }
        let Some(dearest) = &state.dearest else {
            return true;
        };
        let many = state.in_flight as u64 + 1;
        let money = self
            .limits
            .cost_usd
            .is_some_and(|limit| state.spent.cost_usd + many as f64 * dearest.cost_usd > limit);
        let tokens = self
            .limits
            .tokens
            .is_some_and(|limit| state.spent.tokens() + many * dearest.tokens() > limit);
        money || tokens
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before the lock is given back, so what is guarded is whole even if a holder panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds as a duration; what is too long for one is a century.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds)
        .unwrap_or(Duration::from_secs(3_155_760_000))
        .min(Duration::from_secs(3_155_760_000))
}

#[cfg(test)]
mod tests {
    use rhae_protocol::EvalAsked;

    use super::*;

    fn jobs(count: usize) -> Vec<Job> {
        let job = |number: usize| Job {
            set: 0,
            id: format!("t{number}").parse().unwrap(),
            asked: EvalAsked {
                set: "s".to_owned(),
                task: format!("t{number}"),
                tests: vec![0],
                attempts: vec![1],
            },
        };
        (0..count).map(job).collect()
    }

    fn cost(cost_usd: f64) -> EvalSpent {
        EvalSpent {
            cost_usd,
            ..EvalSpent::default()
        }
    }

    #[test]
    fn measured_spend_stops_before_the_limit_is_passed() {
        let limits = EvalLimits {
            concurrency: 8,
            cost_usd: Some(1.0),
            ..EvalLimits::default()
        };
        let gate = Gate::new(jobs(100), limits, cost(0.25), 0.0, 1);
        assert_eq!(gate.admit().unwrap().request, 1);
        gate.end(&cost(0.2), &cost(0.2));
        // 0.45 are spent: two more may be in flight, a third might exceed the limit.
        assert!(gate.admit().is_some() && gate.admit().is_some());
        assert!(gate.might_exceed(&gate.lock()));
        gate.end(&cost(0.2), &cost(0.2));
        gate.end(&cost(0.2), &cost(0.2));
        // 0.85: one more alone, which takes the spend past the limit, and then none.
        assert!(gate.admit().is_some());
        gate.end(&cost(0.2), &cost(0.2));
        assert!(gate.admit().is_none());
        assert!(
            gate.wait(Duration::ZERO)
                .stop
                .unwrap()
                .contains("1.0500 USD are spent")
        );
    }

    #[test]
    fn the_first_cost_is_waited_for() {
        let limits = EvalLimits {
            concurrency: 8,
            tokens: Some(1000),
            ..EvalLimits::default()
        };
        let gate = Gate::new(jobs(3), limits, EvalSpent::default(), 0.0, 1);
        assert!(gate.admit().is_some());
        assert!(gate.might_exceed(&gate.lock()));
        let free = Gate::new(jobs(3), EvalLimits::default(), EvalSpent::default(), 0.0, 1);
        assert!((0..3).all(|_| free.admit().is_some()) && free.admit().is_none());
    }

    #[test]
    fn a_task_whose_time_is_over_sends_no_more() {
        let limits = EvalLimits {
            task_seconds: Some(0.0),
            ..EvalLimits::default()
        };
        let gate = Gate::new(jobs(1), limits, EvalSpent::default(), 0.0, 1);
        let admitted = gate.admit().unwrap();
        assert!(!admitted.may_send && admitted.deadline.unwrap().1 == FailureKind::TaskTime);
        let limits = EvalLimits {
            run_seconds: Some(5.0),
            ..EvalLimits::default()
        };
        assert!(
            Gate::new(jobs(1), limits, EvalSpent::default(), 5.0, 1)
                .admit()
                .is_none()
        );
    }

    #[test]
    fn requests_are_paced() {
        let limits = EvalLimits {
            requests_per_minute: Some(60.0),
            ..EvalLimits::default()
        };
        let gate = Gate::new(jobs(3), limits, EvalSpent::default(), 0.0, 1);
        let begun = Instant::now();
        gate.admit().unwrap();
        assert!(gate.lock().next_send > begun + Duration::from_millis(900));
    }
}
