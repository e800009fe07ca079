//! The queue of requests. It admits a request only when all limits allow it.
//!
//! **Invariant:** spend limits use measured costs. While such a limit is set and requests are in
//! flight, the scheduler admits another request only if the limit would hold even if the new
//! request and all requests in flight cost as much as the most expensive request so far. The first
//! request is sent alone. A request that is sent while none is in flight may exceed the limit.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_protocol::{EvalEnd, EvalLimits, EvalUsage};

use crate::plan::Job;
use crate::solver::SolverFailureKind;

/// The queue of requests, shared by the worker threads.
pub(crate) struct Scheduler {
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
    spent: EvalUsage,
    /// The cost of the most expensive request so far; `None` before the first has ended.
    max_cost: Option<EvalUsage>,
    next_send: Instant,
    /// The time of the first request of each task, by set and id.
    task_started: BTreeMap<(usize, String), Instant>,
    stop: Option<EvalEnd>,
    next_request: u64,
}

/// A request that a worker may process now.
pub(crate) struct AdmittedRequest {
    pub(crate) request: u64,
    pub(crate) job: Job,
    /// False if the time limit of the task has already passed.
    pub(crate) may_send: bool,
    pub(crate) deadline: Option<(Instant, SolverFailureKind)>,
}

/// A snapshot of the scheduler's counts.
#[derive(Clone, Debug)]
pub(crate) struct SchedulerStatus {
    pub(crate) ended: usize,
    pub(crate) in_flight: usize,
    pub(crate) spent: EvalUsage,
    pub(crate) stop: Option<EvalEnd>,
}

