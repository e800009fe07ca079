//! The queue of requests. It admits a request when the rate and the time limits allow it.
//!
//! The limits of money and tokens apply to transmissions, not to requests: see
//! [`rhae_runs::SpendLimit`].

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhae_protocol::{EvalEnd, EvalFailureKind, EvalLimits};
use rhae_throttle::{Quota, Rate, RateLimiter};

use crate::plan::Job;

/// The queue of requests, shared by the worker threads.
pub(crate) struct Scheduler {
    limits: EvalLimits,
    started: Instant,
    run_deadline: Option<Instant>,
    /// Whether requests are conversations, so that the rate and the time limit of requests apply to
    /// their transmissions.
    is_conversation: bool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    jobs: Vec<Job>,
    next: usize,
    in_flight: usize,
    ended: usize,
    /// Absent if the rate is not limited. Its times count from the start of the scheduler.
    rate_limiter: Option<RateLimiter>,
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
    pub(crate) deadline: Option<(Instant, EvalFailureKind)>,
}

/// A snapshot of the scheduler's counts.
#[derive(Clone, Debug)]
pub(crate) struct SchedulerStatus {
    pub(crate) ended: usize,
    pub(crate) in_flight: usize,
    pub(crate) stop: Option<EvalEnd>,
}

impl Scheduler {
    /// Creates a queue. `rate` is the rate limit of `limits`, and `seconds` the working time of
    /// earlier processes.
    pub(crate) fn new(
        jobs: Vec<Job>,
        limits: EvalLimits,
        rate: Option<Rate>,
        seconds: f64,
        next_request: u64,
        is_conversation: bool,
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
            rate_limiter: rate.map(|rate| RateLimiter::new(Quota::even(rate))),
            task_started: BTreeMap::new(),
            stop: None,
            next_request,
        };
        Self {
            limits,
            started: now,
            run_deadline,
            is_conversation,
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
            let wait = if self.is_conversation {
                Duration::ZERO
            } else {
                self.rate_pause(&state, now)
            };
            if wait.is_zero() {
                return Some(self.take(&mut state, now));
            }
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

    /// Waits until the rate allows the next request of a conversation.
    ///
    /// # Errors
    ///
    /// Returns the reason why it must not be sent: the run has stopped, or the conversation was
    /// cancelled.
    pub(crate) fn admit_transmission(&self, cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        let mut state = self.lock();
        loop {
            if state.stop.is_some() || cancelled() {
                return Err("the run was stopped".to_owned());
            }
            let now = Instant::now();
            let wait = self.rate_pause(&state, now);
            if wait.is_zero() {
                if let Some(rate_limiter) = &mut state.rate_limiter {
                    rate_limiter.record(now - self.started);
                }
                return Ok(());
            }
            // The deadline of a conversation has no signal, so that it is checked from time to time.
            state = self
                .changed
                .wait_timeout(state, wait.min(Duration::from_millis(50)))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Returns how long the rate limit delays the next request.
    fn rate_pause(&self, state: &State, now: Instant) -> Duration {
        let ready_at = state.rate_limiter.as_ref().map(RateLimiter::ready_at);
        ready_at
            .unwrap_or_default()
            .saturating_sub(now - self.started)
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
        if may_send
            && !self.is_conversation
            && let Some(rate_limiter) = &mut state.rate_limiter
        {
            rate_limiter.record(now - self.started);
        }
        let request_seconds = self.limits.request_seconds;
        let request_end = request_seconds
            .filter(|_| !self.is_conversation)
            .map(|limit| now + duration(limit));
        let ends = [
            request_end.map(|end| (end, EvalFailureKind::RequestTimeout)),
            task_end.map(|end| (end, EvalFailureKind::TaskTimeout)),
            self.run_deadline
                .map(|end| (end, EvalFailureKind::RunTimeout)),
        ];
        let deadline = ends.into_iter().flatten().min_by_key(|(end, _)| *end);
        AdmittedRequest {
            request,
            job,
            may_send,
            deadline,
        }
    }

    /// Records the end of a request.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.in_flight -= 1;
        state.ended += 1;
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
            stop: state.stop.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change completes before the lock is released, so the state is consistent even after
        // a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Converts seconds to a duration of at most a century.
pub(crate) fn duration(seconds: f64) -> Duration {
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

    #[test]
    fn all_requests_are_admitted_once() {
        let scheduler = Scheduler::new(jobs(3), EvalLimits::default(), None, 0.0, 5, false);
        let numbers: Vec<u64> = std::iter::from_fn(|| scheduler.admit())
            .map(|admitted| admitted.request)
            .collect();
        assert_eq!(numbers, [5, 6, 7]);
        scheduler.end();
        let status = scheduler.wait(Duration::ZERO);
        assert_eq!((status.ended, status.in_flight), (1, 2));
    }

    #[test]
    fn time_limits_of_task_and_run_stop_requests() {
        let limits = EvalLimits {
            task_seconds: Some(0.0),
            ..EvalLimits::default()
        };
        let scheduler = Scheduler::new(jobs(1), limits, None, 0.0, 1, false);
        let admitted = scheduler.admit().unwrap();
        assert!(!admitted.may_send && admitted.deadline.unwrap().1 == EvalFailureKind::TaskTimeout);
        let limits = EvalLimits {
            run_seconds: Some(5.0),
            ..EvalLimits::default()
        };
        assert!(
            Scheduler::new(jobs(1), limits, None, 5.0, 1, false)
                .admit()
                .is_none()
        );
    }

    #[test]
    fn rate_is_limited_as_in_every_other_run() {
        let rate = Rate::per_minute(0.001).unwrap();
        let limits = EvalLimits::default();
        let scheduler = Scheduler::new(jobs(3), limits, Some(rate), 0.0, 1, false);
        scheduler.admit().unwrap();
        let ready_at = |scheduler: &Scheduler| {
            let state = scheduler.lock();
            state.rate_limiter.as_ref().unwrap().ready_at()
        };
        assert!(ready_at(&scheduler) >= rate.interval());
        // One second's worth of requests is admitted at once.
        let rate = Rate::per_second(3.0).unwrap();
        let scheduler = Scheduler::new(jobs(3), limits, Some(rate), 0.0, 1, false);
        scheduler.admit().unwrap();
        scheduler.admit().unwrap();
        assert!(ready_at(&scheduler) <= scheduler.started.elapsed());
        scheduler.admit().unwrap();
        assert!(ready_at(&scheduler) >= rate.interval());
    }

    #[test]
    fn request_after_the_time_limit_of_its_task_does_not_count_towards_the_rate() {
        let limits = EvalLimits {
            task_seconds: Some(0.0),
            ..EvalLimits::default()
        };
        let rate = Rate::per_minute(0.001).unwrap();
        let scheduler = Scheduler::new(jobs(3), limits, Some(rate), 0.0, 1, false);
        (0..3).for_each(|_| assert!(!scheduler.admit().unwrap().may_send));
    }
}