impl Scheduler {
    /// Creates a queue. `spent` and `seconds` are the usage and working time of earlier processes.
    pub(crate) fn new(
        jobs: Vec<Job>,
        limits: EvalLimits,
        spent: EvalUsage,
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
            max_cost: None,
            next_send: now,
            task_started: BTreeMap::new(),
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

    /// Waits until the next request may be sent. Returns `None` if the queue is empty or the run
    /// has stopped.
    pub(crate) fn admit(&self) -> Option<AdmittedRequest> {
        let mut state = self.lock();
        loop {
            if state.stop.is_some() || state.next >= state.jobs.len() {
                return None;
            }
            let now = Instant::now();
            if self.run_deadline.is_some_and(|deadline| now >= deadline) {
                state.stop = Some(EvalEnd::Stopped(
                    "the time limit of the run is reached".to_owned(),
                ));
                self.changed.notify_all();
                return None;
            }
            if let Some(reason) = self.limit_reached(&state) {
                state.stop = Some(EvalEnd::Stopped(reason));
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

    fn take(&self, state: &mut State, now: Instant) -> AdmittedRequest {
        let job = state.jobs[state.next].clone();
        state.next += 1;
        state.in_flight += 1;
        let request = state.next_request;
        state.next_request += 1;
        let task_started = *state
            .task_started
            .entry((job.set, job.target.task.clone()))
            .or_insert(now);
        let task_end = self
            .limits
            .task_seconds
            .map(|limit| task_started + duration(limit));
        let may_send = task_end.is_none_or(|end| now < end);
        if may_send && let Some(rate) = self.limits.requests_per_minute {
            state.next_send = state.next_send.max(now) + duration(60.0 / rate);
        }
        let request_end = self
            .limits
            .request_seconds
            .map(|limit| now + duration(limit));
        let ends = [
            request_end.map(|end| (end, SolverFailureKind::RequestTimeout)),
            task_end.map(|end| (end, SolverFailureKind::TaskTimeout)),
            self.run_deadline
                .map(|end| (end, SolverFailureKind::RunTimeout)),
        ];
        let deadline = ends.into_iter().flatten().min_by_key(|(end, _)| *end);
        AdmittedRequest {
            request,
            job,
            may_send,
            deadline,
        }
    }

    /// Adds the usage of a transmission before its request ends.
    pub(crate) fn add_spent(&self, spent: &EvalUsage) {
        self.lock().spent.add(spent);
        self.changed.notify_all();
    }

    /// Records the end of a request. `total` is its usage, and `rest` the part of it that
    /// [`add_spent`](Self::add_spent) has not counted yet.
    pub(crate) fn end(&self, rest: &EvalUsage, total: &EvalUsage) {
        let mut state = self.lock();
        state.in_flight -= 1;
        state.ended += 1;
        state.spent.add(rest);
        let max_cost = state.max_cost.unwrap_or_default();
        let tokens = if total.tokens() > max_cost.tokens() {
            total
        } else {
            &max_cost
        };
        state.max_cost = Some(EvalUsage {
            cost_usd: total.cost_usd.max(max_cost.cost_usd),
            ..*tokens
        });
        drop(state);
        self.changed.notify_all();
    }

    /// Stops the run: no further request is admitted. If the run is stopped several times, the
    /// first reason is reported.
    pub(crate) fn stop(&self, reason: impl Into<EvalEnd>) {
        let mut state = self.lock();
        state.stop.get_or_insert_with(|| reason.into());
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for a change, at most `timeout`, and returns the current counts.
    pub(crate) fn wait(&self, timeout: Duration) -> SchedulerStatus {
        let state = self.lock();
        let state = self
            .changed
            .wait_timeout(state, timeout)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        SchedulerStatus {
            ended: state.ended,
            in_flight: state.in_flight,
            spent: state.spent,
            stop: state.stop.clone(),
        }
    }

    /// Returns a message if the limit of money or tokens is reached.
    pub(crate) fn limit_reached_now(&self) -> Option<String> {
        self.limit_reached(&self.lock())
    }

    fn limit_reached(&self, state: &State) -> Option<String> {
        if let Some(limit) = self
            .limits
            .cost_usd
            .filter(|&limit| state.spent.cost_usd >= limit)
        {
            return Some(format!(
                "the spend limit is reached: {:.4} of {limit} USD are spent",
                state.spent.cost_usd
            ));
        }
        let limit = self
            .limits
            .tokens
            .filter(|&limit| state.spent.tokens() >= limit)?;
        Some(format!(
            "the token limit is reached: {} of {limit} tokens are used",
            state.spent.tokens()
        ))
    }

    fn might_exceed(&self, state: &State) -> bool {
        if self.limits.cost_usd.is_none() && self.limits.tokens.is_none() {
            return false;
        }
        let Some(max_cost) = &state.max_cost else {
            return true;
        };
        let many = state.in_flight as u64 + 1;
        let money = self
            .limits
            .cost_usd
            .is_some_and(|limit| state.spent.cost_usd + many as f64 * max_cost.cost_usd > limit);
        let tokens = self
            .limits
            .tokens
            .is_some_and(|limit| state.spent.tokens() + many * max_cost.tokens() > limit);
        money || tokens
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change completes before the lock is released, so the state is consistent even after
        // a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts seconds to a duration of at most a century.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds)
        .unwrap_or(Duration::from_secs(3_155_760_000))
        .min(Duration::from_secs(3_155_760_000))
}

#[cfg(test)]
mod tests {
    use rhae_protocol::EvalTarget;

    use super::*;

    fn jobs(count: usize) -> Vec<Job> {
        let job = |number: usize| Job {
            set: 0,
            id: format!("t{number}").parse().unwrap(),
            target: EvalTarget {
                set: "s".to_owned(),
                task: format!("t{number}"),
                tests: vec![0],
                attempts: vec![1],
            },
        };
        (0..count).map(job).collect()
    }

    fn cost(cost_usd: f64) -> EvalUsage {
        EvalUsage {
            cost_usd,
            ..EvalUsage::default()
        }
    }

    #[test]
    fn spend_limit_uses_measured_costs() {
        let limits = EvalLimits {
            concurrency: 8,
            cost_usd: Some(1.0),
            ..EvalLimits::default()
        };
        let scheduler = Scheduler::new(jobs(100), limits, cost(0.25), 0.0, 1);
        assert_eq!(scheduler.admit().unwrap().request, 1);
        scheduler.end(&cost(0.2), &cost(0.2));
        // 0.45 are spent: two more may be in flight, a third might exceed the limit.
        assert!(scheduler.admit().is_some() && scheduler.admit().is_some());
        assert!(scheduler.might_exceed(&scheduler.lock()));
        scheduler.end(&cost(0.2), &cost(0.2));
        scheduler.end(&cost(0.2), &cost(0.2));
        // 0.85 are spent: one more request may be sent alone. It exceeds the limit, so none is
        // admitted after it.
        assert!(scheduler.admit().is_some());
        scheduler.end(&cost(0.2), &cost(0.2));
        assert!(scheduler.admit().is_none());
        assert!(
            scheduler
                .wait(Duration::ZERO)
                .stop
                .unwrap()
                .text()
                .contains("1.0500 of 1 USD are spent")
        );
    }

    #[test]
    fn first_request_is_sent_alone_under_a_spend_limit() {
        let limits = EvalLimits {
            concurrency: 8,
            tokens: Some(1000),
            ..EvalLimits::default()
        };
        let scheduler = Scheduler::new(jobs(3), limits, EvalUsage::default(), 0.0, 1);
        assert!(scheduler.admit().is_some());
        assert!(scheduler.might_exceed(&scheduler.lock()));
        let free = Scheduler::new(jobs(3), EvalLimits::default(), EvalUsage::default(), 0.0, 1);
        assert!((0..3).all(|_| free.admit().is_some()) && free.admit().is_none());
    }

    #[test]
    fn time_limits_of_task_and_run_stop_requests() {
        let limits = EvalLimits {
            task_seconds: Some(0.0),
            ..EvalLimits::default()
        };
        let scheduler = Scheduler::new(jobs(1), limits, EvalUsage::default(), 0.0, 1);
        let admitted = scheduler.admit().unwrap();
        assert!(
            !admitted.may_send && admitted.deadline.unwrap().1 == SolverFailureKind::TaskTimeout
        );
        let limits = EvalLimits {
            run_seconds: Some(5.0),
            ..EvalLimits::default()
        };
        assert!(
            Scheduler::new(jobs(1), limits, EvalUsage::default(), 5.0, 1)
                .admit()
                .is_none()
        );
    }

    #[test]
    fn requests_per_minute_are_limited() {
        let limits = EvalLimits {
            requests_per_minute: Some(60.0),
            ..EvalLimits::default()
        };
        let scheduler = Scheduler::new(jobs(3), limits, EvalUsage::default(), 0.0, 1);
        let task_started = Instant::now();
        scheduler.admit().unwrap();
        assert!(scheduler.lock().next_send > task_started + Duration::from_millis(900));
    }
}
